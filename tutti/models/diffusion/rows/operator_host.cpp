// The row operator tuned for CPUs: vectors of four doubles, and a prefetch of u.
//
// What limits a plain loop is not the stream of coefficients but the latency of u: along a Hilbert curve the neighbours
// that come first are met in an order no hardware prefetcher follows. Touching u far ahead, in order, brings it near in
// time. The coefficients are fetched ahead as well: on cores whose own prefetcher keeps too few lines under way (Intel
// server cores in a virtual machine: 0.66 -> 0.83 of P on one thread) that is a quarter of the time; others do not
// mind.
#include "tutti/models/diffusion/rows/operator_rows.hpp"

#if defined(__AVX2__) && defined(__FMA__)
#define TUTTI_HOST_VECTORS 1
#include <immintrin.h>
#else
#define TUTTI_HOST_VECTORS 0
#endif

namespace tutti::diffusion {
namespace {

constexpr Lid prefetch_distance = 32768;  // rows: 256 KiB of u
constexpr Lid rows_a_line = 8;
constexpr int line_bytes = 64;
constexpr int rows_ahead = 32;    // of the coefficients, row after row: 4 KiB, into the nearest cache
constexpr int places_ahead = 96;  // of the coefficients in a slice, eight rows each: 6 KiB, into the second cache

#if TUTTI_HOST_VECTORS

inline __m256d load4(const double* a) {
  return _mm256_loadu_pd(a);
}
inline __m256d load4(const float* a) {
  return _mm256_cvtps_pd(_mm_loadu_ps(a));
}
/// Single loads: on current CPUs as fast as a gather instruction, or faster.
inline __m256d gather4(const double* u, const Lid* c) {
  return _mm256_set_pd(u[c[3]], u[c[2]], u[c[1]], u[c[0]]);
}

/// Ellpack, row after row: lane k of the vector is running sum k.
template <class Coefficient, class Update>
void apply_ellpack(Range rows, const OperatorView<Coefficient>& view, const double* u, const double* forcing,
                   const Update& update) {
  for (Lid i = rows.begin; i < rows.end; ++i) {
    if (i % rows_a_line == 0) __builtin_prefetch(u + i + prefetch_distance, 0, 2);
    const Size first = static_cast<Size>(i) * max_row_entries;
    for (int k = 0; k < max_row_entries; k += line_bytes / static_cast<int>(sizeof(Coefficient)))
      __builtin_prefetch(view.values + first + rows_ahead * max_row_entries + k, 0, 3);
    __builtin_prefetch(view.columns + first + rows_ahead * max_row_entries, 0, 3);
    const double own = u[i];
    const __m256d owns = _mm256_set1_pd(own);
    __m256d sums = _mm256_setzero_pd();
    for (int k = 0; k < max_row_entries; k += 4)
      sums = _mm256_fmadd_pd(load4(view.values + first + k), _mm256_sub_pd(gather4(u, view.columns + first + k), owns),
                             sums);
    RowSum sum;
    _mm256_storeu_pd(sum.part, sums);
    update(i, own, row_rate(sum.total(), view.diagonal == nullptr ? 0.0 : view.diagonal[i], own, forcing, i));
  }
}

/// Eight rows whose entries lie side by side (a slice, or a piece of a transposed block): two vectors of rows, four
/// running sums each. Entry j of row i + r is at first + j * stride + r.
template <class Coefficient, class Update>
void apply_eight(Lid i, Size first, Size stride, int width, const OperatorView<Coefficient>& view, const double* u,
                 const double* forcing, const Update& update) {
  __builtin_prefetch(u + i + prefetch_distance, 0, 2);
  const __m256d low = load4(u + i), high = load4(u + i + 4);
  __m256d sums[4][2];
  for (auto& s : sums) s[0] = s[1] = _mm256_setzero_pd();
  const auto add = [&](int j, __m256d* s) {
    const Size at = first + j * stride;
    // In a block the 16 columns are 16 far streams, more than the hardware follows: fetch the same place of the next
    // block.
    if (stride == block_rows) {
      __builtin_prefetch(view.values + at + block_rows * max_row_entries, 0, 2);
      __builtin_prefetch(view.columns + at + block_rows * max_row_entries, 0, 2);
    }
    if (stride == 8) {
      __builtin_prefetch(view.values + at + places_ahead * 8, 0, 2);
      if (j % 2 == 0) __builtin_prefetch(view.columns + at + places_ahead * 8, 0, 2);  // two places are a line
    }
    s[0] = _mm256_fmadd_pd(load4(view.values + at), _mm256_sub_pd(gather4(u, view.columns + at), low), s[0]);
    s[1] = _mm256_fmadd_pd(load4(view.values + at + 4), _mm256_sub_pd(gather4(u, view.columns + at + 4), high), s[1]);
  };
  int j = 0;
  // Spelled out: an index that varies would keep the sums out of registers.
  for (; j + 4 <= width; j += 4) {
    add(j, sums[0]);
    add(j + 1, sums[1]);
    add(j + 2, sums[2]);
    add(j + 3, sums[3]);
  }
  if (j < width) add(j, sums[0]);
  if (j + 1 < width) add(j + 1, sums[1]);
  if (j + 2 < width) add(j + 2, sums[2]);
  alignas(32) double own[8], rate[8];
  const auto finish = [&](int h, __m256d u_h) {
    __m256d r = _mm256_add_pd(_mm256_add_pd(sums[0][h], sums[1][h]), _mm256_add_pd(sums[2][h], sums[3][h]));
    // As row_rate: an absent diagonal adds an exact zero.
    if (view.diagonal != nullptr) r = _mm256_fmadd_pd(load4(view.diagonal + i + 4 * h), u_h, r);
    if (forcing != nullptr) r = _mm256_add_pd(r, load4(forcing + i + 4 * h));
    _mm256_store_pd(rate + 4 * h, r);
    _mm256_store_pd(own + 4 * h, u_h);
  };
  finish(0, low);
  finish(1, high);
  for (int r = 0; r < 8; ++r) update(i + r, own[r], rate[r]);
}

#endif

template <class Coefficient, class Update>
void apply_one_by_one(Range rows, const OperatorView<Coefficient>& view, const double* u, const double* forcing,
                      const Update& update) {
  for (Lid i = rows.begin; i < rows.end; ++i) apply_row(view, u, forcing, update, i);
}

}  // namespace

template <class Coefficient, class Update>
void apply_rows_on_host(Range rows, const OperatorView<Coefficient>& view, const double* u, const double* forcing,
                        const Update& update) {
#if TUTTI_HOST_VECTORS
  if (view.format == RowFormat::rows) return apply_ellpack(rows, view, u, forcing, update);
  if (view.format == RowFormat::blocks || (view.shift == slice_shift(true) && view.codes == nullptr)) {
    // Eights at once; the rows of a cut eight one by one.
    const Lid first = (rows.begin + 7) / 8, last = rows.end / 8;
    if (first >= last) return apply_one_by_one(rows, view, u, forcing, update);
    apply_one_by_one({rows.begin, first * 8}, view, u, forcing, update);
    for (Lid eight = first; eight < last; ++eight) {
      const RowPlace place = place_of(view, eight * 8);
      apply_eight(eight * 8, place.first, place.stride, place.width, view, u, forcing, update);
    }
    return apply_one_by_one({last * 8, rows.end}, view, u, forcing, update);
  }
#endif
  apply_one_by_one(rows, view, u, forcing, update);
}

#define TUTTI_INSTANTIATE(Update)                                                                                    \
  template void apply_rows_on_host(Range, const OperatorView<double>&, const double*, const double*, const Update&); \
  template void apply_rows_on_host(Range, const OperatorView<float>&, const double*, const double*, const Update&)
TUTTI_INSTANTIATE(EulerUpdate);
TUTTI_INSTANTIATE(RateOnly);
TUTTI_INSTANTIATE(RkcFirst);
TUTTI_INSTANTIATE(RkcStage);
TUTTI_INSTANTIATE(ShiftedUpdate);
TUTTI_INSTANTIATE(ResidualUpdate);
TUTTI_INSTANTIATE(ChebyshevUpdate);
#undef TUTTI_INSTANTIATE

}  // namespace tutti::diffusion
