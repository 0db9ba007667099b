#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"

#include "tutti/models/incompressible/pressure/direct/fast_transform.hpp"
#include "tutti/models/incompressible/pressure/direct/line_modes.hpp"

namespace tutti::incompressible {

bool has_column_modes(const Line& line) {
  return line.periodic() && line.size() > 1 && has_fast_transform(line);
}

template <class T>
ColumnModes<T>::ColumnModes(const Line& line) {
  if (!has_column_modes(line)) return;
  const LineModes modes = line_modes(line);
  to_ = RoundedFastLine<T>(modes.fast);
  from_ = RoundedFastLine<T>(transposed(modes.fast));
  eigenvalues_.assign(modes.eigenvalues.begin(), modes.eigenvalues.end());
}

template <class T>
void solve_by_modes(const ColumnModesView<T>& modes, const T* lambda, T* values, Lid stride, Range columns) {
  fast_solve_y(modes.to, modes.from, modes.eigenvalues, lambda, values, stride, columns);
}

template class ColumnModes<double>;
template class ColumnModes<float>;
template void solve_by_modes(const ColumnModesView<double>&, const double*, double*, Lid, Range);
template void solve_by_modes(const ColumnModesView<float>&, const float*, float*, Lid, Range);

}  // namespace tutti::incompressible
