#include "tutti/io/case/case.hpp"
#include "tests/support/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/io/case/core_keys.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

CaseSchema schema() {
  auto s = core_schema({"diffusion", "transport"});
  s.begin_group("diffusion");
  s.describe_table("physics", "What diffuses.");
  s.add({.path = "physics.K", .type = KeyType::tensor, .default_value = "1", .description = "Diffusivity."});
  s.add({.path = "physics.fibre", .type = KeyType::expressions, .description = "Direction.", .length = 3});
  s.at_most_one_of({"physics.K", "physics.fibre"});
  s.add({.path = "physics.source", .type = KeyType::expression, .default_value = "0", .description = "Source."});
  s.add({.path = "physics.check", .type = KeyType::boolean, .default_value = "true", .description = "Check it."});
  s.add({.path = "physics.region[].name", .type = KeyType::text, .description = "Volume.", .required = true});
  s.add({.path = "physics.region[].K", .type = KeyType::tensor, .description = "Its diffusivity."});
  s.add({.path = "boundary[].tag", .type = KeyType::text, .description = "Surface.", .required = true});
  s.add({.path = "boundary[].type",
         .type = KeyType::choice,
         .default_value = "\"neumann\"",
         .description = "Kind.",
         .choices = {"neumann", "dirichlet"}});
  s.add({.path = "boundary[].value", .type = KeyType::expression, .default_value = "0", .description = "Datum."});
  s.add({.path = "time.method",
         .type = KeyType::choice,
         .default_value = "\"euler\"",
         .description = "Scheme.",
         .choices = {"euler", "rkc2"}});
  return s;
}

const std::string good = R"toml(model = "diffusion"
[mesh]
file = "meshes/heart.msh"
[physics]
K = [["1","0.5*x","0"],["0.5*x","2","0"],["0","0","1"]]
source = "exp(-t)"
[[physics.region]]
name = "myocardium"
K = 0.1
[[boundary]]
tag = "base"
[[boundary]]
tag = "*"
type = "dirichlet"
value = "1+x"
[time]
dt = "auto"
end = 1
[output]
every = 50
[[output.probe]]
name = "apex"
point = [0, 0.5, 1e1]
)toml";

Case parse(const std::string& text, std::vector<std::string> sets = {}) {
  return parse_case(text, "dir/case.toml", schema(), sets);
}

std::string error_of(const std::string& text, std::vector<std::string> sets = {}) {
  try {
    parse(text, std::move(sets));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Case, reads_every_type) {
  const auto c = parse(good);
  EXPECT_EQ(c.text("model"), "diffusion");
  EXPECT_EQ(c.number("time.end"), 1.0);
  EXPECT_TRUE(c.is_word("time.dt", "auto"));
  EXPECT_FALSE(c.is_word("time.end", "auto"));
  EXPECT_FALSE(c.has("time.steps"));
  EXPECT_EQ(c.integer("output.every"), 50);
  EXPECT_EQ(c.text("time.method"), "euler");
  EXPECT_FALSE(c.is_set("time.method"));
  EXPECT_EQ(c.where("time.method"), "default of 'time.method'");
  EXPECT_EQ(c.where("output.every"), "dir/case.toml:20:9");
  EXPECT_EQ(c.count("boundary"), 2);
  EXPECT_EQ(c.text("boundary[0].type"), "neumann");
  EXPECT_EQ(c.expression("boundary[1].value")({2, 0, 0}), 3);
  EXPECT_EQ(c.numbers("output.probe[0].point"), (std::vector<double>{0, 0.5, 10}));
  EXPECT_EQ(c.bytes("devices.fake_memory"), Size{512} << 20);
  EXPECT_TRUE(c.flag("physics.check"));
  EXPECT_EQ(c.file("mesh.file"), std::filesystem::absolute("dir/meshes/heart.msh"));
}

TEST(Case, tensors_in_three_forms) {
  const auto full = parse(good).tensor("physics.K");
  EXPECT_EQ(full[0][1]({4, 0, 0}), 2);
  EXPECT_EQ(full[1][1]({4, 0, 0}), 2);
  EXPECT_EQ(full[2][0]({4, 0, 0}), 0);
  const auto scalar = parse(good).tensor("physics.region[0].K");
  EXPECT_EQ(scalar[2][2]({}), 0.1);
  EXPECT_EQ(scalar[0][2]({}), 0);
  const auto diagonal = parse(good, {"physics.K=[1, 'x', 3]"}).tensor("physics.K");
  EXPECT_EQ(diagonal[1][1]({7, 0, 0}), 7);
  EXPECT_EQ(diagonal[0][1]({7, 0, 0}), 0);
}

TEST(Case, set_replaces_adds_and_takes_out) {
  const auto c = parse(good, {"boundary[0].value=sin(x)", "boundary[2].tag=lid", "time.dt=1e-3", "output.every=1e3",
                              "physics.region=", "mesh.file=2024"});
  EXPECT_EQ(c.expression("boundary[0].value").text(), "sin(x)");
  EXPECT_EQ(c.text("boundary[2].tag"), "lid");
  EXPECT_EQ(c.number("time.dt"), 1e-3);
  EXPECT_EQ(c.integer("output.every"), 1000);
  EXPECT_EQ(c.count("physics.region"), 0);
  EXPECT_EQ(c.file("mesh.file").filename(), "2024");
  EXPECT_EQ(c.where("time.dt"), "--set time.dt=1e-3");
}

TEST(Case, the_command_line_wins_over_what_excludes_it) {
  const auto c = parse(good, {"time.steps=7"});
  EXPECT_EQ(c.integer("time.steps"), 7);
  EXPECT_FALSE(c.is_set("time.end"));
  const auto box = parse(good, {"mesh.generate=box", "mesh.cubes=[2,3,4]"});
  EXPECT_FALSE(box.is_set("mesh.file"));
  EXPECT_EQ(box.integers("mesh.cubes"), (std::vector<std::int64_t>{2, 3, 4}));
  const std::string with_box = replaced(good, "file = \"meshes/heart.msh\"", "generate = \"box\"\ncubes = [1,1,1]");
  EXPECT_FALSE(parse(with_box, {"mesh.file=a.msh"}).is_set("mesh.cubes"));
  EXPECT_THAT(error_of(good, {"time.steps=7", "time.end=2"}), HasSubstr("exclude each other"));
}

TEST(Case, malformed_sets_are_usage_errors) {
  for (const char* set : {"time.end", "=3", "time..end=3", "boundary[x].value=1", "boundary[5].value=1",
                          "model.deeper=1", "time[0].end=1", "a b=1"}) {
    try {
      parse(good, {set});
      ADD_FAILURE() << set;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << set;
      EXPECT_THAT(error.what(), StartsWith(std::string("--set ") + set));
    }
  }
}

TEST(Case, a_set_that_no_case_file_could_hold_is_a_usage_error) {
  std::string deep = "a";
  for (int i = 0; i < 50000; ++i) deep += ".a";  // taking such a tree apart would overflow the stack
  for (const std::string& set : {deep + "=1", std::string("mesh.file=\xFF.msh")}) {
    try {
      parse(good, {set});
      ADD_FAILURE() << set.substr(0, 40);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
      EXPECT_LE(std::string(error.what()).size(), 2000u);
    }
  }
}

TEST(Case, numbers_inside_a_typed_table_are_no_texts) {
  EXPECT_THAT(error_of(good, {"mesh={file=3}"}), HasSubstr("'mesh.file' must be a file name, found the integer 3"));
}

TEST(Case, effective_values_give_the_same_case) {
  const auto c = parse(good, {"output.probe[0].name=a \"b\" \\ c"});
  const auto text = c.effective_toml();
  const auto again = parse_case(text, "/elsewhere/case.toml", schema());
  EXPECT_EQ(again.effective_toml(), text);
  EXPECT_EQ(again.file("mesh.file"), c.file("mesh.file"));
  EXPECT_THAT(text, HasSubstr("method = \"euler\""));
  EXPECT_THAT(text, testing::Not(HasSubstr("cubes")));
}

TEST(Case, reference_has_every_key) {
  const auto table = schema();
  const auto page = case_reference_markdown(table);
  for (const auto& key : table.keys()) {
    EXPECT_THAT(page, HasSubstr(key.description));
    EXPECT_THAT(page, HasSubstr("| `" + key.path.substr(key.path.rfind('.') + 1) + "` |"));
  }
  EXPECT_THAT(page, HasSubstr("## `[[boundary]]`"));
  EXPECT_THAT(page, HasSubstr("*model `diffusion`:*"));
  EXPECT_THAT(page, HasSubstr("exactly one must be given"));
}

TEST(Case, files_that_are_not_there) {
  for (const char* path : {"no/such/case.toml", "."}) {
    try {
      read_case(path, schema());
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_THAT(error.what(), StartsWith(std::string(path) + ":"));
    }
  }
}

TEST(Case, reads_a_file) {
  const auto folder = test::own_folder() / "tutti_case";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "case.toml") << good;
  const auto c = read_case(folder / "case.toml", schema());
  EXPECT_EQ(c.file("mesh.file"), folder / "meshes/heart.msh");
  EXPECT_EQ(c.directory(), folder);
}

TEST(Case, model_is_read_first) {
  const std::vector<std::string> models = {"diffusion", "transport"};
  EXPECT_EQ(case_model(good, "c.toml", {}, models), "diffusion");
  const std::vector<std::string> sets = {"model=transport"};
  EXPECT_EQ(case_model(good, "c.toml", sets, models), "transport");
  EXPECT_THROW(case_model("x = 1", "c.toml", {}, models), Error);
  EXPECT_THROW(case_model("model = \"difusion\"", "c.toml", {}, models), Error);
}

TEST(Case, schema_refuses_its_own_mistakes) {
  auto s = schema();
  EXPECT_THROW(s.add({.path = "time.end", .description = "Twice."}), std::logic_error);
  EXPECT_THROW(s.add({.path = "a", .type = KeyType::number, .default_value = "\"x\"", .description = "Bad default."}),
               std::logic_error);
  EXPECT_THROW(s.add({.path = "a[].b.c", .description = "Too deep."}), std::logic_error);
  EXPECT_THROW(s.add({.path = "a.b"}), std::logic_error);
  const auto c = parse(good);
  EXPECT_THROW(c.number("time.endd"), std::logic_error);
  EXPECT_THROW(c.number("model"), std::logic_error);
  EXPECT_THROW(c.integer("time.steps"), Error);
}

/// One defect: a piece of the good case replaced, and the beginning and a part of the message.
struct Defect {
  const char* from;
  const char* to;
  const char* begins;
  const char* contains;
};

class CaseDefects : public testing::TestWithParam<Defect> {};

TEST_P(CaseDefects, is_named_with_its_place) {
  const auto& d = GetParam();
  const auto text = replaced(good, d.from, d.to);
  const auto message = error_of(text);
  EXPECT_THAT(message, StartsWith(d.begins));
  EXPECT_THAT(message, HasSubstr(d.contains));
  EXPECT_EQ(message.find('\n'), std::string::npos) << "one line";
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, CaseDefects,
    testing::Values(
        Defect{
            "source =", "sorce =", "dir/case.toml:6: ", "unknown key 'physics.sorce'; did you mean 'physics.source'?"},
        Defect{"[output]", "[outpt]", "dir/case.toml:19: ", "unknown key 'outpt'; did you mean 'output'?"},
        Defect{"value =", "valu =", "dir/case.toml:15: ", "'boundary[1].valu'; did you mean 'boundary[1].value'?"},
        Defect{"[time]", "[time]\n\"output.every\" = 3",
               "dir/case.toml:17: ", "unknown key \"time.output.every\"; keys are written without quotes"},
        Defect{"model =", "\"time.end\" = 3\nmodel =", "dir/case.toml:1: ", "unknown key \"time.end\""},
        Defect{"model =", "\"bound\\nary\" = 3\nmodel =", "dir/case.toml:1: ", "unknown key 'bound ary'"},
        Defect{"model = \"diffusion\"", "model = \"diffusion\"\nend = 3",
               "dir/case.toml:2: ", "did you mean 'time.end'?"},
        Defect{"[time]", "[time]\nqqqqqqqq = 1",
               "dir/case.toml:17: ", "known here: dt, end, steps, safety, steady, method"},
        Defect{"\"diffusion\"", "\"difusion\"", "dir/case.toml:1:9: ", "did you mean \"diffusion\"?"},
        Defect{"\"diffusion\"", "3", "dir/case.toml:1:9: ", "found the integer 3"},
        Defect{"model = \"diffusion\"\n", "", "dir/case.toml: ", "the key 'model' is missing"},
        Defect{"end = 1", "end = \"1\"",
               "dir/case.toml:18:7: ", "'time.end' must be a number > 0, found the text \"1\""},
        Defect{"end = 1", "end = -1", "dir/case.toml:18:7: ", "a number > 0, found the integer -1"},
        Defect{"end = 1", "end = 0.0", "dir/case.toml:18:7: ", "found the number 0.0"},
        Defect{"end = 1", "end = nan", "dir/case.toml:18:7: ", "found the number nan"},
        Defect{"end = 1", "end = inf", "dir/case.toml:18:7: ", "found the number inf"},
        Defect{"end = 1", "end = true", "dir/case.toml:18:7: ", "found true"},
        Defect{"end = 1", "end = 2024-01-01", "dir/case.toml:18:7: ", "dates"},
        Defect{"end = 1", "end = 1\nend = 2", "dir/case.toml:19:", "end"},
        Defect{"end = 1", "end = 1\nsteps = 2",
               "dir/case.toml:19:9: ", "'time.end' and 'time.steps' exclude each other"},
        Defect{"end = 1\n", "", "dir/case.toml: ", "one of the keys 'time.end', 'time.steps' must be given"},
        Defect{"end = 1", "steps = 1.5", "dir/case.toml:18:9: ", "an integer >= 0, found the number 1.5"},
        Defect{"end = 1", "steps = -3", "dir/case.toml:18:9: ", "found the integer -3"},
        Defect{"\"auto\"", "\"aut\"", "dir/case.toml:17:6: ", "a number > 0 or \"auto\", found the text \"aut\""},
        Defect{"end = 1", "end = [1", "dir/case.toml:", "not valid TOML"},
        Defect{"end = 1", "end = ", "dir/case.toml:18:", "not valid TOML"},
        Defect{"end = 1", "end : 1", "dir/case.toml:18:", "not valid TOML"},
        Defect{"[time]", "[time", "dir/case.toml:16:", "not valid TOML"},
        Defect{"[time]", "[mesh]", "dir/case.toml:16:", "not valid TOML"},
        Defect{"\"exp(-t)\"", "\"exp(-t\"", "dir/case.toml:6:10: ", "missing parenthesis"},
        Defect{"\"exp(-t)\"", "\"expp(-t)\"", "dir/case.toml:6:10: ", "did you mean 'exp'?"},
        Defect{"\"exp(-t)\"", "true", "dir/case.toml:6:10: ", "a number or an expression, found true"},
        Defect{"\"exp(-t)\"", "\"1/0\"", "dir/case.toml:6:10: ", "is inf"},
        Defect{"[\"0\",\"0\",\"1\"]]", "[\"0\",\"0\"]]", "dir/case.toml:5:", "found a list of 2"},
        Defect{",[\"0\",\"0\",\"1\"]]", "]", "dir/case.toml:5:5: ", "found a list of 2 rows"},
        Defect{"\"2\"", "\"w\"", "dir/case.toml:5:", "unknown name 'w'"},
        Defect{"K = [[", "fibre = [\"1\"]\nK = [[",
               "dir/case.toml:5:9: ", "a list of 3 numbers or expressions, found a list of 1"},
        Defect{"K = [[", "fibre = [1,0,0]\nK = [[", "dir/case.toml:5:9: ", "exclude each other"},
        Defect{"[[boundary]]\ntag = \"base\"", "[boundary]\ntag = \"base\"", "dir/case.toml:1", "boundary"},
        Defect{"tag = \"*\"\n", "", "dir/case.toml:12: ", "the key 'boundary[1].tag' is missing"},
        Defect{"\"dirichlet\"", "\"dirichle\"", "dir/case.toml:14:8: ", "did you mean \"dirichlet\"?"},
        Defect{"1e1]", "\"a\"]", "dir/case.toml:23:18: ", "found the text \"a\" in the list"},
        Defect{", 1e1]", "]", "dir/case.toml:23:9: ", "a list of 3 numbers, found a list of 2"},
        Defect{"file = \"meshes/heart.msh\"", "file = \"\"", "dir/case.toml:3:8: ", "a file name"},
        Defect{"file = \"meshes/heart.msh\"", "generate = \"box\"", "dir/case.toml: ", "'mesh.cubes' is missing"},
        Defect{"file = \"meshes/heart.msh\"", "file = \"a\"\nh = 1",
               "dir/case.toml:4:5: ", "'mesh.h' has no effect here"},
        Defect{"[output]", "[devices]\nfake_memory = \"1X\"\n[output]",
               "dir/case.toml:20:15: ", "like 4096 or \"512M\""},
        Defect{"[output]", "[partition]\nblock = 0\n[output]", "dir/case.toml:20:9: ", "in [1, 1048576]"},
        Defect{"[time]", "physics = 3\n[time]", "dir/case.toml:16:", "boundary[1].physics"},
        Defect{"model = \"diffusion\"", "model = \"diffusion\"\ntime = 3", "dir/case.toml:", "TOML"}),
    [](const auto& defect) { return "n" + std::to_string(defect.index); });

TEST(Case, a_scalar_for_a_table) {
  EXPECT_THAT(error_of("model = \"diffusion\"\ntime = 3\n"), StartsWith("dir/case.toml:2:8: 'time' must be a table"));
  EXPECT_THAT(error_of("boundary = [1]\n"), StartsWith("dir/case.toml:1:12: 'boundary' must be a list of tables"));
  EXPECT_THAT(error_of("boundary = {tag = \"a\"}\n"), HasSubstr("each written [[boundary]]"));
  EXPECT_THAT(error_of("[mesh]\nfile = {a = 1}\n"), StartsWith("dir/case.toml:2:8: 'mesh.file' must be a file name"));
}

TEST(Case, the_first_problem_of_the_file_is_reported) {
  EXPECT_THAT(error_of("modell = 1\nanother = 2\n"), StartsWith("dir/case.toml:1:"));
  EXPECT_THAT(error_of("zz = 1\naa = 2\n"), StartsWith("dir/case.toml:1:"));
}

}  // namespace
}  // namespace tutti
