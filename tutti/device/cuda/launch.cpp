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
    constexpr int hopper = 90;
    if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess)
      of_kernel->second = attributes.ptxVersion >= hopper;
    else
      cudaGetLastError();  // the launch will tell: there is no code for this GPU
  }
  return of_kernel->second;
}

}  // namespace tutti::cuda
