#include "tutti/base/log.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "tutti/base/error.hpp"
#include "tutti/base/log_copy.hpp"
#include "tutti/base/printable.hpp"

namespace tutti {
namespace {
LogLevel level_ = LogLevel::normal;
bool speaks_ = true;
bool line_open_ = false;
std::string name_ = "tutti";
int copy_ = -1;
std::string before_copy_;  ///< what was said before there was one
}  // namespace

void set_log(LogLevel level, bool speaks) {
  level_ = level;
  speaks_ = speaks;
}
LogLevel log_level() {
  return level_;
}
bool log_speaks() {
  return speaks_;
}
void set_line_open(bool open) {
  line_open_ = open;
}
void close_open_line() {
  if (!line_open_) return;
  line_open_ = false;
  std::fputc('\n', stdout);
  std::fflush(stdout);
}
void write_info(const std::string& line) {
  close_open_line();
  std::fprintf(stdout, "%s\n", printable(line, "\n\t").c_str());
  std::fflush(stdout);
  copy_line(line);
}
void write_warning(const std::string& line) {
  close_open_line();
  std::fprintf(stderr, "%s: warning: %s\n", name_.c_str(), printable(line, "\t").c_str());
  copy_line("warning: " + line);
}

void set_log_name(const std::string& program) {
  name_ = program;
}
void copy_log_to(int file, const std::string& head) {
  copy_ = file;
  copy_line(head);
  if (before_copy_.empty()) return;
  before_copy_.pop_back();
  copy_line(std::exchange(before_copy_, ""));
}
void copy_line(const std::string& line) {
  const std::string text = printable(line, "\n\t") + '\n';
  constexpr std::size_t most = 65536;  // commands other than run never have a copy
  if (copy_ < 0) {
    if (before_copy_.size() + text.size() < most) before_copy_ += text;
    return;
  }
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(copy_, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) {
      at += static_cast<std::size_t>(n);
      continue;
    }
    const std::string cause = system_cause(errno);
    copy_ = -1;
    write_warning("run.log ends here: it cannot be written: " + cause);
    return;
  }
}

}  // namespace tutti
