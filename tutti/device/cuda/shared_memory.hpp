// Shared memory that a launch asks for.
#pragma once

#include <cstddef>

#include "tutti/device/cuda/check.hpp"

namespace tutti::cuda {

/// The most dynamic shared memory that a block may have.
inline std::size_t most_shared_memory(int gpu) {
  int most = 0;
  TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu));
  return static_cast<std::size_t>(most);
}
/// Lets a kernel have more dynamic shared memory than every kernel may.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  if (bytes > std::size_t{48} << 10)
    TUTTI_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}

}  // namespace tutti::cuda
