// Set-up of transport: damping, the time step, the operators of the steps.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "tutti/base/log.hpp"
#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/base/random.hpp"
#include "tutti/device/sums/reductions.hpp"
#include "tutti/mesh/sphere/node_report.hpp"
#include "tutti/models/transport/stencils/stencil_system.hpp"
#include "tutti/models/transport/transport.hpp"
#include "tutti/models/transport/transport_plan.hpp"
#include "tutti/models/transport/transport_sums.hpp"
#include "tutti/simulation/evaluate.hpp"
#include "tutti/simulation/krylov.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti::transport {
namespace {

/// The largest y for which the method damps every eigenvalue x + i y' with -damping <= x <= 0, |y'| <= y [1/dt].
double imaginary_limit(RungeKutta method, double damping) {
  const auto grows = [&](double x, double y) { return std::abs(amplification(method, {x, y})) > 1 + 1e-12; };
  constexpr double step = 1e-3;
  constexpr int parts = 16;
  double y = 0;
  for (;; y += step)
    for (int k = 0; k <= parts; ++k)
      if (grows(-damping * k / parts, y + step)) return y;
}

/// Tried in turn, where the case leaves it to us: what nodes need is seen in the eigenvalues only.
constexpr std::array automatic_damping{0.3, 0.5, 0.8, 1.2, 2.0};

/// Nodes are uneven where spacings differ by more. The generators' even ones have 1.08 to 1.18, random ones, no closer
/// than half their mean distance, 1.9 to 2.4.
constexpr double even_spacings = 1.5;

TransportCase checked_case(const ModelSetup& setup) {
  TransportCase transport;
  setup.comm.together([&] {
    transport = read_transport_case(setup.options);
    StencilBasis basis = transport.basis;
    if (basis.kind == StencilBasis::Kind::gaussian) basis.epsilon = 1;  // its own is known when nodes are
    try {
      check_basis(basis);
    } catch (const Error& error) {
      fail(error.kind(), "{}: {}", setup.options.where("stencil.size"), error.what());
    }
  });
  return transport;
}

}  // namespace

SphereTransport::SphereTransport(const ModelSetup& setup)
    : comm_(setup.comm),
      devices_(setup.devices),
      options_(setup.options),
      transport_(checked_case(setup)),
      domain_(make_node_domain(setup, transport_.basis.size, transport_sharing(transport_, *setup.devices.threads))) {
  comm_.together([&] {
    for (const IndexMap& map : domain_.maps)
      if (Size{map.local()} * tracers() > std::numeric_limits<Lid>::max())
        fail(ErrorKind::resource,
             "a part of {} nodes with {} tracers is too large for 32-bit numbers; use more devices", map.owned,
             tracers());
  });
  Phases& phases = setup.phases;
  phases.begin("weights of stencils");
  for (const IndexMap& map : domain_.maps) value_maps_.push_back(with_components(map, tracers()));
  Weights weights;
  basis_ = transport_.basis_for(cells());
  weights = make_weights();
  report_.max_condition = comm_.max(report_.max_condition);
  comm_.together([&] { allocate(); });
  plan_ = make_plan(value_maps_, comm_.rank());
  exchange_ = std::make_unique<Exchange<double>>(comm_, plan_, value_maps_, domain_.streams, 1, &domain_.routing);
  make_pass(parse_overlap(options_.text("devices.overlap")));
  phases.begin("stability");
  find_spectral_radii(weights);
  damp(weights);
  Weights().swap(weights);
  say_where_weights_are();
  phases.begin("initial");
  set_initial();
  phases.end();
}

void SphereTransport::allocate() {
  parts_.resize(domain_.mine());
  const bool rk4 = transport_.method == RungeKutta::rk4;
  const std::vector<double> all = domain_.cloud.weights.empty()
                                      ? cell_areas(domain_.cloud.points, parallel_for(*devices_.threads))
                                      : domain_.cloud.weights;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Device& device = *domain_.streams[p].device;
    const IndexMap& map = domain_.maps[p];
    for (int i = 0; i < (rk4 ? 4 : 3); ++i)
      parts_[p].q.emplace_back(device, value_maps_[p], i == 0 ? "tracers" : fmt::format("tracers, work {}", i));
    std::vector<double> areas;
    for (Lid row = 0; row < map.owned; ++row) areas.push_back(all[map.global[row]]);
    parts_[p].areas = make_buffer(stream(p), std::span<const double>(areas), "areas");
  }
}

std::vector<Vec3> SphereTransport::velocities(std::size_t p, double time) {
  const auto points = domain_.owned_points(p);
  std::vector<std::vector<double>> values;
  for (const Expression& formula : transport_.velocity)
    values.push_back(evaluate_at(formula, points, time, *devices_.threads));
  std::vector<Vec3> velocities(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    double three[3] = {};
    for (std::size_t c = 0; c < values.size(); ++c) three[c] = values[c][i];
    velocities[i] = velocity_vector(points[i], three, transport_.cartesian);
  }
  return velocities;
}

double SphereTransport::advection_weight(const RawVector<double>& weights, std::size_t row, std::size_t j,
                                         Vec3 velocity) const {
  const auto n = static_cast<std::size_t>(basis_.size);
  const double* gradient = weights.data() + row * operators * n + j;
  return -(velocity.x * gradient[gradient_x * n] + velocity.y * gradient[gradient_y * n] +
           velocity.z * gradient[gradient_z * n]);
}

void SphereTransport::make_advection(const Weights& weights, double time) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto v = velocities(p, time);
    parts_[p].rows = {};  // the device need not have room for both
    parts_[p].rows = stencils_of(
        p, 1, [&](std::size_t row, int, std::size_t j) { return advection_weight(weights[p], row, j, v[row]); });
  }
}

/// Stencils of part p, with their weights where the case's memory policy keeps them. `auto` is timed for those of the
/// steps only; until then it is what it is expected to be.
template <class Weight>
SlicedStencils SphereTransport::stencils_of(std::size_t p, int operators, const Weight& weight, Joined joined,
                                            bool of_steps) {
  const ParallelFor parallel = parallel_for(*devices_.threads);
  const StencilForm like = form(operators, joined);
  if (!keeps_apart(transport_, domain_, p))
    return SlicedStencils(stream(p), domain_.stencils[p], like, weight, parallel);
  TransportPart& part = parts_[p];
  Device& device = domain_.device(p);
  HoldStencils hold{transport_.held, tracers(), part.q[0].data(), part.velocity.along(), part.q[1].data()};
  hold.options.leave_bytes = held_margin(device);
  hold.options.parallel = parallel;
  if (hold.options.policy == Policy::automatic && !of_steps) {
    const Lid rows = held_units(domain_.maps[p].owned);
    const Size columns = 4 * ((Size{domain_.maps[p].owned} + 31) / 32 * 32) * (like.size - 1);
    const Size room = device.budget().capacity() - device.budget().used() - columns - hold.options.leave_bytes;
    hold.options.policy = plan_held(hold.options, rows, held_stencil_width(like), room).policy;
  }
  return SlicedStencils(stream(p), domain_.stencils[p], like, weight, parallel, &hold);
}

/// Collective.
void SphereTransport::say_where_weights_are() {
  std::string lines;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    if (const Residency* held = parts_[p].rows.held())
      lines += fmt::format("{} of rank {}: {}\n", domain_.device(p).name(), comm_.rank(),
                           describe_held("weights of stencils", *held, parts_[p].rows.trials()));
  say_what_is_held(comm_, lines);
}

/// Whether damping is to be local. Where nodes lie close, entries of Delta^k are largest, and decide how much damping a
/// step allows; where nodes are uneven, next to nothing of it is left where they lie apart. Collective.
bool SphereTransport::damps_locally(const Weights& weights) const {
  if (transport_.gamma != GammaKind::automatic) return transport_.gamma == GammaKind::local;
  const auto n = static_cast<std::size_t>(basis_.size);
  double longest = 0, of_shortest = 0;
  for (const RawVector<double>& part : weights)
    for (std::size_t at = 0; at < part.size(); at += operators * n) {
      const double length = hyper_length(&part[at], n);
      longest = std::max(longest, length);
      of_shortest = std::max(of_shortest, 1 / length);
    }
  return std::pow(comm_.max(longest) * comm_.max(of_shortest), 0.5 / basis_.hyper) > even_spacings;
}

std::vector<double> SphereTransport::damping_scales(const RawVector<double>& weights) const {
  const auto n = static_cast<std::size_t>(basis_.size);
  std::vector<double> scales;
  for (std::size_t at = 0; at < weights.size(); at += operators * n)
    scales.push_back(damping_scale(&weights[at], n, spectrum_.local));
  return scales;
}

void SphereTransport::make_hyper(const Weights& weights) {
  const auto n = static_cast<std::size_t>(basis_.size);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const std::vector<double> scales = damping_scales(weights[p]);
    parts_[p].rows = {};
    parts_[p].rows = stencils_of(p, 1, [&](std::size_t row, int, std::size_t j) {
      return scales[row] * weights[p][(row * operators + hyper) * n + j];
    });
  }
}

/// Of the steps: one where the velocity is steady, else derivatives along two tangents and the damping.
void SphereTransport::make_operators(const Weights& weights) {
  const auto n = static_cast<std::size_t>(basis_.size);
  const double damping = (basis_.hyper % 2 == 0 ? -1 : 1) * spectrum_.gamma;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const RawVector<double>& w = weights[p];
    const std::vector<double> scales = damping_scales(w);
    const auto damp = [&](std::size_t row, std::size_t j) {
      return damping * (scales[row] * w[(row * operators + hyper) * n + j]);
    };
    TransportPart& part = parts_[p];
    part.rows = {};
    if (transport_.steady()) {
      const auto v = velocities(p, 0);
      const bool merged = transport_.operators() == 1;
      part.rows = stencils_of(
          p, transport_.operators(),
          [&](std::size_t row, int d, std::size_t j) {
            if (d == 1) return damp(row, j);
            return advection_weight(w, row, j, v[row]) + (merged ? damp(row, j) : 0);
          },
          Joined::summed, true);
      continue;
    }
    const auto points = domain_.owned_points(p);
    part.velocity = {};
    part.velocity = PartVelocity(stream(p), transport_.velocity, transport_.cartesian, points);
    part.rows = stencils_of(
        p, 3,
        [&](std::size_t row, int d, std::size_t j) {
          if (d == 2) return damp(row, j);
          const StencilFrame frame = make_frame(points[row]);
          return -advection_weight(w, row, j, d == 0 ? frame.first : frame.second);
        },
        Joined::velocity, true);
  }
}

/// When a run ends, as far as it is known before the time step is. `now`: the spectral radius at the start.
double SphereTransport::expected_end(double now) {
  if (options_.has("time.end")) return options_.number("time.end");
  const auto steps = static_cast<double>(options_.integer("time.steps"));
  if (!options_.is_word("time.dt", "auto")) return steps * options_.number("time.dt");
  comm_.together([&] {
    if (!(now > 0))
      fail(ErrorKind::input,
           "{}: the stable time step depends on the velocity until the end, and nothing moves at the start; use "
           "time.end or time.dt",
           options_.where("time.steps"));
  });
  return steps * imaginary_limit(transport_.method, 0) / now;
}

/// At the nodes. Collective.
double SphereTransport::fastest_speed(double time) {
  double speed = 0;
  comm_.together([&] {
    for (std::size_t p = 0; p < domain_.mine(); ++p)
      for (const Vec3& v : velocities(p, time)) speed = std::max(speed, norm(v));
  });
  return comm_.max(speed);
}

/// Of uneven times until the end the one at which the velocity is largest.
double SphereTransport::fastest_time(double end) {
  constexpr int looks = 40;
  double fastest = -1, when = 0;
  for (int k = 0; k < looks; ++k) {
    const double time = k + 1 == looks ? end : end * (k + random_unit(2, static_cast<std::uint64_t>(k))) / looks;
    const double speed = fastest_speed(time);
    if (speed > fastest) {
      fastest = speed;
      when = time;
    }
  }
  return when;
}

void SphereTransport::find_spectral_radii(const Weights& weights) {
  const auto look = [&](double time) {
    comm_.together([&] { make_advection(weights, time); });
    spectrum_.advection = std::max(spectrum_.advection, spectral_radius());
    speed_ = std::max(speed_, fastest_speed(time));
  };
  look(0);
  // A velocity that changes: also where it is fastest, as far as many looks tell.
  if (!transport_.steady()) look(fastest_time(expected_end(spectrum_.advection)));
  if (transport_.damping == Damping::none) return;
  spectrum_.local = damps_locally(weights);
  comm_.together([&] { make_hyper(weights); });
  spectrum_.hyper = spectral_radius();
}

/// Chooses dt and gamma, and makes the operators of the steps. Without a beta in the case the first is taken with which
/// nothing is found that grows.
void SphereTransport::damp(const Weights& weights) {
  const bool checks = options_.flag("numerics.check");
  const bool automatic = transport_.damping == Damping::spectral && !transport_.strength;
  const std::size_t tries = automatic && checks ? automatic_damping.size() : 1;
  const auto strength_of = [&](std::size_t k) {
    return automatic ? automatic_damping[k] : transport_.strength.value_or(0);
  };
  if (options_.is_word("time.dt", "auto")) shorten_to_tolerance(weights, strength_of(0));
  double growth = 0;
  for (std::size_t k = 0; k < tries; ++k) {
    // A step that the case gives may be too long for more damping.
    if (k > 0 && dt_ > step_limit(strength_of(k)) && !options_.is_word("time.dt", "auto")) break;
    choose_time_step(strength_of(k));
    comm_.together([&] { make_operators(weights); });
    if (!checks) return;
    growth = growing_eigenvalue();
    if (growth == 0) return;
  }
  comm_.together([&] {
    const bool polyharmonic = basis_.kind == StencilBasis::Kind::polyharmonic;
    fail(ErrorKind::numerical,
         "a mode grows by {:.3g} % in each step of {:.3g}{}: the operators have an eigenvalue with the real part "
         "{:.3g}; use more uniform nodes{}, more hyperviscosity or a smaller time.dt",
         100 * std::expm1(growth * dt_), dt_,
         automatic ? fmt::format(", with hyperviscosity.beta up to {:g}", spectrum_.beta) : "", growth,
         !polyharmonic      ? ", stencil.basis = \"polyharmonic\""
         : basis_.hyper > 2 ? ", hyperviscosity.k = 2"
                            : "");
  });
}

/// The longest stable step with so much damping.
double SphereTransport::step_limit(double strength) const {
  const double most = imaginary_limit(transport_.method, transport_.damping == Damping::spectral ? strength : 0);
  return spectrum_.advection > 0 ? most / spectrum_.advection : std::numeric_limits<double>::infinity();
}

/// dt, and gamma for it; `strength` is beta or gamma_c.
void SphereTransport::choose_time_step(double strength) {
  const double limit = step_limit(strength);
  if (options_.is_word("time.dt", "auto"))
    dt_ = std::isfinite(limit)       ? std::min(options_.number("time.safety") * limit, accurate_dt_)
          : options_.has("time.end") ? options_.number("time.end")
                                     : 1.0;
  else
    dt_ = options_.number("time.dt");
  if (options_.has("time.end") && options_.is_word("time.dt", "auto")) dt_ = std::min(dt_, options_.number("time.end"));
  comm_.together([&] {
    if (dt_ > limit * (1 + 1e-12))
      fail(ErrorKind::numerical, "{}: time.dt = {:g} is above the stability limit {:.6g}; lower it",
           options_.where("time.dt"), dt_, limit);
    check_time_step(options_, dt_, 0);  // before it is divided by
  });
  if (transport_.damping == Damping::spectral) {
    spectrum_.beta = strength;
    spectrum_.gamma = spectrum_.hyper > 0 ? strength / (dt_ * spectrum_.hyper) : 0;
  } else {
    spectrum_.gamma = strength * std::pow(static_cast<double>(cells()), -basis_.hyper);
  }
}

/// Noise between -1 and 1 that depends on node and tracer only.
void SphereTransport::set_noise() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const IndexMap& map = value_maps_[p];
    std::vector<double> noise(map.owned);
    for (std::size_t i = 0; i < noise.size(); ++i)
      noise[i] = 2 * random_unit(1, static_cast<std::uint64_t>(map.global[i])) - 1;
    upload(stream(p), parts_[p].q[0].buffer(), std::span<const double>(noise));
  }
  exchange_now(0);
}

/// Power iteration in the maximum norm, whose bits do not depend on the partition. The largest eigenvalues come in
/// pairs, so that the growth of a step swings: its geometric mean over a window counts.
double SphereTransport::spectral_radius() {
  constexpr int window = 20, most = 300;
  constexpr double settled = 5e-3, margin = 1.05;
  set_noise();
  // Logarithms: products of a window's growths overflow for high powers of the Laplacian.
  double size = largest(), growth = 0, before = 0, rho = 0;
  for (int k = 1; k <= most && size > 0; ++k) {
    apply(0, 1, [](const auto& q) { return StoreRate{q(1)}; });
    pass_->step().wait();
    for (TransportPart& part : parts_) std::swap(part.q[0], part.q[1]);
    const double grown = largest();
    comm_.together([&] {
      if (!std::isfinite(grown))
        fail(ErrorKind::numerical,
             "the operators' rows are not finite: the velocity has values out of range; check it");
    });
    growth += std::log(grown / size);
    for (std::size_t p = 0; p < parts_.size() && grown > 0; ++p)
      scale(stream(p), {0, value_maps_[p].local()}, parts_[p].q[0].data(), 1 / grown);
    size = grown > 0 ? 1 : 0;
    if (k % window != 0) continue;
    rho = std::exp(growth / window);
    growth = 0;
    if (std::abs(rho - before) <= settled * rho) break;
    before = rho;
  }
  return margin * rho;
}

/// How fast the eigenvector of a step grows whose eigenvalue lies farthest outside of the unit circle, as a rate; 0:
/// none grows by more than 0.1 % in a step, as far as is found. Beside all eigenvalues, on 642 and 1,280 nodes, the
/// first cycle is 0.2 to 0.3 % off at most.
double SphereTransport::growing_eigenvalue() {
  constexpr int carried = 150, filter = 5, most = 6;
  constexpr double slow = 1e-3;
  KrylovVector vector;
  for (const IndexMap& map : value_maps_) vector.lengths.push_back(map.owned);
  vector.write = [this](std::size_t p, std::span<const double> x) { upload(stream(p), parts_[p].q[0].buffer(), x); };
  vector.read = [this](std::size_t p, std::span<double> x) { download(stream(p), x, parts_[p].q[0].buffer()); };
  const auto advance = [this](int count) {
    exchange_now(0);
    for (int k = 0; k < count; ++k) step(0, dt_);
    pass_->step().wait();
  };
  vector.apply = [advance] { advance(1); };
  vector.filter = [advance] { advance(filter); };
  set_noise();
  advance(carried);
  return growth_of_steps(comm_, vector, most, parallel_for(*devices_.threads), slow) / dt_;
}

void SphereTransport::put_initial() {
  comm_.together([&] {
    const auto count = static_cast<std::size_t>(tracers());
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto points = domain_.owned_points(p);
      std::vector<double> values(points.size() * count);
      for (std::size_t t = 0; t < count; ++t) {
        const auto one = evaluate_at(transport_.tracers[t].initial, points, 0.0, *devices_.threads);
        for (std::size_t i = 0; i < one.size(); ++i) values[i * count + t] = one[i];
      }
      upload(stream(p), parts_[p].q[0].buffer(), std::span<const double>(values));
    }
  });
  exchange_now(0);
}

void SphereTransport::set_initial() {
  put_initial();
  initial_level_ = largest();
  for (int t = 0; t < tracers(); ++t) {
    initial_mass_.push_back(mass(t));
    mass_scale_.push_back(mass(t, true));
  }
  // What is reported is the run, not the set-up.
  applications_ = 0;
  setting_up_ = false;
  pass_->step().reset_seconds();
}

}  // namespace tutti::transport
