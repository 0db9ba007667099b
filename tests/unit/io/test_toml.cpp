// TOML as tutti reads it, where the library below it is delicate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "tutti/base/error.hpp"
#include "tutti/io/case/toml_value.hpp"

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

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

/// The line that is refused for its depth; 0: none, whatever else is wrong with the text.
int deep_line(const std::string& text) {
  int line = 0;
  try {
    parse_toml(text, "case.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    if (std::string(error.what()).find("a key of more than 16 parts") != std::string::npos) {
      EXPECT_EQ(std::sscanf(error.what(), "case.toml:%d:", &line), 1) << error.what();
    }
  }
  return line;
}

// A tree that deep overflows the stack where it is made, copied or taken apart.
TEST(Toml, KeysAndBracketsAreBoundedInDepth) {
  const std::string dots = repeated("a.", 30000);
  for (const std::string& text :
       {dots + "a = 1", "[" + dots + "a]", "[[" + dots + "a]]", "x = {" + dots + "a = 1}",
        repeated("\"a\" . ", 30000) + "a = 1", repeated("'a'.", 30000) + "a = 1",
        "x = " + repeated("[", 200) + repeated("]", 200),
        "x = " + repeated("{a.b.c.d.e = ", 200) + "1" + repeated("}", 200), "x = " + repeated("[", 30000)})
    EXPECT_EQ(deep_line("# one\n" + text), 2) << text.substr(0, 20);
  // Behind texts and comments of every kind, which are read as toml++ reads them.
  for (const char* before : {R"('\')", R"("\\\"")", R"("#'")", R"("""""")", R"("""x""""")", R"("""\"""""")", "''''''",
                             "'''\n'\"\n'''", "\"\"\"\n\n[\"\"\"", R"(1 # """ ')"}) {
    const std::string lines = std::string("x = ") + before + "\n";
    const auto line = static_cast<int>(std::count(lines.begin(), lines.end(), '\n')) + 1;
    EXPECT_EQ(deep_line(lines + dots + "a = 1"), line) << before;
    EXPECT_EQ(deep_line("x = [" + std::string(before) + "\n, {" + dots + "a = 1}]"), line) << before;
    EXPECT_TRUE(is_accepted(lines + "y = 1")) << before;
  }
}

TEST(Toml, WhatIsNotDeepIsWelcome) {
  const std::string parts = repeated("a.", 15) + "a";
  for (const std::string& text :
       {parts + " = 1", "[" + parts + "]\n" + parts + " = 1", "x = " + repeated("[", 16) + repeated("]", 16),
        "x = \"" + repeated("a.", 100) + repeated("[", 100) + "\"",
        "x = 1 # " + repeated("a.", 100) + repeated("{", 100), "x = '''\n" + repeated("[a.\n", 100) + "'''",
        "x = [" + repeated("1.5, ", 100) + "]", "x = [" + repeated("{a.b = [1.5]}, ", 100) + "]",
        repeated("[[x]]\na.b = 1.5\n", 100)})
    EXPECT_TRUE(is_accepted(text)) << text.substr(0, 40);
  // What is typed is a text then.
  EXPECT_NE(parse_typed_value(repeated("x.", 30000) + "x", "--set").as<std::string>(), nullptr);
}

}  // namespace
}  // namespace tutti
