#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"

#include <algorithm>

namespace tutti::incompressible {

bool has_column_modes(const Line& line) {
  return line.periodic() && line.size() > 1 && has_fast_transform(line);
}

template <class T>
ColumnModes<T>::ColumnModes(const Line& line) {
  if (!has_column_modes(line)) return;
  const LineModes modes = line_modes(line);
  to_.emplace_back(modes, Transform::to_modes, LineAxis::y);
  from_.emplace_back(modes, Transform::from_modes, LineAxis::y);
  eigenvalues_.assign(modes.eigenvalues.begin(), modes.eigenvalues.end());
}

template <class T>
void solve_by_modes(const ColumnModesView<T>& modes, const T* lambda, T* values, Lid stride, Range columns) {
  constexpr Lid at_once = 128;  // stay in the cache from one transform to the next
  for (Lid first = columns.begin; first < columns.end; first += at_once) {
    const Range some{first, std::min(columns.end, first + at_once)};
    transform_y(modes.to, values, values, stride, some);
    for (Lid k = 0; k < modes.to.size(); ++k) {
      T* const row = values + Size{k} * stride;
      const T along = modes.eigenvalues[k];
      for (Lid c = some.begin; c < some.end; ++c) row[c] = solved_mode(row[c], lambda[c], along);
    }
    transform_y(modes.from, values, values, stride, some);
  }
}

template class ColumnModes<double>;
template class ColumnModes<float>;
template void solve_by_modes(const ColumnModesView<double>&, const double*, double*, Lid, Range);
template void solve_by_modes(const ColumnModesView<float>&, const float*, float*, Lid, Range);

}  // namespace tutti::incompressible
