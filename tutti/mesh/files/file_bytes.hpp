// A whole file in memory. Inside the mesh floor only.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace tutti {

/// Reads a regular file. Errors: io (cannot be opened or read, no regular file), resource (no memory).
class FileBytes {
 public:
  /// `what` the file is stands in messages.
  explicit FileBytes(const std::filesystem::path& path, const char* what = "mesh file");
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace tutti
