#include "tutti/simulation/run/steady.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/simulation/field_values.hpp"

namespace tutti {
namespace {

/// Values of all fields that a run goes on from, as Steady keeps them.
std::vector<std::vector<std::vector<double>>> values_of_all(Run& run) {
  std::vector<std::vector<std::vector<double>>> all;
  run.comm.together([&] {
    for (const ModelField& field : run.model.fields()) {
      if (!field.restart) continue;
      auto& parts = all.emplace_back();
      for (std::size_t p = 0; p < run.model.domain().mine(); ++p)
        parts.push_back(values_of(run.model.domain(), field, p));
    }
  });
  return all;
}

}  // namespace

Steady::Steady(const Run& run) {
  const char* key = "time.steady";
  const bool own = run.options.schema().find("time.adapt_every") != nullptr;  // flows look at their own quantities
  if (!own && run.options.schema().find(key) != nullptr && run.exchanges) below_ = run.options.number(key);
}

void Steady::keep(Run& run) {
  if (below_ > 0 && run.step % apart == apart - 1) before_ = values_of_all(run);
}

void Steady::after_step(Run& run) {
  if (!looks_at(run.step)) return;
  if (run.step % apart != 0) return keep(run);
  if (before_.empty()) return;
  const auto now = values_of_all(run);
  const double dt = run.time - run.before_step;
  bool steady = true;
  for (std::size_t f = 0; f < now.size(); ++f) {
    double change = 0, largest = 0;
    for (std::size_t p = 0; p < now[f].size(); ++p)
      for (std::size_t i = 0; i < now[f][p].size(); ++i) {
        change = std::max(change, std::abs(now[f][p][i] - before_[f][p][i]));
        largest = std::max(largest, std::abs(now[f][p][i]));
      }
    change = run.comm.max(change);
    largest = run.comm.max(largest);
    steady = steady && (change == 0 || change < below_ * dt * largest);
  }
  before_.clear();
  if (steady) run.finished = run.last = run.reports = true;
}

}  // namespace tutti
