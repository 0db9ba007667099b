#include "tutti/models/incompressible/tridiagonal.hpp"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Columns that are solved together: what is kept of them stays in the second cache, and every line of memory is used
// whole.
template <class T>
constexpr int block_columns = 512 / static_cast<int>(sizeof(T));
constexpr Lid rows_ahead = 6;

/// What elimination leaves of a row: p_k = value_k - ratio_k p_{k+1} - corner_k p_{n-1}.
template <class T>
struct BlockRow {
  T ratio[block_columns<T>], value[block_columns<T>];
};
template <class T>
struct CornerRow {
  T corner[block_columns<T>];
};

template <class T>
void prefetch_row(const T* row, int count) {
  for (int w = 0; w < count; w += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(row + w);
}

/// Rows 0 .. rows - 1 downwards.
template <class T>
void eliminate(const TridiagonalView<T>& line, Lid rows, const T* lambda, const T* in, Size stride, int count,
               std::vector<BlockRow<T>>& block) {
  for (Lid k = 0; k < rows; ++k) {
    const T a = line.lower[k], b = line.diagonal[k], c = line.upper[k];
    const T* f = in + k * stride;
    if (k + rows_ahead < line.size) prefetch_row(f + rows_ahead * stride, count);
    BlockRow<T>& row = block[static_cast<std::size_t>(k)];
    if (k == 0) {
      for (int w = 0; w < count; ++w) {
        const T inverse = 1 / (b + lambda[w]);
        row.ratio[w] = c * inverse;
        row.value[w] = f[w] * inverse;
      }
      continue;
    }
    const BlockRow<T>& before = block[static_cast<std::size_t>(k - 1)];
    for (int w = 0; w < count; ++w) {
      const T inverse = 1 / std::fma(-a, before.ratio[w], b + lambda[w]);
      row.ratio[w] = c * inverse;
      row.value[w] = std::fma(-a, before.value[w], f[w]) * inverse;
    }
  }
}

template <class T>
void solve_block(const TridiagonalView<T>& line, const T* lambda, const T* in, T* out, Size stride, int count,
                 std::vector<BlockRow<T>>& block) {
  const Lid last = line.size - 1;
  eliminate(line, line.size, lambda, in, stride, count, block);
  std::copy_n(block[static_cast<std::size_t>(last)].value, count, out + last * stride);
  T p[block_columns<T>];
  std::copy_n(block[static_cast<std::size_t>(last)].value, count, p);
  for (Lid k = last - 1; k >= 0; --k) {
    const BlockRow<T>& row = block[static_cast<std::size_t>(k)];
    T* to = out + k * stride;
    for (int w = 0; w < count; ++w) to[w] = p[w] = std::fma(-row.ratio[w], p[w], row.value[w]);
  }
}

/// A cyclic line: the last cell is eliminated last. Before it, p_k = y_k - corner_k p_{n-1}; y and corner solve the
/// same tridiagonal system, corner for the column of the last cell.
template <class T>
void solve_cyclic_block(const TridiagonalView<T>& line, const T* lambda, const T* in, T* out, Size stride, int count,
                        std::vector<BlockRow<T>>& block, std::vector<CornerRow<T>>& corners) {
  const Lid last = line.size - 1;
  eliminate(line, last, lambda, in, stride, count, block);
  const auto row = [&](Lid k) -> BlockRow<T>& { return block[static_cast<std::size_t>(k)]; };
  const auto corner = [&](Lid k) -> T* { return corners[static_cast<std::size_t>(k)].corner; };
  for (Lid k = 0; k < last; ++k) {
    const T a = line.lower[k], b = line.diagonal[k];
    // The last column holds lower_0 in row 0 and upper_{n-2} in row n-2; with two cells both.
    const T own = (k == 0 ? a : T{0}) + (k == last - 1 ? line.upper[k] : T{0});
    T* to = corner(k);
    if (k == 0)
      for (int w = 0; w < count; ++w) to[w] = own / (b + lambda[w]);
    else
      for (int w = 0; w < count; ++w)
        to[w] = std::fma(-a, corner(k - 1)[w], own) / std::fma(-a, row(k - 1).ratio[w], b + lambda[w]);
  }
  for (Lid k = last - 2; k >= 0; --k)
    for (int w = 0; w < count; ++w) {
      row(k).value[w] = std::fma(-row(k).ratio[w], row(k + 1).value[w], row(k).value[w]);
      corner(k)[w] = std::fma(-row(k).ratio[w], corner(k + 1)[w], corner(k)[w]);
    }

  const T a = line.lower[last], b = line.diagonal[last], c = line.upper[last];
  const T* f = in + last * stride;
  T p[block_columns<T>];
  for (int w = 0; w < count; ++w) {
    const T pivot = std::fma(-c, corner(0)[w], std::fma(-a, corner(last - 1)[w], b + lambda[w]));
    p[w] = std::fma(-c, row(0).value[w], std::fma(-a, row(last - 1).value[w], f[w])) / pivot;
  }
  std::copy_n(p, count, out + last * stride);
  for (Lid k = 0; k < last; ++k) {
    T* to = out + k * stride;
    for (int w = 0; w < count; ++w) to[w] = std::fma(-corner(k)[w], p[w], row(k).value[w]);
  }
}

/// lambda = 0 on a singular line: what flows through a face is the sum of what the cells below it yield, and p follows
/// from the flows. One column of a whole box: in double, passes instead of memory.
template <class T>
void solve_null_column(const TridiagonalView<T>& line, const T* in, T* out, Size stride) {
  const Lid n = line.size;
  double mean = 0, length = 0;
  for (Lid k = 0; k < n; ++k) {
    mean = std::fma(line.widths[k], static_cast<double>(in[k * stride]), mean);
    length += line.widths[k];
  }
  mean /= length;
  // use(k, flow through face k + 1 less that through face 0)
  const auto each_flow = [&](const auto& use) {
    double flow = 0;
    for (Lid k = 0; k < n; ++k) {
      flow = std::fma(line.widths[k], static_cast<double>(in[k * stride]) - mean, flow);
      use(k, flow);
    }
  };
  double first_flow = 0;
  if (line.cyclic) {
    // Once around, p is what it was: the differences d (first_flow + flow) add up to 0.
    double sum = 0, way = 0;
    each_flow([&](Lid k, double flow) {
      sum = std::fma(line.distances[k + 1], flow, sum);
      way += line.distances[k + 1];
    });
    first_flow = -sum / way;
  }
  const auto each_p = [&](const auto& use) {
    double p = 0;
    each_flow([&](Lid k, double flow) {
      const double here = p;
      p = std::fma(line.distances[k + 1], first_flow + flow, p);
      use(k, here);
    });
  };
  double p_mean = 0;
  each_p([&](Lid k, double p) { p_mean = std::fma(line.widths[k], p, p_mean); });
  p_mean /= length;
  each_p([&](Lid k, double p) { out[k * stride] = static_cast<T>(p - p_mean); });
}

}  // namespace

template <class T>
Tridiagonal<T>::Tridiagonal(const LineOperator& line)
    : cyclic_(line.cyclic),
      singular_(line.singular),
      lower_(line.lower.begin(), line.lower.end()),
      diagonal_(line.diagonal.begin(), line.diagonal.end()),
      upper_(line.upper.begin(), line.upper.end()),
      widths_(line.widths) {
  for (const double g : line.conductance) distances_.push_back(g > 0 ? 1 / g : 0);
}

template <class T>
TridiagonalView<T> Tridiagonal<T>::view() const {
  return {static_cast<Lid>(lower_.size()),
          cyclic_,
          singular_,
          lower_.data(),
          diagonal_.data(),
          upper_.data(),
          widths_.data(),
          distances_.data()};
}

template <class T>
void solve_columns(const TridiagonalView<T>& line, const T* lambda, const T* in, T* out, Size stride, Range columns) {
  std::vector<BlockRow<T>> block(static_cast<std::size_t>(line.size));
  std::vector<CornerRow<T>> corners(line.cyclic ? block.size() : 0);
  for (Lid first = columns.begin; first < columns.end;) {
    if (line.singular && lambda[first] == 0) {
      solve_null_column(line, in + first, out + first, stride);
      ++first;
      continue;
    }
    // Up to the next column that is solved by itself.
    Lid end = std::min<Lid>(first + block_columns<T>, columns.end);
    if (line.singular) end = static_cast<Lid>(std::find(lambda + first, lambda + end, T{0}) - lambda);
    const int count = static_cast<int>(end - first);
    if (line.cyclic)
      solve_cyclic_block(line, lambda + first, in + first, out + first, stride, count, block, corners);
    else
      solve_block(line, lambda + first, in + first, out + first, stride, count, block);
    first = end;
  }
}

template class Tridiagonal<double>;
template class Tridiagonal<float>;
template void solve_columns(const TridiagonalView<double>&, const double*, const double*, double*, Size, Range);
template void solve_columns(const TridiagonalView<float>&, const float*, const float*, float*, Size, Range);

}  // namespace tutti
