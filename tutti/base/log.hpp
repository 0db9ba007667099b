// What the program says while it runs. Only rank 0 speaks; warnings go to stderr, the rest to stdout.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace tutti {

enum class LogLevel { quiet, normal, verbose };

/// Sets what is printed; `speaks` is true on rank 0 only.
void set_log(LogLevel level, bool speaks);
LogLevel log_level();
bool log_speaks();

/// A line without its end stands on the terminal (the progress line): what is said next ends it first.
void set_line_open(bool open);
void close_open_line();

void write_info(const std::string& line);
void write_warning(const std::string& line);

template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  if (log_speaks() && log_level() >= LogLevel::normal) write_info(fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void verbose(fmt::format_string<Args...> format, Args&&... args) {
  if (log_speaks() && log_level() >= LogLevel::verbose) write_info(fmt::format(format, std::forward<Args>(args)...));
}
/// A warning is printed at every level.
template <class... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  if (log_speaks()) write_warning(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tutti
