// (L + lambda_c) p = f along the slowest index of values[z][column], for columns c of different lambda <= 0.
//
// Elimination without pivots (Thomas), in a form that never subtracts: with the conductances g of the faces, and
// everything times h_k, row k becomes (g_{k+1} + e_k) p_k = g_{k+1} p_{k+1} + ..., e_k = -lambda h_k + g_k e_{k-1} /
// (g_k + e_{k-1}): a conductance to the ground, a sum of positive numbers (as Grassmann, Taksar and Heyman do for
// Markov chains, Oper. Res. 33, 1985). So a lambda that is far below g / h, as that of smooth modes is, keeps all its
// digits.
#pragma once

#include <vector>

#include "tutti/models/incompressible/pressure/direct/line_operator.hpp"

namespace tutti::incompressible {

/// A LineOperator, rounded to T, as a kernel reads it.
template <class T>
struct TridiagonalView {
  Lid size = 0;
  bool cyclic = false, singular = false;
  const T* widths = nullptr;       ///< h_0 .. h_{n-1}
  const T* conductance = nullptr;  ///< g_0 .. g_n: 1 / distance; 0 where nothing flows
  const double* exact_widths = nullptr;
  const double* distances = nullptr;  ///< d_0 .. d_n; 0 where nothing flows
};

template <class T>
class Tridiagonal {
 public:
  explicit Tridiagonal(const LineOperator& line);
  TridiagonalView<T> view() const;

 private:
  bool cyclic_, singular_;
  std::vector<T> widths_, conductance_;
  std::vector<double> exact_widths_, distances_;
};

/// Where columns have their rows: some of them in an array of their own, such as planes that other columns share.
template <class T>
struct ColumnRows {
  T* values;    ///< row 0 of column 0
  Size stride;  ///< from row to row
  Range apart{};
  T* apart_values = nullptr;  ///< row apart.begin of column 0
  Size apart_stride = 0;
  TUTTI_HD T* row(Lid k) const {
    return k >= apart.begin && k < apart.end ? apart_values + (k - apart.begin) * apart_stride : values + k * stride;
  }
};

/// Columns [begin, end), in place. lambda: one a column, <= 0. Where lambda is 0 and the line singular there is a
/// solution only for an f of mean 0, and then many: the mean of f (weighted with the widths) is left out, and the
/// solution is the one of mean 0. The sums are one chain over z.
template <class T>
void solve_columns(const TridiagonalView<T>& line, const T* lambda, const ColumnRows<T>& rows, Range columns);

/// Rows of a line that one part of several has: elimination goes up through the parts, and substitution down again. The
/// line is not cyclic. Its constant column (solve_null_column) is left alone, as it needs all rows.
template <class T>
struct LinePart {
  TridiagonalView<T> line;  ///< of these rows
  bool first = true, last = true;
  const T* lost = nullptr;  ///< of eliminate_row, behind the rows before, one a column; not of the first part
};
/// The rows of `line` with these numbers; what solve_null_column reads is there only where they are all.
template <class T>
TridiagonalView<T> some_rows(TridiagonalView<T> line, Range rows) {
  if (rows.size() < line.size) line.exact_widths = line.distances = nullptr;
  line.size = rows.size();
  line.widths += rows.begin;
  line.conductance += rows.begin;
  return line;
}
/// What eliminate_row makes of `lost` in the first rows of a line, one a column.
template <class T>
std::vector<T> lost_behind(const TridiagonalView<T>& line, Lid rows, const std::vector<T>& lambda);

/// Up: f becomes what elimination leaves, `ratios` the factors of p in the next row ([row][column], `stride` values a
/// row). Row -1 of `rows` is the last of the part before.
template <class T>
void eliminate_columns(const LinePart<T>& part, const T* lambda, const ColumnRows<T>& rows, T* ratios, Size stride,
                       Range columns);
/// And down: p. The row behind the last of `rows` is the first of the next part.
template <class T>
void substitute_columns(const LinePart<T>& part, const T* lambda, const ColumnRows<T>& rows, const T* ratios,
                        Size stride, Range columns);
/// Both, in the last part.
template <class T>
void solve_last_columns(const LinePart<T>& part, const T* lambda, const ColumnRows<T>& rows, Range columns);

extern template class Tridiagonal<double>;
extern template class Tridiagonal<float>;
extern template void solve_columns(const TridiagonalView<double>&, const double*, const ColumnRows<double>&, Range);
extern template std::vector<double> lost_behind(const TridiagonalView<double>&, Lid, const std::vector<double>&);
extern template void eliminate_columns(const LinePart<double>&, const double*, const ColumnRows<double>&, double*, Size,
                                       Range);
extern template void substitute_columns(const LinePart<double>&, const double*, const ColumnRows<double>&,
                                        const double*, Size, Range);
extern template void solve_last_columns(const LinePart<double>&, const double*, const ColumnRows<double>&, Range);
extern template void solve_columns(const TridiagonalView<float>&, const float*, const ColumnRows<float>&, Range);
extern template std::vector<float> lost_behind(const TridiagonalView<float>&, Lid, const std::vector<float>&);
extern template void eliminate_columns(const LinePart<float>&, const float*, const ColumnRows<float>&, float*, Size,
                                       Range);
extern template void substitute_columns(const LinePart<float>&, const float*, const ColumnRows<float>&, const float*,
                                        Size, Range);
extern template void solve_last_columns(const LinePart<float>&, const float*, const ColumnRows<float>&, Range);

}  // namespace tutti::incompressible
