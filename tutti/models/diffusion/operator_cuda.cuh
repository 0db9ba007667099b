// The row operator tuned for GPUs: a row a thread, all of a row's entries under way at once.
//
// Coefficients and columns are read once, so they are loaded as streams that leave the caches to u. The sums are those
// of apply_row, bit for bit.
#pragma once

#include "tutti/device/cuda/check.hpp"
#include "tutti/models/diffusion/operator_rows.hpp"

namespace tutti {
namespace detail {

inline constexpr int gpu_block = 128;
/// Thread blocks of sliced rows that a multiprocessor shall hold: 42 registers a thread. Without it the compiler takes
/// more, and fewer threads wait for u: on an H200 0.94 instead of 1.01 of the triad in double, 0.67 instead of 0.87 in
/// compact with columns in two bytes; 16 blocks are worse again.
inline constexpr int sliced_blocks = 12;

/// The terms of a row of `width` entries that are `stride` apart. The width is a constant: where entries were left out
/// by a condition, each load waited for the one before.
template <int width, int stride, class Coefficient>
__device__ inline RowSum sum_row(const Coefficient* values, const Lid (&columns)[width], const double* u, double own) {
  double a[width], neighbour[width];
#pragma unroll
  for (int j = 0; j < width; ++j) {
    a[j] = static_cast<double>(__ldcs(values + j * stride));
    neighbour[j] = __ldg(u + columns[j]);
  }
  RowSum sum;
#pragma unroll
  for (int j = 0; j < width; ++j) sum.part[j % 4] = add_term(a[j], neighbour[j], own, sum.part[j % 4]);
  return sum;
}

template <class Coefficient, class Update>
__device__ inline void finish_row(const OperatorView<Coefficient>& view, const RowSum& sum, double own,
                                  const double* forcing, const Update& update, Lid i) {
  const double diagonal = view.diagonal == nullptr ? 0.0 : __ldcs(view.diagonal + i);
  update(i, own, row_rate(sum.total(), diagonal, own, forcing, i));
}

/// Transposed blocks of 128 rows: block and thread block are the same.
template <class Coefficient, class Update>
__global__ void __launch_bounds__(gpu_block)
    blocks_kernel(Range rows, OperatorView<Coefficient> view, const double* u, const double* forcing, Update update) {
  const Lid block = rows.begin / block_rows + static_cast<Lid>(blockIdx.x);
  const Lid i = block * block_rows + static_cast<Lid>(threadIdx.x);
  if (i < rows.begin || i >= rows.end) return;
  const Size first = static_cast<Size>(block) * (block_rows * max_row_entries) + threadIdx.x;
  Lid columns[max_row_entries];
#pragma unroll
  for (int j = 0; j < max_row_entries; ++j) columns[j] = __ldcs(view.columns + first + j * block_rows);
  const double own = u[i];
  finish_row(view, sum_row<max_row_entries, block_rows>(view.values + first, columns, u, own), own, forcing, update, i);
}

/// The sum of row i in a slice of 32 rows, `width` entries each, from `first` on in the arrays.
template <int width, bool coded, class Coefficient>
__device__ inline RowSum sum_sliced_row(const OperatorView<Coefficient>& view, Lid slice, Size first, const double* u,
                                        double own) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Lid columns[width];
  if constexpr (coded) {
    const Lid window = __ldg(view.windows + static_cast<Size>(slice) * windows_a_slice + lane % windows_a_slice);
    if (__shfl_sync(~0u, window, 0) < 0) {
      const Lid* wide = view.wide + static_cast<Size>(__shfl_sync(~0u, window, 1)) * (max_row_entries * 32) + lane;
#pragma unroll
      for (int j = 0; j < width; ++j) columns[j] = __ldcs(wide + j * 32);
    } else {
      int code[width];
#pragma unroll
      for (int j = 0; j < width; ++j) code[j] = __ldcs(view.codes + first + j * 32);
#pragma unroll
      for (int j = 0; j < width; ++j)
        columns[j] = __shfl_sync(~0u, window, code[j] >> window_bits) + (code[j] & ((1 << window_bits) - 1));
    }
  } else {
#pragma unroll
    for (int j = 0; j < width; ++j) columns[j] = __ldcs(view.columns + first + j * 32);
  }
  return sum_row<width, 32>(view.values + first, columns, u, own);
}

/// sum_sliced_row for the slice's width, down to `least`; narrower slices, of which there are few, one entry a time.
template <int most, bool coded, class Coefficient>
__device__ inline RowSum sum_slice(int width, const OperatorView<Coefficient>& view, Lid slice, Size first,
                                   const double* u, double own) {
  constexpr int least = 9;
  if constexpr (most >= least) {
    if (width == most) return sum_sliced_row<most, coded>(view, slice, first, u, own);
    return sum_slice<most - 1, coded>(width, view, slice, first, u, own);
  } else {
    RowSum sum;
    const Lid row = slice * 32 + static_cast<Lid>(threadIdx.x % 32);
    for (int j = 0; j < width; ++j) {
      const Size at = first + j * 32;
      const double term = add_term(static_cast<double>(view.values[at]), u[column_of(view, row, j, at)], own,
                                   j % 4 == 0   ? sum.part[0]
                                   : j % 4 == 1 ? sum.part[1]
                                   : j % 4 == 2 ? sum.part[2]
                                                : sum.part[3]);
      if (j % 4 == 0) sum.part[0] = term;
      if (j % 4 == 1) sum.part[1] = term;
      if (j % 4 == 2) sum.part[2] = term;
      if (j % 4 == 3) sum.part[3] = term;
    }
    return sum;
  }
}

/// Slices of 32 rows: a warp each. `coded`: columns in two bytes.
template <bool coded, class Coefficient, class Update>
__global__ void __launch_bounds__(gpu_block, sliced_blocks)
    sliced_kernel(Range rows, OperatorView<Coefficient> view, const double* u, const double* forcing, Update update) {
  const Lid slice = rows.begin / 32 + static_cast<Lid>((blockIdx.x * gpu_block + threadIdx.x) / 32);
  const Lid i = slice * 32 + static_cast<Lid>(threadIdx.x % 32);
  if (slice * 32 >= rows.end) return;  // the whole warp
  const Size begin = __ldg(view.slices + slice);
  const int width = static_cast<int>((__ldg(view.slices + slice + 1) - begin) / 32);
  // Rows outside the range take part (their warp exchanges windows) and are not written.
  const double own = i < rows.end ? u[i] : 0.0;
  const RowSum sum = sum_slice<max_row_entries, coded>(width, view, slice, begin + threadIdx.x % 32, u, own);
  if (i >= rows.begin && i < rows.end) finish_row(view, sum, own, forcing, update, i);
}

}  // namespace detail

/// update(i, u_i, rate_i) of the rows of a GPU, tuned. False: this format has no kernel of its own.
template <class Coefficient, class Update>
bool apply_rows_on_gpu(Stream& stream, Range rows, const OperatorView<Coefficient>& view, const double* u,
                       const double* forcing, const Update& update) {
  if (view.format == RowFormat::rows) return false;
  if (rows.empty()) return true;
  const Lid first = rows.begin / block_rows * block_rows;  // of a block, and so of a slice
  const auto blocks = static_cast<unsigned>((rows.end - first + block_rows - 1) / block_rows);
  const auto native = static_cast<cudaStream_t>(stream.native());
  const cuda::CurrentDevice current(stream.device().index());
  if (view.format == RowFormat::blocks)
    detail::blocks_kernel<<<blocks, detail::gpu_block, 0, native>>>(rows, view, u, forcing, update);
  else if (view.codes != nullptr)
    detail::sliced_kernel<true><<<blocks, detail::gpu_block, 0, native>>>(rows, view, u, forcing, update);
  else
    detail::sliced_kernel<false><<<blocks, detail::gpu_block, 0, native>>>(rows, view, u, forcing, update);
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
  return true;
}

}  // namespace tutti
