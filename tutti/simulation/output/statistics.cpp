#include "tutti/simulation/output/statistics.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "tutti/base/log.hpp"
#include "tutti/simulation/field_values.hpp"

namespace tutti {
namespace {

constexpr const char* kinds[] = {"mean", "variance", "min", "max"};

/// What the results call it: one name, or one a component.
std::vector<std::string> names_of(const ModelField& field) {
  return field.component_names.empty() ? std::vector<std::string>{field.name} : field.component_names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Rows of a part out of the values of all that it owns.
void take_rows(std::span<const double> values, std::size_t components, const RowSet& owned, const RowSet& rows,
               std::span<double> to) {
  if (owned.box.empty()) {
    const auto first = static_cast<std::size_t>(rows.rows.begin - owned.rows.begin) * components;
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
    return;
  }
  const auto& [lower, upper] = owned.box;
  const std::size_t nx = upper[0] - lower[0], ny = upper[1] - lower[1],
                    length = (rows.box.upper[0] - rows.box.lower[0]) * components;
  auto at = to.begin();
  for (Lid k = rows.box.lower[2]; k < rows.box.upper[2]; ++k)
    for (Lid j = rows.box.lower[1]; j < rows.box.upper[1]; ++j) {
      const std::size_t row =
          (static_cast<std::size_t>(k - lower[2]) * ny + (j - lower[1])) * nx + (rows.box.lower[0] - lower[0]);
      at = std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * components), length, at);
    }
}

}  // namespace

Statistics::Statistics(Run& run) {
  const Case& options = run.options;
  if (options.schema().find("statistics.of") == nullptr || !options.has("statistics.of") || !run.exchanges) return;
  begin_ = options.number("statistics.begin");
  every_ = options.integer("statistics.every");
  std::vector<std::string> wanted, known;
  if (options.has("statistics.fields")) wanted = options.texts("statistics.fields");
  for (const ModelField& field : run.model.fields()) {
    if (!field.output) continue;
    const std::vector<std::string> names = names_of(field);
    known.insert(known.end(), names.begin(), names.end());
    if (!wanted.empty() && std::none_of(names.begin(), names.end(), [&](auto& name) { return contains(wanted, name); }))
      continue;
    watched_.push_back({field, std::vector<Sums>(run.model.domain().mine())});
  }
  run.comm.together([&] {
    for (const std::string& name : wanted)
      if (!contains(known, name))
        fail(ErrorKind::input, "{}: there is no field '{}' in the results; take some of {}",
             options.where("statistics.fields"), name, fmt::join(known, ", "));
    for (const Watched& watched : watched_)
      for (const std::string& name : names_of(watched.field))
        for (const char* kind : kinds)
          if (contains(known, name + "_" + kind))
            fail(ErrorKind::input, "{}: there is a field '{}_{}' already; give it another name",
                 options.where("statistics.of"), name, kind);
    for (Watched& watched : watched_)
      for (std::size_t p = 0; p < watched.parts.size(); ++p) {
        const auto size = static_cast<std::size_t>(run.model.domain().owned_count(p) * watched.field.components);
        watched.parts[p] = {std::vector<double>(size), std::vector<double>(size), std::vector<double>(size),
                            std::vector<double>(size)};
      }
  });
  for (Watched& watched : watched_)
    for (const std::string kind : kinds) add_field(run, watched, kind);
  run.more_numbers.push_back({"statistics weight", &weight_});
  run.more_numbers.push_back({"statistics unsampled", &unsampled_});
}

bool Statistics::counts(const Run& run) const {
  return !watched_.empty() && is_reached(begin_, run.before_step);
}

void Statistics::after_step(Run& run) {
  if (run.last && !watched_.empty() && !counts(run) && weight_ == 0)
    warn("{}: the run ends at {:g}, before statistics.begin = {:g}: all statistics are 0; lower it",
         run.options.where("statistics.begin"), run.time, begin_);
  if (!counts(run)) return;
  unsampled_ += run.time - run.before_step;
  if (!due(run)) return;
  run.model.before_output();
  run.comm.together([&] {
    for (Watched& watched : watched_) sample(run, watched, unsampled_);
  });
  weight_ += unsampled_;
  unsampled_ = 0;
}

void Statistics::sample(Run& run, Watched& watched, double weight) const {
  const bool first = weight_ == 0;
  const double share = weight / (weight_ + weight);
  for (std::size_t p = 0; p < watched.parts.size(); ++p) {
    const std::vector<double> values = values_of(run.model.domain(), watched.field, p);
    Sums& s = watched.parts[p];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double difference = values[i] - s.mean[i];
      s.mean[i] = first ? values[i] : s.mean[i] + share * difference;
      s.variance[i] = first ? 0 : (1 - share) * (s.variance[i] + share * difference * difference);
      s.low[i] = first ? values[i] : std::min(s.low[i], values[i]);
      s.high[i] = first ? values[i] : std::max(s.high[i], values[i]);
    }
  }
}

/// All four are kept, those that are asked for are written.
void Statistics::add_field(Run& run, Watched& watched, const std::string& kind) {
  const auto asked = run.options.texts("statistics.of");
  const ModelField& of = watched.field;
  ModelField field{.name = of.name + "_" + kind, .components = of.components, .restart = true};
  for (const std::string& name : of.component_names) field.component_names.push_back(name + "_" + kind);
  field.output = std::find(asked.begin(), asked.end(), kind) != asked.end();
  std::vector<double> Sums::*values = kind == "mean"       ? &Sums::mean
                                      : kind == "variance" ? &Sums::variance
                                      : kind == "min"      ? &Sums::low
                                                           : &Sums::high;
  const Domain& domain = run.model.domain();
  field.read = [&watched, &domain, values](std::size_t p, const RowSet& rows, std::span<double> to) {
    take_rows(watched.parts[p].*values, static_cast<std::size_t>(watched.field.components), domain.owned(p), rows, to);
  };
  field.write = [&watched, values](std::size_t p, std::span<const double> from) {
    (watched.parts[p].*values).assign(from.begin(), from.end());
  };
  run.more_fields.push_back(std::move(field));
}

}  // namespace tutti
