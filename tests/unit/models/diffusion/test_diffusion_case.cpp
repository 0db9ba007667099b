#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tutti/device/device.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/diffusion/diffusion_case.hpp"

namespace tutti::diffusion {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CaseSchema schema() {
  auto s = core_schema({"diffusion"});
  add_diffusion_keys(s);
  return s;
}

Case parse(const std::string& more, const std::string& physics = "K = 1", const std::vector<std::string>& sets = {}) {
  return parse_case(
      "model = \"diffusion\"\n[mesh]\nfile = \"a.msh\"\n[time]\nsteps = 1\n[physics]\n" + physics + "\n" + more + "\n",
      "case.toml", schema(), sets);
}

/// A mesh with the regions 'left' (1) and 2, and the surfaces 'lid' (5), 7; 'ghost' (9) is a name without cells and
/// faces.
DiffusionPhysics physics_of(const Case& options) {
  return DiffusionPhysics(options, {{1, "left"}, {9, "ghost"}}, {{5, "lid"}, {9, "ghost"}}, {1, 2}, {5, 7});
}

std::string error_of(const std::string& more, const std::string& physics = "K = 1") {
  try {
    physics_of(parse(more, physics));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

TEST(DiffusionCase, FindsGroupsByNameAndByNumber) {
  const auto physics =
      physics_of(parse("[[boundary]]\ntag = \"lid\"\ntype = \"dirichlet\"\n[[boundary]]\ntag = \"7\"\nvalue = 3\n"
                       "[[physics.region]]\nname = \"left\"\nK = 2\n[[physics.region]]\nname = \"2\"\nK = 3"));
  EXPECT_EQ(physics.kind(5), BoundaryKind::dirichlet);
  EXPECT_EQ(physics.condition(7).value({}), 3.0);
  EXPECT_EQ(physics.condition(6).value({}), 0.0);
}

TEST(DiffusionCase, GroupsThatTheMeshDoesNotHaveAreErrors) {
  for (const char* word : {"6", "ghost", "9", "lidd", "", "5x", "99999999999"})
    EXPECT_THAT(error_of(std::string("[[boundary]]\ntag = \"") + word + "\""),
                AllOf(HasSubstr("case.toml:9:"), HasSubstr(std::string("no surface '") + word + "'"),
                      HasSubstr("the mesh has 'lid' (5) 7")));
  EXPECT_THAT(error_of("[[physics.region]]\nname = \"3\"\nK = 1"),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("no region '3'"), HasSubstr("the mesh has 'left' (1) 2")));
  const Case options = parse("[[boundary]]\ntag = \"5\"");
  try {
    DiffusionPhysics(options, {}, {}, {}, {});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the mesh has none"));
  }
}

TEST(DiffusionCase, AGroupHasOneTable) {
  EXPECT_THAT(error_of("[[boundary]]\ntag = \"*\"\n[[boundary]]\ntag = \"*\"\nvalue = 1"),
              AllOf(HasSubstr("case.toml:11:"), HasSubstr("surface '*' has two [[boundary]] tables")));
  EXPECT_THAT(error_of("[[boundary]]\ntag = \"lid\"\n[[boundary]]\ntag = \"5\""), HasSubstr("surface '5' has two"));
  EXPECT_THAT(error_of("[[physics.region]]\nname = \"left\"\nK = 1\n[[physics.region]]\nname = \"1\"\nK = 2"),
              AllOf(HasSubstr("case.toml:12:"), HasSubstr("region '1' has two [[physics.region]] tables")));
}

TEST(DiffusionCase, WhatIsEvaluatedOnceMustNotDependOnTime) {
  const auto names = [](const char* key) {
    return AllOf(HasSubstr("case.toml:"), HasSubstr(std::string("'") + key + "' depends on t"),
                 HasSubstr("x, y and z"));
  };
  EXPECT_THAT(error_of("", "K = \"1 + t\""), AllOf(names("physics.K"), HasSubstr("case.toml:7:")));
  EXPECT_THAT(error_of("", "K = [[1, 0, 0], [0, 1, \"t\"], [0, \"t\", 1]]"), names("physics.K"));
  const std::string fibre = "fibre = [1, 0, 0]\n";
  EXPECT_THAT(error_of("", "fibre = [1, \"sin(t)\", 0]\nlongitudinal = 1\ntransverse = 1"), names("physics.fibre"));
  EXPECT_THAT(error_of("", fibre + "longitudinal = \"t\"\ntransverse = 1"), names("physics.longitudinal"));
  EXPECT_THAT(error_of("", fibre + "longitudinal = 1\ntransverse = \"t\""), names("physics.transverse"));
  EXPECT_THAT(error_of("[[physics.region]]\nname = \"2\"\nK = \"t\""), names("physics.region[0].K"));
  EXPECT_THAT(error_of("", "K = 1\ninitial = \"x + t\""), names("physics.initial"));
  // These are evaluated at every time.
  EXPECT_EQ(error_of("[[boundary]]\ntag = \"*\"\nvalue = \"t\"", "K = \"1 + x\"\nsource = \"t\"\nexact = \"t\""),
            "no error");
}

TEST(DiffusionCase, KeysWithoutEffectAreErrors) {
  EXPECT_NO_THROW(parse(""));
  EXPECT_NO_THROW(parse("[numerics]\nformat = \"ellpack\"\nlayout = \"rows\""));
  EXPECT_NO_THROW(parse("[numerics]\nsigma = 64"));
  EXPECT_NO_THROW(parse("", "K = 1", {"time.method=rkc2", "time.stages=5"}));
  EXPECT_THROW(parse("[numerics]\nlayout = \"rows\""), Error);
  EXPECT_THROW(parse("[numerics]\nformat = \"ellpack\"\nsigma = 64"), Error);
  EXPECT_THROW(parse("", "K = 1", {"time.stages=5"}), Error);
  // Defaults are there also where they do not count.
  EXPECT_EQ(row_format(parse(""), true), RowFormat::sliced);
  EXPECT_EQ(row_format(parse("[numerics]\nformat = \"ellpack\""), true), RowFormat::rows);
  EXPECT_EQ(row_format(parse("[numerics]\nformat = \"ellpack\""), false), RowFormat::blocks);
}

TEST(DiffusionCase, DefaultsOfTheCore) {
  const Case options = parse("");
  EXPECT_TRUE(options.is_word("partition.block", "auto"));
  EXPECT_EQ(parse("[partition]\nblock = 128").integer("partition.block"), 128);
  EXPECT_THROW(parse("[partition]\nblock = \"big\""), Error);
  EXPECT_EQ(options.text("partition.graph"), "faces");
  EXPECT_EQ(options.bytes("devices.fake_memory"), FakeOptions{}.memory);
}

}  // namespace
}  // namespace tutti::diffusion
