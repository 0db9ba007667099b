// Where the set-up's time goes.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/system/fault.hpp"
#include "tutti/base/system/profiler_range.hpp"
#include "tutti/io/trace.hpp"

namespace tutti {

/// Names the phases of a set-up and times them, one after another.
class Phases {
 public:
  /// Ends the phase before and begins `name`; an empty name only ends.
  void begin(const std::string& name) {
    const auto now = std::chrono::steady_clock::now();
    if (!current_.empty()) {
      seconds_.emplace_back(current_, std::chrono::duration<double>(now - start_).count());
      spans_.emplace_back(start_, now);
      end_profiler_range();
    }
    fault_point(name);
    if (!name.empty()) begin_profiler_range(name.c_str());
    current_ = name;
    start_ = now;
  }
  void end() { begin(""); }
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }
  double total() const {
    double sum = 0;
    for (const auto& [_, seconds] : seconds_) sum += seconds;
    return sum;
  }
  /// The phases so far, as slices of the program's row.
  void add_to(Trace& trace) const {
    for (std::size_t i = 0; i < spans_.size(); ++i) {
      TraceSlice slice;
      slice.name = seconds_[i].first;
      slice.row = Trace::program_row;
      slice.begin = spans_[i].first;
      slice.end = spans_[i].second;
      trace.add(std::move(slice));
    }
  }

 private:
  std::string current_;
  std::chrono::steady_clock::time_point start_;
  std::vector<std::pair<std::string, double>> seconds_;
  std::vector<std::pair<std::chrono::steady_clock::time_point, std::chrono::steady_clock::time_point>> spans_;
};

}  // namespace tutti
