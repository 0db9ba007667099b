// Small dense matrices: what Eigen is asked for, compiled once.
#pragma once

#include <array>
#include <complex>
#include <optional>
#include <span>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// n x n, column after column.
template <class Real>
struct SquareMatrix {
  Size n = 0;
  std::vector<Real> values;
  explicit SquareMatrix(Size size) : n(size), values(static_cast<std::size_t>(size * size), Real{0}) {}
  Real& operator()(Size row, Size column) { return values[static_cast<std::size_t>(column * n + row)]; }
  Real operator()(Size row, Size column) const { return values[static_cast<std::size_t>(column * n + row)]; }
};
using DenseMatrix = SquareMatrix<double>;

/// Of a real matrix, which need not be symmetric. vectors[k]: that of value k, of length 1; none where not asked for.
struct Eigenpairs {
  std::vector<std::complex<double>> values;
  std::vector<std::vector<std::complex<double>>> vectors;
};
/// None: the iteration does not end.
std::optional<Eigenpairs> find_eigenpairs(const DenseMatrix& matrix, bool with_vectors);

/// Of a symmetric matrix, the lowest value first; column k of `vectors`: that of value k, all orthonormal; no
/// columns where not asked for.
struct SymmetricEigenpairs {
  std::vector<long double> values;
  SquareMatrix<long double> vectors;
};
/// Reads what is on the diagonal and below it. In long double: right to rounding in double, and no vector instruction
/// changes the bits. None: the iteration does not end.
std::optional<SymmetricEigenpairs> find_symmetric_eigenpairs(const SquareMatrix<long double>& matrix,
                                                             bool with_vectors);

/// The eigenvalues of a symmetric matrix of 3 x 3, the lowest first, to about 1e-8 of the largest (a closed formula).
std::array<double, 3> symmetric_eigenvalues(double xx, double xy, double xz, double yy, double yz, double zz);

/// The shortest x of those for which |matrix x - right| is least.
std::vector<double> solve_least_squares(const DenseMatrix& matrix, std::span<const double> right);

}  // namespace tutti
