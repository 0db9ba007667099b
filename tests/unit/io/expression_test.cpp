#include "tutti/io/case/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

double value(const std::string& text, Vec3 p = {0.5, -2, 3}, double t = 0.25) {
  return Expression(text)(p, t);
}

std::string expression_error(const std::string& text, const std::string& where = "") {
  try {
    const Expression e(text, where);
    e({0, 0, 0}, 0);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

TEST(Expression, NamesTheSolutionWhereItMay) {
  FormulaNames names;
  names.solution = true;
  const Expression e("x*u^2 + exp(-u)", "case.toml:1:1", names);
  EXPECT_TRUE(e.depends_on_solution());
  EXPECT_FALSE(e.is_constant());
  std::vector<Vec3> points;
  std::vector<double> u, found(150);
  for (int k = 0; k < 150; ++k) {
    points.push_back({0.01 * k, 0, 0});
    u.push_back(1 - 0.02 * k);
  }
  e.evaluate(points, 0, found, u);
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k], e(points[k], 0, u[k]));
    EXPECT_NEAR(found[k], points[k].x * u[k] * u[k] + std::exp(-u[k]), 1e-14);
  }
  names.constants["u"] = 3;  // the case's own name counts
  EXPECT_EQ(Expression("u", "", names)({}, 0, 7), 3);
  EXPECT_THROW(Expression("u"), Error);
  EXPECT_THROW(Expression("1/u", "", FormulaNames{{}, {}, {}, true})({}, 0, 0), Error);
}

TEST(Expression, arithmetic) {
  EXPECT_EQ(value("1+2*3^2"), 19);
  EXPECT_EQ(value("-2^2"), -4);
  EXPECT_EQ(value("2^3^2"), 512);
  EXPECT_EQ(value("(1-x)*y/z + t"), 0.5 * -2 / 3 + 0.25);
  EXPECT_EQ(value("1e-3*1.5E2"), 1e-3 * 150);
  EXPECT_EQ(value("pi"), std::numbers::pi);
  EXPECT_EQ(value("e"), std::numbers::e);
  EXPECT_EQ(value("x\n + y"), -1.5);
}

TEST(Expression, functions) {
  EXPECT_EQ(value("exp(-(x^2+y^2+z^2))"), std::exp(-(0.25 + 4 + 9)));
  EXPECT_EQ(value("log(e)"), 1);
  EXPECT_EQ(value("log10(1000)"), std::log10(1000.0));
  EXPECT_EQ(value("atan2(y, x)"), std::atan2(-2, 0.5));
  EXPECT_EQ(value("min(3, x, y)"), -2);
  EXPECT_EQ(value("max(3, x, y)"), 3);
  EXPECT_EQ(value("sign(y) + step(0) + step(y)"), 0);
  EXPECT_EQ(value("tanh(x)+sinh(x)+cosh(x)"), std::tanh(0.5) + std::sinh(0.5) + std::cosh(0.5));
}

TEST(Expression, conditions) {
  EXPECT_EQ(value("x > 0 ? 1 : 2"), 1);
  EXPECT_EQ(value("if(x > 1, 2, 3)"), 3);
  EXPECT_EQ(value("x >= 0.5 && y != 0 || z == 1"), 1);
  EXPECT_EQ(value("if(x == 0, 1, 1/x)", {0, 0, 0}), 1);  // the other branch may be infinite
}

TEST(Expression, knows_what_it_depends_on) {
  EXPECT_TRUE(Expression("2*pi").is_constant());
  EXPECT_TRUE(Expression(3.0).is_constant());
  EXPECT_FALSE(Expression("x").is_constant());
  EXPECT_FALSE(Expression("x").depends_on_time());
  EXPECT_TRUE(Expression("exp(-t)").depends_on_time());
  EXPECT_FALSE(Expression("exp(-t)").depends_on_space());
  EXPECT_EQ(Expression()({1, 2, 3}), 0);
}

TEST(Expression, bulk_is_the_same_as_one_by_one) {
  const Expression e("sin(x)*y + z*t"), time_dependent("t*2");
  std::vector<Vec3> points;
  for (int i = 0; i < 1000; ++i) points.push_back({0.1 * i, 1.0 - i, 0.5 * i});
  std::vector<double> out(points.size());
  e.evaluate(points, 0.3, out);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(out[i], e(points[i], 0.3));
  time_dependent.evaluate(points, 4, out);
  EXPECT_EQ(out.front(), 8);
  EXPECT_EQ(out.back(), 8);
  time_dependent.evaluate({}, 4, {});
}

TEST(Expression, is_shared_by_threads) {
  const Expression e("x*1000 + t");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t k = 0; k < 4; ++k) {
    threads.emplace_back([&wrong, &e, k] {
      for (int i = 0; i < 20000; ++i) {
        const double x = static_cast<double>(k) + i;
        wrong[k] += e({x, 0, 0}, 1) != x * 1000 + 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(wrong, testing::Each(0));
  Expression copy = e;
  const Expression last = std::move(copy);
  EXPECT_EQ(last({1, 0, 0}, 2), 1002);
}

TEST(Expression, keeps_its_grammar) {
  EXPECT_EQ(value("2^-1"), 0.5);
  EXPECT_EQ(value("-2^-2^0.5"), -std::pow(2.0, -std::sqrt(2.0)));
  EXPECT_EQ(value("2^-1*3"), 1.5);
  EXPECT_EQ(value("+x - -y"), -1.5);
  EXPECT_EQ(value("8/4/2 - 3 - 2"), -4);
  EXPECT_EQ(value("0 ? 1 : 0 ? 2 : 3"), 3);
  EXPECT_EQ(value("1 ? 0 ? 4 : 5 : 6"), 5);
  EXPECT_EQ(value("x > y == 1 && 0 || 2 > 1"), 1);
  EXPECT_EQ(value("1 || 0 && 0"), 1);
  EXPECT_EQ(value("-x < 0 ? 1 : 2"), 1);
  EXPECT_EQ(value("3 - 2 < 2"), 1);
  EXPECT_EQ(value("0.5 && 0.25"), 1);
  EXPECT_EQ(value("min(x) + max ( 1 , 2 )"), 2.5);
  EXPECT_EQ(value("z^2 + z^3 + z^4"), 9 + 27 + 81);
  for (const char* text : {"--x", "x^", "(x", "x)", "()", "sin x", "sin()", "pow(1)", "if(1,2)", "1 2", "x ! y",
                           "x & y", "3 : 4", "min(,1)", "1 ? 2, 3 : 4", "sin(x,)", "1..2", "1e400", "x ? 1"})
    EXPECT_THAT(expression_error(text), HasSubstr("character")) << text;
  EXPECT_THAT(expression_error("pow(1)"), HasSubstr("too few parameters for function 'pow'"));
  EXPECT_THAT(expression_error("sin + 1"), HasSubstr("needs its parameters"));
}

TEST(Expression, values_that_wait_for_each_other_are_bounded) {
  std::string deep = "x";
  for (int i = 0; i < 25; ++i) deep = "x+(" + deep + ")";
  EXPECT_EQ(value(deep), 13);
  for (int i = 0; i < 25; ++i) deep = "x+(" + deep + ")";
  EXPECT_THAT(expression_error(deep), HasSubstr("more than 32 intermediate values"));
  EXPECT_EQ(value(std::string(150, '(') + "x" + std::string(150, ')')), 0.5);
  EXPECT_THAT(expression_error(std::string(300, '(') + "x" + std::string(300, ')')),
              HasSubstr("too many nested parentheses"));
}

TEST(Expression, one_by_one_and_in_blocks_have_the_same_bits) {
  const Expression e(
      "sin(x)*cos(y)+tan(z)+exp(-x*x)+log(1+y*y)+log10(2+z^2)+erf(x)+atan(y)+atan2(x,y)+sinh(x)+cosh(y)+tanh(z)"
      "+asin(x/9)+acos(y/9)+abs(x)^1.7+(x<y?floor(x):ceil(y))+sign(z)*step(x)+min(x,y,z)-max(x,t)+sqrt(abs(z))+x^4");
  std::vector<Vec3> points;
  for (int i = 0; i < 1000; ++i) points.push_back({std::sin(3.0 * i) * 8, std::cos(7.0 * i) * 8, std::sin(5.0 * i)});
  std::vector<double> out(points.size());
  e.evaluate(points, 0.3, out);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(out[i], e(points[i], 0.3)) << i;
}

TEST(Expression, does_not_follow_the_locale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr || std::setlocale(LC_ALL, "fr_FR.UTF-8") != nullptr) {
    EXPECT_EQ(value("1.5*x"), 0.75);
  }
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(value("min(1.5,2.5)"), 1.5);
}

TEST(Expression, names_what_is_wrong_and_where) {
  EXPECT_EQ(expression_error("abs(x)+sine(y)", "case.toml:7:9"),
            "case.toml:7:9: in the expression \"abs(x)+sine(y)\", character 8: unknown name 'sine'; did you mean "
            "'sin'?");
  EXPECT_THAT(expression_error("sin(x"), HasSubstr("character 6: missing parenthesis"));
  EXPECT_THAT(expression_error("x+"), HasSubstr("ends too early"));
  EXPECT_THAT(expression_error("sin(1,2)"), HasSubstr("too many parameters"));
  EXPECT_THAT(expression_error("2 x"), HasSubstr("unexpected variable"));
  EXPECT_THAT(expression_error("  "), HasSubstr("empty"));
  EXPECT_THAT(expression_error("1,2"), HasSubstr("not a list"));
  EXPECT_THAT(expression_error("3 ? 4"), HasSubstr("else"));
  EXPECT_THAT(expression_error("..5"), HasSubstr("'.' has no meaning"));
}

TEST(Expression, does_nothing_but_arithmetic) {
  EXPECT_THAT(expression_error("x = 3"), HasSubstr("comparison is written '=='"));
  EXPECT_THAT(expression_error("\"text\""), HasSubstr("no meaning"));
  EXPECT_THAT(expression_error("system(1)"), HasSubstr("unknown name 'system'"));
  EXPECT_THAT(expression_error("x; y"), HasSubstr("';' has no meaning"));
  EXPECT_THAT(expression_error(std::string("x\0y", 3)), HasSubstr("byte 0x00"));
  EXPECT_THAT(expression_error(std::string(30000, '(')), HasSubstr("character"));
  EXPECT_NE(expression_error(std::string(9000, '(') + "x" + std::string(9000, ')') + "+"), "no error");
}

TEST(Expression, reports_values_that_are_not_finite) {
  EXPECT_THAT(expression_error("1/0"), HasSubstr("\"1/0\" is inf"));
  EXPECT_THAT(expression_error("1/x", "case.toml:3:1"),
              HasSubstr("case.toml:3:1: the expression \"1/x\" is inf at x = 0"));
  EXPECT_THAT(expression_error("sqrt(x-1)"), HasSubstr("nan"));
  EXPECT_NE(expression_error("1e999"), "no error");
  EXPECT_THROW(Expression(std::numeric_limits<double>::quiet_NaN()), Error);
  const std::vector<Vec3> points = {{1, 0, 0}, {0, 7, 0}};
  std::vector<double> out(2);
  EXPECT_THROW(Expression("1/x").evaluate(points, 0, out), Error);
}

}  // namespace
}  // namespace tutti
