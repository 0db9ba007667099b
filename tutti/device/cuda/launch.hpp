// Launches of kernels that come one behind the other in a stream: blocks of the next one are on the GPU already when
// the one before ends (programmatic dependent launch). In a step of few cells, whose kernels take some microseconds,
// the time between two of them counts. No kernel lets the next one come before it ends: that would take the places that
// are free first, not an equal share of all.
#pragma once

#include <cstddef>

#include "tutti/device/cuda/check.hpp"
#include "tutti/device/device.hpp"

namespace tutti::cuda {

#if defined(__CUDACC__)
/// The first line of every kernel that is launched by `launch`: nothing may be read or written before it. Behind it,
/// all that was enqueued before is done.
__device__ inline void wait_for_earlier_work() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Enqueues a kernel that begins with wait_for_earlier_work().
template <class... Parameters, class... Arguments>
void launch(Stream& stream, void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared,
            const Arguments&... arguments) {
  const CurrentDevice current(stream.device().index());
  const KernelQueue queue = stream.queue_for_kernel();
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
