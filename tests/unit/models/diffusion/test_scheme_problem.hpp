// Problems with a known solution, and their steady discrete solutions.
#pragma once

#include <Eigen/Sparse>
#include <cmath>
#include <functional>
#include <vector>

#include "tutti/models/diffusion/scheme/gradient.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::test {
using namespace diffusion;  // NOLINT(google-build-using-namespace): tests of this model

/// A steady solution of div(K grad u) + s = 0. `side` (-1, +1) tells from which side of an interface a value is taken.
struct Exact {
  std::function<Sym3(Vec3, int side)> K;
  std::function<double(Vec3, int side)> u;
  std::function<Vec3(Vec3, int side)> gradient;
  std::function<int(Vec3)> side = [](Vec3) { return 0; };
  BoundaryKindOf kind = [](std::int32_t) { return BoundaryKind::dirichlet; };

  Vec3 flux(Vec3 x, int s) const { return K(x, s) * gradient(x, s); }
  /// s = -div(K grad u), by central differences of order four.
  double source(Vec3 x) const {
    const int s = side(x);
    const double h = 2e-3;
    double div = 0;
    for (int a = 0; a < 3; ++a) {
      const auto at = [&](double t) {
        Vec3 y = x;
        y[a] += t;
        return flux(y, s)[a];
      };
      div += (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    }
    return -div;
  }
};

inline Vec3 outward_normal(const LocalTetMesh& mesh, const BoundaryFaceRef& f) {
  const auto& local = tet_faces[f.face];
  std::array<Vec3, 3> x;
  for (std::size_t v = 0; v < 3; ++v) x[v] = mesh.vertices[mesh.cells[f.cell][local[v]]];
  const Vec3 n = cross(x[1] - x[0], x[2] - x[0]);
  return (1.0 / norm(n)) * n;
}

inline std::vector<Sym3> tensors(const LocalTetMesh& mesh, const Exact& exact) {
  std::vector<Sym3> K;
  for (Lid c = 0; c < mesh.cell_count(); ++c) K.push_back(exact.K(mesh.centroid(c), exact.side(mesh.centroid(c))));
  return K;
}

/// The exact data of the boundary faces.
inline std::vector<double> boundary_data(const LocalTetMesh& mesh, const std::vector<BoundaryFaceRef>& faces,
                                         const Exact& exact, const SchemeOptions& options = {}) {
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

/// du/dt of the rows without source.
inline std::vector<double> apply(const DiffusionRows& rows, std::span<const double> u, std::span<const double> g) {
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

/// The matrix of the rows, u -> du/dt with g = 0.
inline Eigen::SparseMatrix<double> matrix(const DiffusionRows& rows) {
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
inline std::vector<double> solve_steady(const LocalTetMesh& mesh, const DiffusionRows& rows, const Exact& exact,
                                        const SchemeOptions& options = {}) {
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

struct Errors {
  double h = 0;  ///< (volume / cells)^(1/3)
  double u = 0, gradient = 0;
  Lid weak_fits = 0;
};

/// L2 errors of the steady solution and of its gradients, at centroids.
inline Errors steady_errors(const LocalTetMesh& mesh, const Exact& exact, const SchemeOptions& options = {}) {
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
