// A mesh file in memory and a place in it: what the readers of all formats share. Inside the mesh floor only.
#pragma once

#include <fmt/core.h>

#include <cstring>
#include <string>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/types.hpp"

namespace tutti {

/// Reads numbers from text; every failure names file and line (text) or byte (binary), what was found and what was
/// expected. Nothing is read behind the end of the bytes, which belong to someone else.
class TextSource {
 public:
  TextSource(std::string_view bytes, std::string name)
      : name_(std::move(name)), bytes_(bytes), p_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool binary = false;  ///< places are bytes, not lines
  std::string context;  ///< what is being read, put before messages: "$Nodes: "

  const char* position() const { return p_; }
  const char* end() const { return end_; }
  Size remaining() const { return end_ - p_; }
  const std::string& name() const { return name_; }
  std::string_view bytes() const { return bytes_; }
  bool at_end() const { return p_ == end_; }
  bool contains(std::string_view text) const { return bytes_.find(text) != std::string_view::npos; }
  void move_to(const char* at) { p_ = at; }
  /// From here on only the `size` bytes from byte `offset` are read; places still count from the file's beginning.
  void window(std::size_t offset, std::size_t size) {
    p_ = bytes_.data() + offset;
    end_ = p_ + size;
  }

  template <class... Args>
  [[noreturn]] void error(const char* at, fmt::format_string<Args...> format, Args&&... args) const {
    error_text(at, fmt::format(format, std::forward<Args>(args)...));
  }
  /// "text:12" or "file.msh: byte 312".
  std::string place(const char* at) const;

  Size text_integer(const char* what);
  double text_real(const char* what);
  std::string quoted(const char* what);
  /// The next line without its end, trimmed.
  std::string_view line();
  /// Blanks, then the end of the line.
  void end_of_line(const char* after);
  /// Skips blanks of this line.
  void skip_blanks() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t')) ++p_;
  }
  /// Skips blank lines; true if there is more.
  bool skip_blank();
  /// The next byte, 0 at the end.
  char peek() const { return p_ < end_ ? *p_ : '\0'; }

  /// Fails unless `n` things of at least `bytes` each can still follow.
  void check_room(const char* at, Size n, Size bytes, const char* what) const;
  [[noreturn]] void fail_expected(const char* at, const char* what) const;
  /// What stands at `at`, short and printable, for messages.
  std::string excerpt(const char* at) const;

 protected:
  template <class T>
  T raw(const char* what) {
    if (remaining() < static_cast<Size>(sizeof(T))) fail_expected(p_, what);
    T value;
    std::memcpy(&value, p_, sizeof(T));
    p_ += sizeof(T);
    return value;
  }

 private:
  bool ends_token() const { return p_ == end_ || *p_ == ' ' || *p_ == '\t' || *p_ == '\n' || *p_ == '\r'; }
  [[noreturn]] void error_text(const char* at, const std::string& message) const;

  std::string name_;
  std::string_view bytes_;
  const char* p_;
  const char* end_;
};

}  // namespace tutti
