#include "tutti/simulation/run/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tutti/base/log.hpp"
#include "tutti/base/log_copy.hpp"
#include "tutti/base/system/program.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

constexpr double memory_seconds = 30;  // of the smoothed rate

/// A terminal that knows how to clear a line.
bool is_terminal() {
  const char* kind = std::getenv("TERM");
  // mpirun gives its ranks a terminal of its own, also when what it prints goes to a file.
  return !is_launched() && isatty(STDOUT_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

/// Columns of the terminal now (it may have been resized), less one: a full line would wrap.
int columns() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : 80) - 1;
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Characters of UTF-8.
int width_of(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

/// The first `width` characters.
std::string cut(const std::string& text, int width) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if (!continues(text[end]) && width-- == 0) break;
  return text.substr(0, end);
}

std::string join(const std::vector<ProgressPiece>& pieces) {
  std::string line;
  for (const auto& piece : pieces)
    if (!piece.text.empty()) line += (line.empty() ? "" : "  ") + piece.text;
  return line;
}

}  // namespace

void RunRate::update(Size step, double seconds) {
  const Size done = step - before_;
  const double passed = seconds - seconds_;
  if (done <= 0 || passed <= 0) return;
  if (seconds < memory_seconds || step_seconds_ == 0) {
    // While the run is young, the mean of all of it is better than one that began with a single report.
    step_seconds_ = seconds / static_cast<double>(step - first_);
  } else {
    // A measurement counts by the time it stands for.
    const double share = 1 - std::exp(-passed / memory_seconds);
    step_seconds_ += share * (passed / static_cast<double>(done) - step_seconds_);
  }
  before_ = step;
  seconds_ = seconds;
}

double RunRate::steps_per_second() const {
  return seconds_ > 0 ? static_cast<double>(before_ - first_) / seconds_ : 0;
}

double RunRate::seconds_left() const {
  if (before_ >= steps_) return 0;
  return step_seconds_ > 0 ? static_cast<double>(steps_ - before_) * step_seconds_ : -1;
}

std::string fit_pieces(std::vector<ProgressPiece> pieces, int width) {
  while (width > 0 && width_of(join(pieces)) > width) {
    const auto last = std::max_element(pieces.begin(), pieces.end(),
                                       [](const ProgressPiece& a, const ProgressPiece& b) { return a.rank < b.rank; });
    if (last == pieces.end() || last->rank == 0) return cut(join(pieces), width);
    pieces.erase(last);
  }
  return join(pieces);
}

Progress::Progress(Size first_step, Size steps, Gid cells)
    : Progress(first_step, steps, static_cast<double>(cells), "", "cell-steps") {}

Progress::Progress(Size first, Size all, double each, std::string unit, std::string work)
    : steps_(all),
      each_(each),
      unit_(std::move(unit)),
      work_(std::move(work)),
      rate_(first, all),
      terminal_(is_terminal()),
      start_(std::chrono::steady_clock::now()) {}

std::string Progress::line(Size step, double time, const std::string& diagnostic, double seconds, int width) {
  rate_.update(step, seconds);
  const double left = rate_.seconds_left();
  const double percent = steps_ > 0 ? 100.0 * static_cast<double>(step) / static_cast<double>(steps_) : 100.0;
  return fit_pieces(
      {// 100 % is said of the last step only.
       {fmt::format("{:3.0f} %", step < steps_ ? std::floor(percent) : 100.0), 0},
       {unit_.empty() ? fmt::format("step {} of {}", step, steps_) : fmt::format("{} of {} {}", step, steps_, unit_),
        4},
       {unit_.empty() ? fmt::format("t = {:.4g}", time) : "", 3},
       {fmt::format("{:.1f} M {}/s", rate_.steps_per_second() * each_ * 1e-6, work_), 5},
       {left >= 0 ? format_duration(left) + " left" : "", 1},
       {diagnostic, 2}},
      width);
}

bool Progress::due(Size step, double seconds) {
  const double apart = seconds < 60 ? 0 : std::min(60.0, seconds / 60);
  if (written_ >= 0 && step < steps_ && seconds - written_ < apart) return false;
  written_ = seconds;
  return true;
}

void Progress::show(Size step, double time, const std::string& diagnostic) {
  if (!log_speaks() || log_level() < LogLevel::normal) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const std::string text = line(step, time, diagnostic, seconds, terminal_ ? columns() : 0);
  if (terminal_) {
    std::fprintf(stdout, "\r\033[K%s", text.c_str());
    set_line_open(true);
  }
  if (due(step, seconds)) {
    if (!terminal_) std::fprintf(stdout, "%s\n", text.c_str());
    copy_line(line(step, time, diagnostic, seconds, 0));
  }
  std::fflush(stdout);
}

void Progress::finish() {
  if (terminal_) close_open_line();
}

}  // namespace tutti
