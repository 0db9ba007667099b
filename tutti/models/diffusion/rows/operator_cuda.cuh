// The row operator tuned for GPUs: a row a thread, all of a row's entries under way at once.
//
// Coefficients and columns are read once, so they are loaded as streams that leave the caches to u. The sums are those
// of apply_row, bit for bit.
#pragma once

#include "tutti/device/cuda/launch.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"

namespace tutti::diffusion {
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
  u = cuda::wait_for_earlier_work(u);
  cuda::let_next_kernel_begin();
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

/// The columns of a wide tile's row, or the words with a row's codes of ten bits; `codes`: of the slice.
template <int halves>
__device__ inline void load_words(const std::uint16_t* codes, unsigned (&words)[halves / 2 + 2]) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int k = 0; k < halves / 2; ++k) words[k] = __ldcs(reinterpret_cast<const unsigned*>(codes) + k * 32 + lane);
  words[halves / 2] = halves % 2 != 0 ? __ldcs(codes + (halves - 1) * 32 + lane) : 0U;
  words[halves / 2 + 1] = 0;
}

/// All threads of a tile's block, wherever in the code each warp is: __syncthreads() wants one place.
__device__ inline void tile_barrier() {
  __barrier_sync_count(1, tile_rows);
}

/// A thread's row of a tile. The tile's other rows read its value, whether it is in the range of the kernel or not.
struct TileRow {
  Lid row;
  bool is_there;
  /// Its value, once the kernel before is done with u; the next kernel may begin.
  __device__ double wait_for_value(const double*& u) const {
    u = cuda::wait_for_earlier_work(u);
    cuda::let_next_kernel_begin();
    return is_there ? u[row] : 0.0;
  }
};

/// Where a thread's share of its tile's externals goes.
struct Fetch {
  static constexpr int rounds = (tile_columns - tile_rows) / tile_rows;
  Lid columns[rounds];
  int count;  ///< of the tile

  template <class Coefficient>
  __device__ Fetch(const OperatorView<Coefficient>& view, Lid tile, const TileHead& head) : count(head.count) {
    const int mine = static_cast<int>(threadIdx.x);
    const Lid window = __ldg(view.windows + static_cast<Size>(tile) * windows_a_slice + mine % windows_a_slice);
    int codes[rounds];
#pragma unroll
    for (int k = 0; k < rounds; ++k)
      codes[k] = mine + k * tile_rows < count ? __ldcs(view.externals + head.first + mine + k * tile_rows) : 0;
#pragma unroll
    for (int k = 0; k < rounds; ++k)
      columns[k] = __shfl_sync(~0u, window, codes[k] >> window_bits) + (codes[k] & ((1 << window_bits) - 1));
  }
  /// The tile's values, those of its own rows first; a barrier.
  __device__ void bring(const double* u, double own, double* local) const {
    const int mine = static_cast<int>(threadIdx.x);
    double values[rounds];
#pragma unroll
    for (int k = 0; k < rounds; ++k)
      if (mine + k * tile_rows < count) values[k] = __ldg(u + columns[k]);
    local[mine] = own;
#pragma unroll
    for (int k = 0; k < rounds; ++k)
      if (mine + k * tile_rows < count) local[tile_rows + mine + k * tile_rows] = values[k];
    tile_barrier();
  }
};

/// The sum of a row of `width` entries in a narrow tile.
template <int width, class Coefficient>
__device__ inline RowSum sum_tiled_row(const Coefficient* values, const std::uint16_t* codes, const Fetch& fetch,
                                       const double* u, TileRow row, double& own, double* local) {
  constexpr int halves = tile_halves(width, false);
  unsigned words[halves / 2 + 2];
  load_words<halves>(codes, words);
  Coefficient a[width];
#pragma unroll
  for (int j = 0; j < width; ++j) a[j] = __ldcs(values + j * 32);
  own = row.wait_for_value(u);
  fetch.bring(u, own, local);
  RowSum sum;
#pragma unroll
  for (int j = 0; j < width; ++j) {
    const int bit = j * tile_bits;
    const unsigned code = __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit % 32) & (tile_columns - 1);
    sum.part[j % 4] = add_term(static_cast<double>(a[j]), local[code], own, sum.part[j % 4]);
  }
  return sum;
}

/// Slices narrower than this, of which there are few, have no code of their own.
inline constexpr int least = 9;

/// sum_sliced_row for the slice's width; narrower slices one entry a time.
template <int most, bool coded, class Coefficient>
__device__ inline RowSum sum_slice(int width, const OperatorView<Coefficient>& view, Lid slice, Size first,
                                   const double* u, double own) {
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
  u = cuda::wait_for_earlier_work(u);
  cuda::let_next_kernel_begin();
  if (slice * 32 >= rows.end) return;  // the whole warp
  const Size begin = __ldg(view.slices + slice);
  const int width = static_cast<int>((__ldg(view.slices + slice + 1) - begin) / 32);
  // Rows outside the range take part (their warp exchanges windows) and are not written.
  const double own = i < rows.end ? u[i] : 0.0;
  const RowSum sum = sum_slice<max_row_entries, coded>(width, view, slice, begin + threadIdx.x % 32, u, own);
  if (i >= rows.begin && i < rows.end) finish_row(view, sum, own, forcing, update, i);
}

/// sum_tiled_row for the slice's width, or the same for wide tiles, which fetch nothing (`fetch.count` is -1).
template <int most, class Coefficient>
__device__ inline RowSum sum_tile(int width, const OperatorView<Coefficient>& view, Lid slice, Size first,
                                  const std::uint16_t* codes, const Fetch& fetch, const double* u, TileRow row,
                                  double& own, double* local) {
  if constexpr (most >= least) {
    if (width != most) return sum_tile<most - 1>(width, view, slice, first, codes, fetch, u, row, own, local);
    if (fetch.count >= 0) return sum_tiled_row<most>(view.values + first, codes, fetch, u, row, own, local);
    unsigned words[most + 2];
    load_words<2 * most>(codes, words);
    Lid columns[most];
#pragma unroll
    for (int j = 0; j < most; ++j) columns[j] = static_cast<Lid>(words[j]);
    own = row.wait_for_value(u);
    return sum_row<most, 32>(view.values + first, columns, u, own);
  } else {
    own = row.wait_for_value(u);
    if (fetch.count >= 0) fetch.bring(u, own, local);
    // With no code of its own, by column_of.
    return sum_slice<least - 1, false>(width, view, slice, first, u, own);
  }
}

/// Tiles of 256 rows: a thread block each.
template <class Coefficient, class Update>
__global__ void __launch_bounds__(tile_rows, sizeof(Coefficient) == 4 ? 6 : 5)
    tiles_kernel(Range rows, OperatorView<Coefficient> view, const double* u, const double* forcing, Update update) {
  __shared__ double local[tile_columns];
  const Lid tile = rows.begin / tile_rows + static_cast<Lid>(blockIdx.x);
  const Lid i = tile * tile_rows + static_cast<Lid>(threadIdx.x), slice = i / 32;
  const int2 head = __ldg(reinterpret_cast<const int2*>(view.tiles) + tile);
  const Fetch fetch(view, tile, {head.x, head.y});
  Size begin = 0;
  int width = 0;
  const std::uint16_t* codes = view.codes;
  if (slice * 32 < view.rows) {
    begin = __ldg(view.slices + slice);
    width = static_cast<int>((__ldg(view.slices + slice + 1) - begin) / 32);
    codes += static_cast<Size>(__ldg(view.code_starts + slice)) * 32;
  }
  double own = 0;
  const RowSum sum = sum_tile<max_row_entries>(width, view, slice, begin + threadIdx.x % 32, codes, fetch, u,
                                               {i, i < view.rows}, own, local);
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
  if (view.format == RowFormat::blocks)
    cuda::launch(stream, detail::blocks_kernel<Coefficient, Update>, blocks, detail::gpu_block, 0, rows, view, u,
                 forcing, update);
  else if (view.tiles != nullptr) {
    const Lid first_tile = rows.begin / tile_rows;
    const auto tiles = static_cast<unsigned>((rows.end - first_tile * tile_rows + tile_rows - 1) / tile_rows);
    cuda::launch(stream, detail::tiles_kernel<Coefficient, Update>, tiles, tile_rows, 0, rows, view, u, forcing,
                 update);
  } else if (view.codes != nullptr)
    cuda::launch(stream, detail::sliced_kernel<true, Coefficient, Update>, blocks, detail::gpu_block, 0, rows, view, u,
                 forcing, update);
  else
    cuda::launch(stream, detail::sliced_kernel<false, Coefficient, Update>, blocks, detail::gpu_block, 0, rows, view, u,
                 forcing, update);
  return true;
}

}  // namespace tutti::diffusion
