// An event within a block of a GPU, for warps that do different work.
#pragma once

#include <cstdint>

namespace tutti::cuda {

/// Something that happens once, such as the arrival of rows in shared memory: some threads arrive, others wait for them
/// and then see what they wrote. It lies in shared memory: an mbarrier, of which one phase is used. From compute
/// capability 8.0 on.
class BlockEvent {
 public:
  /// By one thread, followed by __syncthreads(); `threads`: how many will arrive.
  __device__ void init(unsigned threads) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(threads) : "memory");
  }
  __device__ void arrive() {
    asm volatile("{.reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0];}" ::"r"(address()) : "memory");
  }
  /// When all cp.async copies that the thread has begun are complete.
  __device__ void arrive_after_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(address()) : "memory");
  }
  __device__ void wait() const {
    unsigned happened = 0;
    while (happened == 0) {
#if __CUDA_ARCH__ >= 900
      asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
#else
      asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}"
#endif
                   : "=r"(happened)
                   : "r"(address())
                   : "memory");
    }
  }

 private:
  __device__ unsigned address() const {
    return static_cast<unsigned>(__cvta_generic_to_shared(this));
  }
  std::uint64_t barrier_;
};

}  // namespace tutti::cuda
