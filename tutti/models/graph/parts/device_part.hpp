// A part of a graph on its device: what the batches that are swept there at the same time share.
#pragma once

#include <memory>
#include <span>

#include "tutti/models/graph/betweenness/device_sources.hpp"
#include "tutti/models/graph/parts/level_kernels.hpp"

namespace tutti::graph {

class DevicePart {
 public:
  /// For so many batches at the same time. The part outlives it. Error(resource): the device has no room.
  DevicePart(const GraphPart& part, Device& device, int batches);
  DevicePart(const DevicePart&) = delete;
  DevicePart& operator=(const DevicePart&) = delete;
  static Size bytes(const GraphPart& part);

  const GraphPart& part() const { return part_; }
  Device& device() { return stream_->device(); }
  PartRowsView rows() const;
  LevelKernels& kernels() { return *kernels_; }
  /// Whether its kernels may store into memory of that part's device, and the other way round.
  bool reaches(DevicePart& other);
  /// These are told by the kernels, in this order (see LevelReaders); [reader]: a part that is reached.
  void set_readers(std::span<const GraphPart* const> readers);
  const std::uint32_t* places() const { return places_.data(); }

 private:
  const GraphPart& part_;
  std::unique_ptr<Stream> stream_;
  DeviceRows out_, in_;
  std::unique_ptr<LevelKernels> kernels_;
  Buffer<std::uint32_t> places_;
};

}  // namespace tutti::graph
