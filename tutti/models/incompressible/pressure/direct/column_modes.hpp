// Columns along a periodic line of equal cells: their modes along it divide, instead of a cyclic elimination, which
// needs two more arrays and one division after the other.
#pragma once

#include <vector>

#include "tutti/models/incompressible/pressure/direct/fast_line.hpp"

namespace tutti::incompressible {

/// Periodic, of more than one cell, and with a fast transform.
bool has_column_modes(const Line& line);

/// What a column's mode of eigenvalue `along` becomes. That of the constant, which no equation tells, becomes 0.
template <class T>
TUTTI_HD inline T solved_mode(T value, T lambda, T along) {
  const T divisor = lambda + along;
  const bool constant = divisor == 0;
  const T quotient = value / (constant ? T(1) : divisor);  // always: so a loop becomes vectors
  return constant ? T(0) : quotient;
}

template <class T>
struct ColumnModesView {
  FastLineView<T> to, from;
  const T* eigenvalues = nullptr;  ///< null: there are no such modes

  bool exist() const { return eigenvalues != nullptr; }
};

/// Of a line with column modes; of others there are none.
template <class T>
class ColumnModes {
 public:
  explicit ColumnModes(const Line& line);
  ColumnModesView<T> view() const {
    if (eigenvalues_.empty()) return {};
    return {to_.view(), from_.view(), eigenvalues_.data()};
  }
  bool exist() const { return !eigenvalues_.empty(); }
  /// Multiply-adds for one column.
  Size work() const { return exist() ? 2 * fast_work(to_.size) : 0; }

 private:
  RoundedFastLine<T> to_, from_;
  std::vector<T> eigenvalues_;
};

/// (L + lambda) p = f for columns [begin, end), in place: values[row][`stride` columns]. lambda: one a column, <= 0.
/// Where lambda is 0 the mean of f is left out, and p has mean 0.
template <class T>
void solve_by_modes(const ColumnModesView<T>& modes, const T* lambda, T* values, Lid stride, Range columns);

extern template class ColumnModes<double>;
extern template class ColumnModes<float>;
extern template void solve_by_modes(const ColumnModesView<double>&, const double*, double*, Lid, Range);
extern template void solve_by_modes(const ColumnModesView<float>&, const float*, float*, Lid, Range);

}  // namespace tutti::incompressible
