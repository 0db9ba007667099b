// Batches of 64 sources over the parts of a graph on the devices of all ranks.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/device/device_list.hpp"
#include "tutti/models/graph/parts/level_messages.hpp"

namespace tutti::graph {

/// Levels are enqueued on all devices. Where kernels store all that travels, the host waits once a batch: for the
/// depth, which it guesses from the batch before. Where messages are packed, it waits once a level on the way out, for
/// their sizes.
class DeviceParts {
 public:
  /// Collective. `parts` of this rank, one a device; those of hosts are empty. Error(resource): there is no room.
  DeviceParts(const std::vector<GraphPart>& parts, DeviceSet& devices, const Comm& comm,
              std::span<const int> rank_of_part);
  ~DeviceParts();
  DeviceParts(const DeviceParts&) = delete;
  DeviceParts& operator=(const DeviceParts&) = delete;
  /// All devices of all ranks have room. Collective.
  static bool fit(const std::vector<GraphPart>& parts, const DeviceSet& devices, const Comm& comm);

  /// Up to 64 sources: local numbers on each part of this rank, or no_lid. False: nothing was added, there are more
  /// paths than doubles count, or more levels than there is room for. Collective.
  bool add(std::span<const std::vector<Vertex>> sources);
  void collect(std::span<DeltaSum> sums, Size& reached);
  Size bytes_sent() const { return messages_->bytes_sent(); }
  double exchange_seconds() const { return messages_->seconds(); }

 private:
  bool try_add(std::span<const std::vector<Vertex>> sources);
  bool sweep_out(int& depth);
  void meet();

  const Comm& comm_;
  std::vector<std::unique_ptr<DevicePart>> parts_;  ///< of the devices that have one
  std::vector<std::size_t> places_;                 ///< of each among those of this rank
  std::vector<std::unique_ptr<Event>> events_;
  std::unique_ptr<LevelMessages> messages_;
  int expected_ = 0;  ///< steps out of the batch before
};

}  // namespace tutti::graph
