#include "tutti/simulation/tet_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/device/reductions.hpp"
#include "tutti/simulation/evaluate.hpp"
#include "tutti/simulation/tet_report.hpp"

namespace tutti {

TetModel::TetModel(std::string name, const ModelSetup& setup, const DomainOptions& options)
    : name_(std::move(name)),
      comm_(setup.comm),
      devices_(setup.devices),
      options_(setup.options),
      domain_(make_tet_domain(setup.comm, setup.devices, setup.options, setup.work_dir, with_setup(options, setup),
                              setup.phases)),
      plan_(make_plan(domain_.maps, setup.comm.rank())) {
  comm_.together([&] {
    for (std::size_t p = 0; p < domain_.maps.size(); ++p) {
      Device& on = *domain_.streams[p].device;
      u_.emplace_back(on, domain_.maps[p], "u");
      next_.emplace_back(on, domain_.maps[p], "u, next");
      const LocalTetMesh& mesh = domain_.meshes[p];
      std::vector<double> volumes(static_cast<std::size_t>(mesh.owned));
      for (Lid c = 0; c < mesh.owned; ++c) volumes[static_cast<std::size_t>(c)] = mesh.volume(c);
      volumes_.push_back(make_buffer(*domain_.streams[p].compute, std::span<const double>(volumes), "volumes"));
    }
    exchange_ = std::make_unique<Exchange<double>>(comm_, plan_, domain_.maps, domain_.streams, 1, &domain_.transport);
  });
}

void TetModel::choose_time_step(double rate) {
  rate = max_over_ranks(comm_, rate);
  limit_ = rate > 0 || std::isnan(rate) ? 1 / rate : std::numeric_limits<double>::infinity();
  comm_.together([&] {
    if (!options_.is_word("time.dt", "auto")) {
      dt_ = options_.number("time.dt");
      if (!(dt_ <= limit_ * (1 + 1e-12)))
        fail(ErrorKind::numerical, "{}: time.dt = {:g} is above the stability limit {:.6g}; lower it",
             options_.where("time.dt"), dt_, limit_);
    } else if (std::isinf(limit_)) {
      dt_ = options_.has("time.end") ? options_.number("time.end") : 1.0;
    } else {
      dt_ = options_.number("time.safety") * limit_;
    }
  });
}

std::vector<std::string> TetModel::describe() const {
  return {fmt::format("largest stable step {:.5g}", limit_)};
}

void TetModel::start(const Expression& initial, Step& step) {
  comm_.together([&] {
    for (int p = 0; p < parts(); ++p) {
      std::vector<Vec3> centroids(static_cast<std::size_t>(mesh(p).owned));
      for (Lid c = 0; c < mesh(p).owned; ++c) centroids[static_cast<std::size_t>(c)] = mesh(p).centroid(c);
      const auto values = evaluate_at(initial, centroids, 0.0, threads());
      upload(stream(p), u_[static_cast<std::size_t>(p)].buffer(), std::span<const double>(values));
    }
  });
  exchange_now();
  initial_mass_ = sum_of(false);
  mass_scale_ = sum_of(true);
  steps_ = 0;
  step.reset_seconds();
}

void TetModel::advance(Step& step) {
  std::vector<FieldView<double>> views;
  for (Field<double>& next : next_) views.push_back(next.view());
  exchange_->bind(views);
  step.run();
  std::swap(u_, next_);
  ++steps_;
}

double TetModel::sum_of(bool magnitudes) {
  ExactSum sum;
  for (int p = 0; p < parts(); ++p) {
    const double* volumes = volumes_[static_cast<std::size_t>(p)].data();
    sum.merge(magnitudes ? weighted_sum_of_magnitudes(stream(p), map(p).owned_rows(), volumes, now(p))
                         : weighted_sum(stream(p), map(p).owned_rows(), volumes, now(p)));
  }
  return sum_over_ranks(comm_, sum);
}

std::vector<Diagnostic> TetModel::diagnose() {
  double largest = 0;
  for (int p = 0; p < parts(); ++p) {
    const double m = max_magnitude(stream(p), map(p).owned_rows(), now(p));
    largest = std::isnan(m) || std::isnan(largest) ? std::numeric_limits<double>::quiet_NaN() : std::max(largest, m);
  }
  largest = max_over_ranks(comm_, largest);
  // Exact sums know no infinities.
  return {{"max|u|", largest}, {"mass", std::isfinite(largest) ? sum_of(false) : largest}};
}

std::vector<double> TetModel::values(int part) {
  std::vector<double> result(static_cast<std::size_t>(map(part).owned));
  download(stream(part), std::span<double>(result), u_[static_cast<std::size_t>(part)].buffer());
  return result;
}

ModelState TetModel::state() {
  ModelState state = state_of(domain_, "u", [this](std::size_t p) -> Buffer<double>& { return u_[p].buffer(); });
  state.numbers = {{"initial_mass", &initial_mass_}, {"mass_scale", &mass_scale_}};
  return state;
}

void TetModel::resume(double) {
  exchange_now();
}

void TetModel::exchange_now() {
  std::vector<FieldView<double>> views;
  for (Field<double>& u : u_) views.push_back(u.view());
  exchange_->begin(views);
  exchange_->end();
}

void TetModel::open_results(const std::filesystem::path& folder, std::span<const double> before) {
  results_ = std::make_unique<TetResults>(comm_, domain_, folder, static_cast<int>(options_.integer("output.compress")),
                                          threads().count(), before);
}

void TetModel::write_results(double time) {
  std::vector<std::vector<double>> u;
  for (int p = 0; p < parts(); ++p) u.push_back(values(p));
  std::vector<TetFieldValues> fields;  // not a list of them: GCC 12 destroys one twice where a copy throws
  fields.push_back({"u", 1, std::move(u)});
  results_->write(time, fields);
}

void TetModel::set_probes(std::vector<Vec3> points) {
  probes_ = TetProbes(comm_, domain_, std::move(points), probe_labels(options_));
}

std::vector<double> TetModel::sample() {
  return probes_.sample(comm_, [this](int part, Lid row) {
    double value = 0;
    stream(part).copy(&value, now(part) + row, sizeof(value), CopyDirection::to_host);
    stream(part).synchronize();
    return value;
  });
}

void TetModel::summarise(Summary& summary, double time) {
  summary.model = name_;
  summary.cells = cells();
  summary.balance = domain_.balance;
  const auto seconds = part_seconds(*this);
  std::uint64_t checksum = 0;
  for (int p = 0; p < parts(); ++p) {
    const auto i = static_cast<std::size_t>(p);
    summary.parts.push_back(describe_part(comm_, domain_, i, seconds[i], steps_ * bytes_a_step(p)));
    checksum += checksum_of(map(p), values(p));
  }
  const ExchangeCounts counts = exchange_->counts_per_exchange();
  summary.exchange.bytes = steps_ * comm_.sum(counts.bytes);
  summary.exchange.messages = steps_ * comm_.sum(counts.messages);
  summary.mass.initial = initial_mass_;
  summary.mass.final = sum_of(false);
  summary.mass.drift = mass_scale_ > 0 ? (summary.mass.final - initial_mass_) / mass_scale_ : 0;
  if (exact_) summary.errors = errors(time);
  summary.checksum = static_cast<std::uint64_t>(comm_.sum(static_cast<std::int64_t>(checksum)));
}

ErrorSummary TetModel::errors(double time) {
  ExactSum volume, square;
  double largest = 0;
  comm_.together([&] {
    for (int p = 0; p < parts(); ++p) {
      const auto u = values(p);
      for (Lid c = 0; c < mesh(p).owned; ++c) {
        const double v = mesh(p).volume(c);
        const double error = u[static_cast<std::size_t>(c)] - (*exact_)(mesh(p).centroid(c), time);
        volume.add(v);
        square.add(v * error * error);
        largest = std::max(largest, std::abs(error));
      }
    }
  });
  const double all = sum_over_ranks(comm_, volume);
  return {std::sqrt(sum_over_ranks(comm_, square) / all), comm_.max(largest), std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace tutti
