#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/base/mpi/over_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/sums/reductions.hpp"
#include "tutti/domain/held_arrays.hpp"
#include "tutti/models/diffusion/diffusion_plan.hpp"
#include "tutti/simulation/evaluate.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti::diffusion {

// A step of the model, as the paper tells it: every device computes its separators, then its interior while they
// travel.

void Diffusion::step(double time, double dt) {
  time_ = time + dt;
  if (ionic_ && !homogeneous_) return split_step(time, dt);
  diffuse(time, dt);
}

void Diffusion::diffuse(double time, double dt) {
  if (is_implicit(method_)) return implicit_step(time, dt);
  if (!rkc_) return euler_step(time, dt);
  const double part = dt / substeps_;
  for (int k = 0; k < substeps_; ++k) rkc_step(time + k * part, part);
}

void Diffusion::euler_step(double time, double dt) {
  update_forcing(0, time);
  apply(0, 1, [dt](DiffusionPart& part) { return EulerUpdate{part.u[1].data(), dt}; });
  for (DiffusionPart& part : parts_) std::swap(part.u[0], part.u[1]);
}

void Diffusion::rkc_step(double time, double dt) {
  update_forcing(0, time);
  apply(0, 1, [&](DiffusionPart& part) {
    return RkcFirst{part.u[1].data(), part.first_rate.data(), coefficients_.mu1 * dt};
  });
  // u[now] is y_{j-1}; y_{j-2} is overwritten by y_j, but for y_0, which stays in u[0].
  std::size_t now = 1, next = 2;
  for (std::size_t j = 0; j < coefficients_.stages.size(); ++j) {
    const auto& c = coefficients_.stages[j];
    update_forcing(now, time + coefficients_.times[j + 1] * dt);
    apply(now, next, [&](DiffusionPart& part) {
      return RkcStage{part.u[next].data(),
                      part.u[j == 0 ? 0 : next].data(),
                      part.u[0].data(),
                      part.first_rate.data(),
                      c.mu,
                      c.nu,
                      c.rate_weight * dt,
                      c.first_weight * dt};
    });
    std::swap(now, next);
  }
  for (DiffusionPart& part : parts_) std::swap(part.u[0], part.u[now]);
}

// Set-up.

namespace {

/// Of owned cells; those inside count twice.
Size faces_between(const LocalTetMesh& mesh, const std::array<std::int32_t, 2>& regions) {
  Size count = 0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(mesh.owned); ++c)
    for (const Lid n : mesh.neighbours[c])
      if (n >= 0) {
        const std::int32_t a = mesh.regions[c], b = mesh.regions[static_cast<std::size_t>(n)];
        count += std::min(a, b) == regions[0] && std::max(a, b) == regions[1] ? 1 : 0;
      }
  return count;
}

Sharing checked_sharing(const ModelSetup& setup) {
  Sharing sharing;
  setup.comm.together([&] { sharing = diffusion_sharing(setup.options, *setup.devices.threads); });
  return sharing;
}

}  // namespace

Diffusion::Diffusion(const ModelSetup& setup)
    : TetModel(setup, diffusion_tet_options(setup.options), checked_sharing(setup)),
      method_(time_method(setup.options)),
      rkc_(method_ == TimeMethod::rkc2) {
  Phases& phases = setup.phases;
  phases.begin("assemble");
  comm_.together([&] {
    physics_.emplace(options_, domain_.region_names, domain_.boundary_names, domain_.region_tags,
                     domain_.boundary_tags);
    if (options_.has("output.extra") && options_.text("numerics.flux") == "two-point")
      fail(ErrorKind::input, "{}: the two-point flux has no gradients; take another numerics.flux",
           options_.where("output.extra"));
    if (physics_->exact()) compare_with(*physics_->exact());
    ionic_ = ionic_case(options_);
    if (is_monotone() && method_ != TimeMethod::euler && method_ != TimeMethod::backward_euler &&
        method_ != TimeMethod::steady)
      fail(ErrorKind::input,
           "{}: steps of time.method = \"{}\" can have new extrema; use \"euler\", \"backward-euler\" or \"steady\" "
           "with "
           "numerics.flux = \"monotone\"",
           options_.where("time.method"), options_.text("time.method"));
    if (is_implicit(method_)) check_implicit_case();
    changes_ = DiffusionPhysics::rows_change(options_);
    if (changes_ && ionic_)
      fail(ErrorKind::input,
           "{}: with [ionic], K and the source cannot name u, nor h name t, nor numerics.flux be \"monotone\"; leave "
           "[ionic] out, or them",
           options_.where("ionic.model"));
  });
  const bool explicit_source = !is_implicit(method_) && physics_->source().depends_on_solution();
  if (physics_->diffusivity_depends_on_solution() || explicit_source) find_data_range();
  assemble();
  allocate(rkc_ || is_implicit(method_) ? 3 : 2);
  comm_.together([&] {
    for (int p = 0; p < parts(); ++p) {
      parts_[p].u = u(p);
      if (rkc_) parts_[p].first_rate = Buffer<double>(device(p), map(p).owned, "first rate F0");
    }
  });
  if (ionic_) set_up_ionic();
  hold_coefficients();
  phases.begin("stability");
  const bool checks = options_.flag("numerics.check");
  if (!is_implicit(method_) || (checks && weak_fits_ > 0)) estimate_spectral_radius();
  if (is_implicit(method_)) {
    set_up_implicit();
  } else {
    double rate = 0;
    comm_.together([&] {
      if (explicit_source) rate = damping_of_source();
    });
    source_rate_ = max_over_ranks(comm_, rate);
    if (checks) choose_flux();
    choose_time_step_and_stages();
    comm_.together([&] { (void)plan_steps(options_, dt_); });  // a step that is none ends the run before its first
    if (checks) settle_time_step();
  }
  phases.begin("initial");
  start(ionic_ && !options_.is_set("physics.initial") ? Expression(ionic_->rest()) : physics_->initial());
  forget_activation();
  if (changes_ && !is_implicit(method_)) allowed_outflow_ = stability_.max_outflow * stability_limit() / dt_;
  prepare_forcing(0);
  initial_level_ = global_max(0);
  look_at_data(0);
  phases.end();
}

Diffusion::~Diffusion() {
  local_.reset();
  reaction_.reset();
  watch_.reset();
  pass_.reset();  // its work is on arrays that go first
}

void Diffusion::assemble() {
  parts_.resize(domain_.meshes.size());
  const std::vector<Interface>& interfaces = physics_->interfaces();
  std::vector<std::int64_t> counts(1 + interfaces.size(), 0);  // of weak fits, and of the faces of each interface
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      counts[0] += assemble_part(p, {});
      for (std::size_t i = 0; i < interfaces.size(); ++i)
        counts[i + 1] += faces_between(domain_.meshes[p], interfaces[i].regions);
    }
  });
  comm_.sum(counts);
  weak_fits_ = counts[0];
  comm_.together([&] {
    for (std::size_t i = 0; i < interfaces.size(); ++i)
      if (counts[i + 1] == 0)
        fail(ErrorKind::input, "{}: the two regions have no face in common; name two that touch, or remove the table",
             interfaces[i].where);
  });
  verbose("{} cells have a poorly conditioned gradient: their faces use that of the other cell", weak_fits_);
}

/// Rows and forcing of a part, in place of those that it has. `damped`: as in SchemeOptions. Its weak fits.
Lid Diffusion::assemble_part(std::size_t p, std::span<const double> damped) {
  const ParallelFor parallel = parallel_for(*devices_.threads);
  LocalTetMesh& mesh = domain_.meshes[p];
  PartStreams& streams = domain_.streams[p];
  DiffusionPart& part = parts_[p];
  part.damped.assign(damped.begin(), damped.end());
  part.jacobi = {};
  part.rows = {};  // the device need not have room for both
  part.forcing = {};
  part.scheme.reset();
  DiffusionRows rows;
  {  // K is needed no longer than this
    const auto K = set_up_diffusivity(mesh);
    std::mutex mutex;
    for_ranges(parallel, mesh.owned, [&](Size begin, Size end) {
      double largest = 1;
      for (Size c = begin; c < end; ++c) largest = std::max(largest, anisotropy(K[c]));
      const std::lock_guard lock(mutex);
      stability_.anisotropy = std::max(stability_.anisotropy, largest);
    });
    rows = assemble_rows(
        mesh, K, [&](std::int32_t tag) { return physics_->kind(tag); }, scheme_options(p, 0), parallel);
  }
  rows.change = changes_;
  stability_.max_outflow = std::max(stability_.max_outflow, rows.max_outflow);
  if (is_implicit(method_))
    part.jacobi = make_buffer(*streams.compute, std::span<const double>(jacobi_diagonal(rows)), "diagonal of A");
  if (keeps_apart(options_, *physics_, mesh, domain_.maps[p], *streams.device, streams.device->budget().capacity()))
    part.rows = RowOperator(RowOperator::Apart{}, *streams.compute, rows, row_column_bytes(options_), parallel);
  else
    part.rows = RowOperator(*streams.compute, rows, row_format(options_, streams.is_host()), row_precision(options_),
                            row_column_bytes(options_), parallel);
  if (part.centroids.empty()) part.centroids = centroids(static_cast<int>(p));
  if (changes_ && physics_->has_forcing())
    part.forcing = Forcing(*streams.compute, static_cast<Size>(part.centroids.size()));
  else if (physics_->has_forcing())
    part.forcing = Forcing(*streams.compute, *devices_.threads, *physics_, part.centroids, rows);
  part.boundary_faces = std::move(rows.boundary_faces);
  const Lid weak = rows.weak_fits;
  if (is_implicit(method_) && uses_multigrid(options_)) part.kept = std::move(rows);
  return weak;
}

SchemeOptions Diffusion::scheme_options(std::size_t p, double time) const {
  SchemeOptions scheme = physics_->scheme_options(time);
  scheme.two_point = options_.text("numerics.flux") == "two-point";
  scheme.monotone = is_monotone();
  scheme.damped = parts_[p].damped;
  return scheme;
}

/// Last of all arrays, in the room that they leave.
void Diffusion::hold_coefficients() {
  if (coefficient_options(options_).policy == Policy::resident) return;
  bool captured = true;
  std::string lines;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      DiffusionPart& part = parts_[p];
      if (!part.rows.waits_to_be_held()) continue;
      ResidencyOptions options = coefficient_options(options_);
      options.leave_bytes = held_margin(domain_.device(p));
      options.parallel = parallel_for(*devices_.threads);
      const auto trials = part.rows.hold(domain_.stream(p), options, part.u[0].data(), part.u[1].data());
      captured = captured && part.rows.held()->can_be_captured();
      lines += fmt::format("{} of rank {}: {}\n", domain_.device(p).name(), comm_.rank(),
                           describe_held("coefficients A", *part.rows.held(), trials));
    }
  });
  if (!captured) pass_->never_capture();
  say_what_is_held(comm_, lines);
}

std::vector<HeldArraySummary> Diffusion::held_arrays(std::size_t p) const {
  const Residency* held = parts_[p].rows.held();
  if (held == nullptr) return {};
  return {summarise_held("coefficients A", *held)};
}

/// Source and boundary data at `time`, for every row they reach. Once, where they do not change. The GPUs are given
/// their work before the CPU does its own.
void Diffusion::update_forcing(std::size_t from, double time) {
  if (homogeneous_) return;
  if (changes_) return renew_rows(from, time);
  const bool same =
      !physics_->forcing_depends_on_time() || (time == forcing_time_ && !physics_->source().depends_on_solution());
  if (!physics_->has_forcing() || (forcing_done_ && same)) return;
  for (const bool host : {false, true})
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (domain_.streams[p].is_host() == host)
        parts_[p].forcing.update(*domain_.streams[p].compute, time, parts_[p].u[from].data());
  forcing_time_ = time;
  forcing_done_ = true;
}

/// Values that are not finite were noted where they came up. Here the same formula says so, at the same time and point.
void Diffusion::check_forcing() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const DiffusionPart& part = parts_[p];
    if (const auto time = part.forcing.first_bad_time(*domain_.streams[p].compute)) {
      if (physics_->source().depends_on_solution())
        fail(ErrorKind::input,
             "{}: the source \"{}\" is not finite at t = {} for a value that u has; write it so that it is for every u",
             physics_->source().where(), physics_->source().text(), *time);
      evaluate_at(physics_->source(), part.centroids, *time, *devices_.threads);
      boundary_data(*physics_, part.boundary_faces, *time);
      require(false, "{}: forcing at t = {} is not finite on the device only", domain_.streams[p].device->name(),
              *time);
    }
  }
}

void Diffusion::wait() {
  for (const Step* schedule : schedules()) schedule->wait();
  check_forcing();
}

double Diffusion::stability_limit() const {
  if (is_monotone()) return 1 / (stability_.max_outflow + source_rate_);
  return (rkc_ ? substeps_ * rkc_limit(stages_) : 2.0) / fastest_rate();
}

void Diffusion::choose_time_step_and_stages() {
  comm_.together([&] { choose_stages(); });
  const double limit = fastest_rate() > 0 ? stability_limit() : std::numeric_limits<double>::infinity();
  if (ionic_ && ionic_->largest_step() < limit)
    return choose_time_step(ionic_->largest_step(), " of ionic.model = \"" + options_.text("ionic.model") + "\"");
  if (is_monotone())
    return choose_time_step(limit, " of euler without new extrema", ", or use time.method = \"backward-euler\"");
  choose_time_step(limit, " of " + options_.text("time.method") + (rkc_ ? fmt::format(" with {} stages", stages_) : ""),
                   std::string(", or use time.method = \"rkc2\"") + (rkc_ ? " with more stages" : ""));
}

void Diffusion::choose_stages() {
  if (!rkc_) return;
  // With many stages the strip around the real axis gets too thin for the operator's complex eigenvalues: at 9:1
  // noise was seen to grow with 30 stages, not with 20. A longer step is made of several.
  constexpr int max_stages = 20;
  if (!options_.is_word("time.stages", "auto")) {
    stages_ = static_cast<int>(options_.integer("time.stages"));
  } else if (options_.is_word("time.dt", "auto")) {
    stages_ = 10;
  } else {
    const double reach = options_.number("time.dt") * fastest_rate() / options_.number("time.safety");
    const double parts = finer_ * std::max(1.0, std::ceil(reach / rkc_limit(max_stages)));
    if (!(parts < 1e6))
      fail(ErrorKind::input, "{}: time.dt = {:g} would take {:g} sub-steps; lower it", options_.where("time.dt"),
           options_.number("time.dt"), parts);
    substeps_ = static_cast<int>(parts);
    stages_ = rkc_stages(reach / substeps_, max_stages);
  }
  coefficients_ = rkc_coefficients(stages_);
}

// Watching and finishing.

void Diffusion::resume(double time) {
  forcing_done_ = right_is_there_ = false;
  linearised_ = false;
  if (method_ == TimeMethod::steady) time = 0;
  time_ = time;
  gradients_of_run_ = -1;
  // Whoever looked before the state was there has seen another K; a steady solution's time is always 0.
  for (DiffusionPart& part : parts_) part.scheme.reset();
  exchange_now(0);
  prepare_forcing(time);
  forget_activation();
}

/// Of the first rate. Explicit steps with rows that change do it themselves.
void Diffusion::prepare_forcing(double time) {
  if (changes_) return;
  comm_.together([&] {
    update_forcing(0, time);
    check_forcing();
  });
}

std::vector<std::string> Diffusion::describe() const {
  std::vector<std::string> lines;
  if (is_implicit(method_))
    return {fmt::format("{}: equations are solved to {:g}, with {} coarse unknowns", options_.text("time.method"),
                        solver_->options().tolerance, solver_->coarse_unknowns())};
  lines.push_back(fmt::format(
      "spectral radius {:.5g} after {} iterations, largest stable step {:.5g}{}; 1/max|L_ii| = {:.5g}", stability_.rho,
      stability_.iterations, stability_limit(),
      rkc_ ? fmt::format(" with {} stages{}", stages_, substeps_ > 1 ? fmt::format(" in {} sub-steps", substeps_) : "")
           : "",
      1 / stability_.max_outflow));
  return lines;
}

Size Diffusion::bytes_a_run(int p) const {
  const DiffusionPart& part = parts_[p];
  return part.rows.bytes_applied() + (part.forcing.empty() ? 0 : part.forcing.bytes());
}

void Diffusion::summarise(Summary& summary, double time) {
  if (stability_.rho > 0) summary.rho = stability_.rho;
  if (is_implicit(method_)) summarise_solver(summary);
  TetModel::summarise(summary, time);
  if (method_ != TimeMethod::steady) return;
  summary.mass.drifts = false;
  summary.flows = flows();
}

}  // namespace tutti::diffusion
