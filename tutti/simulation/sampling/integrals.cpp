#include "tutti/simulation/sampling/integrals.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/simulation/evaluate.hpp"
#include "tutti/simulation/field_values.hpp"

namespace tutti {
namespace {

/// A quantity of the results: its field and component.
struct Quantity {
  std::string name;
  int field = 0, component = 0;
};

std::vector<Quantity> quantities_of(std::span<const ModelField> fields) {
  std::vector<Quantity> all;
  for (int f = 0; f < static_cast<int>(fields.size()); ++f) {
    const ModelField& field = fields[static_cast<std::size_t>(f)];
    if (!field.output) continue;
    for (int c = 0; c < field.components; ++c) {
      const auto k = static_cast<std::size_t>(c);
      all.push_back({!field.component_names.empty() ? field.component_names[k]
                     : field.components == 1        ? field.name
                                                    : fmt::format("{}[{}]", field.name, c),
                     f, c});
    }
  }
  return all;
}

/// 1 for each owned row of part p that counts, else 0.
std::vector<bool> chosen_rows(const Run& run, const std::string& table, std::size_t p) {
  const Case& options = run.options;
  const Domain& domain = run.model.domain();
  std::vector<bool> chosen(static_cast<std::size_t>(domain.owned_count(p)), true);
  const std::string region = table + ".region", where = table + ".where";
  if (options.schema().find(key_pattern(region)) != nullptr && options.has(region)) {
    const std::int32_t tag = find_group(options.text(region), domain.regions(), "region", options.where(region));
    const auto of_rows = domain.region_of_rows(p);
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = of_rows[i] == tag;
  }
  if (options.has(where)) {
    const Expression condition = options.expression(where);
    require_steady(condition, options.where(where), where);
    const auto middles = domain.middles(p);
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = chosen[i] && condition(middles[i], 0) != 0;
  }
  return chosen;
}

}  // namespace

Reduction read_reduction(const Case& options, const std::string& key) {
  const std::string word = options.text(key);
  return word == "integral" ? Reduction::integral
         : word == "mean"   ? Reduction::mean
         : word == "min"    ? Reduction::smallest
                            : Reduction::largest;
}

void Reduced::add(double measure, double value) {
  if (measure == 0) return;
  sum_.add(measure * value);
  measures_.add(measure);
  const double signed_value = kind_ == Reduction::smallest ? -value : value;
  if (!(signed_value <= largest_) && !std::isnan(largest_)) largest_ = signed_value;
}

double Reduced::over_ranks(const Comm& comm) {
  const double measure = sum_over_ranks(comm, measures_);
  if (kind_ == Reduction::integral) return sum_over_ranks(comm, sum_);
  if (measure == 0) return std::numeric_limits<double>::quiet_NaN();
  if (kind_ == Reduction::mean) return sum_over_ranks(comm, sum_) / measure;
  const double largest = max_over_ranks(comm, largest_);
  return kind_ == Reduction::smallest ? 0 - largest : largest;
}

SurfaceChoice read_surface(const Run& run, const std::string& table) {
  const Case& options = run.options;
  SurfaceChoice choice;
  choice.tag = find_group(options.text(table + ".boundary"), run.model.domain().boundaries(), "surface",
                          options.where(table + ".boundary"));
  const auto quantities = run.model.boundary_quantities();
  const auto found = std::ranges::find(quantities, options.text(table + ".of"));
  if (found == quantities.end())
    fail(ErrorKind::input, "{}: there is no '{}' at the boundary; take one of: {}", options.where(table + ".of"),
         options.text(table + ".of"),
         quantities.empty() ? "none, the model has none" : fmt::format("{}", fmt::join(quantities, ", ")));
  choice.quantity = static_cast<std::size_t>(found - quantities.begin());
  return choice;
}

Integrals::Integrals(const Run& run) {
  if (!run.model.domain().in_space() || !run.exchanges) return;
  read_integrals(run);
  run.comm.together([&] { read_surfaces(run); });
}

void Integrals::check_name(const Case& options, const std::string& key) const {
  const std::string name = options.text(key);
  const auto same = [&](const auto& other) { return other.name == name; };
  if (std::ranges::any_of(integrals_, same) || std::ranges::any_of(surfaces_, same) || name == "time")
    fail(ErrorKind::input, "{}: history.csv has a column '{}' already; take another name", options.where(key), name);
}

void Integrals::check_names(const Case& options, std::span<const Diagnostic> diagnostics) const {
  const auto check = [&](const char* list, const auto& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (std::ranges::any_of(diagnostics, [&](const Diagnostic& d) { return d.name == all[i].name; }))
        fail(ErrorKind::input, "{}: history.csv has a column '{}' of its own; take another name",
             options.where(fmt::format("{}[{}].name", list, i)), all[i].name);
  };
  check("output.integral", integrals_);
  check("output.surface", surfaces_);
}

std::map<std::string, std::string> named_units(const Case& options) {
  std::map<std::string, std::string> units;
  for (const auto& [list, key] :
       {std::pair{"output.unit", "of"}, {"output.integral", "name"}, {"output.surface", "name"}}) {
    if (!options.schema().is_table_list(list)) continue;
    for (int i = 0; i < options.count(list); ++i) {
      const std::string table = fmt::format("{}[{}]", list, i);
      if (options.has(table + ".unit")) units[options.text(table + "." + key)] = options.text(table + ".unit");
    }
  }
  return units;
}

void Integrals::read_integrals(const Run& run) {
  const Case& options = run.options;
  const int count = options.count("output.integral");
  const std::vector<ModelField> fields = run.fields();
  const std::vector<Quantity> quantities = quantities_of(fields);
  std::vector<std::vector<double>> of_parts;
  for (std::size_t p = 0; count > 0 && p < run.model.domain().mine(); ++p) of_parts.push_back(run.model.measures(p));
  for (int i = 0; i < count; ++i) {
    const std::string table = fmt::format("output.integral[{}]", i), of = table + ".of";
    Integral integral{options.text(table + ".name")};
    Gid rows = 0;
    run.comm.together([&] {
      check_name(options, table + ".name");
      const auto found = std::ranges::find(quantities, options.text(of), &Quantity::name);
      if (found != quantities.end()) {
        integral.field = found->field;
        integral.component = found->component;
      } else if (options.text(of) != "1") {
        std::vector<std::string> names;
        for (const Quantity& q : quantities) names.push_back(q.name);
        fail(ErrorKind::input, "{}: there is no '{}' in the results; take one of {}, or 1", options.where(of),
             options.text(of), fmt::join(names, ", "));
      }
      integral.kind = read_reduction(options, table + ".kind");
      integral.scale = options.number(table + ".scale");
      for (std::size_t p = 0; p < run.model.domain().mine(); ++p) {
        std::vector<double>& measures = integral.measures.emplace_back(of_parts[p]);
        const auto chosen = chosen_rows(run, table, p);
        if (measures.size() != chosen.size())
          fail(ErrorKind::input, "{}: this model does not say how large its cells are; leave [[output.integral]] out",
               options.where(of));
        for (std::size_t r = 0; r < measures.size(); ++r) {
          rows += chosen[r] ? 1 : 0;
          if (!chosen[r]) measures[r] = 0;
        }
      }
    });
    const Gid all = run.comm.sum(rows);
    run.comm.together([&] {
      if (all == 0)
        fail(ErrorKind::input, "{}: no cell's middle lies where integral '{}' is to be taken; change region or where",
             options.where(table + ".name"), integral.name);
    });
    integrals_.push_back(std::move(integral));
  }
}

void Integrals::read_surfaces(const Run& run) {
  const Case& options = run.options;
  if (!options.schema().is_table_list("output.surface")) return;
  for (int i = 0; i < options.count("output.surface"); ++i) {
    const std::string table = fmt::format("output.surface[{}]", i);
    check_name(options, table + ".name");
    const SurfaceChoice choice = read_surface(run, table);
    surfaces_.push_back({options.text(table + ".name"), choice.tag, choice.quantity,
                         read_reduction(options, table + ".kind"), options.number(table + ".scale")});
  }
}

std::vector<Diagnostic> Integrals::values(Run& run) const {
  std::vector<Diagnostic> all;
  if (none()) return all;
  run.model.before_output();
  const std::vector<ModelField> fields = run.fields();
  const Domain& domain = run.model.domain();
  for (const Integral& integral : integrals_) {
    Reduced reduced(integral.kind);
    run.comm.together([&] {
      for (std::size_t p = 0; p < domain.mine(); ++p) {
        const std::vector<double>& measures = integral.measures[p];
        if (integral.field < 0) {
          for (const double measure : measures) reduced.add(measure, 1);
          continue;
        }
        const ModelField& field = fields[static_cast<std::size_t>(integral.field)];
        const auto width = static_cast<std::size_t>(field.components);
        const std::vector<double> values = values_of(domain, field, p);
        for (std::size_t r = 0; r < measures.size(); ++r)
          reduced.add(measures[r], values[r * width + static_cast<std::size_t>(integral.component)]);
      }
    });
    all.push_back({integral.name, integral.scale * reduced.over_ranks(run.comm)});
  }
  std::map<std::int32_t, BoundaryValues> at;
  const std::size_t width = run.model.boundary_quantities().size();
  for (const Surface& surface : surfaces_) {
    auto found = at.find(surface.tag);
    if (found == at.end()) found = at.emplace(surface.tag, run.model.boundary_values(surface.tag, run.time)).first;
    const auto& [faces, values] = found->second;
    Reduced reduced(surface.kind);
    for (std::size_t f = 0; f < faces.size(); ++f) reduced.add(faces[f].area, values[f * width + surface.quantity]);
    all.push_back({surface.name, surface.scale * reduced.over_ranks(run.comm)});
  }
  return all;
}

}  // namespace tutti
