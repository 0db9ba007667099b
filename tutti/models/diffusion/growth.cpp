// Modes that grow: found before the run as far as they are in its way, and by what the data allow while it runs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/log.hpp"
#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/device/sums/reductions.hpp"
#include "tutti/mesh/face_shape.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/scheme/damped.hpp"
#include "tutti/simulation/evaluate.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti::diffusion {

namespace {

/// Numbers of the search: its cost is this many rates, whatever the length of the run, since the flux depends on it.
constexpr int dimension = 12, outer_dimension = 16, filter_degree = 30, cycles = 5;
/// A damped cell keeps all of its tangential flux if this share of it is coercive.
constexpr double coercive_enough = 0.4;
/// So many rounds of damping at most; in the last one every cell is coercive.
constexpr int rounds = 8;
/// A mode that grows is about where it is above this part of its largest value.
constexpr double of_largest = 0.1;
/// Where the mesh is known to be a bad one, slower growth is sought, too.
constexpr int at_least = 2, at_least_if_damped = 3;
/// Of a long search.
constexpr int long_cycles = 30, at_least_if_long = 20;
/// Of the radius: an eigenvalue that is not above is 0.
constexpr double zero = 1e-7;
/// A Ritz value with a residual below this part of its real part is an eigenvalue.
constexpr double converged = 0.5;

}  // namespace

/// u[0] = p(L) u[0].
void Diffusion::filter(const FilterEllipse& ellipse, int degree) {
  EllipseFilter polynomials(ellipse);
  const double first = polynomials.first();
  apply(0, 1, [first](DiffusionPart& part) { return EulerUpdate{part.u[1].data(), first}; });
  for (DiffusionPart& part : parts_) std::swap(part.u[0], part.u[1]);
  for (int k = 1; k < degree; ++k) {
    const auto w = polynomials.next();
    apply(0, 1, [w](DiffusionPart& part) {  // a stage that starts from `now`
      const double* const now = part.u[0].data();
      double* const next = part.u[1].data();
      return RkcStage{next, next, now, now, 0, w.before, w.rate, 0};
    });
    for (DiffusionPart& part : parts_) std::swap(part.u[0], part.u[1]);
  }
}

/// u[0], without what is applied to it.
KrylovVector Diffusion::krylov_vector() {
  KrylovVector vector;
  for (const IndexMap& map : domain_.maps) vector.lengths.push_back(map.owned);
  vector.write = [this](std::size_t p, std::span<const double> x) {
    upload(*domain_.streams[p].compute, parts_[p].u[0].buffer(), x);
  };
  vector.read = [this](std::size_t p, std::span<double> x) {
    download(*domain_.streams[p].compute, x, parts_[p].u[0].buffer());
  };
  return vector;
}

/// The rightmost eigenvalue of L: what is left of 0 is told by a first space, and filtered out of the second, in which
/// the slowest growth stands out. A real eigenvalue of 1e-4 of the radius grows by a thousand in
/// 330 applications where the others are real, by less where the ellipse has to be high. `start`: what to begin with in
/// place of noise.
void Diffusion::find_rightmost(const Values& start) {
  KrylovVector vector = krylov_vector();
  vector.apply = vector.filter = [this] {
    exchange_now(0);
    apply(0, 1, [](DiffusionPart& part) { return RateOnly{part.u[1].data()}; });
    for (DiffusionPart& part : parts_) std::swap(part.u[0], part.u[1]);
  };
  homogeneous_ = true;
  set_noise();
  const ParallelFor parallel = parallel_for(*devices_.threads);
  const auto outer = Krylov(comm_, vector, outer_dimension, parallel).cycle(false);
  FilterEllipse ellipse = ellipse_around(outer, stability_.rho);
  vector.filter = [this, &ellipse] {
    exchange_now(0);
    filter(ellipse, filter_degree);
  };
  const auto begin = [&] {
    if (start.empty()) return set_noise();
    for (std::size_t p = 0; p < parts_.size(); ++p)
      upload(*domain_.streams[p].compute, parts_[p].u[0].buffer(), std::span<const double>(start[p]));
    exchange_now(0);
  };
  begin();
  Krylov krylov(comm_, vector, dimension, parallel);
  const bool is_long = options_.text("numerics.search") == "long";
  const int most = is_long ? long_cycles : cycles;
  const int least = is_long ? at_least_if_long : !start.empty() ? cycles : rounds_ == 0 ? at_least : at_least_if_damped;
  for (int k = 0; k < most; ++k) {
    const auto pairs = krylov.cycle();
    if (pairs.empty()) break;
    stability_.rightmost = pairs.front();
    if (grows()) break;
    // What stands out is from the left of the axis: the ellipse is too flat.
    if (pairs.front().value.real() < -0.05 * stability_.rho) {
      ellipse.half_height = std::min(2 * ellipse.half_height, 0.5 * ellipse.half_length);
      begin();
      continue;
    }
    if (pairs.front().value.real() <= zero * stability_.rho && k + 1 >= least) break;
  }
  // Where the mode is largest.
  double largest = 0;
  for (const auto& part : krylov.mode())
    for (const double x : part) largest = std::max(largest, x);
  largest = comm_.max(largest);
  double first = -1;
  for (std::size_t p = 0; p < krylov.mode().size(); ++p)
    for (std::size_t i = 0; i < krylov.mode()[p].size(); ++i)
      if (krylov.mode()[p][i] == largest) first = std::max(first, static_cast<double>(domain_.maps[p].global[i]));
  stability_.cell = static_cast<Gid>(comm_.max(first));
  Vec3 place{-std::numeric_limits<double>::infinity(), 0, 0};
  place.y = place.z = place.x;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (Lid i = 0; i < domain_.maps[p].owned; ++i)
      if (domain_.maps[p].global[i] == stability_.cell) place = parts_[p].centroids[static_cast<std::size_t>(i)];
  stability_.place = {comm_.max(place.x), comm_.max(place.y), comm_.max(place.z)};
  homogeneous_ = false;
}

bool Diffusion::grows() const {
  const RitzPair& pair = stability_.rightmost;
  return pair.residual >= 0 && pair.value.real() > zero * stability_.rho &&
         pair.residual < converged * pair.value.real();
}

std::string Diffusion::unstable() const {
  const RitzPair& pair = stability_.rightmost;
  return fmt::format(
      "a mode grows: the operator has the eigenvalue {:.4g}{} per unit of time (radius {:.4g}), largest in cell {} at "
      "({:.6g}, {:.6g}, {:.6g})",
      pair.value.real(), pair.value.imag() == 0 ? std::string() : fmt::format(" {:+.4g} i", pair.value.imag()),
      stability_.rho, stability_.cell, stability_.place.x, stability_.place.y, stability_.place.z);
}

/// The least-squares flux, where it has no eigenvalue on the wrong side; else the damped one, with less and less
/// tangential flux until nothing grows: at the latest where each cell is coercive by itself. Modes that grow have been
/// seen only where gradient fits are weak: all 306 of the 546 combinations of scripts/sweep_stability.py have 4 % of
/// such cells or more. Without any the search is saved.
void Diffusion::choose_flux() {
  const std::string flux = options_.text("numerics.flux");
  if (stability_.rho == 0 || flux == "two-point" || is_monotone() || weak_fits_ == 0) return;
  find_rightmost();
  if (!grows()) return;
  if (flux == "least-squares" || flux == "full") {
    // What does not grow by more than tenfold in the run is let pass.
    double length = std::numeric_limits<double>::infinity();
    if (!is_implicit(method_)) choose_time_step_and_stages();
    if (method_ != TimeMethod::steady)
      comm_.together([&] {
        const TimePlan plan = plan_steps(options_, dt_);
        length = plan.time_of(plan.steps);
      });
    if (stability_.rightmost.value.real() * length <= std::log(10.0)) return;
    comm_.together([&] {
      fail(ErrorKind::numerical,
           "{}: with this flux {}; K is {:.3g} times larger in one direction than in another; use numerics.flux = "
           "\"auto\", or improve the mesh (flat cells)",
           options_.where("numerics.flux"), unstable(), stability_.anisotropy);
    });
  }
  const std::string found = unstable();
  while (grows() && damp_more()) {
  }
  comm_.together([&] {
    if (grows()) fail(ErrorKind::numerical, "{}; improve the mesh, or lower the anisotropy of K", unstable());
  });
  info("with the least-squares flux {}", found);
}

/// One round more; false: all cells are what they can be.
bool Diffusion::damp_more() {
  if (options_.text("numerics.flux") != "auto" || rounds_ == rounds) return false;
  damp(++rounds_ == rounds);
  estimate_spectral_radius();
  find_rightmost();
  return true;
}

/// Owned values with those of the ghosts.
std::vector<std::vector<double>> Diffusion::with_ghosts(const std::vector<std::vector<double>>& owned) {
  for (std::size_t p = 0; p < parts_.size(); ++p)
    upload(*domain_.streams[p].compute, parts_[p].u[0].buffer(), std::span<const double>(owned[p]));
  exchange_now(0);
  std::vector<std::vector<double>> all;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    all.emplace_back(domain_.maps[p].local());
    download(*domain_.streams[p].compute, std::span<double>(all.back()), parts_[p].u[0].buffer());
  }
  return all;
}

/// Assembles all rows anew, with the damped flux. The first round leaves the tangential flux as it is, but where little
/// of it is coercive. Each round that follows takes what is not coercive from the cells of the mode that it found, and
/// from their neighbours; `all`: from all cells.
void Diffusion::damp(bool all) {
  const ParallelFor parallel = parallel_for(*devices_.threads);
  if (strict_.empty())
    for (const IndexMap& map : domain_.maps) strict_.emplace_back(map.owned, 0);
  else
    mark_mode();
  std::vector<std::vector<double>> owned(parts_.size());
  Gid cut = 0;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const LocalTetMesh& mesh = domain_.meshes[p];
      const std::vector<double> whole(domain_.maps[p].local(), 2.0);
      SchemeOptions options = scheme_options(p, 0);
      options.damped = whole;
      const auto K = set_up_diffusivity(mesh);
      const Scheme scheme = prepare_scheme(
          mesh, K, [&](std::int32_t tag) { return physics_->kind(tag); }, options, parallel);
      owned[p].resize(mesh.owned);
      for_ranges(parallel, mesh.owned, [&](Size begin, Size end) {
        for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c) {
          const double share = coercive_share(scheme, static_cast<Lid>(c));
          owned[p][c] = 1 + (all || strict_[p][c] != 0 || share < coercive_enough ? share : 1);
        }
      });
      for (const double damped : owned[p]) cut += damped < 2 ? 1 : 0;
    }
  });
  stability_.cut = comm_.sum(cut);
  // A face takes the smaller share of its two cells.
  const auto damped = with_ghosts(owned);
  stability_.max_outflow = 0;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) assemble_part(p, damped[p]);
  });
  hold_coefficients();
}

/// The cells of the mode that the search has left in u, and their neighbours, become strict.
void Diffusion::mark_mode() {
  const double largest = global_max(0);
  std::vector<std::vector<double>> owned(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    owned[p].resize(domain_.maps[p].owned);
    download(*domain_.streams[p].compute, std::span<double>(owned[p]), parts_[p].u[0].buffer());
    for (double& x : owned[p]) x = std::abs(x) > of_largest * largest ? 1 : 0;
  }
  const auto marks = with_ghosts(owned);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t c = 0; c < strict_[p].size(); ++c) {
      bool marked = marks[p][c] != 0;
      for (const Lid n : domain_.meshes[p].neighbours[c])
        marked = marked || (n >= 0 && marks[p][static_cast<std::size_t>(n)] != 0);
      if (marked) strict_[p][c] = 1;
    }
}

// While the run goes on. Diffusion makes no new extremes: |u| stays below the largest initial and boundary value, and
// what sources and inflow have added, each at most its largest rate all the time. Schemes overshoot; not by orders of
// magnitude.

/// Boundary values and rates at `time` widen what is known of them.
void Diffusion::look_at_data(double time) {
  if (!physics_->has_forcing() || physics_->source().depends_on_solution()) return;
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
        if (gives_u(physics_->kind(face.tag)))
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

/// Is there a mode in u that grows? A search that begins with u sees slower growth than one that begins with noise.
bool Diffusion::state_grows() {
  Values now(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) now[p] = values(static_cast<int>(p));
  const Size runs = runs_;
  find_rightmost(now);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    upload(*domain_.streams[p].compute, parts_[p].u[0].buffer(), std::span<const double>(now[p]));
  exchange_now(0);
  runs_ = runs;
  return grows();
}

/// Overshoots by a part of the bound are looked into: they are an error where they belong to a mode that grows.
std::optional<double> Diffusion::passed_bound(double time, double largest) {
  // Of iterates and of excited cells nothing is known, nor of what a source of u adds up to.
  if (method_ == TimeMethod::steady || ionic_ || physics_->source().depends_on_solution()) return {};
  constexpr double orders = 1e3, part = 1.5, more = 1.25;
  const auto bound = [&] { return std::max(initial_level_, data_level_) + time * data_rate_; };
  look_above_ = std::min(look_above_, more * largest);
  if (!(largest > std::max(look_above_, part * bound()))) return {};
  // Data that change are looked at only now.
  constexpr int looks = 64;
  const int last = physics_->forcing_depends_on_time() ? looks : 0;
  try {
    for (int k = 0; k <= last; ++k) look_at_data(time * k / looks);
  } catch (const SharedError& error) {
    if (error.kind() != ErrorKind::input) throw;
    return {};  // a formula without a value between the steps: then no bound is known
  }
  if (!(largest > part * bound())) return {};
  if (largest > orders * bound()) return bound();
  look_above_ = more * largest;
  if (!options_.flag("numerics.check") || stability_.rho == 0 || !state_grows()) return {};
  comm_.together([&] {
    fail(ErrorKind::numerical,
         "{}: at t = {:g} max|u| is {:.3g}, where the data of the case allow {:.3g}, and {}; {}improve the "
         "mesh (flat cells)",
         options_.where("numerics.flux"), time, largest, bound(), unstable(),
         options_.text("numerics.flux") != "auto"      ? "use numerics.flux = \"auto\", or "
         : options_.text("numerics.search") == "short" ? "use numerics.search = \"long\", or "
                                                       : "");
  });
  return {};
}

}  // namespace tutti::diffusion
