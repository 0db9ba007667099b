// What warps of a block that do different work tell each other.
#pragma once

#include <cstdint>

namespace tutti::cuda {

/// Something that happens once in a block, such as rows that arrive in shared memory: some threads tell of it, others
/// wait for it and then see what these did before. In shared memory: an mbarrier, of which one phase is used. From
/// compute capability 8.0 on.
class BlockEvent {
 public:
  /// By one thread, with a barrier of the block behind it; `threads`: that tell.
  __device__ void expect(unsigned threads) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(threads) : "memory");
  }
  __device__ void tell() {
    asm volatile("{.reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0];}" ::"r"(address()) : "memory");
  }
  /// Once all copies that the thread has begun are there.
  __device__ void tell_with_copies() {
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
