// Elimination along the columns of a GPU's planes, each column read from memory and written there once: a block keeps
// some side by side in shared memory. The arithmetic is that of tridiagonal_rows.hpp in the same order, bit for bit.
//
// What elimination makes of a matrix depends on the rows before by `lost` only, and rows of equal lengths that get the
// same `lost` pass on the same. But for the smoothest modes it settles within a few rows, on one value or on two that
// take turns (rounding may have it so): from there on a row takes two operations, and no ratio has to be kept.
// Where it does not settle, a row has a division to wait for, and a few such blocks would take twice as long as all
// others: their inverses are found once, at set-up, and those of all columns where lengths differ.
#pragma once

#include <cuda_pipeline.h>

#include "tutti/device/cuda/block_event.cuh"
#include "tutti/models/incompressible/pressure/direct/direct_kernels.cuh"

namespace tutti::incompressible::direct {

inline constexpr Lid warp = 32;

/// A block's first warp eliminates, a lane per column; the others bring rows from memory, and store them.
template <class T>
struct ColumnCut {
  static constexpr int columns = 128 / static_cast<int>(sizeof(T));  ///< of a block: a row of them is a line of memory
  static constexpr int movers = 128, threads = warp + movers;
  static constexpr int resident = 3;  ///< blocks of a multiprocessor, as many as have room with lines of 512 cells
  static constexpr int rows = 64;     ///< that are awaited, and stored, together
  TUTTI_HD static constexpr Lid chunks(Lid size) { return (size + rows - 1) / rows; }
  /// Shared memory of a line of `size` cells: the columns, widths and conductances, two events per chunk; more than the
  /// constant column needs.
  static std::size_t bytes(Lid size) {
    return 2 * static_cast<std::size_t>(chunks(size)) * sizeof(cuda::BlockEvent) +
           (static_cast<std::size_t>(size) * (columns + 2) + 1) * sizeof(T);
  }
};

/// Groups of ColumnCut::columns columns whose inverses (EliminatedRow) are known: slots[group] is the group's place in
/// `values`, or -1. A place has those of each row, one behind the other.
template <class T>
struct KnownFactors {
  static constexpr Lid row = ColumnCut<T>::columns;
  const std::int32_t* slots = nullptr;  ///< null: none are known
  const T* values = nullptr;
  /// Those of a group; null: they are not known.
  __device__ const T* of(Lid group, Lid size) const {
    const std::int32_t slot = slots == nullptr ? -1 : __ldg(slots + group);
    return slot < 0 ? nullptr : values + Size{slot} * size * row;
  }
};

/// Rows [from, end) of `values` in shared memory, those of equal lengths being `equal`; by those lanes of one warp that
/// have a column.
template <class T>
class ColumnElimination {
  using Cut = ColumnCut<T>;

 public:
  /// `values`: of the thread's column; `known`: its inverses, or null; `ratios`: room for ratios in memory, `stride`
  /// from row to row; `lanes`: of the warp, that take part.
  __device__ ColumnElimination(Lid size, const T* widths, const T* conductance, Range equal, T lambda, T* values,
                               const T* known, T* ratios, Size stride, unsigned lanes)
      : size_(size),
        widths_(widths),
        conductance_(conductance),
        equal_(equal),
        lambda_(lambda),
        values_(values),
        known_(known),
        ratios_(ratios),
        stride_(stride),
        lanes_(lanes),
        settled_(equal.end) {}

  /// Behind rows of another part, before up().
  __device__ void follow(T lost, T value) {
    lost_ = lost;
    value_ = value;
  }
  /// Between up() and down(), of which the second is another kernel's; `above`: p in the row above.
  __device__ void keep(const PartColumns<T>& in, Lid column) const {
    in.settled[column] = settled_;
    in.even[column] = even_.ratio;
    in.odd[column] = odd_.ratio;
  }
  __device__ void resume(const PartColumns<T>& in, Lid column, T above) {
    settled_ = in.settled[column];
    even_.ratio = in.even[column];
    odd_.ratio = in.odd[column];
    value_ = above;
  }

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
    if (k < equal_end && k % 2 == 1) settled_rows_up<1>(k++);
    for (; k + many <= equal_end; k += many) settled_rows_up<many>(k);
    for (; k + at_once <= equal_end; k += at_once) settled_rows_up<at_once>(k);
    for (; k < equal_end; ++k) settled_rows_up<1>(k);
    for (; k < end; ++k) row_up(k);
  }
  /// Rows end - 1 down to `from`; the line's last row must not be among them.
  __device__ void down(Lid from, Lid end) {
    if (known_ != nullptr) return known_rows_down(end - 1, from);
    Lid k = end - 1;
    k = rows_down(k, max(from, equal_.end));
    const Lid settled = max(from, settled_);
    if (k >= settled && k % 2 == 0) settled_rows_down<1>(k--);
    for (; k - many + 1 >= settled; k -= many) settled_rows_down<many>(k);
    for (; k - at_once + 1 >= settled; k -= at_once) settled_rows_down<at_once>(k);
    for (; k >= settled; --k) settled_rows_down<1>(k);
    rows_down(k, from);
  }

 private:
  static constexpr int at_once = 8, many = 32;
  static constexpr int from_memory = 16;   ///< factors or ratios of so many rows are under way together
  static constexpr int between_votes = 4;  ///< rows, an even number: whether they settle is asked behind them
  /// Of rows that have settled: p_k = value + ratio p_{k+1}, value = ratio value_before + scale f, for conductances
  /// below and above are the same.
  struct Settled {
    T scale = 0, ratio = 0;
  };
  __device__ static Settled settled(const EliminatedRow<T>& row, T h) { return {-h * row.inverse, row.ratio}; }
  __device__ const Settled& of_row(Lid k) const { return k % 2 == 0 ? even_ : odd_; }

  /// Rows k, an even number unless it is one row, to k + count - 1.
  template <int count>
  __device__ void settled_rows_up(Lid k) {
    const Settled& first = count == 1 ? of_row(k) : even_;
    T* const at = values_ + k * Cut::columns;
    T f[count];
#pragma unroll
    for (int r = 0; r < count; ++r) f[r] = at[r * Cut::columns];
#pragma unroll
    for (int r = 0; r < count; ++r) {
      const Settled& row = r % 2 == 0 ? first : odd_;
      at[r * Cut::columns] = value_ = std::fma(row.ratio, value_, row.scale * f[r]);
    }
  }
  /// Rows k, an odd number unless it is one row, down to k - count + 1.
  template <int count>
  __device__ void settled_rows_down(Lid k) {
    const Settled& first = count == 1 ? of_row(k) : odd_;
    T* const at = values_ + k * Cut::columns;
    T v[count];
#pragma unroll
    for (int r = 0; r < count; ++r) v[r] = at[-r * Cut::columns];
#pragma unroll
    for (int r = 0; r < count; ++r)
      at[-r * Cut::columns] = value_ = std::fma((r % 2 == 0 ? first : even_).ratio, value_, v[r]);
  }

  /// The inverses of rows k, k + step and so on, of which some are beyond the line's ends.
  template <int step>
  __device__ void load_known(Lid k, T (&inverse)[from_memory]) const {
#pragma unroll
    for (int r = 0; r < from_memory; ++r) {
      const Lid row = min(max(k + r * step, Lid{0}), size_ - 1);
      inverse[r] = __ldg(known_ + row * KnownFactors<T>::row);
    }
  }
  /// The next ones are under way meanwhile.
  __device__ void known_rows_up(Lid from, Lid end) {
    T next[from_memory];
    load_known<1>(from, next);
    for (; from < end; from += from_memory) {
      T inverse[from_memory];
#pragma unroll
      for (int r = 0; r < from_memory; ++r) inverse[r] = next[r];
      if (from + from_memory < end) load_known<1>(from + from_memory, next);
#pragma unroll
      for (int r = 0; r < from_memory; ++r) {
        const Lid k = from + r;
        if (k >= end) return;
        T& value = values_[k * Cut::columns];
        value = value_ = eliminated_value(conductance_[k], widths_[k], inverse[r], value, value_);
      }
    }
  }
  __device__ void known_rows_down(Lid k, Lid from) {
    T next[from_memory];
    load_known<-1>(k, next);
    for (; k >= from; k -= from_memory) {
      T inverse[from_memory];
#pragma unroll
      for (int r = 0; r < from_memory; ++r) inverse[r] = next[r];
      if (k - from_memory >= from) load_known<-1>(k - from_memory, next);
#pragma unroll
      for (int r = 0; r < from_memory; ++r) {
        if (k - r < from) return;
        T& value = values_[(k - r) * Cut::columns];
        value = value_ = std::fma(conductance_[k - r + 1] * inverse[r], value_, value);
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
    (k % 2 == 0 ? even_ : odd_) = settled(row, widths_[k]);
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
    even_ = settled(rows[between_votes - 2], h);
    odd_ = settled(rows[between_votes - 1], h);
    if (__all_sync(lanes_, lost_ == two_before)) settled_ = k + between_votes;
  }
  /// Rows k down to `from`, of which each has its ratio in memory; the next one.
  __device__ Lid rows_down(Lid k, Lid from) {
    const Lid next = min(k, from - 1);
    for (; k >= from; k -= from_memory) {
      T ratio[from_memory];
#pragma unroll
      for (int r = 0; r < from_memory; ++r) ratio[r] = k - r >= from ? ratios_[(k - r) * stride_] : T(0);
#pragma unroll
      for (int r = 0; r < from_memory; ++r) {
        if (k - r < from) break;
        value_ = std::fma(ratio[r], value_, values_[(k - r) * Cut::columns]);
        values_[(k - r) * Cut::columns] = value_;
      }
    }
    return next;
  }

  Lid size_;
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

/// Moves rows of a block's columns between memory and shared memory, `values` of a row at a time; by the threads behind
/// the first warp.
template <class T, bool apart, int values>
class ColumnMover {
  using Cut = ColumnCut<T>;
  struct alignas(sizeof(T) * values) Piece {
    T value[values];
  };
  static constexpr int pieces = Cut::columns / values, rows_a_loop = Cut::movers / pieces;

 public:
  /// `column`: the first of the block's; `there`: those that are moved.
  __device__ ColumnMover(const GpuRows<T, apart>& rows, Lid size, Lid column, T* local, Range there, Lid null)
      : rows_(rows), size_(size), row_((static_cast<Lid>(threadIdx.x) - warp) / pieces) {
    const Lid own = (static_cast<Lid>(threadIdx.x) - warp) % pieces * values;
    local_ = local + own;
    column_ = column + own;
    there_ = column_ >= there.begin && column_ < there.end && (values > 1 || column_ != null);
  }
  __device__ void bring(Lid chunk) const {
    each(chunk, [&](T* to, T* from) { __pipeline_memcpy_async(to, from, sizeof(Piece)); });
  }
  __device__ void store(Lid chunk) const {
    each(chunk, [&](T* from, T* to) { *reinterpret_cast<Piece*>(to) = *reinterpret_cast<const Piece*>(from); });
  }

 private:
  /// use(in shared memory, in memory)
  template <class Use>
  __device__ void each(Lid chunk, const Use& use) const {
    const Lid begin = chunk * Cut::rows, end = min(begin + Cut::rows, size_);
    rows_.some(begin, end, [&](const auto& rows) {
#pragma unroll
      for (int n = 0; n < Cut::rows / rows_a_loop; ++n) {
        const Lid k = begin + n * rows_a_loop + row_;
        if (k < end && there_) use(local_ + k * Cut::columns, rows.row(k) + column_);
      }
    });
  }

  const GpuRows<T, apart>& rows_;
  Lid size_, row_, column_;
  T* local_;
  bool there_;
};

/// As eliminate_kernel for a line that is no cycle; `equal`: rows that have the lengths of the row before. The column
/// `null`, where it is one of them, is solved as solve_null_column does, by the first block: beside the others, which
/// it would hold up as one of their columns; where the rows are a part of a line it is left alone. aligned: rows are,
/// to 16 bytes.
template <class T, bool apart, Sweep sweep>
__global__ void __launch_bounds__(ColumnCut<T>::threads, ColumnCut<T>::resident)
    columns_kernel(TridiagonalView<T> line, PartColumns<T> part, Range equal, const T* lambdas, KnownFactors<T> known,
                   const __grid_constant__ GpuRows<T, apart> rows, T* ratios, Size stride, Range columns, Lid null,
                   bool aligned) {
  cuda::wait_for_earlier_work();
  using Cut = ColumnCut<T>;
  extern __shared__ __align__(16) char memory[];
  const bool with_null = part.first && part.last && null >= columns.begin && null < columns.end;
  if (with_null && blockIdx.x == 0)
    return null_column_by_block(
        line, [&](Lid k) -> T& { return rows.row(k)[null]; }, reinterpret_cast<double*>(memory));
  const Lid chunks = Cut::chunks(line.size), me = static_cast<Lid>(threadIdx.x);
  cuda::BlockEvent* const arrived = reinterpret_cast<cuda::BlockEvent*>(memory);
  cuda::BlockEvent* const solved = arrived + chunks;
  T* const local = reinterpret_cast<T*>(solved + chunks);
  T* const widths = local + line.size * Cut::columns;
  T* const conductance = widths + line.size;
  for (Lid chunk = me; chunk < chunks; chunk += Cut::threads) {
    arrived[chunk].init(Cut::movers);
    solved[chunk].init(warp);
  }
  __syncthreads();
  const Lid group = columns.begin / Cut::columns + static_cast<Lid>(blockIdx.x) - (with_null ? 1 : 0),
            first = group * Cut::columns;
  const T* const inverses = known.of(group, line.size);
  if (me >= warp) {
    for (Lid k = me - warp; k <= line.size; k += Cut::movers) {
      if (k < line.size) __pipeline_memcpy_async(widths + k, line.widths + k, sizeof(T));
      __pipeline_memcpy_async(conductance + k, line.conductance + k, sizeof(T));
    }
    const auto move = [&](const auto& mover) {
      for (Lid n = 0; n < chunks; ++n) {
        const Lid chunk = sweep == Sweep::down ? chunks - 1 - n : n;
        mover.bring(chunk);
        arrived[chunk].arrive_after_copies();
      }
      // The warp that eliminates will find them in the second cache.
      for (Lid k = me - warp; inverses != nullptr && k < line.size; k += Cut::movers)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(inverses + k * KnownFactors<T>::row));
      for (Lid n = 0; n < chunks; ++n) {
        const Lid chunk = sweep == Sweep::up ? n : chunks - 1 - n;
        solved[chunk].wait();
        mover.store(chunk);
      }
    };
    const bool whole = first >= columns.begin && first + Cut::columns <= columns.end &&
                       !(null >= first && null < first + Cut::columns);
    if (aligned && whole)
      move(ColumnMover<T, apart, 16 / sizeof(T)>(rows, line.size, first, local, columns, null));
    else
      move(ColumnMover<T, apart, 1>(rows, line.size, first, local, columns, null));
    return;
  }
  const int own = me % Cut::columns;
  const Lid column = first + own;
  const bool eliminates = me < Cut::columns && column >= columns.begin && column < columns.end && column != null;
  ColumnElimination<T> elimination(line.size, widths, conductance, equal, eliminates ? lambdas[column] : T(-1),
                                   local + own, inverses == nullptr ? nullptr : inverses + own, ratios + column, stride,
                                   __ballot_sync(~0U, eliminates));
  if (sweep != Sweep::down && eliminates && !part.first) elimination.follow(part.lost[column], rows.row(-1)[column]);
  if (sweep == Sweep::down && eliminates) elimination.resume(part, column, rows.row(line.size)[column]);
  for (Lid chunk = 0; chunk < chunks && sweep != Sweep::down; ++chunk) {
    arrived[chunk].wait();
    if (eliminates) elimination.up(chunk * Cut::rows, min((chunk + 1) * Cut::rows, line.size));
    if (sweep == Sweep::up) solved[chunk].arrive();
  }
  if (sweep == Sweep::up) {
    if (eliminates) elimination.keep(part, column);
    return;
  }
  for (Lid chunk = chunks - 1; chunk >= 0; --chunk) {
    if (sweep == Sweep::down) arrived[chunk].wait();
    const Lid begin = chunk * Cut::rows, end = min(begin + Cut::rows, part.last ? line.size - 1 : line.size);
    if (eliminates) elimination.down(begin, end);
    solved[chunk].arrive();
  }
}

/// After how many rows the factors of a group settle, line.size if they do not. A block per group, a thread per column.
/// losts: null, or as in LinePart.
template <class T>
__global__ void settling_kernel(TridiagonalView<T> line, Range equal, const T* lambdas, const T* losts, Lid columns,
                                Lid null, std::int32_t* rows) {
  cuda::wait_for_earlier_work();
  const Lid column = static_cast<Lid>(blockIdx.x) * ColumnCut<T>::columns + static_cast<Lid>(threadIdx.x);
  const bool there = column < columns && column != null;
  const T lambda = there ? lambdas[column] : T(-1);
  T lost = there && losts != nullptr ? losts[column] : T(1), before = 0;
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

/// The inverses of some groups into their places, which are in the order of the groups.
template <class T>
__global__ void known_factors_kernel(TridiagonalView<T> line, const T* lambdas, const T* losts, Lid columns,
                                     const std::int32_t* groups, T* values) {
  cuda::wait_for_earlier_work();
  constexpr int width = ColumnCut<T>::columns;
  const Lid me = static_cast<Lid>(threadIdx.x), column = groups[blockIdx.x] * width + me;
  const T lambda = column < columns ? lambdas[column] : T(-1);
  T* to = values + static_cast<Size>(blockIdx.x) * line.size * KnownFactors<T>::row + me;
  T lost = column < columns && losts != nullptr ? losts[column] : T(1);
  for (Lid k = 0; k < line.size; ++k, to += KnownFactors<T>::row) {
    const EliminatedRow<T> row =
        eliminate_row(line.conductance[k], line.conductance[k + 1], line.widths[k], lambda, T(0), T(0), lost);
    *to = row.inverse;
  }
}

}  // namespace tutti::incompressible::direct
