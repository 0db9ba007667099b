// Sliced rows read otherwise than by the present kernel: two entries a load, other thread blocks, second neighbours
// found through the first ones.
#pragma once

#include <cuda_runtime_api.h>

#include "bench/ideas_sample.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/models/diffusion/column_windows.hpp"
#include "tutti/models/diffusion/diffusion_kernel.hpp"

namespace tutti {

/// Slices of 32 rows. `pair` 2: entries 2k and 2k + 1 of a row lie side by side, and widths are even.
struct SliceView {
  Lid rows;
  const Size* slices;
  const float* values;
  const std::uint16_t* codes;
  const Lid* windows;
  const Lid* wide;
  // Second neighbours through the first ones' rows: entry j reads slot s_j of 16, four bits each in `slots`. Slot 4 f +
  // m is face neighbour m of face neighbour f, or f itself where that is the row.
  const int4* faces;
  const uint2* slots;
};

struct SliceArrays {
  Lid rows = 0;
  Size entries = 0;
  Buffer<Size> slices;
  Buffer<float> values;
  Buffer<std::uint16_t> codes;
  Buffer<Lid> windows, wide;
  Buffer<int4> faces;
  Buffer<uint2> slots;
  SliceView view() const {
    return {rows, slices.data(), values.data(), codes.data(), windows.data(), wide.data(), faces.data(), slots.data()};
  }
  double bytes_a_row(bool through_faces) const {
    const Size columns = through_faces ? faces.bytes() + slots.bytes() : codes.bytes() + windows.bytes() + wide.bytes();
    return static_cast<double>(slices.bytes() + values.bytes() + columns) / rows + 16;
  }
};

inline SliceArrays make_slices(Stream& stream, const IdeasSample& sample, int pair) {
  const DiffusionRows& rows = sample.rows;
  SliceArrays out;
  out.rows = static_cast<Lid>(rows.counts.size());
  const Size n = out.rows, count = (n + 31) / 32;
  std::vector<Size> starts{0};
  for (Size s = 0; s < count; ++s) {
    int width = 0;
    for (Size i = s * 32; i < std::min(n, s * 32 + 32); ++i)
      width = std::max<int>(width, rows.counts[static_cast<std::size_t>(i)]);
    starts.push_back(starts.back() + 32 * ((width + pair - 1) / pair * pair));
  }
  out.entries = starts.back();
  const auto of = [&](Size i, int j) {
    return static_cast<std::size_t>(starts[static_cast<std::size_t>(i / 32)] + j / pair * (32 * pair) + i % 32 * pair +
                                    j % pair);
  };
  std::vector<Lid> columns(static_cast<std::size_t>(out.entries));
  std::vector<float> values(columns.size(), 0.0F);
  std::vector<uint2> slots(static_cast<std::size_t>(n));
  for_all(n, [&](Size i) {
    const auto r = static_cast<std::size_t>(i);
    const int width = static_cast<int>((starts[r / 32 + 1] - starts[r / 32]) / 32);
    std::uint64_t packed = 0;
    for (int j = 0; j < width; ++j) {
      const Lid column = rows.columns[r][static_cast<std::size_t>(j)];
      // In transposed order, as window_columns reads them.
      columns[static_cast<std::size_t>(starts[r / 32] + j * 32 + i % 32)] = column;
      values[of(i, j)] = static_cast<float>(rows.values[r][static_cast<std::size_t>(j)]);
      for (std::uint64_t s = 0; s < 16; ++s) {
        const Lid first = sample.faces[r][s / 4], second = sample.faces[static_cast<std::size_t>(first)][s % 4];
        if ((second == i ? first : second) != column) continue;
        packed |= s << (4 * j);
        break;
      }
    }
    slots[r] = {static_cast<unsigned>(packed), static_cast<unsigned>(packed >> 32)};
  });
  ColumnWindows w = window_columns(columns, starts, 5, out.rows);
  if (pair == 2) {
    const auto one = w.codes;
    for_all(count * 32, [&](Size i) {
      const auto r = static_cast<std::size_t>(i);
      const int width = static_cast<int>((starts[r / 32 + 1] - starts[r / 32]) / 32);
      for (int j = 0; j < width; ++j)
        w.codes[of(i, j)] = one[static_cast<std::size_t>(starts[r / 32] + j * 32 + i % 32)];
    });
  }
  std::vector<int4> faces;
  for (const auto& f : sample.faces) faces.push_back({f[0], f[1], f[2], f[3]});
  out.slices = make_buffer(stream, std::span<const Size>(starts), "slices");
  out.values = make_buffer(stream, std::span<const float>(values), "values");
  out.codes = make_buffer(stream, std::span<const std::uint16_t>(w.codes), "codes");
  out.windows = make_buffer(stream, std::span<const Lid>(w.windows), "windows");
  if (w.wide_slices > 0) out.wide = make_buffer(stream, std::span<const Lid>(w.wide), "wide");
  out.faces = make_buffer(stream, std::span<const int4>(faces), "faces");
  out.slots = make_buffer(stream, std::span<const uint2>(slots), "slots");
  return out;
}

template <int width, int pair>
__device__ inline double slice_sum(const SliceView& view, Lid slice, Size begin, const double* u, double own) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Lid columns[width];
  double a[width], neighbour[width];
  const Lid window = __ldg(view.windows + static_cast<Size>(slice) * windows_a_slice + lane % windows_a_slice);
  if (__shfl_sync(~0U, window, 0) < 0) {
    const Lid* wide = view.wide + static_cast<Size>(__shfl_sync(~0U, window, 1)) * (max_row_entries * 32) + lane;
#pragma unroll
    for (int j = 0; j < width; ++j) columns[j] = __ldcs(wide + j * 32);
  } else {
    int code[width];
    if constexpr (pair == 2) {
      const auto* from = reinterpret_cast<const unsigned*>(view.codes + begin) + lane;
#pragma unroll
      for (int j = 0; j < width; j += 2) {
        const unsigned two = __ldcs(from + j * 16);
        code[j] = static_cast<int>(two & 0xffffU);
        code[j + 1] = static_cast<int>(two >> 16);
      }
    } else {
#pragma unroll
      for (int j = 0; j < width; ++j) code[j] = __ldcs(view.codes + begin + j * 32 + lane);
    }
#pragma unroll
    for (int j = 0; j < width; ++j)
      columns[j] = __shfl_sync(~0U, window, code[j] >> window_bits) + (code[j] & ((1 << window_bits) - 1));
  }
  if constexpr (pair == 2) {
    const auto* from = reinterpret_cast<const float2*>(view.values + begin) + lane;
#pragma unroll
    for (int j = 0; j < width; j += 2) {
      const float2 two = __ldcs(from + j * 16);
      a[j] = two.x;
      a[j + 1] = two.y;
    }
  } else {
#pragma unroll
    for (int j = 0; j < width; ++j) a[j] = __ldcs(view.values + begin + j * 32 + lane);
  }
#pragma unroll
  for (int j = 0; j < width; ++j) neighbour[j] = __ldg(u + columns[j]);
  RowSum sum;
#pragma unroll
  for (int j = 0; j < width; ++j) sum.part[j % 4] = add_term(a[j], neighbour[j], own, sum.part[j % 4]);
  return sum.total();
}

/// Columns by way of the faces; `room`: 16 columns of each thread of the block.
template <int width>
__device__ inline double slice_sum_through_faces(const SliceView& view, Lid i, Size begin, const double* u, double own,
                                                 Lid* room) {
  const int lane = static_cast<int>(threadIdx.x % 32), stride = static_cast<int>(blockDim.x);
  const Lid row = i < view.rows ? i : 0;
  double a[width];
#pragma unroll
  for (int j = 0; j < width; ++j) a[j] = __ldcs(view.values + begin + j * 32 + lane);
  const uint2 slots = __ldcs(view.slots + row);
  const int4 first = __ldg(view.faces + row);
  const Lid near[4] = {first.x, first.y, first.z, first.w};
#pragma unroll
  for (int f = 0; f < 4; ++f) {
    const int4 second = __ldg(view.faces + near[f]);
    const Lid far[4] = {second.x, second.y, second.z, second.w};
#pragma unroll
    for (int m = 0; m < 4; ++m) room[(4 * f + m) * stride + threadIdx.x] = far[m] == row ? near[f] : far[m];
  }
  double neighbour[width];
#pragma unroll
  for (int j = 0; j < width; ++j) {
    const unsigned slot = ((j < 8 ? slots.x : slots.y) >> (4 * (j % 8))) & 15U;
    neighbour[j] = __ldg(u + room[slot * stride + threadIdx.x]);
  }
  RowSum sum;
#pragma unroll
  for (int j = 0; j < width; ++j) sum.part[j % 4] = add_term(a[j], neighbour[j], own, sum.part[j % 4]);
  return sum.total();
}

enum class Columns { one, pairs, through_faces };

template <int most, Columns columns>
__device__ inline double slice_sum_of(int width, const SliceView& view, Lid slice, Size begin, const double* u,
                                      double own, Lid* room) {
  if constexpr (most >= 12) {
    if (width == most) {
      if constexpr (columns == Columns::through_faces)
        return slice_sum_through_faces<most>(view, slice * 32 + static_cast<Lid>(threadIdx.x % 32), begin, u, own,
                                             room);
      else
        return slice_sum < most, columns == Columns::pairs ? 2 : 1 > (view, slice, begin, u, own);
    }
    return slice_sum_of<most - (columns == Columns::pairs ? 2 : 1), columns>(width, view, slice, begin, u, own, room);
  } else {
    __trap();
  }
}

/// One Euler step.
template <int block, int blocks, Columns columns>
__global__ void __launch_bounds__(block, blocks)
    slices_kernel(SliceView view, const double* u, double* next, double dt) {
  extern __shared__ Lid columns_room[];
  const Lid i = static_cast<Lid>(blockIdx.x) * block + static_cast<Lid>(threadIdx.x), slice = i / 32;
  if (slice * 32 >= view.rows) return;
  const Size begin = __ldg(view.slices + slice);
  const int width = static_cast<int>((__ldg(view.slices + slice + 1) - begin) / 32);
  const double own = i < view.rows ? u[i] : 0.0;
  const double sum = slice_sum_of<max_row_entries, columns>(width, view, slice, begin, u, own, columns_room);
  if (i < view.rows) next[i] = std::fma(dt, row_rate(sum, 0.0, own, nullptr, i), own);
}

}  // namespace tutti
