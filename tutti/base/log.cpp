#include "tutti/base/log.hpp"

#include <cstdio>

#include "tutti/base/printable.hpp"

namespace tutti {
namespace {
LogLevel level_ = LogLevel::normal;
bool speaks_ = true;
bool line_open_ = false;
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
}
void write_warning(const std::string& line) {
  close_open_line();
  std::fprintf(stderr, "tutti: warning: %s\n", printable(line, "\t").c_str());
}

}  // namespace tutti
