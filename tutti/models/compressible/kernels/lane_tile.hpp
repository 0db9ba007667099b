// Tiles of as many elements or faces as a CPU's vector registers have lanes: value after value, each of all lanes. A
// lane adds in the order in which one element at a time is added, so that the bits are the same.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tutti/base/types.hpp"
#include "tutti/models/compressible/flux/lanes.hpp"

#if TUTTI_LANES > 1
namespace tutti::compressible {

using LaneVector = decltype(Lanes::v);

namespace detail {
#if TUTTI_LANES == 8
/// Four values of rows k and k + 4, of which `count` are there.
inline __m512d two_rows(const double* const* rows, int k, int i, int count) {
  const auto both = [](__m256d a, __m256d b) {
    return _mm512_maskz_insertf64x4(0xff, _mm512_castpd256_pd512(a), b, 1);  // loads the second as it inserts
  };
  if (count >= 4) return both(_mm256_loadu_pd(rows[k] + i), _mm256_loadu_pd(rows[k + 4] + i));
  const auto mask = static_cast<__mmask8>(0xf >> (4 - count));
  return both(_mm256_maskz_loadu_pd(mask, rows[k] + i), _mm256_maskz_loadu_pd(mask, rows[k + 4] + i));
}
/// A transpose of 4 x 4 in each half.
inline void turn(__m512d (&x)[4]) {
  const __m512d a = __builtin_shufflevector(x[0], x[1], 0, 8, 2, 10, 4, 12, 6, 14),
                b = __builtin_shufflevector(x[0], x[1], 1, 9, 3, 11, 5, 13, 7, 15),
                c = __builtin_shufflevector(x[2], x[3], 0, 8, 2, 10, 4, 12, 6, 14),
                d = __builtin_shufflevector(x[2], x[3], 1, 9, 3, 11, 5, 13, 7, 15);
  x[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  x[1] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  x[2] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  x[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}
inline void load_four(const double* const* rows, int i, int count, LaneVector (&x)[4]) {
  for (int k = 0; k < 4; ++k) x[k] = two_rows(rows, k, i, count);
  turn(x);
}
inline void store_four(LaneVector (&x)[4], int i, int count, double* const* rows) {
  turn(x);
  const auto mask = static_cast<__mmask8>(count >= 4 ? 0xf : 0xf >> (4 - count));
  for (int k = 0; k < 4; ++k) {
    _mm256_mask_storeu_pd(rows[k] + i, mask, __builtin_shufflevector(x[k], x[k], 0, 1, 2, 3));
    _mm256_mask_storeu_pd(rows[k + 4] + i, mask, __builtin_shufflevector(x[k], x[k], 4, 5, 6, 7));
  }
}
#else
inline void turn(__m256d (&x)[4]) {
  const __m256d a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]),
                c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);
  x[0] = _mm256_permute2f128_pd(a, c, 0x20);
  x[1] = _mm256_permute2f128_pd(b, d, 0x20);
  x[2] = _mm256_permute2f128_pd(a, c, 0x31);
  x[3] = _mm256_permute2f128_pd(b, d, 0x31);
}
inline __m256i mask_of(int count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0));
}
inline void load_four(const double* const* rows, int i, int count, LaneVector (&x)[4]) {
  for (int k = 0; k < 4; ++k)
    x[k] = count >= 4 ? _mm256_loadu_pd(rows[k] + i) : _mm256_maskload_pd(rows[k] + i, mask_of(count));
  turn(x);
}
/// The first `count` of four values, without a masked store: of processors by AMD these take 20 times as long.
inline void store_some(double* to, __m256d x, int count) {
  if (count >= 4) return _mm256_storeu_pd(to, x);
  const __m128d upper = _mm256_extractf128_pd(x, 1);
  if (count == 1) return _mm_store_sd(to, _mm256_castpd256_pd128(x));
  _mm_storeu_pd(to, _mm256_castpd256_pd128(x));
  if (count == 3) _mm_store_sd(to + 2, upper);
}
inline void store_four(LaneVector (&x)[4], int i, int count, double* const* rows) {
  turn(x);
  for (int k = 0; k < 4; ++k) store_some(rows[k] + i, x[k], count);
}
#endif
}  // namespace detail

/// to[i][lane] = scale[lane] rows[lane][i], i < count.
inline void load_tile_scaled(const double* const* rows, int count, Lanes scale, double* to) {
  for (int i = 0; i < count; i += 4) {
    LaneVector x[4];
    detail::load_four(rows, i, count - i, x);
    for (int k = 0; k < 4 && i + k < count; ++k) store_lanes(to + lane_count * (i + k), scale * Lanes(x[k]));
  }
}
/// to[i][lane] = rows[lane][i], i < count.
inline void load_tile(const double* const* rows, int count, double* to) {
  for (int i = 0; i < count; i += 4) {
    LaneVector x[4];
    detail::load_four(rows, i, count - i, x);
    for (int k = 0; k < 4 && i + k < count; ++k) store_lanes(to + lane_count * (i + k), Lanes(x[k]));
  }
}
/// And back.
inline void store_tile(const double* from, int count, double* const* rows) {
  for (int i = 0; i < count; i += 4) {
    LaneVector x[4];
    for (int k = 0; k < 4; ++k) x[k] = load_lanes(from + lane_count * (i + k < count ? i + k : i)).v;
    detail::store_four(x, i, count - i, rows);
  }
}

/// to[v][q] = from[v][order[q]], q < n, v < V. n: a multiple of 4, at most 16, as many as `order` has.
template <int V, int n>
inline void turn_row(const double* from, const std::uint8_t* order, double* to) {
#if TUTTI_LANES == 8
  const auto load = [](const double* x, int count) {
    return count > 4 ? _mm512_loadu_pd(x) : _mm512_castpd256_pd512(_mm256_loadu_pd(x));
  };
  for (int q = 0; q < n; q += 8) {
    const __m512i index =
        _mm512_maskz_cvtepu8_epi64(0xff, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(order + q)));
    for (int v = 0; v < V; ++v) {
      const __m512d a = load(from + v * n, n), b = n > 8 ? load(from + v * n + 8, n - 8) : a;
      const __m512d turned = _mm512_permutex2var_pd(a, index, b);
      if (n - q > 4)
        _mm512_storeu_pd(to + v * n + q, turned);
      else
        _mm256_storeu_pd(to + v * n + q, __builtin_shufflevector(turned, turned, 0, 1, 2, 3));
    }
  }
#else
  // Stored as vectors, as they are loaded next: a vector cannot be loaded from several stores on their way to memory.
  for (int v = 0; v < V; ++v)
    for (int q = 0; q < n; q += 4) {
      const double* x = from + v * n;
      _mm256_storeu_pd(to + v * n + q, _mm256_set_pd(x[order[q + 3]], x[order[q + 2]], x[order[q + 1]], x[order[q]]));
    }
#endif
}

namespace detail {
/// GCC would load it again for each use.
inline LaneVector in_register(LaneVector x) {
  asm("" : "+v"(x));
  return x;
}

template <int V, int R, bool fresh>
inline void add_block(const double* table, Size stride, int k_count, const double* x, int x_stride, double* y,
                      int y_stride) {
  LaneVector sum[V][R];
  for (int v = 0; v < V; ++v)
    for (int r = 0; r < R; ++r) sum[v][r] = fresh ? Lanes(0.0).v : load_lanes(y + lane_count * (v * y_stride + r)).v;
  int k = 0;
  do {  // a loop that may be left out would have the sums in memory
    LaneVector row[R];
    for (int r = 0; r < R; ++r) row[r] = Lanes(table[k * stride + r]).v;
    for (int v = 0; v < V; ++v) {
      const LaneVector factor = in_register(load_lanes(x + lane_count * (v * x_stride + k)).v);
      for (int r = 0; r < R; ++r) sum[v][r] = fused(Lanes(row[r]), Lanes(factor), Lanes(sum[v][r])).v;
    }
  } while (++k < k_count);
  for (int v = 0; v < V; ++v)
    for (int r = 0; r < R; ++r) store_lanes(y + lane_count * (v * y_stride + r), Lanes(sum[v][r]));
}

/// So many rows at a time that registers have room for their sums of V variables, and as equally many as can be.
constexpr int rows_at_once(int left) {
  if (lane_count == 4) return left < 2 ? left : 2;
  return left == 6 || left == 3 ? 3 : left % 5 == 0 ? 5 : left < 4 ? left : 4;
}

template <int V, bool fresh>
inline void add_rows(const double* table, Size stride, int k_count, const double* x, int x_stride, int rows, double* y,
                     int y_stride) {
  for (int i = 0, count = 0; i < rows; i += count) {
    const auto add = [&](const auto at_once) {
      add_block<V, at_once(), fresh>(table + i, stride, k_count, x, x_stride, y + lane_count * i, y_stride);
    };
    count = rows_at_once(rows - i);
    switch (count) {
      case 1:
        add(std::integral_constant<int, 1>());
        break;
      case 2:
        add(std::integral_constant<int, 2>());
        break;
#if TUTTI_LANES == 8
      case 3:
        add(std::integral_constant<int, 3>());
        break;
      case 4:
        add(std::integral_constant<int, 4>());
        break;
      default:
        add(std::integral_constant<int, 5>());
        break;
#endif
    }
  }
}
}  // namespace detail

/// y[v][i] += sum_k table[k][i] x[v][k], k < k_count > 0, i < rows, v < V: as add_product().
template <int V>
inline void add_tile_product(const double* table, Size stride, int k_count, const double* x, int x_stride, int rows,
                             double* y, int y_stride) {
  detail::add_rows<V, false>(table, stride, k_count, x, x_stride, rows, y, y_stride);
}
/// The same from zeros on.
template <int V>
inline void set_tile_product(const double* table, Size stride, int k_count, const double* x, int x_stride, int rows,
                             double* y, int y_stride) {
  detail::add_rows<V, true>(table, stride, k_count, x, x_stride, rows, y, y_stride);
}

}  // namespace tutti::compressible
#endif
