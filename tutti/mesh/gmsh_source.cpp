#include "tutti/mesh/gmsh_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <new>

namespace tutti::gmsh {
namespace {

/// A file descriptor that closes itself.
struct Descriptor {
  int value = -1;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

/// The token at `p`, short and printable.
std::string excerpt(const char* p, const char* end) {
  std::string text;
  while (p < end && *p != ' ' && *p != '\t' && *p != '\n' && *p != '\r' && text.size() < 24) {
    text += (*p >= 32 && *p < 127) ? *p : '?';
    ++p;
  }
  return text;
}

}  // namespace

Source::Source(std::filesystem::path path) : path_(std::move(path)) {
  const auto fail_io = [&](const char* doing) {
    fail(ErrorKind::io, "{}: cannot {} the mesh file: {}", path_.string(), doing, std::strerror(errno));
  };
  Descriptor file{::open(path_.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0) fail_io("open");
  struct stat info;
  if (::fstat(file.value, &info) != 0) fail_io("examine");
  if (!S_ISREG(info.st_mode)) fail(ErrorKind::io, "{}: is not a regular file; a mesh file is expected", path_.string());
  const auto size = static_cast<std::size_t>(info.st_size);
  try {
    bytes_ = std::make_unique_for_overwrite<char[]>(size + 1);
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "{}: no memory for the file's {} bytes", path_.string(), size);
  }
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = ::read(file.value, bytes_.get() + have, std::min(size - have, std::size_t{1} << 30));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io("read");
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes_[have] = '\0';
  p_ = bytes_.get();
  end_ = p_ + have;
}

bool Source::contains(std::string_view text) const {
  return ::memmem(bytes_.get(), static_cast<std::size_t>(end_ - bytes_.get()), text.data(), text.size()) != nullptr;
}

std::string Source::place(const char* at) const {
  if (binary) return fmt::format("{}: byte {}", path_.string(), at - bytes_.get());
  return fmt::format("{}:{}", path_.string(), 1 + std::count(static_cast<const char*>(bytes_.get()), at, '\n'));
}

void Source::error_text(const char* at, const std::string& message) const {
  fail(ErrorKind::input, "{}: {}{}", place(at), section.empty() ? "" : "$" + section + ": ", message);
}

void Source::fail_expected(const char* at, const char* what) const {
  if (at >= end_ || (binary && end_ - at < 8))
    error(at, "the file ends here, but {} was expected; the file is truncated", what);
  if (*at == '\n' || *at == '\r') error(at, "the line ends here, but {} was expected", what);
  error(at, "found '{}', but {} was expected", excerpt(at, end_), what);
}

Size Source::text_integer(const char* what) {
  skip_blanks();
  const char* start = p_;
  const bool negative = *p_ == '-';
  if (negative) ++p_;
  const char* digits = p_;
  Size value = 0;
  for (; *p_ >= '0' && *p_ <= '9'; ++p_)
    value = static_cast<Size>(static_cast<std::uint64_t>(value) * 10 + (*p_ - '0'));
  if (p_ == digits || p_ - digits > 18 || !ends_token(*p_)) fail_expected(start, what);
  return negative ? -value : value;
}

double Source::text_real(const char* what) {
  skip_blanks();
  const char* start = p_;
  if (*p_ == '+') ++p_;
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
  if (!ends_token(*p_)) fail_expected(start, what);
  return value;
}

std::string Source::quoted(const char* what) {
  skip_blanks();
  const char* start = p_;
  if (*p_ != '"') fail_expected(start, what);
  ++p_;
  const char* text = p_;
  while (p_ < end_ && *p_ != '"' && *p_ != '\n') ++p_;
  if (p_ == end_ || *p_ != '"') error(start, "the quote that starts here is not closed on its line");
  return std::string(text, p_++);
}

std::string_view Source::line() {
  const char* start = p_;
  while (p_ < end_ && *p_ != '\n') ++p_;
  const char* stop = p_;
  if (p_ < end_) ++p_;
  while (start < stop && (*start == ' ' || *start == '\t')) ++start;
  while (stop > start && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r')) --stop;
  return {start, static_cast<std::size_t>(stop - start)};
}

void Source::end_of_line(const char* after) {
  skip_blanks();
  if (*p_ == '\r') ++p_;
  if (*p_ == '\n') {
    ++p_;
    return;
  }
  if (p_ >= end_) error(p_, "the file ends inside this section; it is truncated");
  error(p_, "found '{}' after {}, but the end of the line was expected", excerpt(p_, end_), after);
}

bool Source::skip_blank() {
  while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\n' || *p_ == '\r')) ++p_;
  return p_ < end_;
}

void Source::skip_section() {
  const std::string mark = "$End" + section;
  const void* hit = ::memmem(p_, static_cast<std::size_t>(end_ - p_), mark.data(), mark.size());
  if (hit == nullptr) error(p_, "there is no $End{}; the file is truncated", section);
  p_ = static_cast<const char*>(hit);
  end_section();
}

void Source::end_section() {
  skip_blank();
  const char* at = p_;
  const std::string expected = "$End" + section;
  if (line() != expected) {
    if (at >= end_) error(at, "the file ends here, but {} was expected; the file is truncated", expected);
    error(at, "found '{}', but {} was expected; a count in this section is wrong", excerpt(at, end_), expected);
  }
  section.clear();
}

Size Source::count(const char* what) {
  const char* at = p_;
  if (!binary) {
    const Size n = text_integer(what);
    if (n < 0) error(at, "found {}, but {} cannot be negative", n, what);
    return n;
  }
  const auto n = raw<std::uint64_t>(what);
  if (n > (std::uint64_t{1} << 62)) error(at, "found {}, which is too large for {}", n, what);
  return static_cast<Size>(n);
}

void Source::check_room(const char* at, Size n, Size bytes, const char* what) const {
  if (n < 0) error(at, "found {} as the number of {}; it cannot be negative", n, what);
  if (n > remaining() / bytes)
    error(at,
          "{} {} are announced, at least {} bytes each, but only {} bytes follow; the file is truncated or the count "
          "is wrong",
          n, what, bytes, remaining());
}

}  // namespace tutti::gmsh
