#include "tutti/simulation/tet_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/device/sums/reductions.hpp"
#include "tutti/simulation/error_norms.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti {

TetModel::TetModel(const ModelSetup& setup, const TetOptions& options, const Sharing& sharing)
    : comm_(setup.comm),
      devices_(setup.devices),
      options_(setup.options),
      domain_(make_tet_domain(setup, options, sharing)),
      plan_(make_plan(domain_.maps, setup.comm.rank())) {}

void TetModel::allocate(int copies) {
  comm_.together([&] {
    for (int p = 0; p < parts(); ++p) {
      const LocalTetMesh& cells = mesh(p);
      auto& u = u_.emplace_back();
      for (int i = 0; i < copies; ++i) u.emplace_back(device(p), map(p), i == 0 ? "u" : fmt::format("u, work {}", i));
      std::vector<double> volumes(cells.owned);
      for_ranges(parallel_for(threads()), cells.owned, [&](Size begin, Size end) {
        for (Size c = begin; c < end; ++c) volumes[c] = cells.volume(static_cast<Lid>(c));
      });
      volumes_.push_back(make_buffer(stream(p), std::span<const double>(volumes), "volumes"));
    }
  });
  exchange_ = std::make_unique<Exchange<double>>(comm_, plan_, domain_.maps, domain_.streams, 1, &domain_.routing);
  pass_ = std::make_unique<Pass>("", threads(), domain_.streams, row_pass_parts(domain_.maps), exchange_.get(),
                                 parse_overlap(options_.text("devices.overlap")));
}

std::vector<Vec3> TetModel::centroids(int part) {
  const LocalTetMesh& cells = mesh(part);
  std::vector<Vec3> points(cells.owned);
  for_ranges(parallel_for(threads()), cells.owned, [&](Size begin, Size end) {
    for (Size c = begin; c < end; ++c) points[c] = cells.centroid(static_cast<Lid>(c));
  });
  return points;
}

void TetModel::choose_time_step(double limit, const std::string& of, const std::string& or_else) {
  limit_ = limit;
  comm_.together([&] {
    if (!options_.is_word("time.dt", "auto")) {
      dt_ = options_.number("time.dt");
      if (!(dt_ <= limit_ * (1 + 1e-12)))
        fail(ErrorKind::numerical, "{}: time.dt = {:g} is above the stability limit {:.6g}{}; lower it{}",
             options_.where("time.dt"), dt_, limit_, of, or_else);
    } else if (std::isinf(limit_)) {  // where nothing moves any step is stable
      dt_ = options_.has("time.end") ? options_.number("time.end") : 1.0;
    } else {
      dt_ = options_.number("time.safety") * limit_;
    }
  });
}

std::vector<std::string> TetModel::describe() const {
  return {fmt::format("largest stable step {:.5g}", limit_)};
}

void TetModel::start(const Expression& initial) {
  comm_.together([&] {
    for (int p = 0; p < parts(); ++p) {
      const auto values = evaluate_at(initial, centroids(p), 0.0, threads());
      upload(stream(p), u(p)[0].buffer(), std::span<const double>(values));
    }
  });
  exchange_now(0);
  initial_mass_ = sum_of(false);
  mass_scale_ = sum_of(true);
  runs_ = 0;
  pass_->step().reset_seconds();
}

std::vector<FieldView<double>> TetModel::views(std::size_t copy) {
  std::vector<FieldView<double>> all;
  for (auto& u : u_) all.push_back(u[copy].view());
  return all;
}

double TetModel::sum_of(bool magnitudes) {
  ExactSum sum;
  for (int p = 0; p < parts(); ++p) {
    const double* volumes = volumes_[p].data();
    sum.merge(magnitudes ? weighted_sum_of_magnitudes(stream(p), map(p).owned_rows(), volumes, now(p))
                         : weighted_sum(stream(p), map(p).owned_rows(), volumes, now(p)));
  }
  return sum_over_ranks(comm_, sum);
}

double TetModel::global_max(std::size_t copy) {
  double largest = 0;
  for (int p = 0; p < parts(); ++p) {
    const double m = max_magnitude(stream(p), map(p).owned_rows(), u(p)[copy].data());
    largest = std::isnan(m) || std::isnan(largest) ? std::numeric_limits<double>::quiet_NaN() : std::max(largest, m);
  }
  return max_over_ranks(comm_, largest);
}

std::vector<Diagnostic> TetModel::diagnose() {
  const double largest = global_max(0);
  // Exact sums know no infinities.
  return {{"max|u|", largest}, {"mass", std::isfinite(largest) ? mass() : largest}};
}

std::vector<double> TetModel::values(int part) {
  std::vector<double> result(map(part).owned);
  download(stream(part), std::span<double>(result), u(part)[0].buffer());
  return result;
}

std::vector<ModelField> TetModel::fields() {
  ModelField field{.name = "u", .restart = true, .checksum = true, .output = true, .probes = {"u"}};
  field.read = [this](std::size_t p, const RowSet& rows, std::span<double> to) {
    download(domain_.stream(p), to, u_[p][0].data() + rows.rows.begin);
  };
  field.write = [this](std::size_t p, std::span<const double> from) {
    upload(domain_.stream(p), u_[p][0].buffer(), from);
  };
  std::vector<ModelField> all;
  all.push_back(std::move(field));
  return all;
}

std::vector<double> TetModel::measures(std::size_t p) {
  const LocalTetMesh& cells = domain_.meshes[p];
  std::vector<double> volumes(static_cast<std::size_t>(cells.owned));
  for (Lid c = 0; c < cells.owned; ++c) volumes[c] = cells.volume(c);
  return volumes;
}

std::vector<StateNumber> TetModel::numbers() {
  std::vector<StateNumber> all;  // not a list: GCC 12 destroys the elements of one twice where a copy throws
  all.push_back({"initial_mass", &initial_mass_});
  all.push_back({"mass_scale", &mass_scale_});
  return all;
}

ExchangeCounts TetModel::exchanged() const {
  ExchangeCounts counts;
  add_counts(counts, exchange_->counts_per_exchange(), runs_);
  return counts;
}

void TetModel::resume(double) {
  exchange_now(0);
}

void TetModel::exchange_now(std::size_t copy) {
  exchange_->begin(views(copy));
  exchange_->end();
}

void TetModel::summarise(Summary& summary, double time) {
  summary.mass.initial = initial_mass_;
  summary.mass.final = mass();
  summary.mass.drift = mass_scale_ > 0 ? (summary.mass.final - initial_mass_) / mass_scale_ : summary.mass.final;
  if (!exact_) return;
  try {
    summary.errors = errors(time);
  } catch (const SharedError& error) {
    // The exact solution has no value somewhere. The run itself is good: its summary and its fields are written.
    if (error.kind() != ErrorKind::input) throw;
    summary.problem = error.what();
  }
}

ErrorSummary TetModel::errors(double time) {
  const FieldError error = field_errors(time).front();
  return {error.l2, error.linf, std::numeric_limits<double>::quiet_NaN()};
}

std::vector<std::string> TetModel::exact_fields() const {
  return exact_ ? std::vector<std::string>{"u"} : std::vector<std::string>{};
}

std::vector<FieldError> TetModel::field_errors(double time) {
  ErrorNorms norms;
  comm_.together([&] {
    for (int p = 0; p < parts(); ++p) {
      const auto computed = values(p);
      const auto exact = evaluate_at(*exact_, centroids(p), time, threads());
      for (Lid c = 0; c < mesh(p).owned; ++c) norms.add(mesh(p).volume(c), computed[c], exact[c]);
    }
  });
  return {norms.over_ranks(comm_, "u")};
}

}  // namespace tutti
