// The line that tells how a run is doing.
#pragma once

#include <chrono>
#include <string>

#include "tutti/base/types.hpp"

namespace tutti {

/// Shows percent, rate, time left and a diagnostic: one line that is rewritten on a terminal, plain lines elsewhere.
class Progress {
 public:
  Progress(Size steps, Gid cells);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// `step` steps are done. On rank 0.
  void show(Size step, double time, const std::string& diagnostic);
  /// Ends the line, so that what is printed next begins on its own.
  void finish();

 private:
  Size steps_;
  Gid cells_;
  bool terminal_;
  bool open_ = false;  ///< a line without its end is on the terminal
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tutti
