// A Gmsh file in memory and a place in it. Inside the mesh floor only.
#pragma once

#include <fmt/core.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/types.hpp"

namespace tutti::gmsh {

/// Reads numbers from text or binary, whichever the file is; every failure names file and line (text) or byte (binary),
/// what was found and what was expected. Text is read line by line: a record ends where its line does.
class Source {
 public:
  explicit Source(std::filesystem::path path);

  bool binary = false;  ///< set from $MeshFormat
  std::string section;  ///< the section being read, for messages; empty between sections

  const char* position() const { return p_; }
  Size remaining() const { return end_ - p_; }
  std::string name() const { return path_.string(); }
  bool at_end() const { return p_ == end_; }
  bool contains(std::string_view text) const;

  template <class... Args>
  [[noreturn]] void error(const char* at, fmt::format_string<Args...> format, Args&&... args) const {
    error_text(at, fmt::format(format, std::forward<Args>(args)...));
  }
  /// "text:12" or "file.msh: byte 312".
  std::string place(const char* at) const;

  // Always text: headers, names, section marks.
  Size text_integer(const char* what);
  double text_real(const char* what);
  std::string quoted(const char* what);
  /// The next line without its end, trimmed.
  std::string_view line();
  /// Blanks, then the end of the line.
  void end_of_line(const char* after);
  /// Skips blank lines; true if there is more.
  bool skip_blank();
  /// Moves behind the line "$End<section>"; used for sections that are not needed.
  void skip_section();
  /// Reads "$End<section>".
  void end_section();

  // Text or binary, as the file is.
  Size integer(const char* what) { return binary ? raw<std::int32_t>(what) : text_integer(what); }
  Size count(const char* what);
  double real(const char* what) { return binary ? raw<double>(what) : text_real(what); }
  void end_record(const char* after) {
    if (!binary) end_of_line(after);
  }

  /// Fails unless `n` things of at least `bytes` each can still follow.
  void check_room(const char* at, Size n, Size bytes, const char* what) const;

 private:
  template <class T>
  T raw(const char* what) {
    if (remaining() < static_cast<Size>(sizeof(T))) fail_expected(p_, what);
    T value;
    std::memcpy(&value, p_, sizeof(T));
    p_ += sizeof(T);
    return value;
  }
  void skip_blanks() {
    while (*p_ == ' ' || *p_ == '\t') ++p_;
  }
  static bool ends_token(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }
  [[noreturn]] void fail_expected(const char* at, const char* what) const;
  [[noreturn]] void error_text(const char* at, const std::string& message) const;

  std::filesystem::path path_;
  std::unique_ptr<char[]> bytes_;  ///< the file and one zero, so that scanning text needs no bounds check
  const char* p_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace tutti::gmsh
