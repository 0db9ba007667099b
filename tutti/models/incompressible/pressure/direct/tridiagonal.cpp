#include "tutti/models/incompressible/pressure/direct/tridiagonal.hpp"

#include <algorithm>

#include "tutti/base/denormals.hpp"
#include "tutti/models/incompressible/pressure/direct/tridiagonal_rows.hpp"

namespace tutti::incompressible {
namespace {

// Columns that are solved together: what is kept of them stays in the second cache, and every line of memory is used
// whole.
template <class T>
constexpr int block_columns = 512 / static_cast<int>(sizeof(T));
constexpr Lid rows_ahead = 6;

/// EliminatedRow of many columns; of a cyclic line, see below.
template <class T>
struct BlockRow {
  T ratio[block_columns<T>], value[block_columns<T>];
};
template <class T>
struct Slack {
  T slack[block_columns<T>];
};

template <class T>
void prefetch_row(const T* row, int count) {
  for (int w = 0; w < count; w += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(row + w);
}

/// Rows 0 .. rows - 1 of columns from `first` on, upwards. ratio_of(k): where a row's ratios go; value_of(k): its
/// values, maybe in place. `slacks`: null, or the same elimination for -lambda h on the right.
template <class T, class RatioOf, class ValueOf>
void eliminate(const LinePart<T>& part, Lid rows, const T* lambda, const ColumnRows<T>& in, Lid first, int count,
               const RatioOf& ratio_of, const ValueOf& value_of, Slack<T>* slacks) {
  const TridiagonalView<T>& line = part.line;
  T lost[block_columns<T>], value[block_columns<T>];
  if (part.first) {
    std::fill_n(lost, count, T{1});
    std::fill_n(value, count, T{0});
  } else {
    std::copy_n(part.lost + first, count, lost);
    std::copy_n(in.row(-1) + first, count, value);
  }
  const Slack<T> none{};
  for (Lid k = 0; k < rows; ++k) {
    const T below = line.conductance[k], above = line.conductance[k + 1], h = line.widths[k];
    const T* f = in.row(k) + first;
    if (k + rows_ahead < line.size) prefetch_row(in.row(k + rows_ahead) + first, count);
    T* const ratio = ratio_of(k);
    T inverse[block_columns<T>];
    for (int w = 0; w < count; ++w) {
      const EliminatedRow<T> one = eliminate_row(below, above, h, lambda[w], f[w], value[w], lost[w]);
      inverse[w] = one.inverse;
      ratio[w] = one.ratio;
      value[w] = one.value;
    }
    std::copy_n(value, count, value_of(k));
    if (slacks == nullptr) continue;
    const Slack<T>& slack_before = k > 0 ? slacks[k - 1] : none;
    for (int w = 0; w < count; ++w)
      slacks[k].slack[w] = eliminate_slack(below, h, lambda[w], inverse[w], slack_before.slack[w]);
  }
}
/// The same, keeping all in `block`.
template <class T>
void eliminate_block(const LinePart<T>& part, Lid rows, const T* lambda, const ColumnRows<T>& in, Lid first, int count,
                     BlockRow<T>* block, Slack<T>* slacks) {
  eliminate(
      part, rows, lambda, in, first, count, [&](Lid k) { return block[k].ratio; },
      [&](Lid k) { return block[k].value; }, slacks);
}

template <class T>
void solve_block(const LinePart<T>& part, const T* lambda, const ColumnRows<T>& rows, Lid first, int count,
                 BlockRow<T>* block) {
  const Lid last = part.line.size - 1;
  eliminate_block<T>(part, part.line.size, lambda, rows, first, count, block, nullptr);
  T p[block_columns<T>];
  std::copy_n(block[last].value, count, p);
  std::copy_n(p, count, rows.row(last) + first);
  for (Lid k = last - 1; k >= 0; --k) {
    T* to = rows.row(k) + first;
    for (int w = 0; w < count; ++w) to[w] = p[w] = std::fma(block[k].ratio[w], p[w], block[k].value[w]);
  }
}

/// A cyclic line: the last cell is a ground of value p_{n-1} at both ends of the others, p_k = y_k + (1 - u_k) p_{n-1}.
/// y are their values between zeros. The slack u would be 0 if lambda were: it solves the same rows with -lambda h on
/// the right, again without a subtraction.
template <class T>
void solve_cyclic_block(const TridiagonalView<T>& line, const T* lambda, const ColumnRows<T>& rows, Lid first,
                        int count, BlockRow<T>* block, Slack<T>* slacks) {
  const Lid last = line.size - 1;
  eliminate_block<T>({line}, last, lambda, rows, first, count, block, slacks);
  for (Lid k = last - 2; k >= 0; --k)
    for (int w = 0; w < count; ++w) {
      block[k].value[w] = std::fma(block[k].ratio[w], block[k + 1].value[w], block[k].value[w]);
      slacks[k].slack[w] = std::fma(block[k].ratio[w], slacks[k + 1].slack[w], slacks[k].slack[w]);
    }
  const T below = line.conductance[last], above = line.conductance[last + 1], h = line.widths[last];
  T* const f = rows.row(last) + first;
  T p[block_columns<T>];
  for (int w = 0; w < count; ++w)
    p[w] = last_of_cycle(below, above, h, lambda[w], f[w], block[0].value[w], block[last - 1].value[w],
                         slacks[0].slack[w], slacks[last - 1].slack[w]);
  std::copy_n(p, count, f);
  for (Lid k = 0; k < last; ++k) {
    T* to = rows.row(k) + first;
    for (int w = 0; w < count; ++w) to[w] = std::fma(1 - slacks[k].slack[w], p[w], block[k].value[w]);
  }
}

/// null(column) for columns that are solved by themselves, and block(first, count) for all others, some at a time.
template <class T, class Null, class Block>
void for_blocks(const TridiagonalView<T>& line, const T* lambda, Range columns, const Null& null, const Block& block) {
  for (Lid first = columns.begin; first < columns.end;) {
    if (line.singular && lambda[first] == 0) {
      null(first++);
      continue;
    }
    Lid end = std::min<Lid>(first + block_columns<T>, columns.end);
    if (line.singular) end = static_cast<Lid>(std::find(lambda + first, lambda + end, T{0}) - lambda);
    block(first, static_cast<int>(end - first));
    first = end;
  }
}
void leave_null(Lid) {}

}  // namespace

template <class T>
Tridiagonal<T>::Tridiagonal(const LineOperator& line)
    : cyclic_(line.cyclic),
      singular_(line.singular),
      widths_(line.widths.begin(), line.widths.end()),
      conductance_(line.conductance.begin(), line.conductance.end()),
      exact_widths_(line.widths) {
  for (const double g : line.conductance) distances_.push_back(g > 0 ? 1 / g : 0);
}

template <class T>
TridiagonalView<T> Tridiagonal<T>::view() const {
  return {static_cast<Lid>(widths_.size()),
          cyclic_,
          singular_,
          widths_.data(),
          conductance_.data(),
          exact_widths_.data(),
          distances_.data()};
}

template <class T>
void solve_columns(const TridiagonalView<T>& line, const T* lambda, const ColumnRows<T>& rows, Range columns) {
  std::vector<BlockRow<T>> block(line.size);
  std::vector<Slack<T>> slacks(line.cyclic ? block.size() : 0);
  for_blocks(
      line, lambda, columns, [&](Lid null) { solve_null_column(line, [&](Lid k) -> T& { return rows.row(k)[null]; }); },
      [&](Lid first, int count) {
        if (line.cyclic)
          solve_cyclic_block(line, lambda + first, rows, first, count, block.data(), slacks.data());
        else
          solve_block<T>({line}, lambda + first, rows, first, count, block.data());
      });
}

/// Where rows are equal `lost` settles, on one value or on two that take turns: then the other rows of the run add
/// nothing.
template <class T>
std::vector<T> lost_behind(const TridiagonalView<T>& line, Lid rows, const std::vector<T>& lambda) {
  const FlushDenormals<T> flush;
  const auto as_before = [&](Lid k) {
    return line.widths[k] == line.widths[k - 1] && line.conductance[k] == line.conductance[k - 1] &&
           line.conductance[k + 1] == line.conductance[k];
  };
  std::vector<T> all(lambda.size(), T(1));
  for (std::size_t first = 0; first < all.size(); first += block_columns<T>) {
    const std::size_t count = std::min<std::size_t>(block_columns<T>, all.size() - first);
    T* const lost = all.data() + first;
    std::vector<T> before(count), two_before(count);
    for (Lid k = 0; k < rows; ++k) {
      two_before.swap(before);
      std::copy_n(lost, count, before.data());
      const T below = line.conductance[k], above = line.conductance[k + 1], h = line.widths[k];
      for (std::size_t c = 0; c < count; ++c) eliminate_row(below, above, h, lambda[first + c], T(0), T(0), lost[c]);
      if (k == 0 || !as_before(k) || !std::equal(two_before.begin(), two_before.end(), lost)) continue;
      Lid end = k + 1;
      while (end < rows && as_before(end)) ++end;
      if ((end - k) % 2 == 0) std::swap_ranges(before.begin(), before.end(), lost);
      k = end - 1;
    }
  }
  return all;
}

template <class T>
void eliminate_columns(const LinePart<T>& part, const T* lambda, const ColumnRows<T>& rows, T* ratios, Size stride,
                       Range columns) {
  for_blocks(part.line, lambda, columns, leave_null, [&](Lid first, int count) {
    eliminate<T>(
        part, part.line.size, lambda + first, rows, first, count, [&](Lid k) { return ratios + k * stride + first; },
        [&](Lid k) { return rows.row(k) + first; }, nullptr);
  });
}

template <class T>
void substitute_columns(const LinePart<T>& part, const T* lambda, const ColumnRows<T>& rows, const T* ratios,
                        Size stride, Range columns) {
  for_blocks(part.line, lambda, columns, leave_null, [&](Lid first, int count) {
    T p[block_columns<T>];
    std::copy_n(rows.row(part.line.size) + first, count, p);
    for (Lid k = part.line.size - 1; k >= 0; --k) {
      T* const to = rows.row(k) + first;
      const T* const ratio = ratios + k * stride + first;
      if (k >= rows_ahead) {
        prefetch_row(to - rows_ahead * rows.stride, count);
        prefetch_row(ratio - rows_ahead * stride, count);
      }
      for (int w = 0; w < count; ++w) to[w] = p[w] = std::fma(ratio[w], p[w], to[w]);
    }
  });
}

template <class T>
void solve_last_columns(const LinePart<T>& part, const T* lambda, const ColumnRows<T>& rows, Range columns) {
  std::vector<BlockRow<T>> block(part.line.size);
  for_blocks(part.line, lambda, columns, leave_null,
             [&](Lid first, int count) { solve_block(part, lambda + first, rows, first, count, block.data()); });
}

template class Tridiagonal<double>;
template class Tridiagonal<float>;
template void solve_columns(const TridiagonalView<double>&, const double*, const ColumnRows<double>&, Range);
template std::vector<double> lost_behind(const TridiagonalView<double>&, Lid, const std::vector<double>&);
template void eliminate_columns(const LinePart<double>&, const double*, const ColumnRows<double>&, double*, Size,
                                Range);
template void substitute_columns(const LinePart<double>&, const double*, const ColumnRows<double>&, const double*, Size,
                                 Range);
template void solve_last_columns(const LinePart<double>&, const double*, const ColumnRows<double>&, Range);
template void solve_columns(const TridiagonalView<float>&, const float*, const ColumnRows<float>&, Range);
template std::vector<float> lost_behind(const TridiagonalView<float>&, Lid, const std::vector<float>&);
template void eliminate_columns(const LinePart<float>&, const float*, const ColumnRows<float>&, float*, Size, Range);
template void substitute_columns(const LinePart<float>&, const float*, const ColumnRows<float>&, const float*, Size,
                                 Range);
template void solve_last_columns(const LinePart<float>&, const float*, const ColumnRows<float>&, Range);

}  // namespace tutti::incompressible
