// Poisson's equation L p = f in a box of cells, solved to rounding: modes along x and y, elimination along z (Lynch,
// Rice, Thomas, Numer. Math. 6, 1964), or modes there, too (column_modes.hpp).
//
// Bits depend neither on the number of threads nor on how a caller cuts the work: see line_transform.hpp and
// tridiagonal.hpp, whose functions take ranges of lines and columns.
#pragma once

#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"
#include "tutti/models/incompressible/pressure/direct/line_transform.hpp"
#include "tutti/models/incompressible/pressure/direct/tridiagonal.hpp"

namespace tutti::incompressible {

/// Cells [z][y][x], x fastest. L is the sum of the three lines' operators.
struct PoissonBox {
  Line x, y, z;
  Size cells() const { return Size{x.size()} * y.size() * z.size(); }
  /// No face is Dirichlet: p is known but for a constant, and f must have mean 0.
  bool singular() const;
};

/// What it costs: for n cells a direction 2 n multiply-adds a cell (half of each line's n if it is not the same from
/// both ends: then 4 n), and the matrices take n^2 numbers or less each.
template <class T>
class DirectSolver {
 public:
  /// Error(input) as line_operator.
  explicit DirectSolver(const PoissonBox& box);

  /// p of L p = f, both `cells` long; p may be f. In a singular box the mean of f, weighted with the cells' volumes,
  /// is left out first (whatever it is: the caller's f may be incompatible), and p has mean 0.
  void solve(const T* f, T* p, const ParallelFor& parallel = {}) const;

  /// Multiply-adds in the transforms of one solve.
  Size transform_work() const;

 private:
  Lid nx_, ny_, nz_;
  LineTransform<T> x_to_modes_, x_from_modes_, y_to_modes_, y_from_modes_;
  Tridiagonal<T> z_;
  ColumnModes<T> z_modes_;  ///< in place of z_, where they exist
  std::vector<T> lambda_;   ///< [y][x]: sums of eigenvalues, one a column of z

  DirectSolver(const PoissonBox& box, const LineModes& x, const LineModes& y);
};

/// L p, in double, rounded to T. p and result: `cells` long, not the same.
template <class T>
void apply_laplacian(const PoissonBox& box, const T* p, T* result, const ParallelFor& parallel = {});

struct PoissonResidual {
  double residual = 0;  ///< max |f - L p|, f without its mean in a singular box
  double f = 0;         ///< max |f|
  double p = 0;         ///< max |p|
  double norm = 0;      ///< max of the sums of |L|'s rows: a rounded p alone makes a residual of norm * p * epsilon
};

/// Of p and f as `solve` takes them; everything in double.
template <class T>
PoissonResidual poisson_residual(const PoissonBox& box, const T* p, const T* f, const ParallelFor& parallel = {});

extern template class DirectSolver<double>;
extern template class DirectSolver<float>;
extern template void apply_laplacian(const PoissonBox&, const double*, double*, const ParallelFor&);
extern template void apply_laplacian(const PoissonBox&, const float*, float*, const ParallelFor&);
extern template PoissonResidual poisson_residual(const PoissonBox&, const double*, const double*, const ParallelFor&);
extern template PoissonResidual poisson_residual(const PoissonBox&, const float*, const float*, const ParallelFor&);

}  // namespace tutti::incompressible
