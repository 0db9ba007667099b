// The one way to open a file of the user's: never a pipe that is waited for, a device that has no end, or a folder.
#pragma once

#include <filesystem>
#include <limits>
#include <span>
#include <string>

#include "tutti/base/types.hpp"

namespace tutti {

/// A regular file, open for reading. Links are followed.
class InputFile {
 public:
  /// `what` the file is stands in messages, as "mesh file"; it has `most` bytes at most. Error(io): it cannot be
  /// opened, or is no regular file. Error(input): it is larger.
  explicit InputFile(const std::filesystem::path& path, const char* what = "file",
                     Size most = std::numeric_limits<Size>::max());
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Bytes, when it was opened.
  Size size() const { return size_; }
  /// From a byte of the file on, as many as there are, at most to.size(); how many. Any thread. Error(io).
  std::size_t read(std::span<char> to, Size offset) const;

 private:
  std::string name_;
  const char* what_;
  int file_ = -1;
  Size size_ = 0;
};

/// A whole file of text. Errors as InputFile.
std::string read_text(const std::filesystem::path& path, const char* what, Size most);

}  // namespace tutti
