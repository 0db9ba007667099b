// CUDA calls that report errors as tutti's, and the current device kept right.
#pragma once

#include <cuda_runtime_api.h>

namespace tutti::cuda {

/// Throws Error(resource) when memory, a driver or a GPU is missing, Error(peer) when the GPU or a kernel on it failed.
void check(cudaError_t code, const char* call, const char* file, int line);

/// Makes GPU `index` the calling thread's current device while it lives.
class CurrentDevice {
 public:
  explicit CurrentDevice(int index);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace tutti::cuda

/// TUTTI_CUDA_CHECK(cudaMalloc(...)): a macro, because the message quotes the call.
#define TUTTI_CUDA_CHECK(call) ::tutti::cuda::check((call), #call, __FILE__, __LINE__)
