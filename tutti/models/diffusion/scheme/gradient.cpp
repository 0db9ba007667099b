#include "tutti/models/diffusion/scheme/gradient.hpp"

#include <algorithm>
#include <atomic>

#include "tutti/base/error.hpp"
#include "tutti/models/diffusion/scheme/damped.hpp"
#include "tutti/models/diffusion/scheme/scheme_faces.hpp"

namespace tutti::diffusion {

using scheme_faces::at;
using scheme_faces::InteriorFace;

namespace {

/// Lower Cholesky factor of a positive definite tensor, with the inverses of its diagonal.
struct Cholesky {
  double l10, l20, l21, i0, i1, i2;

  explicit Cholesky(const Sym3& a) {
    i0 = 1.0 / std::sqrt(a.xx);
    l10 = a.xy * i0;
    l20 = a.xz * i0;
    i1 = 1.0 / std::sqrt(a.yy - l10 * l10);
    l21 = (a.yz - l20 * l10) * i1;
    i2 = 1.0 / std::sqrt(a.zz - l20 * l20 - l21 * l21);
  }
  Vec3 solve_lower(Vec3 b) const {
    const double x = b.x * i0;
    const double y = (b.y - l10 * x) * i1;
    return {x, y, (b.z - l20 * x - l21 * y) * i2};
  }
  Vec3 solve_upper(Vec3 b) const {
    const double z = b.z * i2;
    const double y = (b.y - l21 * z) * i1;
    return {(b.x - l10 * y - l20 * z) * i0, y, z};
  }
};

Sym3 inverse(const Sym3& a) {
  const double xx = a.yy * a.zz - a.yz * a.yz;
  const double xy = a.xz * a.yz - a.xy * a.zz;
  const double xz = a.xy * a.yz - a.xz * a.yy;
  const double s = 1.0 / (a.xx * xx + a.xy * xy + a.xz * xz);
  return {s * xx, s * (a.xx * a.zz - a.xz * a.xz), s * (a.xx * a.yy - a.xy * a.xy), s * xy,
          s * xz, s * (a.xy * a.xz - a.xx * a.yz)};
}

/// Smallest eigenvalue of a tensor without one below `x`: Newton's method on the characteristic polynomial comes from
/// below and never overshoots. Plain arithmetic, so the same bits on every machine.
double smallest_eigenvalue(const Sym3& a, double x = 0) {
  const double trace = a.xx + a.yy + a.zz;
  const double minors = a.xx * a.yy - a.xy * a.xy + (a.xx * a.zz - a.xz * a.xz) + (a.yy * a.zz - a.yz * a.yz);
  const double det =
      a.xx * (a.yy * a.zz - a.yz * a.yz) - a.xy * (a.xy * a.zz - a.yz * a.xz) + a.xz * (a.xy * a.yz - a.yy * a.xz);
  for (int step = 0; step < 20; ++step) {
    const double value = det - x * (minors - x * (trace - x));
    const double slope = minors - x * (2 * trace - 3 * x);
    if (!(value > 0) || !(slope > 0)) break;
    x += value / slope;
  }
  return x;
}

/// What face f tells about the gradient of a cell.
FitRow fit_row(const Scheme& scheme, Lid cell, int face) {
  const LocalTetMesh& mesh = *scheme.mesh;
  const Lid neighbour = mesh.neighbours[at(cell)][at(face)];
  if (neighbour >= 0) {
    const InteriorFace f = scheme_faces::interior_face_of(scheme, cell, face, neighbour);
    const bool is_lo = mesh.global[at(cell)] < mesh.global[at(neighbour)];
    return {(is_lo ? 1.0 : -1.0) * scheme_faces::row_of(f, is_lo), 1.0};
  }
  require(neighbour != LocalTetMesh::outside_halo, "the halo of cell {} is too thin for its gradient",
          mesh.global[at(cell)]);
  const Lid number = scheme_faces::boundary_face_number(scheme, cell, face);
  if (gives_u(scheme.boundary_kinds[at(number)])) {
    const auto f = scheme_faces::given_face(scheme, cell, face, number);
    return {f.row, f.scale};
  }
  const auto shape = face_shape(mesh, cell, face);
  return {scheme.K[at(cell)] * shape.area, norm(shape.area)};
}

}  // namespace

GradientFit fit_gradient(const Sym3& K, const std::array<FitRow, 4>& rows, double weak) {
  // In the coordinates L^-1 x with K = L L^T the weighted rows are unit vectors e, whatever length they had.
  const Cholesky factor(K);
  std::array<Vec3, 4> e;
  std::array<double, 4> scale;
  Sym3 m;
  for (std::size_t f = 0; f < 4; ++f) {
    const Vec3 r = factor.solve_lower(rows[f].row);
    const double length = std::sqrt(rows[f].weight) / norm(r);
    e[f] = length * r;
    scale[f] = length * rows[f].scale;
    m = m + Sym3{e[f].x * e[f].x, e[f].y * e[f].y, e[f].z * e[f].z, e[f].x * e[f].y, e[f].x * e[f].z, e[f].y * e[f].z};
  }
  GradientFit fit;
  if (!scheme_faces::positive_definite(m + identity3(-weak)))
    fit.quality = std::max(singular_fit, std::min(1.0, smallest_eigenvalue(m) / weak));
  fit.singular = !scheme_faces::positive_definite(m + identity3(-singular_fit));
  if (fit.singular) return fit;
  const Sym3 solve = inverse(m);
  for (std::size_t f = 0; f < 4; ++f) fit.coefficients[f] = scale[f] * factor.solve_upper(solve * e[f]);
  return fit;
}

double scaled_length(const Sym3& K, Vec3 x) {
  return norm(Cholesky(K).solve_lower(x));
}

double smallest_scaled_eigenvalue(const Sym3& K, const std::array<Vec3, 4>& rows, const std::array<Vec3, 4>& flows) {
  const Cholesky factor(K);
  Sym3 m;
  for (std::size_t f = 0; f < 4; ++f) {
    const Vec3 a = factor.solve_lower(rows[f]), b = factor.solve_lower(flows[f]);
    m = m + Sym3{a.x * b.x,
                 a.y * b.y,
                 a.z * b.z,
                 0.5 * (a.x * b.y + a.y * b.x),
                 0.5 * (a.x * b.z + a.z * b.x),
                 0.5 * (a.y * b.z + a.z * b.y)};
  }
  // The eigenvalues lie within 2 sqrt(p) of their mean, with 6 p the squares of the deviator.
  const double mean = (m.xx + m.yy + m.zz) / 3;
  const Sym3 d = m + identity3(-mean);
  const double squares = d.xx * d.xx + d.yy * d.yy + d.zz * d.zz + 2 * (d.xy * d.xy + d.xz * d.xz + d.yz * d.yz);
  return smallest_eigenvalue(m, mean - 2 * std::sqrt(squares / 6));
}

void fit_gradients(Scheme& scheme, const ParallelFor& parallel) {
  const LocalTetMesh& mesh = *scheme.mesh;
  scheme.gradients.resize(mesh.cells.size());
  scheme.fit_quality.resize(mesh.cells.size(), 1.0);
  std::atomic<Lid> weak_fits{0}, flattened{0};
  scheme_faces::run(parallel, mesh.cell_count(), [&](Range range) {
    Lid weak_here = 0, flat_here = 0;
    for (Lid c = range.begin; c < range.end; ++c) {
      if (!scheme_faces::is_active(mesh, c)) continue;
      std::array<FitRow, 4> rows;
      for (int f = 0; f < 4; ++f) rows[at(f)] = fit_row(scheme, c, f);
      if (is_damped(scheme, c)) {
        const auto fit = fit_damped(scheme, c, rows);
        scheme.gradients[at(c)] = fit.coefficients;
        scheme.fit_quality[at(c)] = fit.quality;
        continue;
      }
      const bool inner = scheme.first_boundary_face[at(c)] == scheme.first_boundary_face[at(c) + 1];
      const auto fit =
          fit_gradient(scheme.K[at(c)], rows, inner ? scheme.options.weak_fit : scheme.options.weak_boundary_fit);
      scheme.gradients[at(c)] = fit.coefficients;
      scheme.fit_quality[at(c)] = fit.quality;
      if (c < mesh.owned) {
        weak_here += fit.quality < 1;
        flat_here += fit.singular;
      }
    }
    weak_fits += weak_here;
    flattened += flat_here;
  });
  scheme.weak_fits = weak_fits;
  scheme.flattened = flattened;
}

double face_datum(const Scheme& scheme, Lid cell, int face, std::span<const double> u, std::span<const double> g) {
  const Lid n = scheme.mesh->neighbours[at(cell)][at(face)];
  if (n >= 0) return u[at(n)] - u[at(cell)];
  const std::size_t b = at(scheme_faces::boundary_face_number(scheme, cell, face));
  return gives_u(scheme.boundary_kinds[b]) ? g[b] - u[at(cell)] : g[b];
}

Vec3 cell_gradient(const Scheme& scheme, Lid cell, std::span<const double> u, std::span<const double> g) {
  require(!scheme.options.two_point, "the two-point flux has no gradients");
  Vec3 sum;
  for (int f = 0; f < 4; ++f) sum = sum + face_datum(scheme, cell, f, u, g) * scheme.gradients[at(cell)][at(f)];
  return sum;
}

std::vector<Vec3> cell_gradients(const Scheme& scheme, std::span<const double> u, std::span<const double> g) {
  require(g.size() == scheme.boundary_faces.size(), "{} boundary data for {} faces", g.size(),
          scheme.boundary_faces.size());
  std::vector<Vec3> out(at(scheme.mesh->owned));
  for (Lid c = 0; c < scheme.mesh->owned; ++c) out[at(c)] = cell_gradient(scheme, c, u, g);
  return out;
}

std::vector<Vec3> cell_gradients(const LocalTetMesh& mesh, std::span<const Sym3> K, const BoundaryKindOf& kind,
                                 std::span<const double> u, std::span<const double> g, const SchemeOptions& options) {
  return cell_gradients(prepare_scheme(mesh, K, kind, options), u, g);
}

}  // namespace tutti::diffusion
