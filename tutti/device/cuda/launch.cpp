// Which kernels may begin early.
#include "tutti/device/cuda/launch.hpp"

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>
#include <utility>

namespace tutti::cuda {

bool waits_itself(const void* kernel, int device) {
  static std::mutex mutex;
  static std::map<std::pair<int, const void*>, bool> known;
  const std::lock_guard lock(mutex);
  const auto [of_kernel, is_new] = known.try_emplace({device, kernel}, false);
  if (is_new) {
    cudaFuncAttributes attributes{};
    TUTTI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, kernel));
    constexpr int hopper = 90;
    of_kernel->second = attributes.ptxVersion >= hopper;
  }
  return of_kernel->second;
}

}  // namespace tutti::cuda
