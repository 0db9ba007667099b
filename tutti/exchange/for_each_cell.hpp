// The portable launch over the cells of a box.
#pragma once

#include "tutti/base/denormals.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/partition/cell_box.hpp"

namespace tutti {

#if defined(__CUDACC__)
namespace detail {
template <class F>
__global__ void for_each_cell_kernel(CellBox box, F f) {
  cuda::wait_for_earlier_work();
  const Lid i = box.lower[0] + static_cast<Lid>(blockIdx.x * blockDim.x + threadIdx.x);
  const Lid j = box.lower[1] + static_cast<Lid>(blockIdx.y * blockDim.y + threadIdx.y);
  const Lid k = box.lower[2] + static_cast<Lid>(blockIdx.z);
  if (i < box.upper[0] && j < box.upper[1]) f(i, j, k);
}
}  // namespace detail
#endif

/// Enqueues f(i, j, k) for cells of `box`: those with numbers `range` in it, x fastest (a GPU takes all of them at
/// once). f is copied; its operator() is TUTTI_HD and touches device memory of the stream's device only. Cells must be
/// independent. On the host a line of cells becomes vector instructions; where the compiler needs help with that, f
/// also has line(begin, end, j, k), which does the same to cells [begin, end) of a line. A GPU needs this to be
/// compiled by nvcc. T: the type of the numbers; denormal floats are 0 (a GPU needs -ftz=true for the same bits).
template <class T, class F>
void for_each_cell(Stream& stream, const CellBox& box, Range range, const F& f) {
  if (box.empty() || range.empty()) return;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    require(range == Range{0, static_cast<Lid>(box.cells())}, "a GPU computes all cells of a box");
    const dim3 block(box.size(0) > 32 ? 64 : 32, 4, 1);
    const dim3 grid((box.size(0) + block.x - 1) / block.x, (box.size(1) + block.y - 1) / block.y, box.size(2));
    return cuda::launch(stream, detail::for_each_cell_kernel<F>, grid, block, 0, box, f);
  }
#endif
  stream.loop(range, [box, f](Lid begin, Lid end) {
    const FlushDenormals<T> flush;
    const Lid nx = box.size(0), ny = box.size(1);
    while (begin < end) {
      const Lid line = begin / nx, first = begin - line * nx;
      const Lid last = first + (end - begin) < nx ? first + (end - begin) : nx;
      const Lid j = box.lower[1] + line % ny, k = box.lower[2] + line / ny, i0 = box.lower[0];
      if constexpr (requires { f.line(i0, i0, j, k); }) {
        f.line(i0 + first, i0 + last, j, k);
      } else {
#if defined(_OPENMP)
#pragma omp simd
#endif
        for (Lid i = first; i < last; ++i) f(i0 + i, j, k);
      }
      begin += last - first;
    }
  });
}

/// This launch as a value (see Kernels).
template <class T, class F>
struct ForEachCell {
  F f;
  void operator()(Stream& stream, const CellBox& box, Range range) const { for_each_cell<T>(stream, box, range, f); }
};
template <class T, class F>
ForEachCell<T, F> on_cells(const F& f) {
  return {f};
}

}  // namespace tutti
