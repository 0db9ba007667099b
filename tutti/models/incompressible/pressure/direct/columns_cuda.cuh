// Elimination along the columns of a GPU's planes, each column read from memory and written there once: a block keeps
// some side by side in shared memory. The arithmetic is that of tridiagonal_rows.hpp in the same order, bit for bit.
//
// What elimination makes of a matrix depends on the rows before by `lost` only, and rows of equal lengths that get the
// same `lost` pass on the same. But for the smoothest modes it settles within a few rows, on one value or on two that
// take turns (rounding may have it so): from there on a row takes two operations, and no ratio has to be kept.
// Where it does not settle, a row has a division to wait for, and a few such blocks would take twice as long as all
// others: their factors are found once, at set-up.
#pragma once

#include <cuda_pipeline.h>

#include "tutti/models/incompressible/pressure/direct/direct_kernels.cuh"

namespace tutti::incompressible::direct {

template <class T>
struct ColumnCut {
  static constexpr int columns = 128 / static_cast<int>(sizeof(T));  ///< of a block: a row of them is a line of memory
  static constexpr int threads = 128;
  static constexpr int rows = 32;  ///< that are brought, and stored, together
  static constexpr int ahead = 6;  ///< so many times these are under way
  static constexpr int rows_a_loop = threads / columns;
  /// Shared memory of a line of `size` cells: the columns, widths and conductances; more than the constant column
  /// needs.
  static std::size_t bytes(Lid size) { return (static_cast<std::size_t>(size) * (columns + 2) + 1) * sizeof(T); }
};

/// Groups of ColumnCut::columns columns whose factors are known: slots[group] is the group's place in `values`, or -1.
/// A place has all inverses and then all ratios of each row.
template <class T>
struct KnownFactors {
  static constexpr Lid row = 2 * ColumnCut<T>::columns;
  const std::int32_t* slots = nullptr;  ///< null: none are known
  const T* values = nullptr;
  /// Those of a column of a group; null: they are not known.
  __device__ const T* of(Lid group, int column, Lid size) const {
    const std::int32_t slot = slots == nullptr ? -1 : __ldg(slots + group);
    return slot < 0 ? nullptr : values + Size{slot} * size * row + column;
  }
};

/// Rows [from, end) of `values` in shared memory, those of equal lengths being `equal`; by those lanes of one warp that
/// have a column.
template <class T>
class ColumnElimination {
  using Cut = ColumnCut<T>;

 public:
  /// `values`: of the thread's column; `known`: its factors, or null; `ratios`: room for ratios in memory, `stride`
  /// from row to row; `lanes`: of the warp, that take part.
  __device__ ColumnElimination(const T* widths, const T* conductance, Range equal, T lambda, T* values, const T* known,
                               T* ratios, Size stride, unsigned lanes)
      : widths_(widths),
        conductance_(conductance),
        equal_(equal),
        lambda_(lambda),
        values_(values),
        known_(known),
        ratios_(ratios),
        stride_(stride),
        lanes_(lanes),
        settled_(equal.end) {}

  __device__ void up(Lid from, Lid end) {
    if (known_ != nullptr) return known_rows_up(from, end);
    Lid k = from;
    const Lid equal_end = min(end, equal_.end);
    while (k < end && k < settled_) {
      if (k % 2 == 0 && k >= equal_.begin && k + between_votes <= equal_end) {
        rows_up(k);
        k += between_votes;
      } else {
        row_up(k++);
      }
    }
    if (k < equal_end) {
      const T below = conductance_[k], h = widths_[k];
      const auto step = [&](T inverse) {
        value_ = std::fma(below, value_, -h * values_[k * Cut::columns]) * inverse;
        values_[k * Cut::columns] = value_;
        ++k;
      };
      if (k % 2 == 1) step(odd_.inverse);
      for (; k + at_once <= equal_end; k += at_once) {
        T f[at_once];
#pragma unroll
        for (int r = 0; r < at_once; ++r) f[r] = -h * values_[(k + r) * Cut::columns];
#pragma unroll
        for (int r = 0; r < at_once; ++r)
          f[r] = value_ = std::fma(below, value_, f[r]) * (r % 2 == 0 ? even_ : odd_).inverse;
#pragma unroll
        for (int r = 0; r < at_once; ++r) values_[(k + r) * Cut::columns] = f[r];
      }
      while (k < equal_end) step((k % 2 == 0 ? even_ : odd_).inverse);
    }
    for (; k < end; ++k) row_up(k);
  }
  /// Rows end - 1 down to `from`; the last row of all must not be among them.
  __device__ void down(Lid from, Lid end) {
    Lid k = end - 1;
    k = rows_down(k, max(from, equal_.end));
    const Lid settled = max(from, settled_);
    const auto step = [&] {
      value_ = std::fma((k % 2 == 0 ? even_ : odd_).ratio, value_, values_[k * Cut::columns]);
      values_[k * Cut::columns] = value_;
      --k;
    };
    if (k >= settled && k % 2 == 0) step();
    for (; k - at_once + 1 >= settled; k -= at_once) {
      T v[at_once];
#pragma unroll
      for (int r = 0; r < at_once; ++r) v[r] = values_[(k - r) * Cut::columns];
#pragma unroll
      for (int r = 0; r < at_once; ++r) v[r] = value_ = std::fma((r % 2 == 0 ? odd_ : even_).ratio, value_, v[r]);
#pragma unroll
      for (int r = 0; r < at_once; ++r) values_[(k - r) * Cut::columns] = v[r];
    }
    while (k >= settled) step();
    rows_down(k, from);
  }

 private:
  static constexpr int at_once = 8;
  static constexpr Lid row_of_known = KnownFactors<T>::row;
  static constexpr int between_votes = 4;  ///< rows, an even number: whether they settle is asked behind them
  /// Of rows that have settled.
  struct Settled {
    T inverse = 0, ratio = 0;
  };

  __device__ void known_rows_up(Lid from, Lid end) {
    T inverse[Cut::rows];
#pragma unroll
    for (int r = 0; r < Cut::rows; ++r) inverse[r] = from + r < end ? __ldg(known_ + (from + r) * row_of_known) : T(0);
#pragma unroll
    for (int first = 0; first < Cut::rows; first += at_once) {
      T f[at_once], below[at_once];
#pragma unroll
      for (int r = 0; r < at_once; ++r) {
        const Lid k = min(from + first + r, end - 1);
        f[r] = -widths_[k] * values_[k * Cut::columns];
        below[r] = conductance_[k];
      }
#pragma unroll
      for (int r = 0; r < at_once; ++r) {
        const Lid k = from + first + r;
        if (k >= end) return;
        value_ = std::fma(below[r], value_, f[r]) * inverse[first + r];
        values_[k * Cut::columns] = value_;
      }
    }
  }
  __device__ void row_up(Lid k) {
    if (k == equal_.end && (k - settled_) % 2 == 1) lost_ = lost_before_;  // of the row before, by turns
    const T two_before = lost_before_;
    lost_before_ = lost_;
    const EliminatedRow<T> row = eliminate_row(conductance_[k], conductance_[k + 1], widths_[k], lambda_,
                                               values_[k * Cut::columns], value_, lost_);
    value_ = row.value;
    values_[k * Cut::columns] = value_;
    ratios_[k * stride_] = row.ratio;
    if (k >= equal_.end) return;
    (k % 2 == 0 ? even_ : odd_) = {row.inverse, row.ratio};
    if (k >= equal_.begin && __all_sync(lanes_, lost_ == two_before)) settled_ = k + 1;
  }
  /// The same for rows k, an even number, to k + between_votes - 1, all of equal lengths.
  __device__ void rows_up(Lid k) {
    const T below = conductance_[k], above = conductance_[k + 1], h = widths_[k];
    EliminatedRow<T> rows[between_votes];
    T f[between_votes], two_before = 0;
#pragma unroll
    for (int r = 0; r < between_votes; ++r) f[r] = values_[(k + r) * Cut::columns];
#pragma unroll
    for (int r = 0; r < between_votes; ++r) {
      two_before = lost_before_;
      lost_before_ = lost_;
      rows[r] = eliminate_row(below, above, h, lambda_, f[r], value_, lost_);
      value_ = rows[r].value;
    }
#pragma unroll
    for (int r = 0; r < between_votes; ++r) {
      values_[(k + r) * Cut::columns] = rows[r].value;
      ratios_[(k + r) * stride_] = rows[r].ratio;
    }
    even_ = {rows[between_votes - 2].inverse, rows[between_votes - 2].ratio};
    odd_ = {rows[between_votes - 1].inverse, rows[between_votes - 1].ratio};
    if (__all_sync(lanes_, lost_ == two_before)) settled_ = k + between_votes;
  }
  /// Rows k down to `from`, of which each has its ratio; the next one. The ratios of as many rows as are brought
  /// together are under way at once.
  __device__ Lid rows_down(Lid k, Lid from) {
    const Lid next = min(k, from - 1);
    const T* const ratios = known_ != nullptr ? known_ + Cut::columns : ratios_;
    const Size stride = known_ != nullptr ? Size{row_of_known} : stride_;
    for (; k >= from; k -= Cut::rows) {
      T ratio[Cut::rows];
#pragma unroll
      for (int r = 0; r < Cut::rows; ++r) ratio[r] = k - r >= from ? ratios[(k - r) * stride] : T(0);
#pragma unroll
      for (int r = 0; r < Cut::rows; ++r) {
        if (k - r < from) break;
        value_ = std::fma(ratio[r], value_, values_[(k - r) * Cut::columns]);
        values_[(k - r) * Cut::columns] = value_;
      }
    }
    return next;
  }

  const T *widths_, *conductance_;
  Range equal_;
  T lambda_;
  T* values_;
  const T* known_;
  T* ratios_;
  Size stride_;
  unsigned lanes_;
  Lid settled_;  ///< rows from here on, those of equal lengths, have what even_ and odd_ say
  T lost_ = 1, lost_before_ = 0, value_ = 0;
  Settled even_, odd_;
};

/// solve_null_column by one thread of a block; the others bring all that it needs to shared memory.
template <class T, bool apart>
__device__ inline void null_column_by_block(TridiagonalView<T> line, const GpuRows<T, apart>& rows, Lid null,
                                            char* memory) {
  double* const widths = reinterpret_cast<double*>(memory);
  double* const distances = widths + line.size;
  T* const local = reinterpret_cast<T*>(distances + line.size + 1);
  const Lid me = static_cast<Lid>(threadIdx.x), threads = static_cast<Lid>(blockDim.x);
  for (Lid k = me; k <= line.size; k += threads) {
    distances[k] = line.distances[k];
    if (k == line.size) break;
    widths[k] = line.exact_widths[k];
    local[k] = rows.row(k)[null];
  }
  __syncthreads();
  line.exact_widths = widths;
  line.distances = distances;
  if (me == 0) solve_null_column(line, [&](Lid k) -> T& { return local[k]; });
  __syncthreads();
  for (Lid k = me; k < line.size; k += threads) rows.row(k)[null] = local[k];
}

/// As eliminate_kernel for a line that is no cycle; `equal`: rows that have the lengths of the row before. The column
/// `null`, where it is one of them, is solved as solve_null_column does, by the first block: beside the others, which
/// it would hold up as one of their columns.
template <class T, bool apart>
__global__ void __launch_bounds__(ColumnCut<T>::threads)
    columns_kernel(TridiagonalView<T> line, Range equal, const T* lambdas, KnownFactors<T> known,
                   GpuRows<T, apart> rows, T* ratios, Size stride, Range columns, Lid null) {
  cuda::wait_for_earlier_work();
  using Cut = ColumnCut<T>;
  extern __shared__ __align__(16) char memory[];
  const bool with_null = null >= columns.begin && null < columns.end;
  if (with_null && blockIdx.x == 0) return null_column_by_block(line, rows, null, memory);
  T* const local = reinterpret_cast<T*>(memory);
  T* const widths = local + line.size * Cut::columns;
  T* const conductance = widths + line.size;
  const int me = static_cast<int>(threadIdx.x), own = me % Cut::columns, own_row = me / Cut::columns;
  const Lid block = static_cast<Lid>(blockIdx.x) - (with_null ? 1 : 0);
  const Lid group = columns.begin / Cut::columns + block, column = group * Cut::columns + own;
  const bool there = column >= columns.begin && column < columns.end && column != null;
  const Lid chunks = (line.size + Cut::rows - 1) / Cut::rows;
  for (Lid k = me; k <= line.size; k += Cut::threads) {
    if (k < line.size) widths[k] = line.widths[k];
    conductance[k] = line.conductance[k];
  }
  const auto bring = [&](Lid chunk) {
    const Lid end = min((chunk + 1) * Cut::rows, line.size);
    rows.some(chunk * Cut::rows, end, [&](const auto& from) {
#pragma unroll
      for (int n = 0; n < Cut::rows / Cut::rows_a_loop; ++n) {
        const Lid k = chunk * Cut::rows + n * Cut::rows_a_loop + own_row;
        if (k < end && there) __pipeline_memcpy_async(local + k * Cut::columns + own, from.row(k) + column, sizeof(T));
      }
    });
    __pipeline_commit();
  };
  for (Lid chunk = 0; chunk < Cut::ahead; ++chunk) bring(chunk);
  const bool first_warp = me < 32, eliminates = me < Cut::columns && there;
  ColumnElimination<T> elimination(widths, conductance, equal, there ? lambdas[column] : T(-1), local + own,
                                   known.of(group, own, line.size), ratios + column, stride,
                                   __ballot_sync(~0U, eliminates));
  for (Lid chunk = 0; chunk < chunks; ++chunk) {
    bring(chunk + Cut::ahead);
    __pipeline_wait_prior(Cut::ahead);
    __syncthreads();
    if (eliminates) elimination.up(chunk * Cut::rows, min((chunk + 1) * Cut::rows, line.size));
  }
  __syncthreads();
  for (Lid chunk = chunks - 1; chunk >= 0; --chunk) {
    const Lid begin = chunk * Cut::rows, end = min(begin + Cut::rows, line.size);
    if (eliminates) elimination.down(begin, min(end, line.size - 1));
    __syncthreads();
    if (first_warp || !there) continue;
    constexpr int at_once = Cut::rows_a_loop - 32 / Cut::columns;  // the first warp is with the next ones
    rows.some(begin, end, [&](const auto& to) {
      for (Lid k = begin + own_row - 32 / Cut::columns; k < end; k += at_once)
        to.row(k)[column] = local[k * Cut::columns + own];
    });
  }
}

/// After how many rows the factors of a group settle, line.size if they do not. A block per group, a thread per column.
template <class T>
__global__ void settling_kernel(TridiagonalView<T> line, Range equal, const T* lambdas, Lid columns, Lid null,
                                std::int32_t* rows) {
  cuda::wait_for_earlier_work();
  const Lid column = static_cast<Lid>(blockIdx.x) * ColumnCut<T>::columns + static_cast<Lid>(threadIdx.x);
  const bool there = column < columns && column != null;
  const T lambda = there ? lambdas[column] : T(-1);
  T lost = 1, before = 0;
  Lid settled = line.size;
  for (Lid k = 0; k < equal.end; ++k) {
    const T two_before = before;
    before = lost;
    eliminate_row(line.conductance[k], line.conductance[k + 1], line.widths[k], lambda, T(0), T(0), lost);
    if (__syncthreads_and(!there || lost == two_before) != 0 && k >= equal.begin) {
      settled = k + 1;
      break;
    }
  }
  if (threadIdx.x == 0) rows[blockIdx.x] = settled;
}

/// The factors of some groups into their places, which are in the order of the groups.
template <class T>
__global__ void known_factors_kernel(TridiagonalView<T> line, const T* lambdas, Lid columns, const std::int32_t* groups,
                                     T* values) {
  cuda::wait_for_earlier_work();
  constexpr int width = ColumnCut<T>::columns;
  const Lid me = static_cast<Lid>(threadIdx.x), column = groups[blockIdx.x] * width + me;
  const T lambda = column < columns ? lambdas[column] : T(-1);
  T* to = values + static_cast<Size>(blockIdx.x) * line.size * KnownFactors<T>::row + me;
  T lost = 1;
  for (Lid k = 0; k < line.size; ++k, to += KnownFactors<T>::row) {
    const EliminatedRow<T> row =
        eliminate_row(line.conductance[k], line.conductance[k + 1], line.widths[k], lambda, T(0), T(0), lost);
    to[0] = row.inverse;
    to[width] = row.ratio;
  }
}

}  // namespace tutti::incompressible::direct
