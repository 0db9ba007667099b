// A pass of the Voronoi partitioner on a device. Inside this room only.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/device/device.hpp"
#include "tutti/partition/voronoi/cloud.hpp"

namespace tutti::voronoi {

/// The cloud, labels and sums in the memory of the stream's device.
class DevicePass {
 public:
  /// Error(resource): no room.
  DevicePass(Stream& stream, const Cloud& cloud, std::size_t parts);
  ~DevicePass();
  /// Every point's part, and the sums of every part: the same bits as on the host. Waits.
  void run(std::span<const Centre> centres, std::span<IntegerSums> sums);
  void labels(std::span<std::int32_t> to) const;

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
};

}  // namespace tutti::voronoi
