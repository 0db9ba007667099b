#include "tutti/simulation/tet_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/over_ranks.hpp"
#include "tutti/device/reductions.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti {

TetModel::TetModel(const ModelSetup& setup, const TetOptions& options, const Sharing& sharing)
    : comm_(setup.comm),
      devices_(setup.devices),
      options_(setup.options),
      domain_(make_tet_domain(setup, options, sharing)),
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
    exchange_ = std::make_unique<Exchange<double>>(comm_, plan_, domain_.maps, domain_.streams, 1, &domain_.routing);
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

std::vector<ModelField> TetModel::fields() {
  ModelField u{.name = "u", .restart = true, .checksum = true, .output = true, .probes = {"u"}};
  u.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    download(domain_.stream(p), to, u_[p].data() + rows.rows.begin);
  };
  u.write = [this](std::size_t p, std::span<const double> from) { upload(domain_.stream(p), u_[p].buffer(), from); };
  std::vector<ModelField> all;
  all.push_back(std::move(u));
  return all;
}

std::vector<StateNumber> TetModel::numbers() {
  std::vector<StateNumber> all;  // not a list: GCC 12 destroys the elements of one twice where a copy throws
  all.push_back({"initial_mass", &initial_mass_});
  all.push_back({"mass_scale", &mass_scale_});
  return all;
}

ExchangeCounts TetModel::exchanged() const {
  ExchangeCounts counts;
  add_counts(counts, exchange_->counts_per_exchange(), steps_);
  return counts;
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

void TetModel::summarise(Summary& summary, double time) {
  summary.mass.initial = initial_mass_;
  summary.mass.final = sum_of(false);
  summary.mass.drift = mass_scale_ > 0 ? (summary.mass.final - initial_mass_) / mass_scale_ : 0;
  if (exact_) summary.errors = errors(time);
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
