#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/case/core_keys.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CaseSchema schema() {
  auto s = core_schema({"any"});
  s.add({.path = "physics.K", .type = KeyType::tensor, .default_value = "1", .description = "Diffusivity."});
  s.add({.path = "physics.fibre", .type = KeyType::expressions, .description = "Direction.", .length = 3});
  s.add({.path = "physics.source", .type = KeyType::expression, .default_value = "0", .description = "Source."});
  return s;
}

Case parse(const std::string& constants, const std::vector<std::string>& sets = {}) {
  return parse_case("model = \"any\"\n[mesh]\nfile = \"a.msh\"\n[time]\nend = 1\n[constants]\n" + constants +
                        "\n[physics]\nsource = \"a * x + b\"\nK = [\"a\", 1, \"2*a\"]\nfibre = [\"b\", 0, 1]\n",
                    "case.toml", schema(), sets);
}

std::string error_of(const std::string& constants, const std::vector<std::string>& sets = {}) {
  try {
    parse(constants, sets);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

TEST(Constants, stand_in_every_kind_of_expression) {
  const auto c = parse("a = 2\nb = \"a * pi + third\"\nthird = 1e-3");
  const double b = 2 * 3.141592653589793 + 1e-3;
  EXPECT_EQ(c.expression("physics.source")({5, 0, 0}), 10 + b);
  EXPECT_EQ(c.tensor("physics.K")[2][2]({}), 4);
  EXPECT_TRUE(c.expressions("physics.fibre")[0].is_constant());
  EXPECT_EQ(c.expressions("physics.fibre")[0]({}), b);
}

TEST(Constants, of_the_command_line_win) {
  EXPECT_EQ(parse("a = 2\nb = \"a + 1\"", {"constants.a=4"}).expression("physics.source")({1, 0, 0}), 9);
  EXPECT_EQ(parse("", {"constants.a=4", "constants.b=2*a"}).expression("physics.source")({1, 0, 0}), 12);
}

TEST(Constants, stay_in_the_effective_case) {
  const auto c = parse("a = 2\nb = \"a + 1\"", {"constants.a=0.1"});
  const auto text = c.effective_toml();
  EXPECT_THAT(text, HasSubstr("[constants]\na = 0.1\nb = \"a + 1\"\n"));
  EXPECT_EQ(c.effective_values().at("constants.a"), "0.1");
  const auto again = parse_case(text, "/elsewhere/case.toml", schema());
  EXPECT_EQ(again.effective_toml(), text);
  EXPECT_EQ(again.expression("physics.source")({1, 0, 0}), 1.2000000000000002);
}

TEST(Constants, defects_are_named_with_their_place) {
  const auto expect = [](const std::string& message, const char* begins, const char* contains) {
    EXPECT_THAT(message, StartsWith(begins));
    EXPECT_THAT(message, HasSubstr(contains));
  };
  expect(error_of("a = 2"), "case.toml:9:10: ", "unknown name 'b'");
  expect(error_of("alpha = 2\nb = 1"), "case.toml:10:10: ", "unknown name 'a'");
  expect(error_of("a = 2\nb = \"aa\""), "case.toml:8:5: ", "did you mean 'a'?");
  expect(error_of("x = 2"), "case.toml:7: ", "'x' cannot name a constant");
  expect(error_of("sin = 2"), "case.toml:7: ", "'sin' cannot name a constant");
  expect(error_of("a-b = 2"), "case.toml:7: ", "'a-b' cannot name a constant");
  expect(error_of("a = true"), "case.toml:7:5: ", "'constants.a' must be a number or a formula");
  expect(error_of("a = nan"), "case.toml:7:5: ", "found the number nan");
  expect(error_of("a = \"b\"\nb = \"2*a\""), "case.toml:7:5: ", "the constant 'a' is made of itself");
  expect(error_of("a = \"2*x\""), "case.toml:7:5: ", "depends on position or time");
  expect(error_of("a = \"1/0\""), "case.toml:7:5: ", "must be finite");
  expect(error_of("a = 1\nb = 2", {"constants.a=1+"}), "--set constants.a=1+: ", "the text ends too early");
  expect(error_of("[constants.a]\nb = 2"), "case.toml:7:1: ", "'constants.a' must be a number or a formula");
}

}  // namespace
}  // namespace tutti
