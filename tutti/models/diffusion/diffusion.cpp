#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/base/over_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/reductions.hpp"
#include "tutti/models/diffusion/diffusion_plan.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti {

// A step of the model, as the paper tells it: every device computes its separators, then its interior while they
// travel.

void Diffusion::make_pass(Overlap overlap) {
  std::vector<PassPart> parts;
  for (const IndexMap& map : domain_.maps) parts.push_back({{{map.separator_rows(), {}}}, {{map.interior_rows(), {}}}});
  pass_ = std::make_unique<Pass>("", *devices_.threads, domain_.streams, std::move(parts), exchange_.get(), overlap);
}

void Diffusion::step(double time, double dt) {
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

Diffusion::Diffusion(const ModelSetup& setup)
    : comm_(setup.comm),
      devices_(setup.devices),
      domain_(make_tet_domain(setup, diffusion_tet_options(setup.options),
                              diffusion_sharing(setup.options, *setup.devices.threads))),
      options_(setup.options),
      rkc_(setup.options.text("time.method") == "rkc2") {
  Phases& phases = setup.phases;
  phases.begin("assemble");
  comm_.together([&] {
    physics_.emplace(options_, domain_.region_names, domain_.boundary_names, domain_.region_tags,
                     domain_.boundary_tags);
    assemble();
  });
  comm_.together([&] { allocate(); });
  plan_ = make_plan(domain_.maps, comm_.rank());
  exchange_ = std::make_unique<Exchange<double>>(comm_, plan_, domain_.maps, domain_.streams, 1, &domain_.routing);
  make_pass(parse_overlap(options_.text("devices.overlap")));
  phases.begin("stability");
  estimate_spectral_radius();
  comm_.together([&] { choose_time_step(); });
  if (options_.flag("numerics.check")) {
    run_noise_test();
    check_growth();
  }
  phases.begin("initial");
  set_initial();
  phases.end();
}

Diffusion::~Diffusion() = default;

void Diffusion::assemble() {
  SchemeOptions scheme;
  scheme.two_point = options_.text("numerics.flux") == "two-point";
  const ParallelFor parallel = parallel_for(*devices_.threads);
  Size weak = 0;
  std::array<double, 2> maxima{0, 1};
  for (std::size_t p = 0; p < domain_.meshes.size(); ++p) {
    LocalTetMesh& mesh = domain_.meshes[p];
    PartStreams& streams = domain_.streams[p];
    DiffusionPart& part = parts_.emplace_back();
    DiffusionRows rows;
    {  // K is needed no longer than this
      const auto K = physics_->diffusivity(mesh, *devices_.threads);
      std::mutex mutex;
      for_ranges(parallel, mesh.owned, [&](Size begin, Size end) {
        double largest = 1;
        for (Size c = begin; c < end; ++c) largest = std::max(largest, anisotropy(K[static_cast<std::size_t>(c)]));
        const std::lock_guard lock(mutex);
        maxima[1] = std::max(maxima[1], largest);
      });
      rows = assemble_rows(
          mesh, K, [&](std::int32_t tag) { return physics_->kind(tag); }, scheme, parallel);
    }
    maxima[0] = std::max(maxima[0], rows.max_outflow);
    weak += rows.weak_fits;
    part.rows = RowOperator(*streams.compute, rows, row_format(options_, streams.is_host()), row_precision(options_),
                            row_column_bytes(options_), parallel);
    std::vector<double> volumes(static_cast<std::size_t>(mesh.owned));
    part.centroids.resize(static_cast<std::size_t>(mesh.owned));
    for_ranges(parallel, mesh.owned, [&](Size begin, Size end) {
      for (Lid c = static_cast<Lid>(begin); c < static_cast<Lid>(end); ++c) {
        part.centroids[static_cast<std::size_t>(c)] = mesh.centroid(c);
        volumes[static_cast<std::size_t>(c)] = mesh.volume(c);
      }
    });
    part.volumes = make_buffer(*streams.compute, std::span<const double>(volumes), "volumes");
    if (physics_->has_forcing())
      part.forcing = Forcing(*streams.compute, *devices_.threads, *physics_, part.centroids, rows);
    part.boundary_faces = std::move(rows.boundary_faces);
  }
  stability_.max_outflow = maxima[0];
  stability_.anisotropy = maxima[1];
  verbose("{} cells have a weak gradient fit: their faces lean on the other cell", weak);
}

void Diffusion::allocate() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    Device& device = *domain_.streams[p].device;
    DiffusionPart& part = parts_[p];
    const IndexMap& map = domain_.maps[p];
    for (int i = 0; i < (rkc_ ? 3 : 2); ++i)
      part.u.emplace_back(device, map, i == 0 ? "u" : fmt::format("u, work {}", i));
    if (rkc_) part.first_rate = Buffer<double>(device, map.owned, "first rate F0");
  }
}

void Diffusion::set_initial() {
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto values = evaluate_at(physics_->initial(), parts_[p].centroids, 0.0, *devices_.threads);
      upload(*domain_.streams[p].compute, parts_[p].u[0].buffer(), std::span<const double>(values));
    }
    update_forcing(0);
    check_forcing();
  });
  exchange_now(0);
  initial_level_ = global_max(0);
  look_at_data(0);
  initial_mass_ = mass();
  // The drift is measured against the total of |u|: a mass of 0 is no scale.
  ExactSum magnitudes;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    magnitudes.merge(weighted_sum_of_magnitudes(*domain_.streams[p].compute, domain_.maps[p].owned_rows(),
                                                parts_[p].volumes.data(), parts_[p].u[0].data()));
  mass_scale_ = sum_over_ranks(comm_, magnitudes);
  // What is reported is the run, not the set-up.
  applications_ = 0;
  pass_->step().reset_seconds();
}

std::vector<FieldView<double>> Diffusion::views(std::size_t field) {
  std::vector<FieldView<double>> all;
  for (DiffusionPart& part : parts_) all.push_back(part.u[field].view());
  return all;
}

void Diffusion::exchange_now(std::size_t field) {
  exchange_->begin(views(field));
  exchange_->end();
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
  pass_->step().wait();
  check_forcing();
}

double Diffusion::stability_limit() const {
  return (rkc_ ? substeps_ * rkc_limit(stages_) : 2.0) / stability_.rho;
}

void Diffusion::choose_time_step() {
  const Case& options = options_;
  const bool automatic = options.is_word("time.dt", "auto");
  const double safety = options.number("time.safety"), rho = stability_.rho;
  const bool given_stages = rkc_ && !options.is_word("time.stages", "auto");
  if (rkc_) {
    // With many stages the strip around the real axis gets too thin for the operator's complex eigenvalues: at 9:1
    // noise was seen to grow with 30 stages, not with 20. A longer step is made of several.
    constexpr int max_stages = 20;
    if (given_stages) {
      stages_ = static_cast<int>(options.integer("time.stages"));
    } else if (automatic) {
      stages_ = 10;
    } else {
      const double reach = options.number("time.dt") * rho / safety;
      const double parts = std::max(1.0, std::ceil(reach / rkc_limit(max_stages)));
      if (!(parts < 1e6))
        fail(ErrorKind::input, "{}: time.dt = {:g} would take {:g} sub-steps; lower it", options.where("time.dt"),
             options.number("time.dt"), parts);
      substeps_ = static_cast<int>(parts);
      stages_ = rkc_stages(reach / substeps_, max_stages);
    }
    coefficients_ = rkc_coefficients(stages_);
  }
  // Where nothing moves (K = 0 everywhere) any step is stable.
  const double limit = rho > 0 ? stability_limit() : std::numeric_limits<double>::infinity();
  if (automatic) {
    dt_ = rho > 0 ? safety * limit : (options.has("time.end") ? options.number("time.end") : 1.0);
  } else {
    dt_ = options.number("time.dt");
    if (dt_ > limit * (1 + 1e-12))
      fail(ErrorKind::numerical,
           "{}: time.dt = {:g} is above the stability limit {:.6g} of {}{}; lower it, or use time.method = \"rkc2\"{}",
           options.where("time.dt"), dt_, limit, options.text("time.method"),
           rkc_ ? fmt::format(" with {} stages", stages_) : "", rkc_ ? " with more stages" : "");
  }
}

// Watching and finishing.

double Diffusion::mass() {
  ExactSum sum;
  for (std::size_t p = 0; p < parts_.size(); ++p)
    sum.merge(weighted_sum(*domain_.streams[p].compute, domain_.maps[p].owned_rows(), parts_[p].volumes.data(),
                           parts_[p].u[0].data()));
  return sum_over_ranks(comm_, sum);
}

double Diffusion::global_max(std::size_t field) {
  double largest = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const double m =
        max_magnitude(*domain_.streams[p].compute, domain_.maps[p].owned_rows(), parts_[p].u[field].data());
    largest = std::isnan(m) || std::isnan(largest) ? std::numeric_limits<double>::quiet_NaN() : std::max(largest, m);
  }
  return max_over_ranks(comm_, largest);
}

std::vector<Diagnostic> Diffusion::diagnose() {
  const double largest = global_max(0);
  // Exact sums know no infinities.
  return {{"max|u|", largest}, {"mass", std::isfinite(largest) ? mass() : largest}};
}

std::vector<double> Diffusion::values(int part) {
  const auto p = static_cast<std::size_t>(part);
  std::vector<double> result(static_cast<std::size_t>(domain_.maps[p].owned));
  download(*domain_.streams[p].compute, std::span<double>(result), parts_[p].u[0].buffer());
  return result;
}

std::vector<ModelField> Diffusion::fields() {
  ModelField u{.name = "u", .restart = true, .checksum = true, .output = true, .probes = {"u"}};
  u.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    download(domain_.stream(p), to, parts_[p].u[0].data() + rows.rows.begin);
  };
  u.write = [this](std::size_t p, std::span<const double> from) {
    upload(domain_.stream(p), parts_[p].u[0].buffer(), from);
  };
  std::vector<ModelField> all;
  all.push_back(std::move(u));
  return all;
}

std::vector<StateNumber> Diffusion::numbers() {
  std::vector<StateNumber> all;  // not a list: GCC 12 destroys the elements of one twice where a copy throws
  all.push_back({"initial_mass", &initial_mass_});
  all.push_back({"mass_scale", &mass_scale_});
  return all;
}

void Diffusion::resume(double time) {
  forcing_done_ = false;
  comm_.together([&] {
    update_forcing(time);
    check_forcing();
  });
  exchange_now(0);
}

std::vector<std::string> Diffusion::describe() const {
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "spectral radius {:.5g} after {} iterations, largest stable step {:.5g}{}; 1/max|L_ii| = {:.5g}", stability_.rho,
      stability_.iterations, stability_limit(),
      rkc_ ? fmt::format(" with {} stages{}", stages_, substeps_ > 1 ? fmt::format(" in {} sub-steps", substeps_) : "")
           : "",
      1 / stability_.max_outflow));
  return lines;
}

Size Diffusion::bytes_moved(std::size_t p) const {
  const Size forcing = parts_[p].forcing.empty() ? 0 : parts_[p].forcing.bytes();
  return applications_ * (parts_[p].rows.bytes_applied() + forcing);
}

ExchangeCounts Diffusion::exchanged() const {
  ExchangeCounts counts;
  add_counts(counts, exchange_->counts_per_exchange(), applications_);
  return counts;
}

void Diffusion::summarise(Summary& summary, double time) {
  summary.rho = stability_.rho;
  summary.mass.initial = initial_mass_;
  summary.mass.final = mass();
  summary.mass.drift = mass_scale_ > 0 ? (summary.mass.final - initial_mass_) / mass_scale_ : 0;
  if (physics_->exact()) {
    try {
      summary.errors = errors(time);
    } catch (const SharedError& error) {
      // The exact solution has no value somewhere. The run itself is good: its summary and its fields are written.
      if (error.kind() != ErrorKind::input) throw;
      summary.problem = error.what();
    }
  }
}

}  // namespace tutti
