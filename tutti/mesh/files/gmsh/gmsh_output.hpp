// A mesh file while it is written. Inside the mesh floor only.
#pragma once

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/types.hpp"

namespace tutti::gmsh {

/// Buffered output of text and raw numbers to an AtomicFile that the user named. Without commit() nothing is left
/// behind. Errors: io, naming the target and the system's reason.
class Output {
 public:
  explicit Output(const std::filesystem::path& target) : file_(in_a_folder(target), Place::given) {
    buffer_.reserve(1 << 20);
  }

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
  void commit() {
    flush();
    file_.commit();
  }

 private:
  void append(const void* bytes, std::size_t n) {
    if (buffer_.size() + n > buffer_.capacity()) flush();
    buffer_.append(static_cast<const char*>(bytes), n);
  }
  /// A name with a slip would else make folders.
  static const std::filesystem::path& in_a_folder(const std::filesystem::path& target) {
    std::error_code ignored;
    if (target.has_parent_path() && !std::filesystem::is_directory(target.parent_path(), ignored))
      fail(ErrorKind::io, "{}: cannot create the mesh file: there is no folder {}; create it, or check the name",
           target.string(), target.parent_path().string());
    return target;
  }
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }

  AtomicFile file_;
  std::string buffer_;
};

}  // namespace tutti::gmsh
