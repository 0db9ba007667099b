// Batches of 64 sources over the parts of a graph on the devices of all ranks.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tutti/device/device_list.hpp"
#include "tutti/models/graph/parts/level_messages.hpp"

namespace tutti::graph {

/// Levels are enqueued on all devices. Where kernels store all that travels, several batches are under way, so that one
/// sweeps while another waits for its slowest device, and the host waits once a batch: for the depth, which it guesses
/// from the batch before. Where messages are packed, it waits once a level on the way out, for their sizes, and there
/// is one batch.
class DeviceParts {
 public:
  /// Of sources: their local numbers on a part of this rank, or no_lid.
  using LocalNumbers = std::function<std::vector<Vertex>(std::size_t part, std::span<const Vertex> sources)>;

  /// Collective. `parts` of this rank, one a device; those of hosts are empty. `sources`: how many there are likely to
  /// be. Error(resource): there is no room.
  DeviceParts(const std::vector<GraphPart>& parts, DeviceSet& devices, const Comm& comm,
              std::span<const int> rank_of_part, LocalNumbers local_numbers, Size sources);
  ~DeviceParts();
  DeviceParts(const DeviceParts&) = delete;
  DeviceParts& operator=(const DeviceParts&) = delete;
  /// All devices of all ranks have room. Collective.
  static bool fit(const std::vector<GraphPart>& parts, const DeviceSet& devices, const Comm& comm);

  /// Sources that are worth a call: between calls devices are idle.
  Size most() const { return most_lanes * 32 * std::ssize(batches_); }
  int batches() const { return static_cast<int>(batches_.size()); }
  /// Returns those that added nothing: there are more paths than doubles count, or more levels than there is room for,
  /// in a batch of theirs or before. Collective.
  std::vector<Vertex> add(std::span<const Vertex> sources);
  void collect(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached);
  Size bytes_sent() const { return batches_.front().messages->bytes_sent(); }
  double exchange_seconds() const { return batches_.front().messages->seconds(); }

 private:
  /// What is swept at the same time as others.
  struct Batch {
    std::vector<std::unique_ptr<PartBatch>> parts;  ///< of the devices that have one
    std::vector<std::unique_ptr<Event>> events;
    std::unique_ptr<LevelMessages> messages;
    std::span<const Vertex> sources;  ///< none: it is done
    int enqueued = 0;                 ///< steps out
  };
  Batch make_batch(int number, std::span<const int> rank_of_part);
  void load_kernels();
  void begin(Batch& batch, std::span<const Vertex> sources);
  bool finish(Batch& batch);
  bool enqueue_level(Batch& batch, int depth);
  bool sweep_out(Batch& batch, int& depth);
  static void meet(Batch& batch);

  const Comm& comm_;
  LocalNumbers local_numbers_;
  std::vector<std::unique_ptr<DevicePart>> parts_;  ///< of the devices that have one
  std::vector<std::size_t> places_;                 ///< of each among those of this rank
  std::vector<Batch> batches_;
  bool ahead_ = false;  ///< levels are enqueued before it is known whether there are any
  int expected_ = 0;    ///< steps out of the batch before
};

}  // namespace tutti::graph
