// Files of lines: what a restart keeps of one that an earlier run has left, whole or damaged.
#include "tutti/io/line_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <charconv>
#include <fstream>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/io/case/case.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Lines of these tests are "5 rest" and stand at 5.
std::optional<double> place(std::string_view line) {
  double at = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), at);
  if (error != std::errc{} || end == line.data() + line.size() || *end != ' ') return std::nullopt;
  return at;
}

class Lines : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(file_.parent_path());
    for (const auto& entry : fs::directory_iterator(file_.parent_path())) fs::remove_all(entry);
    set_log(LogLevel::normal, true);
  }
  void TearDown() override { set_log(LogLevel::normal, false); }

  void leave(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }
  std::string text() const { return read_text_file(file_); }
  /// Goes on, adds a line; the warnings.
  std::string go_on(const EarlierLines& earlier, const std::string& head = "head") const {
    testing::internal::CaptureStderr();
    LineFile file(file_, head, earlier, place);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(file.bytes(), static_cast<Size>(fs::file_size(file_)));
    file.add("9 new");
    file.sync();
    EXPECT_EQ(file.bytes(), static_cast<Size>(fs::file_size(file_)));
    return said;
  }
  std::string beside(int number = 1) const {
    const std::string name = file_.string() + ".before-restart" + (number == 1 ? "" : "-" + std::to_string(number));
    return fs::exists(name) ? read_text_file(name) : "(none)";
  }

  const fs::path file_ = test::own_folder() / "tutti_lines" / "lines.csv";
};

TEST_F(Lines, WhatComesLaterIsWrittenAgain) {
  leave("head\n1 a\n2 b\n3 c\n4 d\n5 hal");
  EXPECT_EQ(go_on({3, 17, 3}), "");
  EXPECT_EQ(text(), "head\n1 a\n2 b\n3 c\n9 new\n");
  EXPECT_EQ(beside(), "(none)");
}

TEST_F(Lines, LostOnesAreToldAndTheRestStays) {
  leave("head\n1 a\n2 b\n3 ");
  EXPECT_THAT(
      go_on({5, 25, 5}),
      HasSubstr(
          "lines.csv: 3 lines of the previous run are missing, after 2 up to 5; restart from an older checkpoint to "
          "recover them; what was there is kept in " +
          file_.string() + ".before-restart\n"));
  EXPECT_EQ(text(), "head\n1 a\n2 b\n9 new\n");
  EXPECT_EQ(beside(), "head\n1 a\n2 b\n3 ");
  // A second time, another name; older checkpoints know bytes only.
  EXPECT_THAT(go_on({8, 33, std::nullopt}), HasSubstr("20 bytes of the previous run are missing, after 2 up to 8; "));
  EXPECT_EQ(text(), "head\n1 a\n2 b\n9 new\n");
  EXPECT_EQ(beside(2), "head\n1 a\n2 b\n9 new\n");
}

TEST_F(Lines, AFileThatIsGoneOrEmptyBeginsAnew) {
  EXPECT_THAT(
      go_on({2, 13, 2}),
      HasSubstr(
          "2 lines of the previous run are missing, up to 2; restart from an older checkpoint to recover them\n"));
  EXPECT_EQ(text(), "head\n9 new\n");
  leave("");
  EXPECT_THAT(go_on({2, 13, 1}), HasSubstr("1 line of the previous run are missing"));
  EXPECT_EQ(text(), "head\n9 new\n");
  fs::remove(file_);
  EXPECT_EQ(go_on({2, 0, 0}), "") << "there was none";
  EXPECT_EQ(text(), "head\n9 new\n");
}

TEST_F(Lines, WhatAPowerCutLeavesInTheMiddleGoes) {
  const std::string torn = "head\n1 a\n" + std::string(300'000, '\0') + "\n3 c\n4 d\n";
  leave(torn);
  EXPECT_THAT(go_on({3, 17, 3}), HasSubstr("1 line of the previous run are missing, up to 3; "));
  EXPECT_EQ(text(), "head\n1 a\n3 c\n9 new\n");
  EXPECT_EQ(beside(), torn);
  // All that was recorded is there, and a line that is none.
  leave("head\n1 a\nnone\n2 b\n");
  EXPECT_THAT(go_on({2, 13, 2}), HasSubstr("1 line could not be read"));
  EXPECT_EQ(text(), "head\n1 a\n2 b\n9 new\n");
  EXPECT_EQ(beside(2), "head\n1 a\nnone\n2 b\n");
}

TEST_F(Lines, OtherColumnsAreKeptBeside) {
  leave("other\n1 a\n2 b\n");
  EXPECT_THAT(go_on({2, 14, 2}), HasSubstr("other columns"));
  EXPECT_EQ(text(), "head\n9 new\n");
  EXPECT_EQ(beside(), "other\n1 a\n2 b\n");
}

TEST_F(Lines, AHeadIsNotNeeded) {
  leave("1 a\n2 b\n");
  EXPECT_EQ(go_on({1, 4, 1}, ""), "");
  EXPECT_EQ(text(), "1 a\n9 new\n");
}

TEST_F(Lines, OnlyARegularFile) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_THROW(LineFile(file_, "head"), Error);
  EXPECT_THROW(LineFile("/dev/full", "head"), Error);
  fs::remove(file_);
  leave("precious");
  const fs::path link = file_.parent_path() / "link";
  fs::create_symlink(file_, link);
  EXPECT_THROW(LineFile(link, "head"), Error);
  EXPECT_EQ(text(), "precious");
}

}  // namespace
}  // namespace tutti
