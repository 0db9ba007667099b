// Where the set-up's time goes.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// Names the phases of a set-up and times them, one after another.
class Phases {
 public:
  /// Ends the phase before and begins `name`; an empty name only ends.
  void begin(const std::string& name) {
    const auto now = std::chrono::steady_clock::now();
    if (!current_.empty()) seconds_.emplace_back(current_, std::chrono::duration<double>(now - start_).count());
    current_ = name;
    start_ = now;
  }
  void end() { begin(""); }
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }

 private:
  std::string current_;
  std::chrono::steady_clock::time_point start_;
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace tutti
