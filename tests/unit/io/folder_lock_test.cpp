// One run at a time in a folder: who holds it is told, and what a killed one has left is taken over.
#include "tutti/io/folder_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/io/case/case.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Lock : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  std::string refusal() const {
    try {
      const FolderLock second(folder_);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  }
  const fs::path folder_ = test::own_folder() / "tutti_lock", file_ = folder_ / "tutti.lock";
};

TEST_F(Lock, ASecondOneIsTold) {
  {
    const FolderLock first(folder_);
    const std::string words = read_text_file(file_);
    EXPECT_THAT(words, HasSubstr(fmt::format("process {}\n", ::getpid())));
    EXPECT_THAT(refusal(), HasSubstr(fmt::format("another run writes to this folder (process {} on ", ::getpid())));
    EXPECT_EQ(read_text_file(file_), words) << "the second one changes nothing";
  }
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_EQ(refusal(), "");
}

TEST_F(Lock, WhatAKilledOneHasLeftIsTakenOver) {
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder_);
    ::_exit(0);  // without its destructor
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(fs::exists(file_));
  set_log(LogLevel::normal, true);
  testing::internal::CaptureStdout();
  {
    const FolderLock lock(folder_);
    EXPECT_THAT(read_text_file(file_), HasSubstr(fmt::format("process {}\n", ::getpid())));
  }
  std::fflush(stdout);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr(fmt::format("process {} on ", child)));
  set_log(LogLevel::normal, false);
}

TEST_F(Lock, AFileThatIsNoLockIsNoOwner) {
  { std::ofstream(file_) << "process\nnonsense\n" << std::string(5000, 'x'); }
  EXPECT_EQ(refusal(), "");
  fs::create_symlink(folder_ / "precious", file_);
  EXPECT_THROW(FolderLock{folder_}, Error);
  EXPECT_FALSE(fs::exists(folder_ / "precious"));
}

TEST_F(Lock, AFolderThatWasMovedIsNoticed) {
  const FolderLock lock(folder_);
  lock.require_folder();
  const fs::path other = folder_.string() + "_moved";
  fs::remove_all(other);
  fs::rename(folder_, other);
  EXPECT_THROW(lock.require_folder(), Error);
  fs::create_directories(folder_);
  EXPECT_THROW(lock.require_folder(), Error) << "another folder of this name";
  fs::remove(folder_);
  fs::rename(other, folder_);
  lock.require_folder();
}

}  // namespace
}  // namespace tutti
