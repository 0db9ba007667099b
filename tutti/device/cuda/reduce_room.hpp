// Memory that a GPU's stream keeps for the result of a reduction: to allocate takes longer than to reduce.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/device/device.hpp"

namespace tutti::cuda {

/// Room for so many words. As the stream itself it is not charged to the device's budget: a kilobyte.
struct ReduceRoom {
  static constexpr std::size_t words = 128;
  std::int64_t* on_device;
  std::int64_t* pinned;  ///< host memory
  Event* arrived;        ///< for a mark behind the copy from the one to the other
};
/// The room of a GPU's stream, for one reduction at a time.
ReduceRoom reduce_room(Stream& stream);

}  // namespace tutti::cuda
