// A file that appears under its name only when it is complete. Inside the mesh floor only.
#pragma once

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "tutti/base/types.hpp"

namespace tutti::gmsh {

/// Buffered output of text and raw numbers. Written to a temporary name beside the target; commit() gives it its name.
/// Without commit() nothing is left behind. A target that is no regular file (a device, a pipe) is written in place.
/// Errors: io, naming the target and the system's reason.
class Output {
 public:
  explicit Output(const std::filesystem::path& target);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void text(std::string_view s) { append(s.data(), s.size()); }
  template <class T>
  void raw(T value) {
    append(&value, sizeof(T));
  }
  /// In text: shortest digits that read back as the same double.
  template <class T>
  void number(T value) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  void commit();

 private:
  void append(const void* bytes, std::size_t n) {
    if (buffer_.size() + n > buffer_.capacity()) flush();
    buffer_.append(static_cast<const char*>(bytes), n);
  }
  void flush();
  [[noreturn]] void fail_io(const char* doing);

  std::filesystem::path target_, temporary_;
  std::string buffer_;
  int file_ = -1;
};

}  // namespace tutti::gmsh
