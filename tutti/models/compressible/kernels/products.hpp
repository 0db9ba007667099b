// The one product that the method is made of: a table times the values of several variables.
#pragma once

#include <cmath>
#include <type_traits>

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#endif

#include "tutti/base/types.hpp"
#include "tutti/models/compressible/flux/lanes.hpp"
#include "tutti/models/compressible/kernels/team.hpp"

namespace tutti::compressible {

namespace detail {
/// Columns of V variables; each sum is a chain of fused multiply-adds in the order of k. Compilers keep the sums
/// in registers only where vectors are written out (measured: p = 3 twice as fast).
#if defined(__AVX512F__)
/// Columns of `wide` vectors of eight, and one of four where `half` is 1.
template <int V, int wide, int half>
inline void add_vectors(const double* table, Size stride, int k_count, const double* x, int x_stride, double* y,
                        int y_stride) {
  constexpr int zs = wide > 0 ? wide : 1, end = 8 * wide;
  __m512d sum[V][zs];
  __m256d rest[V];
  for (int v = 0; v < V; ++v) {
    for (int j = 0; j < wide; ++j) sum[v][j] = _mm512_loadu_pd(y + v * y_stride + 8 * j);
    if constexpr (half == 1) rest[v] = _mm256_loadu_pd(y + v * y_stride + end);
  }
  for (int k = 0; k < k_count; ++k) {
    __m512d row[zs];
    __m256d last;
    for (int j = 0; j < wide; ++j) row[j] = _mm512_loadu_pd(table + k * stride + 8 * j);
    if constexpr (half == 1) last = _mm256_loadu_pd(table + k * stride + end);
    for (int v = 0; v < V; ++v) {
      const double factor = x[v * x_stride + k];
      for (int j = 0; j < wide; ++j) sum[v][j] = _mm512_fmadd_pd(row[j], _mm512_set1_pd(factor), sum[v][j]);
      if constexpr (half == 1) rest[v] = _mm256_fmadd_pd(last, _mm256_set1_pd(factor), rest[v]);
    }
  }
  for (int v = 0; v < V; ++v) {
    for (int j = 0; j < wide; ++j) _mm512_storeu_pd(y + v * y_stride + 8 * j, sum[v][j]);
    if constexpr (half == 1) _mm256_storeu_pd(y + v * y_stride + end, rest[v]);
  }
}

/// Three vectors at a time hide how long a sum takes and fit the registers.
template <int V>
inline void add_all_columns(const double* table, Size stride, int k_count, const double* x, int x_stride, int columns,
                            double* y, int y_stride) {
  int i = 0;
  const auto add = [&](const auto wide, const auto half) {
    add_vectors<V, wide(), half()>(table + i, stride, k_count, x, x_stride, y + i, y_stride);
    i += 8 * wide() + 4 * half();
  };
  constexpr std::integral_constant<int, 0> none;
  constexpr std::integral_constant<int, 1> one;
  constexpr std::integral_constant<int, 2> two;
  constexpr std::integral_constant<int, 3> three;
  // NOLINTNEXTLINE(bugprone-infinite-loop): `add` moves i on.
  while (columns - i >= 32 || columns - i == 24) add(three, none);
  switch ((columns - i) / 4) {
    case 7:
      return add(three, one);
    case 5:
      return add(two, one);
    case 4:
      return add(two, none);
    case 3:
      return add(one, one);
    case 2:
      return add(one, none);
    case 1:
      return add(none, one);
    default:
      return;
  }
}
#elif defined(__AVX2__) && defined(__FMA__)
template <int V, int W>
inline void add_columns(const double* table, Size stride, int k_count, const double* x, int x_stride, double* y,
                        int y_stride) {
  constexpr int vectors = W / 4;
  __m256d sum[V][vectors];
  for (int v = 0; v < V; ++v)
    for (int j = 0; j < vectors; ++j) sum[v][j] = _mm256_loadu_pd(y + v * y_stride + 4 * j);
  for (int k = 0; k < k_count; ++k) {
    __m256d row[vectors];
    for (int j = 0; j < vectors; ++j) row[j] = _mm256_loadu_pd(table + k * stride + 4 * j);
    for (int v = 0; v < V; ++v) {
      const __m256d factor = _mm256_broadcast_sd(x + v * x_stride + k);
      for (int j = 0; j < vectors; ++j) sum[v][j] = _mm256_fmadd_pd(row[j], factor, sum[v][j]);
    }
  }
  for (int v = 0; v < V; ++v)
    for (int j = 0; j < vectors; ++j) _mm256_storeu_pd(y + v * y_stride + 4 * j, sum[v][j]);
}
#else
template <int V, int W>
inline void add_columns(const double* table, Size stride, int k_count, const double* x, int x_stride, double* y,
                        int y_stride) {
  double sum[V][W];
  for (int v = 0; v < V; ++v)
    for (int j = 0; j < W; ++j) sum[v][j] = y[v * y_stride + j];
  for (int k = 0; k < k_count; ++k) {
    const double* row = table + k * stride;
    for (int v = 0; v < V; ++v) {
      const double factor = x[v * x_stride + k];
      for (int j = 0; j < W; ++j) sum[v][j] = std::fma(row[j], factor, sum[v][j]);
    }
  }
  for (int v = 0; v < V; ++v)
    for (int j = 0; j < W; ++j) y[v * y_stride + j] = sum[v][j];
}
#endif
#if !defined(__AVX512F__)
template <int V>
inline void add_all_columns(const double* table, Size stride, int k_count, const double* x, int x_stride, int columns,
                            double* y, int y_stride) {
  int i = 0;
  for (; i + 8 <= columns; i += 8) add_columns<V, 8>(table + i, stride, k_count, x, x_stride, y + i, y_stride);
  if (i < columns) add_columns<V, 4>(table + i, stride, k_count, x, x_stride, y + i, y_stride);
}
#endif
}  // namespace detail

/// y[v][i] += sum_k table[k][i] x[v][k], i < columns (a multiple of 4), v < V.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // one thread alone works on the host only
#endif
template <int V, class Team>
TUTTI_HD inline void add_product(const Team& team, const double* table, Size stride, int k_count, const double* x,
                                 int x_stride, int columns, double* y, int y_stride) {
  if constexpr (std::is_same_v<Team, SerialTeam>) {
    detail::add_all_columns<V>(table, stride, k_count, x, x_stride, columns, y, y_stride);
  } else if (2 * columns > team.step()) {
    // A thread has a column of all variables: what it reads of the table serves them all.
    for (int i = team.first(); i < columns; i += team.step()) {
      double sum[V];
      for (int v = 0; v < V; ++v) sum[v] = y[v * y_stride + i];
      for (int k = 0; k < k_count; ++k) {
        const double row = table[k * stride + i];
        for (int v = 0; v < V; ++v) sum[v] = std::fma(row, x[v * x_stride + k], sum[v]);
      }
      for (int v = 0; v < V; ++v) y[v * y_stride + i] = sum[v];
    }
  } else {
    for_each_value(team, V, columns, [&](int v, int i) {
      double sum = y[v * y_stride + i];
      for (int k = 0; k < k_count; ++k) sum = std::fma(table[k * stride + i], x[v * x_stride + k], sum);
      y[v * y_stride + i] = sum;
    });
  }
}

/// Calls f(points) for all n points: one or several at a time (lanes.hpp).
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <class Team, class F>
TUTTI_HD inline void for_each_point(const Team& team, int n, const F& f) {
#if !defined(__CUDA_ARCH__)  // a GPU's compiler takes no vectors, not even of a team that it never sees
  if constexpr (std::is_same_v<Team, SerialTeam>) {
    for (int q = 0; q < n; q += lane_count) f(LanePoints{q, n - q});
    return;
  }
#endif
  for (int q = team.first(); q < n; q += team.step()) f(OnePoint{q});
}
/// Rows of values, `stride` apart.
template <int V, class Points>
TUTTI_HD inline void load_rows(const Points& at, const double* from, int stride, NumberOf<Points>* to) {
  for (int v = 0; v < V; ++v) to[v] = at.load(from + v * stride);
}
template <int V, class Points>
TUTTI_HD inline void store_rows(const Points& at, const NumberOf<Points>* from, double* to, int stride) {
  for (int v = 0; v < V; ++v) at.store(to + v * stride, from[v]);
}

template <class Team>
TUTTI_HD inline void set_zero(const Team& team, double* y, int count) {
  for (int n = team.first(); n < count; n += team.step()) y[n] = 0;
}

}  // namespace tutti::compressible
