// A user's file is opened without waiting, and nothing but a regular file of a bounded size is read.
#include "tutti/base/system/input_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Inputs : public testing::Test {
 protected:
  Inputs() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  static std::string refused(const fs::path& path, ErrorKind kind, Size most = 100) {
    try {
      read_text(path, "case file", most);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "no error";
  }
  fs::path folder = test::own_folder() / "inputs", path = folder / "file";
};

TEST_F(Inputs, AreReadAtAnyPlaceAndThroughLinks) {
  std::ofstream(path) << "0123456789";
  fs::create_symlink("file", folder / "link");
  EXPECT_EQ(read_text(folder / "link", "case file", 10), "0123456789");
  const InputFile file(path);
  EXPECT_EQ(file.size(), 10);
  std::array<char, 4> some{};
  EXPECT_EQ(file.read(some, 3), 4u);
  EXPECT_EQ(std::string(some.data(), 4), "3456");
  EXPECT_EQ(file.read(some, 8), 2u);
  EXPECT_EQ(file.read(some, 11), 0u);
  fs::rename(path, folder / "other");
  std::ofstream(path) << "another";
  EXPECT_EQ(file.read(some, 0), 4u);
  EXPECT_EQ(std::string(some.data(), 4), "0123") << "the file that was opened";
}

TEST_F(Inputs, AreRegularFiles) {
  EXPECT_THAT(refused(folder / "none", ErrorKind::io), HasSubstr("none: cannot open the case file: No such file"));
  EXPECT_THAT(refused(folder, ErrorKind::io), HasSubstr("cannot be read: it is a directory; a case file is expected"));
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  fs::create_symlink("/dev/zero", folder / "zero");
  for (const fs::path& bad : {path, folder / "zero", fs::path("/dev/null")})
    EXPECT_THAT(refused(bad, ErrorKind::io), HasSubstr("cannot be read: it is a pipe or a device; a case file"));
}

TEST_F(Inputs, AreNoLargerThanTheyMayBe) {
  std::ofstream(path) << "x";
  ASSERT_EQ(::truncate(path.c_str(), 100), 0);
  EXPECT_EQ(refused(path, ErrorKind::input), "no error");
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);  // a hole, which takes no disk but would take all memory
  EXPECT_THAT(refused(path, ErrorKind::input), HasSubstr("has 1099511627776 bytes; a case file of at most 100 is"));
}

}  // namespace
}  // namespace tutti
