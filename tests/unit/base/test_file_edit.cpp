// Changes of a file: all of them or none, whatever happens in between.
#include "tutti/base/system/file_edit.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class FileEdits : public testing::Test {
 protected:
  FileEdits() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  std::string content() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text, const fs::path& to) const { std::ofstream(to, std::ios::binary) << text; }
  fs::path folder = test::own_folder() / "file_edit", path = folder / "file", redo = folder / "file.redo";
};

std::string read(const FileEdit& edit, std::uint64_t at, std::size_t size) {
  std::string bytes(size, '?');
  EXPECT_EQ(edit.read(at, bytes), 0);
  return bytes;
}

TEST_F(FileEdits, AreReadBackAtOnceAndTakePlaceAtCommit) {
  std::mt19937 random(5);
  std::string now(10000, 'a');
  put(now, path);
  for (int round = 0; round < 5; ++round) {
    const std::string before = now;
    FileEdit edit(path);
    for (int k = 0; k < 40; ++k) {
      const std::uint64_t at = random() % (now.size() + 1);
      const std::string bytes(1 + random() % 6000, static_cast<char>('b' + random() % 20));
      ASSERT_EQ(edit.write(at, bytes), 0);
      now.resize(std::max<std::size_t>(now.size(), at + bytes.size()));
      now.replace(at, bytes.size(), bytes);
      ASSERT_EQ(edit.size(), now.size());
      ASSERT_EQ(read(edit, at / 2, now.size() - at / 2), now.substr(at / 2));
    }
    EXPECT_EQ(content().substr(0, before.size()), before);
    edit.commit();
    EXPECT_EQ(content().substr(0, now.size()), now);
    now = content();  // whole pages
    EXPECT_FALSE(fs::exists(redo));
  }
}

TEST_F(FileEdits, WithoutCommitLeaveTheOldBytes) {
  const std::string old(9000, 'a');
  put(old, path);
  {
    FileEdit edit(path);
    EXPECT_EQ(edit.write(0, "new"), 0);
    EXPECT_EQ(edit.write(8999, "new"), 0);
    EXPECT_EQ(edit.extend(20000), 0);
    EXPECT_EQ(read(edit, 8998, 6), std::string("anew\0\0", 6));
  }
  EXPECT_EQ(content().substr(0, old.size()), old);
}

TEST_F(FileEdits, AreFinishedWhereTheyWereKilled) {
  put(std::string(9000, 'a'), path);
  const std::uint64_t page = 1;
  put("tutti redo file\n" + std::string(reinterpret_cast<const char*>(&page), sizeof page) + std::string(4096, 'b'),
      redo);
  EXPECT_EQ(read(FileEdit(path), 4095, 4098), "a" + std::string(4096, 'b') + "a");
  EXPECT_EQ(content(), std::string(4096, 'a') + std::string(4096, 'b') + std::string(808, 'a'));
  EXPECT_FALSE(fs::exists(redo));
}

TEST_F(FileEdits, OfANewFileForgetWhatAnotherLeft) {
  put("tutti redo file\n", redo);
  FileEdit edit(path, FileEdit::Mode::fresh);
  EXPECT_FALSE(fs::exists(redo));
  EXPECT_EQ(edit.write(3, "x"), 0);
  edit.commit();
  EXPECT_EQ(content(), std::string("\0\0\0x", 4));
  EXPECT_THROW(FileEdit(path, FileEdit::Mode::fresh), Error) << "it is there";
}

TEST_F(FileEdits, RefuseWhatIsNoFileOfTheirs) {
  EXPECT_THROW(FileEdit{path}, Error);
  put("precious", folder / "victim");
  fs::create_symlink(folder / "victim", path);
  EXPECT_THROW(FileEdit{path}, Error);
  fs::remove(path);
  put("old", path);
  put("tutti redo file\nhalf a page", redo);
  EXPECT_THROW(FileEdit{path}, Error);
  EXPECT_EQ(content(), "old");
}

TEST_F(FileEdits, OnAFullDiskChangeNothing) {
  const std::string old(9000, 'a');
  put(old, path);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto* const signal = std::signal(SIGXFSZ, SIG_IGN);
  {
    FileEdit edit(path);
    EXPECT_EQ(edit.write(10, std::string(5000, 'b')), 0);
    const struct rlimit small { 100, before.rlim_max };  // the redo file has no room
    ::setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THROW(edit.commit(), Error);
    EXPECT_NE(edit.write(20000, "x"), 0);
    ::setrlimit(RLIMIT_FSIZE, &before);
  }
  std::signal(SIGXFSZ, signal);
  EXPECT_EQ(content(), old);
  EXPECT_EQ(read(FileEdit(path), 0, old.size()), old);
}

}  // namespace
}  // namespace tutti
