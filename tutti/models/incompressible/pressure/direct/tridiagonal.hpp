// (L + lambda_c) p = f along the slowest index of in[z][column], for columns c of different lambda <= 0.
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

/// Columns [begin, end) of in[z][stride] into out. lambda: one a column, <= 0. Where lambda is 0 and the line singular
/// there is a solution only for an f of mean 0, and then many: the mean of f (weighted with the widths) is left out,
/// and the solution is the one of mean 0. The sums are one chain over z. `out` may be `in`.
template <class T>
void solve_columns(const TridiagonalView<T>& line, const T* lambda, const T* in, T* out, Size stride, Range columns);

extern template class Tridiagonal<double>;
extern template class Tridiagonal<float>;
extern template void solve_columns(const TridiagonalView<double>&, const double*, const double*, double*, Size, Range);
extern template void solve_columns(const TridiagonalView<float>&, const float*, const float*, float*, Size, Range);

}  // namespace tutti::incompressible
