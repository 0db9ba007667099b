// Averages, variances and extremes over time, as fields of their own.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "tutti/simulation/observer.hpp"

namespace tutti {

/// What [statistics] asks for, of each field that is written: "<field>_mean", "_variance", "_min" and "_max", kept in
/// the memory of the host. They are output and restart as the model's fields do (Run::fields). A value counts for the
/// time since the one before it; they are updated as West says (Comm. ACM 22, 1979): a
/// variance is no difference of large numbers. All are 0 until the first sample.
class Statistics : public Observer {
 public:
  /// Adds its fields to the run. Error(input): a field that is not written.
  explicit Statistics(Run& run);
  Looks looks(const Run& run) const override { return due(run) ? Looks::at_fields : Looks::at_nothing; }
  void after_step(Run& run) override;

 private:
  /// Of a field in one part: [owned row][component].
  struct Sums {
    std::vector<double> mean, variance, low, high;
  };
  struct Watched {
    ModelField field;
    std::vector<Sums> parts;  ///< of this rank
  };
  bool counts(const Run& run) const;
  bool due(const Run& run) const { return counts(run) && (run.last || run.step % every_ == 0); }
  void sample(Run& run, Watched& watched, double weight) const;
  static void add_field(Run& run, Watched& watched, const std::string& kind);

  double begin_ = 0;
  Size every_ = 1;
  std::deque<Watched> watched_;        // fields point into it
  double weight_ = 0, unsampled_ = 0;  ///< time that the samples stand for, and that has passed since the last one
};

}  // namespace tutti
