#include "test_scheme_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "tutti/base/dense_matrix.hpp"
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

struct Entry {
  std::size_t column;
  double value;
};
/// Entries of a row by ascending columns, each column once.
using Sparse = std::vector<std::vector<Entry>>;
using Values = std::vector<double>;

/// The matrix of the rows, u -> du/dt with g = 0.
Sparse matrix(const DiffusionRows& rows) {
  Sparse out(rows.counts.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    double diagonal = rows.diagonal[i];
    for (std::size_t e = 0; e < rows.counts[i]; ++e) {
      out[i].push_back({static_cast<std::size_t>(rows.columns[i][e]), rows.values[i][e]});
      diagonal -= rows.values[i][e];
    }
    out[i].push_back({i, diagonal});
    std::sort(out[i].begin(), out[i].end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
  }
  return out;
}

Values times(const Sparse& a, const Values& x) {
  Values out;
  for (const auto& row : a) {
    double sum = 0;
    for (const Entry& e : row) sum += e.value * x[e.column];
    out.push_back(sum);
  }
  return out;
}

double product(const Values& x, const Values& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}
double length(const Values& x) {
  return std::sqrt(product(x, x));
}
void add(Values& to, double factor, const Values& x) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * x[i];
}

/// L and U of an incomplete factorisation that has entries only where the matrix has: L without its diagonal of ones.
Sparse factors_of(Sparse a) {
  std::vector<Entry*> in_row(a.size(), nullptr);
  std::vector<double> pivots(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (Entry& e : a[i]) in_row[e.column] = &e;
    for (Entry& lower : a[i]) {
      if (lower.column >= i) break;
      lower.value /= pivots[lower.column];
      for (const Entry& upper : a[lower.column])
        if (upper.column > lower.column && in_row[upper.column])
          in_row[upper.column]->value -= lower.value * upper.value;
    }
    pivots[i] = in_row[i]->value;
    for (const Entry& e : a[i]) in_row[e.column] = nullptr;
  }
  return a;
}

Values divided(Values x, const Sparse& factors) {
  for (std::size_t i = 0; i < x.size(); ++i)
    for (const Entry& e : factors[i])
      if (e.column < i) x[i] -= e.value * x[e.column];
  for (std::size_t i = x.size(); i-- > 0;) {
    double pivot = 1;
    for (const Entry& e : factors[i]) {
      if (e.column > i) x[i] -= e.value * x[e.column];
      if (e.column == i) pivot = e.value;
    }
    x[i] /= pivot;
  }
  return x;
}

/// a x = b by BiCGSTAB (van der Vorst, SIAM J. Sci. Stat. Comput. 13, 1992), to a residual of 1e-9 of b.
Values solve(const Sparse& a, const Values& b) {
  const Sparse factors = factors_of(a);
  Values x(b.size(), 0.0), r = b, p(b.size(), 0.0), v = p;
  double rho = 1, alpha = 1, omega = 1;
  for (int k = 0; k < 2000; ++k) {
    if (length(r) <= 1e-9 * length(b)) return x;
    const double before = std::exchange(rho, product(b, r));
    add(p, -omega, v);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = r[i] + rho / before * alpha / omega * p[i];
    const Values y = divided(p, factors);
    v = times(a, y);
    alpha = rho / product(b, v);
    add(x, alpha, y);
    add(r, -alpha, v);
    const Values z = divided(r, factors), t = times(a, z);
    omega = product(t, r) / product(t, t);
    add(x, omega, z);
    add(r, -omega, t);
  }
  throw std::runtime_error("no steady solution");
}

/// Solves L u + b = -s.
Values solve_steady(const LocalTetMesh& mesh, const DiffusionRows& rows, const Exact& exact,
                    const SchemeOptions& options) {
  const auto g = boundary_data(mesh, rows.boundary_faces, exact, options);
  Values right = apply(rows, Values(rows.counts.size(), 0.0), g);
  for (std::size_t i = 0; i < right.size(); ++i)
    right[i] = -right[i] - exact.source(mesh.centroid(static_cast<Lid>(i)));
  return solve(matrix(rows), right);
}

}  // namespace

std::vector<std::complex<double>> eigenvalues(const DiffusionRows& rows) {
  DenseMatrix dense(std::ssize(rows.counts));
  const Sparse L = matrix(rows);
  for (std::size_t i = 0; i < L.size(); ++i)
    for (const Entry& e : L[i]) dense(static_cast<Size>(i), static_cast<Size>(e.column)) = e.value;
  return find_eigenpairs(dense, false).value().values;
}

double largest_gain(const LocalTetMesh& mesh, const DiffusionRows& rows) {
  SquareMatrix<long double> symmetric(std::ssize(rows.counts));
  const Sparse L = matrix(rows);
  for (std::size_t i = 0; i < L.size(); ++i)
    for (const Entry& e : L[i]) {
      const double half = 0.5 * e.value * mesh.volume(static_cast<Lid>(i));
      symmetric(static_cast<Size>(i), static_cast<Size>(e.column)) += half;
      symmetric(static_cast<Size>(e.column), static_cast<Size>(i)) += half;
    }
  const auto values = find_symmetric_eigenpairs(symmetric, false).value().values;
  return static_cast<double>(values.back() / std::abs(values.front()));
}

double growth(const DiffusionRows& rows) {
  const Sparse L = matrix(rows);
  Values u(L.size());
  const auto noise = [&] {
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = random_unit(9, i) - 0.5;
  };
  noise();
  double rho = 0;
  for (int k = 0; k < 150; ++k) {
    const Values v = times(L, u);
    const double size = length(v);
    rho = size / length(u);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = v[i] / size;
  }
  noise();
  for (int k = 0; k < 1000; ++k) add(u, 1.9 / rho, times(L, u));
  const double before = length(u);
  for (int k = 0; k < 1000; ++k) add(u, 1.9 / rho, times(L, u));
  return length(u) / before;
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
