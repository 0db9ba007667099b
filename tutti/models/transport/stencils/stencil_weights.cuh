// One thread block solves one stencil's system in shared memory; thread t owns row t. Each entry sees the operations of
// dense_lu.cpp in their order, so that the weights have the CPU's bits.
#pragma once

#include "tutti/device/cuda/check.hpp"
#include "tutti/models/transport/stencils/stencil_system.hpp"

namespace tutti::transport::weights {

inline constexpr int max_threads = (max_gpu_unknowns + 31) / 32 * 32;

/// Values from row to row: odd, so that rows begin in different banks.
TUTTI_HD inline int row_stride(const StencilBasis& basis) {
  return (unknown_count(basis) + right_sides) | 1;
}
/// Of a block: the matrix, the nodes, one vector, the permutation.
inline std::size_t shared_bytes(const StencilBasis& basis) {
  const auto size = static_cast<std::size_t>(unknown_count(basis));
  return sizeof(double) * size * static_cast<std::size_t>(row_stride(basis)) +
         sizeof(Vec3) * static_cast<std::size_t>(basis.size) + sizeof(double) * size + sizeof(int) * size;
}

/// A value and the row that it is in.
struct Largest {
  double value;
  int row;
};

__device__ inline Largest larger(Largest a, Largest b) {
  return b.value > a.value || (b.value == a.value && b.row < a.row) ? b : a;
}

/// The largest value of all threads, in the first of its rows; all threads get it.
__device__ inline Largest block_largest(double value, int row) {
  __shared__ Largest of_warp[max_threads / 32];
  Largest best{value, row};
  for (int step = 16; step > 0; step /= 2) {
    const Largest other{__shfl_xor_sync(0xffffffffu, best.value, step), __shfl_xor_sync(0xffffffffu, best.row, step)};
    best = larger(best, other);
  }
  const int warps = static_cast<int>(blockDim.x) / 32;
  if (warps == 1) return best;
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = best;
  __syncthreads();
  best = of_warp[0];
  for (int w = 1; w < warps; ++w) best = larger(best, of_warp[w]);
  __syncthreads();
  return best;
}

/// The matrix and what belongs to it, in shared memory.
struct System {
  double* a;
  Vec3* points;
  double* x;
  int* order;  // order[i]: the row that is row i now
  int size, stride;
  __device__ double* row(int i) const { return a + i * stride; }
};

__device__ inline System place_system(const StencilBasis& basis, double* shared) {
  System s;
  s.size = unknown_count(basis);
  s.stride = row_stride(basis);
  s.a = shared;
  s.points = reinterpret_cast<Vec3*>(s.a + s.size * s.stride);
  s.x = reinterpret_cast<double*>(s.points + basis.size);
  s.order = reinterpret_cast<int*>(s.x + s.size);
  return s;
}

/// As place_points of the CPU.
__device__ inline StencilFrame load_points(const StencilBasis& basis, const System& s, const Vec3* nodes,
                                           const Lid* columns) {
  const int t = static_cast<int>(threadIdx.x);
  StencilFrame frame = make_frame(nodes[columns[0]]);
  Vec3 p{};
  if (t < basis.size) p = nodes[columns[t]];
  if (basis.kind == StencilBasis::Kind::polyharmonic) {
    p = t < basis.size ? project(frame, p) : Vec3{};
    frame.radius = std::sqrt(block_largest(p.x * p.x + p.y * p.y, 0).value);
    p = (1 / frame.radius) * p;
  }
  if (t < basis.size) s.points[t] = p;
  return frame;
}

/// Both halves of the symmetric matrix: rows i and size - 1 - i together have size + 1 entries on and above the
/// diagonal, whatever i is.
__device__ inline void fill_matrix(const StencilBasis& basis, const System& s) {
  const int width = s.size + 1, entries = (s.size + 1) / 2 * width;
  for (int e = static_cast<int>(threadIdx.x); e < entries; e += static_cast<int>(blockDim.x)) {
    const int pair = e / width, place = e % width;
    const bool upper = place < s.size - pair;
    const int i = upper ? pair : s.size - 1 - pair;
    const int j = upper ? pair + place : place - 1;
    const double value = system_entry(basis, s.points, i, j);
    s.row(i)[j] = value;
    s.row(j)[i] = value;
  }
}

/// As dense::eliminate. False: a pivot is 0 or no number.
__device__ inline bool eliminate(const System& s) {
  const int t = static_cast<int>(threadIdx.x), width = s.size + right_sides;
  for (int k = 0; k < s.size; ++k) {
    const bool below = t >= k && t < s.size;
    const int pivot = block_largest(below ? std::fabs(s.row(t)[k]) : -1.0, t).row;
    if (pivot != k) {
      double *u = s.row(k), *v = s.row(pivot);
      for (int j = t; j < width; j += static_cast<int>(blockDim.x)) {
        const double kept = u[j];
        u[j] = v[j];
        v[j] = kept;
      }
      if (t == 0) {
        const int kept = s.order[k];
        s.order[k] = s.order[pivot];
        s.order[pivot] = kept;
      }
      __syncthreads();
    }
    const double* __restrict__ u = s.row(k);
    const double size = std::fabs(u[k]);
    if (!(size > 0 && size < portable::infinity)) return false;
    if (t > k && t < s.size) {
      double* __restrict__ row = s.row(t);
      const double l = row[k] * (1 / u[k]);
      row[k] = l;
#pragma unroll 4
      for (int j = k + 1; j < width; ++j) row[j] = std::fma(-l, u[j], row[j]);
    }
    __syncthreads();
  }
  return true;
}

/// As dense::substitute_back; each thread gets the solutions of its row.
__device__ inline void substitute_back(const System& s, double (&b)[right_sides]) {
  const int t = static_cast<int>(threadIdx.x);
  for (int i = 0; i < right_sides; ++i) b[i] = t < s.size ? s.row(t)[s.size + i] : 0;
  for (int k = s.size - 1; k >= 0; --k) {
    if (t == k) {
      const double inverse = 1 / s.row(k)[k];
      for (int i = 0; i < right_sides; ++i) s.row(k)[s.size + i] = b[i] = b[i] * inverse;
    }
    __syncthreads();
    if (t < k) {
      const double u = -s.row(t)[k];
      for (int i = 0; i < right_sides; ++i) b[i] = std::fma(u, s.row(k)[s.size + i], b[i]);
    }
  }
}

/// As dense::solve_again: of s.x, which all threads have written; each gets the value of its row.
__device__ inline double solve_again(const System& s) {
  const int t = static_cast<int>(threadIdx.x);
  __syncthreads();
  double x = t < s.size ? s.x[s.order[t]] : 0;
  __syncthreads();
  for (int k = 0; k < s.size; ++k) {
    if (t == k) s.x[k] = x;
    __syncthreads();
    if (t > k && t < s.size) x = std::fma(-s.row(t)[k], s.x[k], x);
  }
  __syncthreads();
  for (int k = s.size - 1; k >= 0; --k) {
    if (t == k) s.x[k] = x = x * (1 / s.row(k)[k]);
    __syncthreads();
    if (t < k) x = std::fma(-s.row(t)[k], s.x[k], x);
  }
  return x;
}

/// One block a stencil.
__global__ void __launch_bounds__(max_threads)
    weights_kernel(StencilBasis basis, const Vec3* __restrict__ nodes, const Lid* __restrict__ columns,
                   double* __restrict__ out, double* __restrict__ conditions) {
  extern __shared__ double shared[];
  const System s = place_system(basis, shared);
  const int t = static_cast<int>(threadIdx.x);
  const Size stencil = blockIdx.x;
  const StencilFrame frame = load_points(basis, s, nodes, columns + stencil * basis.size);
  if (t < s.size) s.order[t] = t;
  __syncthreads();
  fill_matrix(basis, s);
  __syncthreads();
  double sum = 0;
  if (t < s.size) {
    double* row = s.row(t);
    for (int j = 0; j < s.size; ++j) sum += std::fabs(row[j]);
    for (int i = 0; i < right_sides; ++i)
      row[s.size + i] = system_right_side(basis, frame, s.points, s.row(0)[t], t, static_cast<RightSide>(i));
  }
  const double norm = block_largest(sum, 0).value;
  __syncthreads();
  if (!eliminate(s)) {
    if (t == 0) conditions[stencil] = -1;
    return;
  }
  double solution[right_sides];
  substitute_back(s, solution);
  constexpr int probe = static_cast<int>(RightSide::probe);
  if (t < s.size) s.x[t] = solution[probe];
  const double before = block_largest(std::fabs(solution[probe]), 0).value;
  const double after = block_largest(std::fabs(solve_again(s)), 0).value;
  double total = 0;
  if (t < basis.size) {
    double values[operators];
    const double(&first)[right_sides - 1] = reinterpret_cast<const double(&)[right_sides - 1]>(solution);
    solution_to_weights(basis, frame, first, values);
    for (int op = 0; op < operators; ++op) {
      out[(stencil * operators + op) * basis.size + t] = values[op];
      total += std::fabs(values[op]);
    }
  }
  const double condition = norm * (after / before);
  const bool finite = __syncthreads_and(total < portable::infinity ? 1 : 0) != 0;
  if (t == 0) conditions[stencil] = finite && condition < singular_condition ? condition : -1;
}

}  // namespace tutti::transport::weights
