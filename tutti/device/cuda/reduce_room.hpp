// Memory that a GPU's stream keeps for the results of its reductions: to allocate takes longer than to reduce.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/device/device.hpp"

namespace tutti::cuda {

struct ReduceRoom {
  std::int64_t* on_device;
  std::int64_t* pinned;  ///< host memory
};
/// Room for `words` words, a kilobyte or so, until the next call for the same stream, which must be a GPU's.
ReduceRoom reduce_room(Stream& stream, std::size_t words);

}  // namespace tutti::cuda
