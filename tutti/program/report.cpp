#include "tutti/program/report.hpp"

#include <filesystem>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"

namespace tutti {

void write_report(const std::string& file, const std::string& text) {
  // Only folders of results are made: a mistyped name is not to become a folder.
  const auto folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error))
    fail(ErrorKind::io, "{}: there is no folder {}; create it, or choose another", file, folder.string());
  write_file(file, text, Place::given);
}

}  // namespace tutti
