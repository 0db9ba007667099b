#include "tutti/mesh/files/text_source.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace tutti {

std::string TextSource::excerpt(const char* at) const {
  std::string text;
  for (; at < end_ && *at != ' ' && *at != '\t' && *at != '\n' && *at != '\r' && text.size() < 24; ++at)
    text += (*at >= 32 && *at < 127) ? *at : '?';
  return text;
}

std::string TextSource::place(const char* at) const {
  if (binary) return fmt::format("{}: byte {}", name_, at - bytes_.data());
  return fmt::format("{}:{}", name_, 1 + std::count(bytes_.data(), at, '\n'));
}

void TextSource::error_text(const char* at, const std::string& message) const {
  fail(ErrorKind::input, "{}: {}{}", place(at), context, message);
}

void TextSource::fail_expected(const char* at, const char* what) const {
  if (at >= end_ && end_ != bytes_.data() + bytes_.size()) error(at, "the numbers end here, but {} was expected", what);
  if (at >= end_ || (binary && end_ - at < 8))
    error(at, "the file ends here, but {} was expected; the file is truncated", what);
  if (*at == '\n' || *at == '\r') error(at, "the line ends here, but {} was expected", what);
  error(at, "found '{}', but {} was expected", excerpt(at), what);
}

Size TextSource::text_integer(const char* what) {
  skip_blanks();
  const char* start = p_;
  const bool negative = peek() == '-';
  if (negative) ++p_;
  const char* digits = p_;
  Size value = 0;
  for (; p_ < end_ && *p_ >= '0' && *p_ <= '9'; ++p_)
    value = static_cast<Size>(static_cast<std::uint64_t>(value) * 10 + (*p_ - '0'));
  if (p_ == digits || p_ - digits > 18 || !ends_token()) fail_expected(start, what);
  return negative ? -value : value;
}

double TextSource::text_real(const char* what) {
  skip_blanks();
  const char* start = p_;
  if (peek() == '+') ++p_;
  double value = 0;
  const auto [stop, code] = std::from_chars(p_, end_, value);
  if (code == std::errc::result_out_of_range) {
    // Too small for a double is a zero to a mesh; too large is no number.
    const std::string copy(start, stop);
    value = std::strtod(copy.c_str(), nullptr);
  } else if (code != std::errc()) {
    fail_expected(start, what);
  }
  p_ = stop;
  if (!ends_token()) fail_expected(start, what);
  return value;
}

std::string TextSource::quoted(const char* what) {
  skip_blanks();
  const char* start = p_;
  if (peek() != '"') fail_expected(start, what);
  ++p_;
  const char* text = p_;
  while (p_ < end_ && *p_ != '"' && *p_ != '\n') ++p_;
  if (p_ == end_ || *p_ != '"')
    error(start, "the quote that starts here is not closed on its line; a second one is expected");
  return std::string(text, p_++);
}

std::string_view TextSource::line() {
  const char* start = p_;
  while (p_ < end_ && *p_ != '\n') ++p_;
  const char* stop = p_;
  if (p_ < end_) ++p_;
  while (start < stop && (*start == ' ' || *start == '\t')) ++start;
  while (stop > start && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r')) --stop;
  return {start, static_cast<std::size_t>(stop - start)};
}

void TextSource::end_of_line(const char* after) {
  skip_blanks();
  if (peek() == '\r') ++p_;
  if (peek() == '\n') {
    ++p_;
    return;
  }
  if (p_ >= end_) error(p_, "the file ends inside this section; it is truncated");
  error(p_, "found '{}' after {}, but the end of the line was expected", excerpt(p_), after);
}

bool TextSource::skip_blank() {
  while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\n' || *p_ == '\r')) ++p_;
  return p_ < end_;
}

void TextSource::check_room(const char* at, Size n, Size bytes, const char* what) const {
  if (n < 0) error(at, "found {} as the number of {}; it must not be negative", n, what);
  if (n > remaining() / bytes)
    error(at,
          "{} {} are announced, at least {} bytes each, but only {} bytes follow; the file is truncated or the count "
          "is wrong",
          n, what, bytes, remaining());
}

}  // namespace tutti
