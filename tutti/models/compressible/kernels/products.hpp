// The one product that the method is made of: a table times the values of several variables.
#pragma once

#include <cmath>
#include <type_traits>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#include "tutti/base/types.hpp"
#include "tutti/models/compressible/kernels/team.hpp"

namespace tutti::compressible {

namespace detail {
/// Columns [0, W) of V variables; each sum is a chain of fused multiply-adds in the order of k. Compilers keep the sums
/// in registers only where vectors are written out (measured: p = 3 twice as fast).
#if defined(__AVX2__) && defined(__FMA__)
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
}  // namespace detail

/// y[v][i] += sum_k table[k][i] x[v][k], i < columns (a multiple of 4), v < V.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable  // one thread alone works on the host only
#endif
template <int V, class Team>
TUTTI_HD inline void add_product(const Team& team, const double* table, Size stride, int k_count, const double* x,
                                 int x_stride, int columns, double* y, int y_stride) {
  if constexpr (std::is_same_v<Team, SerialTeam>) {
    int i = 0;
    for (; i + 8 <= columns; i += 8)
      detail::add_columns<V, 8>(table + i, stride, k_count, x, x_stride, y + i, y_stride);
    if (i < columns) detail::add_columns<V, 4>(table + i, stride, k_count, x, x_stride, y + i, y_stride);
  } else {
    for (int n = team.first(); n < V * columns; n += team.step()) {
      const int v = n / columns, i = n % columns;
      double sum = y[v * y_stride + i];
      for (int k = 0; k < k_count; ++k) sum = std::fma(table[k * stride + i], x[v * x_stride + k], sum);
      y[v * y_stride + i] = sum;
    }
  }
}

template <class Team>
TUTTI_HD inline void set_zero(const Team& team, double* y, int count) {
  for (int n = team.first(); n < count; n += team.step()) y[n] = 0;
}

}  // namespace tutti::compressible
