// Folders that the ranks of a test have together.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"

namespace tutti::test {

/// A folder of this test run, the same on all ranks, empty at first.
inline std::filesystem::path fresh_folder(const Comm& comm, const std::string& name) {
  std::vector<Size> process{static_cast<Size>(::getpid())};
  comm.broadcast(process);
  auto folder = std::filesystem::path(testing::TempDir()) / fmt::format("tutti_{}_{}", name, process[0]);
  if (comm.is_root()) std::filesystem::remove_all(folder);
  comm.barrier();
  return folder;
}

/// Such a folder, which goes with the test.
struct SharedFolder {
  SharedFolder(const Comm& comm_, const std::string& name) : comm(comm_), path(fresh_folder(comm_, name)) {}
  ~SharedFolder() {
    comm.barrier();
    std::error_code ignored;
    if (comm.is_root()) std::filesystem::remove_all(path, ignored);
  }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  const Comm& comm;
  std::filesystem::path path;
};

}  // namespace tutti::test
