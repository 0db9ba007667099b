// Launches of kernels that come one behind the other in a stream: blocks of the next one are on the GPU already when
// the one before ends (programmatic dependent launch). In a step of few cells, whose kernels take some microseconds,
// the time between two of them counts.
#pragma once

#include <cstddef>

#include "tutti/device/cuda/check.hpp"
#include "tutti/device/device.hpp"

namespace tutti::cuda {

/// Whether the GPU has code of the kernel in which wait_for_earlier_work() waits. Code that was compiled for GPUs
/// before Hopper, which the driver translates, does not.
bool waits_itself(const void* kernel, int device);

#if defined(__CUDACC__)
/// In every kernel that is launched by `launch`: behind it, all that was enqueued before is done. Before it nothing may
/// be written, and only be read what no kernel of `launch` writes (what copies have brought is there).
__device__ inline void wait_for_earlier_work() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The same; returns `values`, which kernels before may have written. Loads through what is returned stay behind the
/// wait, __ldg included: for the compiler that reads what never changes.
template <class T>
__device__ inline T* wait_for_earlier_work(T* values) {
  wait_for_earlier_work();
  asm volatile("" : "+l"(values)::"memory");
  return values;
}

/// Behind wait_for_earlier_work(): blocks of the next kernel may take the places that blocks of this one leave, once
/// its last one has begun. For kernels of many small blocks: others would take the places that are free first, not an
/// equal share of all.
__device__ inline void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Enqueues a kernel that calls wait_for_earlier_work().
template <class... Parameters, class... Arguments>
void launch(Stream& stream, void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared,
            const Arguments&... arguments) {
  const int device = stream.device().index();
  const CurrentDevice current(device);
  // A limit of blocks is for those of all kernels.
  const bool may_begin_early =
      stream.device().block_limit() == 0 && waits_itself(reinterpret_cast<const void*>(kernel), device);
  const KernelQueue queue = may_begin_early ? stream.queue_for_kernel() : KernelQueue{stream.native(), false};
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = static_cast<cudaStream_t>(queue.native);
  config.attrs = &early;
  config.numAttrs = queue.behind_kernel ? 1 : 0;
  TUTTI_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
  stream.device().counts().launches += 1;
}
#endif

}  // namespace tutti::cuda
