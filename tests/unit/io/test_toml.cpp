// TOML as tutti reads it, where the library below it is delicate.
#include <gtest/gtest.h>

#include <string>

#include "tutti/base/error.hpp"
#include "tutti/io/toml_value.hpp"

namespace tutti {
namespace {

/// A code point from U+0080 to U+FFFF in UTF-8.
std::string utf8(unsigned c) {
  if (c < 0x800) return {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
  return {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
          static_cast<char>(0x80 | (c & 63))};
}

bool is_space(unsigned c) {
  return c == 0xA0 || c == 0x1680 || c == 0x180E || (c >= 0x2000 && c <= 0x200B) || c == 0x202F || c == 0x205F ||
         c == 0x2060 || c == 0x3000 || c == 0xFEFF;
}

bool is_accepted(const std::string& text) {
  try {
    parse_toml(text, "case.toml");
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(std::string(error.what()).find("case.toml:1:"), 0u) << error.what();
    return false;
  }
}

// toml++ 3.3.0 tells white space from letters by a table whose other branches it declares impossible, though letters
// such as U+00E9 get there. In a text every letter is welcome, outside of one none is.
TEST(Toml, LettersOutsideOfTexts) {
  for (const unsigned begin : {0xA0u, 0x1480u, 0x1F00u, 0x2E00u, 0xFB00u}) {
    for (unsigned c = begin; c < begin + 0x480; ++c) {
      if (is_space(c)) continue;
      EXPECT_FALSE(is_accepted("a = [1, " + utf8(c) + " ]")) << std::hex << c;
      EXPECT_FALSE(is_accepted("a " + utf8(c) + " = 1")) << std::hex << c;
    }
  }
  EXPECT_TRUE(is_accepted("a = [1, \"" + utf8(0xE9) + utf8(0x3001) + "\" ]"));
}

TEST(Toml, ThreeBracketsAreRefused) {
  for (const char* text : {"[[[a]]]", "[[[1]]]", "[+a]", "[[="}) EXPECT_FALSE(is_accepted(text)) << text;
}

}  // namespace
}  // namespace tutti
