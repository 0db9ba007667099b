// When things that follow a run are due: every so many steps, and at times.
#pragma once

#include <string>
#include <vector>

#include "tutti/io/case/case.hpp"

namespace tutti {

/// The keys <prefix>every, <prefix>interval and <prefix>times of a case; `every` = "auto" is 1, or none where there is
/// an interval or times. Nothing of it changes while a run goes on: what is due follows from the step and the times
/// before and after it, so that a restart does as the run would have done.
class Occasions {
 public:
  Occasions() = default;
  /// `prefix`: "output.", "output.slice_", "checkpoint.". A case without time knows steps only.
  Occasions(const Case& options, const std::string& prefix);
  /// Step number `step` led from time `before` to `after`: over one of the times, or it is one of the steps.
  bool due(Size step, double before, double after) const;
  /// The first time behind `time`; infinite: there is none.
  double next(double time) const;
  /// Neither steps nor times.
  bool none() const { return every_ == 0 && interval_ == 0 && times_.empty(); }

 private:
  double passed(double time) const;

  Size every_ = 0;
  double interval_ = 0;
  std::vector<double> times_;  ///< ascending
};

/// Rounding apart, `at` lies at `time` or before it.
bool is_reached(double at, double time);

/// The first time behind `time` at which anything is due in this case; infinite: there is none.
double next_occasion(const Case& options, double time);

}  // namespace tutti
