// What of the problems needs Eigen, whose templates take a compiler seconds: once for all tests.
#include "test_scheme_problem.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/Sparse>
#include <array>
#include <cmath>

#include "tutti/base/random.hpp"

namespace tutti::test {
namespace {

Vec3 outward_normal(const LocalTetMesh& mesh, const BoundaryFaceRef& f) {
  const auto& local = tet_faces[f.face];
  std::array<Vec3, 3> x;
  for (std::size_t v = 0; v < 3; ++v) x[v] = mesh.vertices[mesh.cells[f.cell][local[v]]];
  const Vec3 n = cross(x[1] - x[0], x[2] - x[0]);
  return (1.0 / norm(n)) * n;
}

}  // namespace

std::vector<Sym3> tensors(const LocalTetMesh& mesh, const Exact& exact) {
  std::vector<Sym3> K;
  for (Lid c = 0; c < mesh.cell_count(); ++c) K.push_back(exact.K(mesh.centroid(c), exact.side(mesh.centroid(c))));
  return K;
}

std::vector<double> boundary_data(const LocalTetMesh& mesh, const std::vector<BoundaryFaceRef>& faces,
                                  const Exact& exact, const SchemeOptions& options) {
  std::vector<double> g;
  for (const auto& f : faces) {
    const int side = exact.side(mesh.centroid(f.cell));
    const double u = exact.u(f.centroid, side), flux = dot(outward_normal(mesh, f), exact.flux(f.centroid, side));
    const BoundaryKind kind = exact.kind(f.tag);
    g.push_back(kind == BoundaryKind::dirichlet ? u
                : kind == BoundaryKind::neumann ? flux
                                                : u + flux / options.transfer(f.tag, f.centroid));
  }
  return g;
}

std::vector<double> apply(const DiffusionRows& rows, std::span<const double> u, std::span<const double> g) {
  std::vector<double> out;
  for (std::size_t i = 0; i < rows.counts.size(); ++i) {
    double sum = rows.diagonal[i] * u[i];
    for (std::size_t e = 0; e < rows.counts[i]; ++e) sum += rows.values[i][e] * (u[rows.columns[i][e]] - u[i]);
    const auto b = rows.boundary_columns.row(static_cast<Lid>(i));
    for (std::size_t e = 0; e < b.size(); ++e)
      sum += rows.boundary_values[static_cast<std::size_t>(rows.boundary_columns.offsets[i]) + e] * g[b[e]];
    out.push_back(sum);
  }
  return out;
}

namespace {

/// The matrix of the rows, u -> du/dt with g = 0.
Eigen::SparseMatrix<double> matrix(const DiffusionRows& rows) {
  std::vector<Eigen::Triplet<double>> entries;
  const auto n = static_cast<int>(rows.counts.size());
  for (int i = 0; i < n; ++i) {
    const auto u = static_cast<std::size_t>(i);
    double diagonal = rows.diagonal[u];
    for (std::size_t e = 0; e < rows.counts[u]; ++e) {
      entries.emplace_back(i, rows.columns[u][e], rows.values[u][e]);
      diagonal -= rows.values[u][e];
    }
    entries.emplace_back(i, i, diagonal);
  }
  Eigen::SparseMatrix<double> out(n, n);
  out.setFromTriplets(entries.begin(), entries.end());
  return out;
}

/// Solves L u + b = -s.
std::vector<double> solve_steady(const LocalTetMesh& mesh, const DiffusionRows& rows, const Exact& exact,
                                 const SchemeOptions& options) {
  const auto g = boundary_data(mesh, rows.boundary_faces, exact, options);
  const std::vector<double> zero(rows.counts.size(), 0.0);
  const auto b = apply(rows, zero, g);
  Eigen::VectorXd rhs(static_cast<Eigen::Index>(b.size()));
  for (std::size_t i = 0; i < b.size(); ++i)
    rhs[static_cast<Eigen::Index>(i)] = -b[i] - exact.source(mesh.centroid(static_cast<Lid>(i)));
  Eigen::BiCGSTAB<Eigen::SparseMatrix<double>, Eigen::IncompleteLUT<double>> solver;
  solver.setTolerance(1e-9);
  solver.preconditioner().setFillfactor(5);
  solver.preconditioner().setDroptol(1e-3);
  const Eigen::SparseMatrix<double> L = matrix(rows);  // the solver refers to it
  solver.compute(L);
  const Eigen::VectorXd u = solver.solve(rhs);
  return {u.data(), u.data() + u.size()};
}

}  // namespace

std::vector<std::complex<double>> eigenvalues(const DiffusionRows& rows) {
  const Eigen::MatrixXd dense = matrix(rows);
  const Eigen::VectorXcd values = Eigen::EigenSolver<Eigen::MatrixXd>(dense, false).eigenvalues();
  return {values.begin(), values.end()};
}

double largest_gain(const LocalTetMesh& mesh, const DiffusionRows& rows) {
  Eigen::MatrixXd dense = matrix(rows);
  for (Eigen::Index i = 0; i < dense.rows(); ++i) dense.row(i) *= mesh.volume(static_cast<Lid>(i));
  const Eigen::MatrixXd symmetric = 0.5 * (dense + dense.transpose());
  const Eigen::VectorXd values =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
  return values[values.size() - 1] / std::abs(values[0]);
}

double growth(const DiffusionRows& rows) {
  const Eigen::SparseMatrix<double, Eigen::RowMajor> L = matrix(rows);
  Eigen::VectorXd u(L.rows());
  const auto noise = [&] {
    for (Eigen::Index i = 0; i < u.size(); ++i) u[i] = random_unit(9, static_cast<std::uint64_t>(i)) - 0.5;
  };
  noise();
  double rho = 0;
  for (int k = 0; k < 150; ++k) {
    const Eigen::VectorXd v = L * u;
    rho = v.norm() / u.norm();
    u = v / v.norm();
  }
  noise();
  for (int k = 0; k < 1000; ++k) u += 1.9 / rho * (L * u);
  const double before = u.norm();
  for (int k = 0; k < 1000; ++k) u += 1.9 / rho * (L * u);
  return u.norm() / before;
}

Errors steady_errors(const LocalTetMesh& mesh, const Exact& exact, const SchemeOptions& options) {
  const auto K = tensors(mesh, exact);
  const auto rows = assemble_rows(mesh, K, exact.kind, options);
  const auto u = solve_steady(mesh, rows, exact, options);
  SchemeOptions plain = options;
  plain.damped = {};
  plain.two_point = false;
  const auto grad =
      cell_gradients(mesh, K, exact.kind, u, boundary_data(mesh, rows.boundary_faces, exact, options), plain);
  Errors out;
  double volume = 0;
  for (Lid c = 0; c < mesh.owned; ++c) {
    const Vec3 x = mesh.centroid(c);
    const int side = exact.side(x);
    const double v = mesh.volume(c);
    const double e = u[c] - exact.u(x, side);
    const Vec3 eg = grad[c] - exact.gradient(x, side);
    out.u += v * e * e;
    out.gradient += v * dot(eg, eg);
    volume += v;
  }
  out.u = std::sqrt(out.u / volume);
  out.gradient = std::sqrt(out.gradient / volume);
  out.h = std::cbrt(volume / mesh.owned);
  out.weak_fits = rows.weak_fits;
  return out;
}

}  // namespace tutti::test
