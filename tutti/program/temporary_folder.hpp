// Where a command puts files that nobody asked for.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "tutti/base/mpi/comm.hpp"

namespace tutti {

/// A folder of this run's own, the same for all ranks, removed at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const Comm& comm) : root_(comm.is_root()) {
    std::string name;
    comm.together([&] {
      if (!root_) return;
      name = (std::filesystem::temp_directory_path() / "tutti-XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr)
        fail(ErrorKind::io, "{}: cannot create a folder there: {}; set TMPDIR", name, std::strerror(errno));
    });
    comm.broadcast(name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (root_) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  bool root_;
  std::filesystem::path path_;
};

}  // namespace tutti
