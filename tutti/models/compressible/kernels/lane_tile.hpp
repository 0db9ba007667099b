// Tiles of as many elements or faces as a CPU's vector registers have lanes: value after value, each of all lanes. A
// lane adds in the order in which one element at a time is added, so that the bits are the same.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tutti/base/types.hpp"
#include "tutti/models/compressible/flux/lanes.hpp"
#include "tutti/models/compressible/kernels/lane_products.hpp"

#if TUTTI_LANES > 1
namespace tutti::compressible {

using LaneVector = decltype(Lanes::v);

namespace detail {
inline __m256i mask_of(int count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0));
}
/// The first `count` of four values, without a masked store: on processors by AMD these take 20 times as long, and GCC
/// 12 makes one of a register's half a vextractf64x4, which faults where masked values lie beyond the memory's end.
inline void store_some(double* to, __m256d x, int count) {
  if (count >= 4) return _mm256_storeu_pd(to, x);
  const __m128d upper = _mm256_extractf128_pd(x, 1);
  if (count == 1) return _mm_store_sd(to, _mm256_castpd256_pd128(x));
  _mm_storeu_pd(to, _mm256_castpd256_pd128(x));
  if (count == 3) _mm_store_sd(to + 2, upper);
}
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
  for (int k = 0; k < 4; ++k) {
    store_some(rows[k] + i, __builtin_shufflevector(x[k], x[k], 0, 1, 2, 3), count);
    store_some(rows[k + 4] + i, __builtin_shufflevector(x[k], x[k], 4, 5, 6, 7), count);
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
inline void load_four(const double* const* rows, int i, int count, LaneVector (&x)[4]) {
  for (int k = 0; k < 4; ++k)
    x[k] = count >= 4 ? _mm256_loadu_pd(rows[k] + i) : _mm256_maskload_pd(rows[k] + i, mask_of(count));
  turn(x);
}
inline void store_four(LaneVector (&x)[4], int i, int count, double* const* rows) {
  turn(x);
  for (int k = 0; k < 4; ++k) store_some(rows[k] + i, x[k], count);
}
#endif
}  // namespace detail

/// Four values of a row, or the first `count` of them.
struct QuarterRow {
  __m256d v;
  QuarterRow() : v(_mm256_setzero_pd()) {}
  explicit QuarterRow(__m256d a) : v(a) {}
  QuarterRow(const double* from, int count)
      : v(count >= 4 ? _mm256_loadu_pd(from) : _mm256_maskload_pd(from, detail::mask_of(count))) {}
  friend QuarterRow operator*(double a, QuarterRow x) { return QuarterRow(_mm256_mul_pd(_mm256_set1_pd(a), x.v)); }
};
inline QuarterRow fused(double a, QuarterRow b, QuarterRow c) {
  return QuarterRow(_mm256_fmadd_pd(_mm256_set1_pd(a), b.v, c.v));
}
/// to[i][lane] = i-th of lane's row, i < n, whose values from `at` on are of(lane, at, count).
template <class F>
inline void load_tile_of(const F& of, int n, double* to) {
  for (int i = 0; i < n; i += 4) {
    LaneVector x[4];
    for (int k = 0; k < 4; ++k) {
#if TUTTI_LANES == 8
      x[k] = _mm512_maskz_insertf64x4(0xff, _mm512_castpd256_pd512(of(k, i, n - i).v), of(k + 4, i, n - i).v, 1);
#else
      x[k] = of(k, i, n - i).v;
#endif
    }
    detail::turn(x);
    for (int k = 0; k < 4 && i + k < n; ++k) store_lanes(to + lane_count * (i + k), Lanes(x[k]));
  }
}

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

/// to[v each + q][lane] = scale[lane] rows[lane][v n + orders[lane][q]], q < n, v < V. n: 4, 8 or 12; an order has 16
/// places.
#if TUTTI_LANES == 8
template <int V, int n>
inline void load_turned_tile(const double* const* rows, const std::uint8_t* const* orders, Lanes scale, double* to,
                             int each) {
  const auto index_of = [](const std::uint8_t* order) {
    return _mm512_maskz_cvtepu8_epi64(0xff, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(order)));
  };
  const auto store = [&](LaneVector(&x)[4], double* from) {
    detail::turn(x);
    for (int k = 0; k < 4; ++k) store_lanes(from + lane_count * k, scale * Lanes(x[k]));
  };
  if constexpr (n == 4) {
    __m512i index[4];  // of lanes k and k + 4
    for (int k = 0; k < 4; ++k)
      index[k] = _mm512_maskz_shuffle_i64x2(0xff, index_of(orders[k]),
                                            _mm512_add_epi64(index_of(orders[k + 4]), _mm512_set1_epi64(4)), 0x44);
    for (int v = 0; v < V; ++v) {
      LaneVector x[4];
      for (int k = 0; k < 4; ++k)
        x[k] = _mm512_maskz_permutexvar_pd(0xff, index[k], detail::two_rows(rows, k, n * v, n));
      store(x, to + lane_count * each * v);
    }
  } else {
    const auto turned = [&](int lane, int v, __m512i index) {
      const double* from = rows[lane] + n * v;
      const __m512d first = _mm512_loadu_pd(from);
      if constexpr (n == 8) return _mm512_maskz_permutexvar_pd(0xff, index, first);
      return _mm512_permutex2var_pd(first, index, _mm512_castpd256_pd512(_mm256_loadu_pd(from + 8)));
    };
    for (int q = 0; q < n; q += 8) {
      __m512i index[lane_count];
      for (int i = 0; i < lane_count; ++i) index[i] = index_of(orders[i] + q);
      for (int v = 0; v < V; ++v) {
        LaneVector x[4], y[4];
        for (int k = 0; k < 4; ++k) {
          const __m512d a = turned(k, v, index[k]), b = turned(k + 4, v, index[k + 4]);
          x[k] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
          y[k] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
        }
        store(x, to + lane_count * (each * v + q));
        if (q + 4 < n) store(y, to + lane_count * (each * v + q + 4));
      }
    }
  }
}
#else
template <int V, int n>
inline void load_turned_tile(const double* const* rows, const std::uint8_t* const* orders, Lanes scale, double* to,
                             int each) {
  // Stored as vectors, as they are loaded next: a vector cannot be loaded from several stores on their way to memory.
  alignas(32) double turned[lane_count][V * n];
  const double* from[lane_count];
  for (int i = 0; i < lane_count; ++i) {
    const std::uint8_t* order = orders[i];
    for (int v = 0; v < V; ++v)
      for (int q = 0; q < n; q += 4) {
        const double* x = rows[i] + v * n;
        _mm256_store_pd(turned[i] + v * n + q,
                        _mm256_set_pd(x[order[q + 3]], x[order[q + 2]], x[order[q + 1]], x[order[q]]));
      }
  }
  for (int v = 0; v < V; ++v) {
    for (int i = 0; i < lane_count; ++i) from[i] = turned[i] + v * n;
    load_tile_scaled(from, n, scale, to + lane_count * each * v);
  }
}
#endif

namespace detail {
/// GCC would load it again for each use.
inline LaneVector in_register(LaneVector x) {
  asm("" : "+v"(x));
  return x;
}

template <int V, int R, bool fresh>
[[gnu::noinline]] void add_block(const LaneProducts& all, const ProductBlock& block, const double* x, int x_stride,
                                 double* y, int y_stride) {
  LaneVector sum[V][R];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      sum[v][r] = fresh ? Lanes(0.0).v : load_lanes(y + lane_count * (v * y_stride + block.row[r])).v;
  const std::uint16_t *term = all.terms + block.terms, *const end = term + block.count;
  const double* factors = all.factors + block.factors;
  do {  // a loop that may be left out would have the sums in memory
    const double* value = x + lane_count * *term;
    LaneVector row[R];
    for (int r = 0; r < R; ++r) row[r] = Lanes(factors[r]).v;
    for (int v = 0; v < V; ++v) {
      const LaneVector one = in_register(load_lanes(value + lane_count * v * x_stride).v);
      for (int r = 0; r < R; ++r) sum[v][r] = fused(Lanes(row[r]), Lanes(one), Lanes(sum[v][r])).v;
    }
    factors += R;
  } while (++term != end);
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) store_lanes(y + lane_count * (v * y_stride + block.row[r]), Lanes(sum[v][r]));
}

template <int V, bool fresh>
inline void add_rows(const LaneProducts& all, LaneProduct product, const double* x, int x_stride, double* y,
                     int y_stride) {
  for (std::int32_t i = product.begin; i < product.end; ++i) {
    const ProductBlock& block = all.blocks[i];
    const auto add = [&](const auto at_once) { add_block<V, at_once(), fresh>(all, block, x, x_stride, y, y_stride); };
    switch (block.rows) {
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

/// y[v][i] += sum_k table[k][i] x[v][k], v < V: as add_product(). Terms that are left out, whose factors are zero,
/// change no sum.
template <int V>
inline void add_tile_product(const LaneProducts& all, LaneProduct product, const double* x, int x_stride, double* y,
                             int y_stride) {
  detail::add_rows<V, false>(all, product, x, x_stride, y, y_stride);
}
/// The same from zeros on.
template <int V>
inline void set_tile_product(const LaneProducts& all, LaneProduct product, const double* x, int x_stride, double* y,
                             int y_stride) {
  detail::add_rows<V, true>(all, product, x, x_stride, y, y_stride);
}

}  // namespace tutti::compressible
#endif
