// Fast transforms of lines on a CPU, as many lines at once as a vector has lanes.
#pragma once

#include "tutti/models/incompressible/pressure/direct/fast_line.hpp"

namespace tutti::incompressible {

/// As transform_x and transform_y of line_transform.hpp.
template <class T>
void fast_transform_x(const FastLineView<T>& line, const T* in, T* out, Range lines);
template <class T>
void fast_transform_y(const FastLineView<T>& line, const T* in, T* out, Lid nx, Range lines);

/// As solve_by_modes of column_modes.hpp, by transforms there and back. A line stays in the cache between them.
template <class T>
void fast_solve_y(const FastLineView<T>& to_modes, const FastLineView<T>& from_modes, const T* along, const T* lambda,
                  T* values, Lid stride, Range lines);

extern template void fast_transform_x(const FastLineView<double>&, const double*, double*, Range);
extern template void fast_transform_x(const FastLineView<float>&, const float*, float*, Range);
extern template void fast_transform_y(const FastLineView<double>&, const double*, double*, Lid, Range);
extern template void fast_transform_y(const FastLineView<float>&, const float*, float*, Lid, Range);
extern template void fast_solve_y(const FastLineView<double>&, const FastLineView<double>&, const double*,
                                  const double*, double*, Lid, Range);
extern template void fast_solve_y(const FastLineView<float>&, const FastLineView<float>&, const float*, const float*,
                                  float*, Lid, Range);

}  // namespace tutti::incompressible
