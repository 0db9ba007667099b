#include "tutti/base/dense_matrix.hpp"

// Small matrices, at set-up. Without the checks of each index: a third less code. Without vectors: a third less time to
// compile, and the same bits on all processors.
#define EIGEN_NO_DEBUG
#define EIGEN_DONT_VECTORIZE
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>

namespace tutti {
namespace {

using View = Eigen::Map<const Eigen::MatrixXd>;

View view_of(const DenseMatrix& matrix) {
  return View(matrix.values.data(), matrix.n, matrix.n);
}

}  // namespace

std::optional<Eigenpairs> find_eigenpairs(const DenseMatrix& matrix, bool with_vectors) {
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(view_of(matrix), with_vectors);
  if (solver.info() != Eigen::Success) return std::nullopt;
  Eigenpairs pairs;
  pairs.values.assign(solver.eigenvalues().begin(), solver.eigenvalues().end());
  if (!with_vectors) return pairs;
  const Eigen::MatrixXcd vectors = solver.eigenvectors();
  for (Eigen::Index k = 0; k < vectors.cols(); ++k) {
    const Eigen::VectorXcd vector = vectors.col(k).normalized();
    pairs.vectors.emplace_back(vector.begin(), vector.end());
  }
  return pairs;
}

std::optional<SymmetricEigenpairs> find_symmetric_eigenpairs(const SquareMatrix<long double>& matrix,
                                                             bool with_vectors) {
  using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Eigen::Map<const Matrix> a(matrix.values.data(), matrix.n, matrix.n);
  const int wanted = with_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly;
  bool tridiagonal = true;
  for (Size column = 0; column < matrix.n; ++column)
    for (Size row = column + 2; row < matrix.n; ++row) tridiagonal = tridiagonal && a(row, column) == 0;
  Eigen::SelfAdjointEigenSolver<Matrix> solver;
  if (tridiagonal) {
    using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
    const Vector diagonal = a.diagonal(), beside = a.diagonal(-1);
    solver.computeFromTridiagonal(diagonal, beside, wanted);
  } else {
    solver.compute(a, wanted);
  }
  if (solver.info() != Eigen::Success) return std::nullopt;
  SymmetricEigenpairs pairs{{solver.eigenvalues().begin(), solver.eigenvalues().end()},
                            SquareMatrix<long double>(with_vectors ? matrix.n : 0)};
  if (with_vectors)
    std::copy(solver.eigenvectors().data(), solver.eigenvectors().data() + matrix.values.size(),
              pairs.vectors.values.begin());
  return pairs;
}

std::array<double, 3> symmetric_eigenvalues(double xx, double xy, double xz, double yy, double yz, double zz) {
  Eigen::Matrix3d matrix;
  matrix << xx, xy, xz, xy, yy, yz, xz, yz, zz;
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver;
  solver.computeDirect(matrix, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues()[0], solver.eigenvalues()[1], solver.eigenvalues()[2]};
}

std::vector<double> solve_least_squares(const DenseMatrix& matrix, std::span<const double> right) {
  const Eigen::VectorXd given = Eigen::Map<const Eigen::VectorXd>(right.data(), matrix.n);
  const Eigen::VectorXd found = view_of(matrix).completeOrthogonalDecomposition().solve(given);
  return {found.begin(), found.end()};
}

}  // namespace tutti
