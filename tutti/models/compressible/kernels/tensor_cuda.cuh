// Products on the tensor cores of double precision, and copies into shared memory that need no registers.
//
// A step multiplies a tile of 16 rows (elements or faces) by four rows of a table. Thread 4 i + j of a warp holds the
// values j of rows i and i + 8, row j and column i of the table's fragment, and columns 2 j, 2 j + 1 of the sums of
// rows i and i + 8. Sums are chains of fused multiply-adds in the order of the table's rows: the bits of add_product().
#pragma once

#include "tutti/device/cuda/check.hpp"

namespace tutti::compressible {

/// sum[0], [1]: columns 2 j, 2 j + 1 of row i; [2], [3]: of row i + 8.
__device__ __forceinline__ void add_step(double (&sum)[4], double upper, double lower, double table) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
      : "d"(upper), "d"(lower), "d"(table));
#else
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
      : "+d"(sum[0]), "+d"(sum[1])
      : "d"(upper), "d"(table));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
      : "+d"(sum[2]), "+d"(sum[3])
      : "d"(lower), "d"(table));
#endif
}

/// 16 bytes, both sides aligned to 16.
__device__ __forceinline__ void copy_ahead(double* shared, const double* global) {
  asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
}
/// 8 bytes.
__device__ __forceinline__ void copy_one_ahead(double* shared, const double* global) {
  asm volatile("cp.async.ca.shared.global [%0],[%1],8;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(global)
               : "memory");
}
/// Rows of `pairs` pairs of numbers, `stride` apart in shared memory: row(i) is the i-th of `rows`, which all threads
/// of a warp ask for; `thread` is one of `warps` warps. A lane has the same pair of each row, so that places take few
/// instructions and registers; `unrolled`: so many copies at a time, whose places take more.
template <int pairs, int rows, int stride, int warps, int unrolled = 8, class Row>
__device__ __forceinline__ void copy_rows_ahead(double* shared, int thread, const Row& row) {
  static_assert(pairs <= 64);
  constexpr int at_once = pairs < 32 ? 32 / pairs : 1;
  const int lane = thread % 32, mine = pairs < 32 ? lane / pairs : 0, c = 2 * (lane - mine * pairs);
#pragma unroll unrolled
  for (int first = at_once * (thread / 32); first < rows; first += at_once * warps) {
    const int i = first + mine;
    const double* from = row(i % rows) + c;
    if (pairs < 32 && (mine >= at_once || i >= rows)) continue;
    double* to = shared + stride * i + c;
    copy_ahead(to, from);
    if (pairs > 32 && lane + 32 < pairs) copy_ahead(to + 64, from + 64);
  }
}
/// Copies come in groups, in the order of their ends.
__device__ __forceinline__ void end_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// For all but the last `left` groups.
template <int left>
__device__ __forceinline__ void wait_for_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}
/// For all that there are.
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

}  // namespace tutti::compressible
