#include "tutti/simulation/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"

namespace tutti {

Progress::Progress(Size steps, Gid cells)
    : steps_(steps), cells_(cells), terminal_(isatty(STDOUT_FILENO) != 0), start_(std::chrono::steady_clock::now()) {}

void Progress::show(Size step, double time, const std::string& diagnostic) {
  if (!log_speaks() || log_level() < LogLevel::normal) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double rate = seconds > 0 ? static_cast<double>(step) / seconds : 0;
  const double left = rate > 0 ? static_cast<double>(steps_ - step) / rate : 0;
  const std::string line =
      fmt::format("{:3.0f} %  step {} of {}  t = {:.4g}  {:.1f} M cell-steps/s  {} left  {}",
                  100.0 * static_cast<double>(step) / static_cast<double>(steps_), step, steps_, time,
                  rate * static_cast<double>(cells_) * 1e-6, format_duration(left), diagnostic);
  if (terminal_)
    std::fprintf(stdout, "\r\033[K%s", line.c_str());
  else
    std::fprintf(stdout, "%s\n", line.c_str());
  std::fflush(stdout);
  open_ = terminal_;
}

void Progress::finish() {
  if (open_) std::fprintf(stdout, "\n");
  open_ = false;
}

}  // namespace tutti
