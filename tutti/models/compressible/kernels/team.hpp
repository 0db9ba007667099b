// Who works on one element or face together: one thread of a CPU, or a block of threads of a GPU. What is computed, in
// which order values are added and so the bits are the same.
#pragma once

#include <type_traits>

#include "tutti/device/for_each.hpp"

namespace tutti::compressible {

/// One thread does it all. Points are worked on a few at a time, which stay in its cache.
struct SerialTeam {
  static constexpr int points = 32;
  TUTTI_HD int first() const { return 0; }
  TUTTI_HD int step() const { return 1; }
  TUTTI_HD void meet() const {}
};

#if defined(__CUDACC__)
/// The threads of a block.
struct BlockTeam {
  static constexpr int points = 64;
  __device__ int first() const { return static_cast<int>(threadIdx.x); }
  __device__ int step() const { return static_cast<int>(blockDim.x); }
  __device__ void meet() const { __syncthreads(); }
};

namespace detail {
inline constexpr int team_threads = 128;
template <class F>
__global__ void __launch_bounds__(team_threads) team_kernel(Range range, F f) {
  extern __shared__ __align__(16) unsigned char shared[];
  f(BlockTeam{}, range.begin + static_cast<Lid>(blockIdx.x),
    *reinterpret_cast<typename F::template Scratch<BlockTeam>*>(shared));
}
}  // namespace detail
#endif

/// Calls f(k, q) for k < rows, q < n.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class F>
TUTTI_HD inline void for_each_value(const Team& team, int rows, int n, const F& f) {
  if constexpr (std::is_same_v<Team, SerialTeam>) {
    for (int k = 0; k < rows; ++k)
      for (int q = 0; q < n; ++q) f(k, q);
  } else {
    for (int i = team.first(); i < rows * n; i += team.step()) f(i / n, i % n);
  }
}

/// Enqueues f(team, i, scratch) for every i of the range; F::Scratch<Team> is memory for one i. As for_each.
template <class F>
void for_each_team(Stream& stream, Range range, const F& f) {
  if (range.empty()) return;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    const cuda::CurrentDevice current(stream.device().index());
    constexpr std::size_t bytes = sizeof(typename F::template Scratch<BlockTeam>);
    if (bytes > 48 * 1024)
      TUTTI_CUDA_CHECK(cudaFuncSetAttribute(detail::team_kernel<F>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(bytes)));
    detail::team_kernel<F>
        <<<range.size(), detail::team_threads, bytes, static_cast<cudaStream_t>(stream.native())>>>(range, f);
    TUTTI_CUDA_CHECK(cudaGetLastError());
    stream.device().counts().launches += 1;
    return;
  }
#endif
  stream.loop(range, [f](Lid begin, Lid end) {
    typename F::template Scratch<SerialTeam> scratch;
    for (Lid i = begin; i < end; ++i) f(SerialTeam{}, i, scratch);
  });
}

}  // namespace tutti::compressible
