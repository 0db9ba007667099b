// The line that tells how a run is doing.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// How fast a run is and how long it will take, from the steps of this run. The time left follows a mean of about the
/// last half minute, so that it neither jumps with each report nor keeps what a slow start was like.
class RunRate {
 public:
  /// `first_step` steps were done before this run (a restart), `steps` are to be done in all.
  RunRate(Size first_step, Size steps) : first_(first_step), steps_(steps), before_(first_step) {}
  /// `step` steps are done, `seconds` after the start of this run; both never fall.
  void update(Size step, double seconds);
  void end_at(Size steps) { steps_ = steps; }
  double steps_per_second() const;  ///< of this run so far; 0 when nothing is known
  double seconds_left() const;      ///< < 0 when nothing is known

 private:
  Size first_, steps_;
  Size before_;
  double seconds_ = 0;       ///< at the last update
  double step_seconds_ = 0;  ///< smoothed
};

/// A piece of the progress line. Where the line is too wide, the pieces of the highest rank are left out first.
struct ProgressPiece {
  std::string text;
  int rank = 0;
};
/// The pieces with two spaces between them, in at most `width` columns (0: any). A piece of rank 0 is cut, not left
/// out.
std::string fit_pieces(std::vector<ProgressPiece> pieces, int width);

/// Shows percent, rate, time left and a diagnostic: one line that is rewritten on a terminal, plain lines elsewhere.
/// Plain lines get rarer in a long run: from the second minute on they are a sixtieth of the time so far apart, after
/// an hour a minute.
class Progress {
 public:
  /// `first_step`: see RunRate.
  Progress(Size first_step, Size steps, Gid cells);
  /// Of what is counted in units of its own: "12 of 64 sources". `work`: what each of them is `each` of, for the rate.
  Progress(Size first, Size all, double each, std::string unit, std::string work);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// The run is longer or shorter than it was thought to be.
  void end_at(Size steps) {
    steps_ = steps;
    rate_.end_at(steps);
  }
  /// `step` steps are done. On rank 0.
  void show(Size step, double time, const std::string& diagnostic);
  /// Ends the line, so that what is printed next begins on its own.
  void finish();

  /// The line `seconds` after the start, in at most `width` columns.
  std::string line(Size step, double time, const std::string& diagnostic, double seconds, int width);
  /// Whether a log is due a line; it then counts as written.
  bool due(Size step, double seconds);

 private:
  Size steps_;
  double each_;
  std::string unit_, work_;
  RunRate rate_;
  bool terminal_;
  double written_ = -1;  ///< when the last plain line was [s]
  std::chrono::steady_clock::time_point start_;
};

}  // namespace tutti
