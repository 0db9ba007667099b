// A folder for this test program alone: CTest runs several of them at the same time.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace tutti::test {

/// Made at the first call, removed when the program ends.
inline const std::filesystem::path& own_folder() {
  struct Folder {
    std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / ("tutti_test_" + std::to_string(::getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

/// An empty folder in it.
inline std::filesystem::path fresh_folder(const std::string& name) {
  const auto folder = own_folder() / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace tutti::test
