#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/base/mpi/over_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/reductions.hpp"
#include "tutti/domain/held_arrays.hpp"
#include "tutti/models/diffusion/diffusion_plan.hpp"
#include "tutti/simulation/evaluate.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti::diffusion {

// A step of the model, as the paper tells it: every device computes its separators, then its interior while they
// travel.

void Diffusion::step(double time, double dt) {
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
  update_forcing(time);
  apply(0, 1, [dt](DiffusionPart& part) { return EulerUpdate{part.u[1].data(), dt}; });
  for (DiffusionPart& part : parts_) std::swap(part.u[0], part.u[1]);
}

void Diffusion::rkc_step(double time, double dt) {
  update_forcing(time);
  apply(0, 1, [&](DiffusionPart& part) {
    return RkcFirst{part.u[1].data(), part.first_rate.data(), coefficients_.mu1 * dt};
  });
  // u[now] is y_{j-1}; y_{j-2} is overwritten by y_j, but for y_0, which stays in u[0].
  std::size_t now = 1, next = 2;
  for (std::size_t j = 0; j < coefficients_.stages.size(); ++j) {
    const auto& c = coefficients_.stages[j];
    update_forcing(time + coefficients_.times[j + 1] * dt);
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

/// -L_ii, but at least half of what stands in a row with any sign: then no eigenvalue of D^-1 L is beyond 4.
std::vector<double> jacobi_diagonal(const DiffusionRows& rows) {
  std::vector<double> result(rows.values.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    double sum = -rows.diagonal[i], magnitudes = std::abs(rows.diagonal[i]);
    for (const double a : rows.values[i]) sum += a, magnitudes += std::abs(a);
    // A row without entries is a mesh of one cell without fixed values.
    result[i] = magnitudes > 0 ? std::max(sum, 0.5 * magnitudes) : 1;
  }
  return result;
}

Sharing checked_sharing(const ModelSetup& setup) {
  setup.comm.together([&] { coefficient_options(setup.options); });
  return diffusion_sharing(setup.options, *setup.devices.threads);
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
    if (physics_->exact()) compare_with(*physics_->exact());
    ionic_ = ionic_case(options_);
    if (is_implicit(method_)) check_implicit_case();
    assemble();
  });
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
    if (checks) choose_flux();
    choose_time_step_and_stages();
    comm_.together([&] { (void)plan_steps(options_, dt_); });  // a step that is none ends the run before its first
    if (checks) settle_time_step();
  }
  phases.begin("initial");
  start(ionic_ && !options_.is_set("physics.initial") ? Expression(ionic_->rest()) : physics_->initial());
  forget_activation();
  comm_.together([&] {
    update_forcing(0);
    check_forcing();
  });
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
  Size weak = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) weak += assemble_part(p, {});
  weak_fits_ = comm_.sum(weak);
  verbose("{} cells have a poorly conditioned gradient: their faces use that of the other cell", weak_fits_);
}

/// Rows and forcing of a part, in place of those that it has. `damped`: as in SchemeOptions. Its weak fits.
Lid Diffusion::assemble_part(std::size_t p, std::span<const double> damped) {
  SchemeOptions scheme;
  scheme.two_point = options_.text("numerics.flux") == "two-point";
  scheme.damped = damped;
  const ParallelFor parallel = parallel_for(*devices_.threads);
  LocalTetMesh& mesh = domain_.meshes[p];
  PartStreams& streams = domain_.streams[p];
  DiffusionPart& part = parts_[p];
  part.jacobi = {};
  part.rows = {};  // the device need not have room for both
  part.forcing = {};
  DiffusionRows rows;
  {  // K is needed no longer than this
    const auto K = physics_->diffusivity(mesh, *devices_.threads);
    std::mutex mutex;
    for_ranges(parallel, mesh.owned, [&](Size begin, Size end) {
      double largest = 1;
      for (Size c = begin; c < end; ++c) largest = std::max(largest, anisotropy(K[c]));
      const std::lock_guard lock(mutex);
      stability_.anisotropy = std::max(stability_.anisotropy, largest);
    });
    rows = assemble_rows(
        mesh, K, [&](std::int32_t tag) { return physics_->kind(tag); }, scheme, parallel);
  }
  stability_.max_outflow = std::max(stability_.max_outflow, rows.max_outflow);
  if (is_implicit(method_))
    part.jacobi = make_buffer(*streams.compute, std::span<const double>(jacobi_diagonal(rows)), "diagonal of A");
  if (keeps_apart(options_, *physics_, mesh, domain_.maps[p], *streams.device, streams.device->budget().capacity()))
    part.rows = RowOperator(RowOperator::Apart{}, *streams.compute, rows, row_column_bytes(options_), parallel);
  else
    part.rows = RowOperator(*streams.compute, rows, row_format(options_, streams.is_host()), row_precision(options_),
                            row_column_bytes(options_), parallel);
  if (part.centroids.empty()) part.centroids = centroids(static_cast<int>(p));
  if (physics_->has_forcing())
    part.forcing = Forcing(*streams.compute, *devices_.threads, *physics_, part.centroids, rows);
  part.boundary_faces = std::move(rows.boundary_faces);
  const Lid weak = rows.weak_fits;
  if (is_implicit(method_) && uses_multigrid(options_)) part.kept = std::move(rows);
  return weak;
}

/// Last of all arrays, in the room that they leave.
void Diffusion::hold_coefficients() {
  if (all_resident(options_)) return;
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

std::optional<HeldArraySummary> Diffusion::held_array(std::size_t p) const {
  const Residency* held = parts_[p].rows.held();
  if (held == nullptr) return {};
  return summarise_held("coefficients A", *held);
}

/// Source and boundary data at `time`, for every row they reach. Once, where they do not change. The GPUs are given
/// their work before the CPU does its own.
void Diffusion::update_forcing(double time) {
  if (homogeneous_ || !physics_->has_forcing() ||
      (forcing_done_ && (!physics_->forcing_depends_on_time() || time == forcing_time_)))
    return;
  for (const bool host : {false, true})
    for (std::size_t p = 0; p < parts_.size(); ++p)
      if (domain_.streams[p].is_host() == host) parts_[p].forcing.update(*domain_.streams[p].compute, time);
  forcing_time_ = time;
  forcing_done_ = true;
}

/// Values that are not finite were noted where they came up. Here the same formula says so, at the same time and point.
void Diffusion::check_forcing() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const DiffusionPart& part = parts_[p];
    if (const auto time = part.forcing.first_bad_time(*domain_.streams[p].compute)) {
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
  return (rkc_ ? substeps_ * rkc_limit(stages_) : 2.0) / stability_.rho;
}

void Diffusion::choose_time_step_and_stages() {
  comm_.together([&] { choose_stages(); });
  const double limit = stability_.rho > 0 ? stability_limit() : std::numeric_limits<double>::infinity();
  if (ionic_ && ionic_->largest_step() < limit)
    return choose_time_step(ionic_->largest_step(), " of ionic.model = \"" + options_.text("ionic.model") + "\"");
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
    const double reach = options_.number("time.dt") * stability_.rho / options_.number("time.safety");
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
  if (method_ == TimeMethod::steady) time = 0;
  comm_.together([&] {
    update_forcing(time);
    check_forcing();
  });
  exchange_now(0);
  forget_activation();
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
}

}  // namespace tutti::diffusion
