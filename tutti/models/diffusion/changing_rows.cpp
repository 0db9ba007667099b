// Rows that change while the run goes on: K names u, h names t, fluxes are bounded by u, or implicit steps take a
// source of u.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/mesh/face_shape.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/scheme/monotone.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::diffusion {
namespace {

/// ds/du by central differences. Iterations end where the residual says so: it need not be exact.
std::vector<double> source_slopes(const Expression& source, std::span<const Vec3> centroids, double time,
                                  std::span<const double> u, Threads& threads) {
  constexpr double step = 1e-5;
  std::vector<double> above(u.begin(), u.end()), below = above;
  for (double& x : above) x += step * (1 + std::abs(x));
  for (double& x : below) x -= step * (1 + std::abs(x));
  std::vector<double> slopes = evaluate_at(source, centroids, time, threads, above);
  const auto low = evaluate_at(source, centroids, time, threads, below);
  for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = (slopes[i] - low[i]) / (above[i] - below[i]);
  return slopes;
}

}  // namespace

/// Between which values the initial ones and those given on the boundary lie, at t = 0.
void Diffusion::find_data_range() {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  comm_.together([&] {
    for (const LocalTetMesh& mesh : domain_.meshes)
      for (Lid c = 0; c < mesh.owned; ++c) {
        const auto look = [&](double u) { low = std::min(low, u), high = std::max(high, u); };
        look(physics_->initial()(mesh.centroid(c), 0));
        for (int f = 0; f < 4; ++f) {
          const Lid n = mesh.neighbours[static_cast<std::size_t>(c)][static_cast<std::size_t>(f)];
          if (n >= 0 || n == LocalTetMesh::outside_halo) continue;
          const BoundaryCondition& condition = physics_->condition(boundary_tag(n));
          if (gives_u(condition.kind)) look(condition.value(face_shape(mesh, c, f).centroid, 0));
        }
      }
  });
  low_ = -max_over_ranks(comm_, -low);
  high_ = max_over_ranks(comm_, high);
}

/// How fast a source of u damps, at most, for values that the data allow: -ds/du. Where it is not finite it says
/// nothing.
double Diffusion::damping_of_source() const {
  constexpr int samples = 9;
  const Expression& source = physics_->source();
  double rate = 0;
  for (const DiffusionPart& part : parts_) {
    const std::size_t n = part.centroids.size();
    std::vector<double> u(n), above(n), below(n);
    const auto evaluate = [&](double value, std::vector<double>& to) {
      std::fill(u.begin(), u.end(), value);
      evaluate_formula(source.steps().data(), static_cast<int>(source.steps().size()), part.centroids.data(), 0,
                       to.data(), n, u.data());
    };
    for (int k = 0; k < samples && n > 0; ++k) {
      const double value = low_ + (high_ - low_) * k / (samples - 1), step = 1e-5 * (1 + std::abs(value));
      evaluate(value + step, above);
      evaluate(value - step, below);
      for (std::size_t i = 0; i < n; ++i)
        if (const double slope = (below[i] - above[i]) / (2 * step); std::isfinite(slope)) rate = std::max(rate, slope);
    }
  }
  return rate;
}

/// The K that the set-up judges stability by: the largest for a u that the data allow.
RawVector<Sym3> Diffusion::set_up_diffusivity(const LocalTetMesh& mesh) const {
  return physics_->largest_diffusivity(mesh, *devices_.threads, low_, high_);
}

/// Rows and forcing for the rates of a copy of u, whose ghosts are up to date. `newton`: where the source names u, its
/// derivative becomes part of the rows, and the forcing is what is left of it.
void Diffusion::renew_rows(std::size_t from, double time, bool newton) {
  const ParallelFor parallel = parallel_for(*devices_.threads);
  double outflow = 0;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const LocalTetMesh& mesh = domain_.meshes[p];
      DiffusionPart& part = parts_[p];
      Stream& stream = *domain_.streams[p].compute;
      std::vector<double> u(domain_.maps[p].local());
      download(stream, std::span<double>(u), part.u[from].buffer());
      const auto K = physics_->diffusivity(mesh, *devices_.threads, u);
      Scheme scheme = prepare_scheme(
          mesh, K, [&](std::int32_t tag) { return physics_->kind(tag); }, scheme_options(p, time), parallel);
      if (is_monotone()) set_flux_bounds(scheme, u, boundary_data(*physics_, scheme.boundary_faces, time), parallel);
      DiffusionRows rows = assemble_rows(std::move(scheme), parallel);
      outflow = std::max(outflow, rows.max_outflow);
      if (!part.forcing.empty()) {
        u.resize(part.centroids.size());
        auto forcing = forcing_of_rows(*physics_, *devices_.threads, part.centroids, rows, time, u);
        if (newton && physics_->source().depends_on_solution()) {
          const auto slopes = source_slopes(physics_->source(), part.centroids, time, u, *devices_.threads);
          for (std::size_t i = 0; i < u.size(); ++i) {
            rows.diagonal[i] += slopes[i];
            forcing[i] -= slopes[i] * u[i];
          }
        }
        part.forcing.set(stream, forcing);
      }
      part.rows.refill(stream, rows, parallel);
      if (!is_implicit(method_)) continue;
      upload(stream, part.jacobi, std::span<const double>(jacobi_diagonal(rows)));
      if (uses_multigrid(options_)) part.kept = std::move(rows);
    }
  });
  if (is_implicit(method_)) return;
  // The radius of the set-up grows as the largest diagonal does.
  outflow = comm_.max(outflow);
  comm_.together([&] {
    if (outflow > allowed_outflow_)
      fail(ErrorKind::numerical,
           "{}: at t = {:g} the operator is {:.3g} times what it was at the set-up, for u between {:g} and {:g}: steps "
           "of {:g} are no longer stable; lower time.dt or time.safety, or use an implicit method",
           options_.where("time.dt"), time, outflow / stability_.max_outflow, low_, high_, dt_);
  });
}

}  // namespace tutti::diffusion
