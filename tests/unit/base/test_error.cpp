// Messages of errors are one printable line, whatever they quote.
#include "tutti/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "tutti/base/printable.hpp"

namespace tutti {
namespace {

TEST(Error, ShortMessagesStayAsTheyAre) {
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line("mesh.msh:12: found '\xC3\xBC'"), "mesh.msh:12: found '\xC3\xBC'");
  EXPECT_EQ(one_line(std::string(2000, 'a')), std::string(2000, 'a'));
}

TEST(Error, ControlCharactersBecomeSpaces) {
  EXPECT_EQ(one_line("a\nb\r\tc\x1b[31md\x7f" + std::string(1, '\0')), "a b  c [31md  ");
  EXPECT_EQ(one_line("\xC2\x9B"
                     "1m \xC2\xA0\xC3\x9B\xC2"),
            "  1m \xC2\xA0\xC3\x9B\xC2")
      << "those of two bytes, too";
  const Error error(ErrorKind::input, "two\nlines");
  EXPECT_STREQ(error.what(), "two lines");
}

TEST(Error, LongMessagesLoseTheirMiddle) {
  const std::string text = "begin" + std::string(1000000, 'x') + "end";
  const std::string line = one_line(text);
  EXPECT_LE(line.size(), 2000u);
  EXPECT_EQ(line.substr(0, 6), "beginx");
  EXPECT_EQ(line.substr(line.size() - 4), "xend");
  EXPECT_NE(line.find(" [998108 bytes] "), std::string::npos) << line;
  EXPECT_EQ(one_line(line), line);
}

TEST(Error, LongMessagesAreCutBetweenCharacters) {
  std::string text = "a";
  while (text.size() < 5000) text += "\xE2\x82\xAC";  // a sign of three bytes
  const std::string line = one_line(text);
  const std::size_t cut = line.find(" [");
  ASSERT_NE(cut, std::string::npos);
  EXPECT_EQ((cut - 1) % 3, 0u);
  EXPECT_EQ(static_cast<unsigned char>(line[line.find("] ") + 2]), 0xE2u);
  // Continuation bytes only: there is no such place, and the line is short all the same.
  EXPECT_LE(one_line(std::string(5000, '\x80')).size(), 2000u);
}

TEST(Error, TheSystemsCauseComesWithAnAdvice) {
  EXPECT_EQ(system_cause(ENOSPC), "No space left on device; free space or choose another folder");
  EXPECT_EQ(system_cause(EACCES), "Permission denied; check the permissions");
  EXPECT_EQ(system_cause(ENOENT), "No such file or directory; check the name");
  // A stream that failed may have left no reason; a number that is none must not break the message.
  EXPECT_EQ(system_cause(0), "the system gives no reason; check the disk and the permissions");
  EXPECT_NE(system_cause(-1).find("; check the disk"), std::string::npos);
}

TEST(Printable, EscapesWhatATerminalObeys) {
  EXPECT_EQ(printable("wall \xC3\xBC \"a\""), "wall \xC3\xBC \"a\"");
  EXPECT_EQ(printable("\x1b[2J\a\n\r\x7f" + std::string(1, '\0')), "\\x1b[2J\\x07\\n\\x0d\\x7f\\x00");
  EXPECT_EQ(printable("\xC2\x9B"
                      "1m\xC2\xA0\xC2"),
            "\\u009b1m\xC2\xA0\xC2");
  EXPECT_EQ(printable("a\tb\nc\r", "\n\t"), "a\tb\nc\\x0d");
}

}  // namespace
}  // namespace tutti
