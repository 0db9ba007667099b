// How large a time step may be, measured on the assembled operator, and what its errors are at the end.
#include <algorithm>
#include <cmath>

#include "tutti/base/dense_matrix.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/base/random.hpp"
#include "tutti/device/sums/reductions.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/scheme/gradient.hpp"

namespace tutti::diffusion {

double anisotropy(const Sym3& K) {
  if (K.xy == 0 && K.xz == 0 && K.yz == 0) return std::max({K.xx, K.yy, K.zz}) / std::min({K.xx, K.yy, K.zz});
  const std::array<double, 3> values = symmetric_eigenvalues(K.xx, K.xy, K.xz, K.yy, K.yz, K.zz);
  return values[2] / values[0];
}

/// Noise between -1 and 1 that depends on the global cell number only.
void Diffusion::set_noise() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const IndexMap& map = domain_.maps[p];
    std::vector<double> noise(map.owned);
    for (std::size_t i = 0; i < noise.size(); ++i)
      noise[i] = 2 * random_unit(1, static_cast<std::uint64_t>(map.global[i])) - 1;
    upload(*domain_.streams[p].compute, parts_[p].u[0].buffer(), std::span<const double>(noise));
  }
  exchange_now(0);
}

/// Power iteration in the maximum norm, whose bits do not depend on the partition. The growth a step, as a geometric
/// mean over a window, approaches the spectral radius from below.
void Diffusion::estimate_spectral_radius() {
  constexpr int window = 10, most = 200;
  constexpr double settled = 2e-3, margin = 1.02;
  homogeneous_ = true;
  set_noise();
  double size = global_max(0), product = 1, before = 0, rho = 0;
  for (int k = 1; k <= most && size > 0; ++k) {
    apply(0, 1, [](DiffusionPart& part) { return RateOnly{part.u[1].data()}; });
    for (DiffusionPart& part : parts_) std::swap(part.u[0], part.u[1]);
    const double grown = global_max(0);
    comm_.together([&] {
      if (!std::isfinite(grown))
        fail(ErrorKind::numerical,
             "the operator's rows are not finite: values of K or of the mesh are out of range; check their units");
    });
    product *= grown / size;
    size = grown;
    stability_.iterations = k;
    // Back to size 1, so that nothing overflows.
    for (std::size_t p = 0; p < parts_.size() && size > 0; ++p)
      scale(*domain_.streams[p].compute, {0, domain_.maps[p].local()}, parts_[p].u[0].data(), 1 / size);
    if (size > 0) size = 1;
    if (k % window != 0) continue;
    rho = std::pow(product, 1.0 / window);
    product = 1;
    if (std::abs(rho - before) <= settled * rho) break;
    before = rho;
  }
  comm_.together([&] {
    if (!std::isfinite(rho))
      fail(ErrorKind::numerical,
           "the operator's rows are out of range: a cell would change {:.3g} times per unit of time; check the units "
           "of K and of the mesh, and whether cells are flat",
           stability_.max_outflow);
  });
  // A maximum over windows would drift with their number; the last one is the best estimate.
  stability_.rho = margin * rho;
  stability_.max_outflow = comm_.max(stability_.max_outflow);
  stability_.anisotropy = comm_.max(stability_.anisotropy);
  homogeneous_ = false;
}

/// Whether noise stays bounded with the chosen step: what the step's method does not damp grows by much in a step. A
/// window that passes through a maximum is followed by one that does not.
bool Diffusion::noise_settles() {
  if (stability_.rho == 0) return true;
  const int steps = rkc_ ? 4 : 25, windows = 6;
  homogeneous_ = true;
  set_noise();
  double before = 0, now = 0;
  bool settled = false;
  for (int k = 0; k < windows && !settled && std::isfinite(now); ++k) {
    before = now;
    for (int i = 0; i < steps; ++i) step(0, dt_);
    now = global_max(0);
    settled = k > 0 && now <= 1.001 * before;
  }
  // Slower growth, of an eigenvalue that the method's region of stability just leaves out.
  KrylovVector vector = krylov_vector();
  const auto advance = [this](int count) {
    exchange_now(0);
    for (int i = 0; i < count; ++i) step(0, dt_);
  };
  vector.apply = [advance] { advance(1); };
  vector.filter = [advance, count = rkc_ ? 2 : 10] { advance(count); };
  if (settled && !grows() && weak_fits_ > 0) {  // where the operator itself grows, that was judged
    set_noise();
    settled = growth_of_steps(comm_, vector, 3, parallel_for(*devices_.threads)) == 0;
  }
  homogeneous_ = false;
  return settled;
}

/// The operator's eigenvalues beside the real axis are where a method may not reach that was chosen by rho alone: a
/// step that is left to us is made shorter, or of more sub-steps. Where that does not help, it is the operator.
void Diffusion::settle_time_step() {
  constexpr int tries = 5;
  constexpr double shorter = 0.7;
  const bool own = options_.is_word("time.dt", "auto");
  do {
    if (rounds_ > 0) choose_time_step_and_stages();
    for (int k = 0; k < tries; ++k) {
      if (noise_settles()) {
        if (rounds_ > 0) info("the cells are damped, {} of them with less tangential flux", stability_.cut);
        return;
      }
      if (own) {
        dt_ *= shorter;
        limit_ *= shorter;
      } else if (rkc_ && options_.is_word("time.stages", "auto")) {
        finer_ *= 2;
        choose_time_step_and_stages();
      } else {
        break;
      }
    }
    finer_ = 1;
  } while (own && damp_more());
  comm_.together([&] {
    fail(
        ErrorKind::numerical,
        "{}: noise grows in steps of {:g}{}: they are too long for eigenvalues of the operator beside the real axis{}; "
        "lower time.dt{}",
        options_.where("time.dt"), dt_, rkc_ ? fmt::format(" with {} stages", stages_) : "",
        grows() ? " (" + unstable() + ")" : "", rkc_ ? ", or take fewer time.stages" : "");
  });
}

ErrorSummary Diffusion::errors(double time) {
  ExactSum volume, square, gradient_square;
  double largest = 0;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const LocalTetMesh& mesh = domain_.meshes[p];
      DiffusionPart& part = parts_[p];
      std::vector<double> u(domain_.maps[p].local());
      download(*domain_.streams[p].compute, std::span<double>(u), part.u[0].buffer());
      const auto data = boundary_data(*physics_, part.boundary_faces, time);
      const auto K = physics_->diffusivity(mesh, *devices_.threads, u);
      const auto gradients = cell_gradients(
          mesh, K, [&](std::int32_t tag) { return physics_->kind(tag); }, u, data, physics_->scheme_options(time));
      const Expression& exact = *physics_->exact();
      for (Lid c = 0; c < mesh.owned; ++c) {
        const auto i = static_cast<std::size_t>(c);
        const double v = mesh.volume(c), error = u[i] - exact(part.centroids[i], time);
        volume.add(v);
        square.add(v * error * error);
        largest = std::max(largest, std::abs(error));
        // The exact gradient by fourth-order differences, over a hundredth of the cell.
        const double h = 0.01 * std::cbrt(v);
        Vec3 g;
        for (int d = 0; d < 3; ++d) {
          const auto at = [&](double s) {
            Vec3 x = part.centroids[i];
            x[d] += s * h;
            return exact(x, time);
          };
          g[d] = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
        }
        const Vec3 difference = gradients[i] - g;
        gradient_square.add(v * dot(difference, difference));
      }
    }
  });
  const double all = sum_over_ranks(comm_, volume);
  return {std::sqrt(sum_over_ranks(comm_, square) / all), comm_.max(largest),
          std::sqrt(sum_over_ranks(comm_, gradient_square) / all)};
}

}  // namespace tutti::diffusion
