#include "tutti/simulation/run/occasions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {
namespace {

// Times of steps are sums of some roundings: 3 * 0.1 is 0.3.
constexpr double rounding = 1e-12;

constexpr const char* prefixes[] = {"output.", "output.slice_", "output.probe_", "output.history_", "checkpoint."};

}  // namespace

bool is_reached(double at, double time) {
  return at <= time * (1 + rounding);
}

Occasions::Occasions(const Case& options, const std::string& prefix) {
  const bool in_time = options.schema().find(prefix + "interval") != nullptr;
  if (in_time && options.has(prefix + "interval")) interval_ = options.number(prefix + "interval");
  if (in_time && options.has(prefix + "times")) times_ = options.numbers(prefix + "times");
  std::sort(times_.begin(), times_.end());
  if (!options.is_word(prefix + "every", "auto"))
    every_ = options.integer(prefix + "every");
  else
    every_ = none() ? 1 : 0;
}

/// How many times of the interval lie at `time` or before; a double, since there may be any number.
double Occasions::passed(double time) const {
  return interval_ > 0 ? std::floor(time * (1 + rounding) / interval_) : 0;
}

bool Occasions::due(Size step, double before, double after) const {
  if (every_ > 0 && step % every_ == 0) return true;
  if (passed(after) > passed(before)) return true;
  return std::any_of(times_.begin(), times_.end(),
                     [&](double at) { return is_reached(at, after) && !is_reached(at, before); });
}

double Occasions::next(double time) const {
  double first = std::numeric_limits<double>::infinity();
  if (interval_ > 0) first = (passed(time) + 1) * interval_;
  for (const double at : times_)
    if (!is_reached(at, time)) first = std::min(first, at);
  return first;
}

double next_occasion(const Case& options, double time) {
  double first = std::numeric_limits<double>::infinity();
  for (const char* prefix : prefixes)
    if (options.schema().find(std::string(prefix) + "interval") != nullptr)
      first = std::min(first, Occasions(options, prefix).next(time));
  return first;
}

}  // namespace tutti
