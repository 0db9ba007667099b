// Modes that grow: found before the run as far as they are in its way, and by what the data allow while it runs.
#include <algorithm>
#include <cmath>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/device/reductions.hpp"
#include "tutti/mesh/face_shape.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/simulation/evaluate.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti::diffusion {

/// The rightmost eigenvalue of the operator L, if it is on the wrong side, grows too slowly to be seen among noise in
/// 50 steps. Chebyshev's polynomials of 1 + 2 L / rho stay within 1 on [-rho, 0] and grow like cosh(2 s sqrt(lambda /
/// rho)) at lambda > 0: s applications bring out what grows by a part of (2 / s)^2 a step. What they bring out from
/// beside the real axis, the steps that follow damp, if they are stable. Only two arrays are needed, those of the
/// steps.
void Diffusion::bring_out_growing_modes(int applications) {
  // The radius was estimated from below: what lies beyond the interval is brought out, too.
  const double once = 2 / (1.1 * stability_.rho);
  for (int k = 0; k < applications; ++k) {
    if (k == 0)
      apply(0, 1, [once](DiffusionPart& part) { return EulerUpdate{part.u[1].data(), once}; });
    else  // next = 2 (1 + 2 L / rho) now - next, as a stage that starts from `now`
      apply(0, 1, [once](DiffusionPart& part) {
        const double* const now = part.u[0].data();
        double* const next = part.u[1].data();
        return RkcStage{next, next, now, now, 0, -1, 2 * once, 0};
      });
    for (DiffusionPart& part : parts_) std::swap(part.u[0], part.u[1]);
    if (k % 10 != 9) continue;
    const double size = global_max(0);  // lest it overflows
    for (std::size_t p = 0; p < parts_.size() && size > 0; ++p)
      for (std::size_t i = 0; i < 2; ++i)
        scale(*domain_.streams[p].compute, {0, domain_.maps[p].local()}, parts_[p].u[i].data(), 1 / size);
  }
}

/// Whether something grows by more than tenfold over the run. At most 400 rates, and not more than a tenth of the run's
/// own, bring it out; three windows of 25 steps (of 4 with RKC2) show it, and where it seems to grow up to 20 more.
void Diffusion::check_growth() {
  if (stability_.rho == 0) return;
  constexpr double max_growth = 10, seen = 2e-4, steady = 0.5;
  constexpr int fewest = 20, most = 400, settling = 1, confirming = 20;
  double steps = 0;
  comm_.together([&] { steps = static_cast<double>(plan_steps(options_, dt_).steps); });
  const int applications = static_cast<int>(std::min<double>(most, steps * stages() / 10));
  if (applications < fewest) return;
  const int window = rkc_ ? 4 : 25;
  homogeneous_ = true;
  set_noise();
  bring_out_growing_modes(applications);
  double before = 0;
  const auto growth = [&] {
    for (int k = 0; k < window; ++k) step(0, dt_);
    const double now = global_max(0), grown = now / before - 1;
    before = now;
    return grown;
  };
  for (int k = 0; k < settling; ++k) (void)growth();
  double first = growth(), last = growth();
  // What only passes through a maximum grows more and more slowly.
  const auto grows = [&] { return !(first <= seen) && !(last <= steady * first) && before > 0; };
  for (int k = 0; k < confirming && grows() && std::isfinite(before); ++k) last = growth();
  homogeneous_ = false;
  if (!grows()) return;
  const double rate = std::log1p(last) / window;
  if (std::isfinite(rate) && rate * steps <= std::log(max_growth)) return;
  comm_.together([&] {
    fail(
        ErrorKind::numerical,
        "a mode grows by {:.3g} % a step, over {:.4g} steps of {:.3g}: the operator is unstable on this mesh with this "
        "K (ratio of K's eigenvalues: {:.3g}); improve the mesh (flat cells) or lower the anisotropy",
        100 * std::expm1(rate), steps, dt_, stability_.anisotropy);
  });
}

// While the run goes on. Diffusion makes no new extremes: |u| stays below the largest initial and boundary value, and
// what sources and inflow have added, each at most its largest rate all the time. Schemes overshoot; not by orders of
// magnitude.

/// Boundary values and rates at `time` widen what is known of them.
void Diffusion::look_at_data(double time) {
  if (!physics_->has_forcing()) return;
  double level = 0, rate = 0;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const DiffusionPart& part = parts_[p];
      const LocalTetMesh& mesh = domain_.meshes[p];
      double source = 0, inflow = 0;
      for (const double s : evaluate_at(physics_->source(), part.centroids, time, *devices_.threads))
        source = std::max(source, std::abs(s));
      const auto data = boundary_data(*physics_, part.boundary_faces, time);
      for (std::size_t f = 0; f < data.size(); ++f) {
        const BoundaryFaceRef& face = part.boundary_faces[f];
        if (physics_->kind(face.tag) == BoundaryKind::dirichlet)
          level = std::max(level, std::abs(data[f]));
        else  // a cell has three such faces at most, unless it is alone
          inflow = std::max(inflow, 4 * std::abs(data[f]) * norm(face_shape(mesh, face.cell, face.face).area) /
                                        mesh.volume(face.cell));
      }
      rate = std::max(rate, source + inflow);
    }
  });
  data_level_ = std::max(data_level_, max_over_ranks(comm_, level));
  data_rate_ = std::max(data_rate_, max_over_ranks(comm_, rate));
}

std::optional<double> Diffusion::passed_bound(double time, double largest) {
  constexpr double orders = 1e3;
  const auto bound = [&] { return std::max(initial_level_, data_level_) + time * data_rate_; };
  if (!(largest > orders * bound())) return {};
  // Data that change are looked at only now.
  constexpr int looks = 64;
  const int last = physics_->forcing_depends_on_time() ? looks : 0;
  try {
    for (int k = 0; k <= last; ++k) look_at_data(time * k / looks);
  } catch (const SharedError& error) {
    if (error.kind() != ErrorKind::input) throw;
    return {};  // a formula without a value between the steps: then no bound is known
  }
  if (!(largest > orders * bound())) return {};
  return bound();
}

}  // namespace tutti::diffusion
