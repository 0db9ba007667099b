// A place in a text of numbers. Inside the files of graphs only.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/printable.hpp"
#include "tutti/base/types.hpp"

namespace tutti::graph {

/// Reads numbers of one line after the other; failures name the file and the line.
class TextScan {
 public:
  /// [begin, end) of the text is read; lines count from the text's beginning, whose first one is `first_line`.
  TextScan(std::string_view text, const std::string& name, std::size_t begin, std::size_t end, Size first_line = 1)
      : text_(text), name_(name), p_(text.data() + begin), end_(text.data() + end), first_line_(first_line) {}
  TextScan(std::string_view text, const std::string& name) : TextScan(text, name, 0, text.size()) {}

  bool at_end() const { return p_ == end_; }
  /// Blanks and tabs, and commas where they are allowed.
  void skip_blanks(bool commas = false) {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\r' || (commas && *p_ == ','))) ++p_;
  }
  bool at_line_end() const { return p_ == end_ || *p_ == '\n'; }
  void next_line() {
    while (p_ < end_ && *p_ != '\n') ++p_;
    if (p_ < end_) ++p_;
  }
  /// What is left of the line.
  std::string_view rest_of_line() const {
    const char* stop = p_;
    while (stop < end_ && *stop != '\n') ++stop;
    return {p_, static_cast<std::size_t>(stop - p_)};
  }
  char peek(std::size_t ahead = 0) const { return static_cast<std::size_t>(end_ - p_) > ahead ? p_[ahead] : '\n'; }

  Gid integer(const char* what) {
    Gid value = 0;
    const auto [stop, code] = std::from_chars(p_, end_, value);
    if (code != std::errc() || !ends_number(stop)) refuse("expected {}, found {}", what, excerpt());
    p_ = stop;
    return value;
  }
  double real(const char* what) {
    double value = 0;
    const auto [stop, code] = std::from_chars(p_, end_, value);
    if (code != std::errc() || !ends_number(stop) || !std::isfinite(value))
      refuse("expected {}, found {}", what, excerpt());
    p_ = stop;
    return value;
  }

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    Size line = first_line_;
    for (const char* q = text_.data(); q < p_; ++q) line += *q == '\n';
    fail(ErrorKind::input, "{}:{}: {}", name_, line, fmt::format(format, std::forward<Args>(args)...));
  }
  /// What stands here, short and printable.
  std::string excerpt() const {
    std::string_view rest = rest_of_line();
    while (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
    if (rest.empty()) return "the end of the line";
    return "'" + printable(std::string(rest.substr(0, 40))) + (rest.size() > 40 ? "...'" : "'");
  }

 private:
  bool ends_number(const char* at) const {
    return at == end_ || *at == ' ' || *at == '\t' || *at == '\n' || *at == '\r' || *at == ',';
  }
  std::string_view text_;
  const std::string& name_;
  const char *p_, *end_;
  Size first_line_;
};

}  // namespace tutti::graph
