#include "tests/support/own_folder.hpp"
#include "tutti/io/case/named_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/mesh/files/number_table.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

std::string write(const std::string& name, const std::string& text) {
  const auto path = test::own_folder() / name;
  std::ofstream(path) << text;
  return path.string();
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

CaseSchema schema_of_files() {
  auto s = core_schema({"any"});
  s.add({.path = "physics.initial", .type = KeyType::expression, .description = "Initial.", .initial = true});
  s.add({.path = "physics.source", .type = KeyType::expression, .description = "Source."});
  s.add({.path = "physics.longitudinal",
         .type = KeyType::expression,
         .description = "K.",
         .initial = true,
         .solution = true});
  return s;
}

Case parse(const std::string& lists, const std::string& physics) {
  return parse_case("model = \"any\"\n[mesh]\nfile = \"a.msh\"\n[time]\nend = 1\n[physics]\n" + physics + "\n" + lists,
                    (test::own_folder() / "case.toml").string(), schema_of_files());
}

TEST(NumberTable, takes_commas_blanks_heads_and_comments) {
  const auto table = parse_number_table("# measured\ntime, Q \n0,1\n\n 1.5 , +2e-1 # late\n", "a.csv");
  EXPECT_EQ(table.names, (std::vector<std::string>{"time", "Q"}));
  EXPECT_EQ(table.column("Q"), (std::vector<double>{1, 0.2}));
  EXPECT_EQ(parse_number_table("1 2\n3\t4\r\n", "a.csv").column("2"), (std::vector<double>{2, 4}));
  EXPECT_EQ(parse_number_table("\xEF\xBB\xBF\"t\";\"Q [W]\"\n\"1\";2\n", "a.csv").column("Q [W]"),
            std::vector<double>{2});
  EXPECT_EQ(parse_number_table("\xEF\xBB\xBF"
                               "0,5\n1,6\n",
                               "a.csv")
                .rows(),
            2u);
  EXPECT_EQ(table.column("2"), table.column("Q"));
  const auto message = [](const char* text) { return error_of([&] { (void)parse_number_table(text, "a.csv"); }); };
  EXPECT_THAT(message("1.0D0,2\n1,2\n"), HasSubstr("a.csv:1: found '1.0D0'"));
  EXPECT_THAT(error_of([] { (void)parse_number_table("q,q\n1,2\n", "a.csv").column("q"); }),
              HasSubstr("two columns 'q'"));
  EXPECT_THAT(message("a,b\n1,2\n3\n"), HasSubstr("a.csv:3: 1 numbers, where 2 are expected"));
  EXPECT_THAT(message("1,x\n"), HasSubstr("a.csv:1: found 'x'"));
  EXPECT_THAT(message("1,inf\n"), HasSubstr("a.csv:1: found 'inf'"));
  EXPECT_THAT(message("a,b\n"), HasSubstr("there are no numbers"));
  EXPECT_THAT(error_of([&] { (void)table.column("R"); }), HasSubstr("no column 'R'; take one of time, Q"));
}

TEST(NamedFiles, a_slip_in_the_name_of_the_table_is_told_first) {
  const auto told = [](const char* head) {
    return error_of(
        [&] { (void)parse(std::string(head) + "\nname = \"q\"\nfile = \"q.csv\"\n", "source = \"q(t)\""); });
  };
  EXPECT_THAT(told("[[tables]]"), HasSubstr("unknown key 'tables'; did you mean 'table'?"));
  EXPECT_THAT(told("[tables]"), HasSubstr("unknown key 'tables'; did you mean 'table'?"));
}

TEST(NamedFiles, tables_are_functions_of_anything) {
  write("q.csv", "t,Q,R\n0,0,5\n1,10,6\n3,0,7\n");
  const std::string list =
      "[[table]]\nname = \"q\"\nfile = \"q.csv\"\n[[table]]\nname = \"r\"\nfile = \"q.csv\"\ncolumn = \"R\"\n";
  const auto c = parse(list, "source = \"2 * q(t) + r(x) * (y > 0 ? 1 : q(0.5))\"");
  const Expression e = c.expression("physics.source");
  EXPECT_TRUE(e.depends_on_time());
  EXPECT_FALSE(e.is_sampled());
  EXPECT_EQ(e({9, 1, 0}, 0.25), 2 * 2.5 + 7);
  EXPECT_EQ(e({-9, -1, 0}, 2), 2 * 5 + 5.0 * 5);
  EXPECT_EQ(e({0.5, 1, 0}, 100), 5.5) << "constant behind the last row";
  const std::array<Vec3, 3> points{{{9, 1, 0}, {-9, -1, 0}, {0.5, 1, 0}}};
  std::array<double, 3> values{};
  e.evaluate(points, 0.25, values);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(values[i], e(points[i], 0.25)) << "the same bits for many points";
  EXPECT_TRUE(parse(list, "source = \"q(0.5) + 1\"").expression("physics.source").is_constant());
  EXPECT_EQ(parse(list, "source = \"-q(2)^2\"").expression("physics.source")({}), -25);
}

TEST(NamedFiles, fields_are_interpolated) {
  std::string cloud = "x,y,z,f,g\n";
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) cloud += fmt::format("{},{},{},{},{}\n", i, j, k, 1 + 2 * i - 3 * j + 0.5 * k, i);
  write("cloud.csv", cloud);
  const std::string list =
      "[[field]]\nname = \"old\"\nfile = \"cloud.csv\"\n[[field]]\nname = \"g\"\nfile = \"cloud.csv\"\n"
      "column = \"g\"\ninterpolation = \"nearest\"\n";
  const Expression e = parse(list, "initial = \"old + 0 * g\"").expression("physics.initial");
  EXPECT_TRUE(e.is_sampled());
  for (const Vec3 p : {Vec3{1.2, 2.3, 0.7}, Vec3{0, 0, 0}, Vec3{3, 1, 2}, Vec3{2.9, 0.1, 1.5}})
    EXPECT_NEAR(e(p), 1 + 2 * p.x - 3 * p.y + 0.5 * p.z, 1e-7) << "linear functions are kept";
  EXPECT_EQ(e({3, 1, 2}), 5);
  EXPECT_EQ(parse(list, "initial = \"2 * g\"").expression("physics.initial")({1.6, 0, 0}), 4);
  const Expression of_u = parse(list, "longitudinal = \"g + 10 * u\"").expression("physics.longitudinal");
  const Vec3 point{1.6, 0, 0};
  const double u = 3;
  double value = 0;
  of_u.evaluate({&point, 1}, 0, {&value, 1}, {&u, 1});
  EXPECT_EQ(value, 32);
  EXPECT_EQ(of_u(point, 0, u), value);
}

TEST(NamedFiles, points_of_a_plane_are_enough) {
  write("plane.csv", "x,y,z,f\n0,0,0,0\n1,0,0,1\n0,1,0,2\n1,1,0,3\n");
  const auto field = open_field(test::own_folder() / "plane.csv", "", true);
  EXPECT_NEAR(field->at({0.5, 0.25, 0}), 1, 1e-7);
  write("one.csv", "x,y,z,f\n0,0,0,7\n");
  EXPECT_NEAR(open_field(test::own_folder() / "one.csv", "", true)->at({5, 5, 5}), 7, 1e-7);
}

TEST(NamedFiles, defects_are_named) {
  write("q.csv", "0,0\n1,1\n1,2\n");
  const std::string table = "[[table]]\nname = \"q\"\nfile = \"q.csv\"\n",
                    field = "[[field]]\nname = \"f\"\nfile = \"no.csv\"\n";
  const auto source = [](const std::string& lists, const std::string& text) {
    return error_of([&] { (void)parse(lists, "source = \"" + text + "\"").expression("physics.source")({}, 0); });
  };
  EXPECT_THAT(source(table, "q(t)"), HasSubstr("row 3 of the first column is 1, the one before 1; it must ascend"));
  EXPECT_THAT(source(table, "q"), HasSubstr("'q' is a table and needs what it is asked for in parentheses"));
  EXPECT_THAT(source(table, "q(t"), HasSubstr("missing parenthesis"));
  EXPECT_THAT(source(table + table, "1"), HasSubstr("there is a constant, table or field 'q' already"));
  EXPECT_THAT(source(field, "f"), HasSubstr("'f' is a [[field]], which this key cannot name"));
  EXPECT_THAT(source("[[table]]\nname = \"sin\"\nfile = \"q.csv\"\n", "1"), HasSubstr("'sin' cannot be named"));
  EXPECT_THAT(error_of([&] { (void)parse(field, "initial = \"f\"").expression("physics.initial")({}); }),
              HasSubstr("no.csv"));
  EXPECT_THAT(source("[[table]]\nname = \"q\"\n", "1"), HasSubstr("the key 'table[0].file' is missing"));
}

}  // namespace
}  // namespace tutti
