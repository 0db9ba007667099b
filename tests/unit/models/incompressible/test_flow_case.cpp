#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/flow_run.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/models/incompressible/flow_case.hpp"

namespace tutti::incompressible {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Six lines, then `more` from line 7 on.
std::string text_of(const std::string& more, const std::string& cells = "[4, 4, 4]") {
  return "model = \"incompressible\"\n[fluid]\nviscosity = 0.1\n[time]\nsteps = 1\n[grid]\ncells = " + cells + "\n" +
         more;
}
FlowCase read(const std::string& more, const std::string& cells = "[4, 4, 4]") {
  return read_flow_case(parse_case(text_of(more, cells), "case.toml", test::flow_schema()));
}
std::string face(const std::string& name, const std::string& more = "") {
  return "[[boundary]]\nface = \"" + name + "\"\n" + more + "\n";
}
std::string error_of(const std::string& more, const std::string& cells = "[4, 4, 4]") {
  try {
    read(more, cells);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}
const std::string periodic_face = "velocity = \"periodic\"", inflow = "velocity = \"inflow\"",
                  outflow = "velocity = \"outflow\"";

TEST(FlowCase, Defaults) {
  const FlowCase flow = read("");
  EXPECT_EQ(flow.grid.cells(), (std::array<Lid, 3>{4, 4, 4}));
  EXPECT_EQ(flow.grid.periodic(), (std::array<bool, 3>{false, false, false}));
  for (int d = 0; d < 3; ++d) {
    EXPECT_TRUE(flow.grid.uniform(d));
    EXPECT_EQ(flow.grid.lines[d].faces.front(), 0);
    EXPECT_EQ(flow.grid.lines[d].faces.back(), 1);
    EXPECT_EQ(flow.buoyancy[d], 0);
    EXPECT_EQ(flow.force[d]({1, 2, 3}), 0);
    EXPECT_EQ(flow.initial_velocity[d]({1, 2, 3}), 0);
  }
  for (const FlowEnd& end : flow.ends) {
    EXPECT_EQ(end.velocity, VelocityEnd::no_slip);
    for (const Expression& value : end.value) EXPECT_EQ(value({1, 2, 3}), 0);
  }
  EXPECT_EQ(flow.viscosity, 0.1);
  EXPECT_FALSE(flow.has_temperature);
  EXPECT_TRUE(flow.scalars.empty());
  EXPECT_FALSE(flow.has_outflow());
  EXPECT_FALSE(flow.exact.has_value());
  EXPECT_EQ(flow.scheme, TimeScheme::ab2);
  EXPECT_EQ(flow.pressure, PressureMethod::direct);
}

TEST(FlowCase, SweepsAndRelaxation) {
  EXPECT_EQ(read("[pressure]\nsolver = \"jacobi\"").sweeps, 20);
  EXPECT_EQ(read("[pressure]\nsolver = \"jacobi\"\nsweeps = 7").sweeps, 7);
  const FlowCase red_black = read("[pressure]\nsolver = \"red_black\"");
  EXPECT_EQ(red_black.sweeps, 10000);
  EXPECT_EQ(red_black.omega, 0) << "automatic";
  EXPECT_EQ(red_black.tolerance, 1e-8);
  EXPECT_EQ(read("[pressure]\nsolver = \"red_black\"\nomega = 1.5").omega, 1.5);
  EXPECT_THAT(error_of("[pressure]\nsolver = \"jacobi\"\nomega = 1.5"), HasSubstr("case.toml:10:"));
  EXPECT_THAT(error_of("[pressure]\nsolver = \"red_black\"\nomega = 2.5"), HasSubstr("case.toml:10:"));
  EXPECT_THAT(error_of("[pressure]\nsolver = \"red_black\"\ntolerance = 0"), HasSubstr("case.toml:10:"));
  EXPECT_THAT(error_of("[pressure]\nsweeps = 0"), HasSubstr("case.toml:9:"));
}

TEST(FlowCase, FacesHaveTheirNamesAndValues) {
  for (std::size_t f = 0; f < 6; ++f) {
    const bool upper = f % 2 == 1;
    const std::string opposite = box_face_names[upper ? f - 1 : f + 1];
    const FlowCase flow =
        read(face(box_face_names[f], inflow + "\nvalue = [\"1+y\", \"2*t\", 3]") + face(opposite, outflow));
    const FlowEnd& end = flow.ends[f];
    EXPECT_EQ(end.velocity, VelocityEnd::inflow);
    EXPECT_EQ(end.value[0]({0, 5, 0}, 0), 6);
    EXPECT_EQ(end.value[1]({0, 0, 0}, 4), 8);
    EXPECT_EQ(end.value[2]({0, 0, 0}, 0), 3);
    EXPECT_EQ(flow.ends[upper ? f - 1 : f + 1].velocity, VelocityEnd::outflow);
    EXPECT_TRUE(flow.has_outflow());
    for (std::size_t other = 0; other < 6; ++other) {
      EXPECT_EQ(flow.ends[other].velocity == VelocityEnd::no_slip, other / 2 != f / 2) << other;
    }
  }
}

TEST(FlowCase, AnOutflowNeedsTwoCells) {
  for (const std::size_t f : {4, 5}) {
    const std::string text = face(box_face_names[f], outflow), across = face("x-upper", outflow);
    std::string what = "no error";
    try {
      read(text, "[4, 4, 1]");
    } catch (const Error& error) {
      what = error.what();
    }
    EXPECT_THAT(what, HasSubstr(fmt::format("an outflow at {} needs two cells or more along z", box_face_names[f])));
    EXPECT_TRUE(read(text, "[4, 4, 2]").has_outflow());
    EXPECT_TRUE(read(across, "[4, 4, 1]").has_outflow());
  }
}

TEST(FlowCase, OneCellIsPeriodicUnlessItsFacesAreNamed) {
  const FlowCase flow = read("", "[4, 4, 1]");
  EXPECT_EQ(flow.grid.periodic(), (std::array<bool, 3>{false, false, true}));
  for (const std::size_t f : {4, 5}) EXPECT_EQ(flow.ends[f].velocity, VelocityEnd::periodic);
  EXPECT_EQ(read("", "[1, 4, 1]").grid.periodic(), (std::array<bool, 3>{true, false, true}));
  // One of them is enough: the other is a wall then.
  const FlowCase walls = read(face("z-lower", "velocity = \"free-slip\""), "[4, 4, 1]");
  EXPECT_FALSE(walls.grid.lines[2].periodic);
  EXPECT_EQ(walls.ends[4].velocity, VelocityEnd::free_slip);
  EXPECT_EQ(walls.ends[5].velocity, VelocityEnd::no_slip);
}

TEST(FlowCase, PeriodsOfBothEnds) {
  const FlowCase flow = read(face("y-upper", periodic_face) + face("y-lower", periodic_face));
  EXPECT_EQ(flow.grid.periodic(), (std::array<bool, 3>{false, true, false}));
  EXPECT_THAT(error_of(face("y-upper", periodic_face)),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("y-upper is periodic and y-lower is not")));
  EXPECT_THAT(error_of(face("x-lower", periodic_face) + face("x-upper", "velocity = \"free-slip\"")),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("x-lower is periodic and x-upper is not")));
  EXPECT_THAT(error_of("stretch = [0, 1, 0]\n" + face("y-upper", periodic_face) + face("y-lower", periodic_face)),
              AllOf(HasSubstr("case.toml:8:"), HasSubstr("y is periodic")));
  EXPECT_THAT(error_of("stretch = [0, 0, 1]\n", "[4, 4, 1]"),
              AllOf(HasSubstr("case.toml:8:"), HasSubstr("z is periodic")));
}

TEST(FlowCase, AFaceTwice) {
  EXPECT_THAT(error_of(face("x-upper") + face("y-upper") + face("x-upper")),
              AllOf(HasSubstr("case.toml:15:"), HasSubstr("the face x-upper has another table, at case.toml:9:")));
}

TEST(FlowCase, FlowThroughAWall) {
  EXPECT_THAT(error_of(face("y-lower", "value = [1, 0.5, 0]")),
              AllOf(HasSubstr("case.toml:10:"), HasSubstr("the wall y-lower"), HasSubstr("component y")));
  EXPECT_THAT(error_of(face("z-upper", "value = [0, 0, \"x-x\"]")), HasSubstr("component z"));
  EXPECT_EQ(error_of(face("y-lower", "value = [1, 0, \"x*t\"]")), "no error");
}

TEST(FlowCase, InflowNeedsAWayOut) {
  EXPECT_THAT(error_of(face("x-upper") + face("z-lower", inflow + "\nvalue = [0, 0, 1]")),
              AllOf(HasSubstr("case.toml:12:"), HasSubstr("there is an inflow at z-lower but no outflow")));
  EXPECT_EQ(error_of(face("z-lower", inflow + "\nvalue = [0, 0, 1]") + face("x-upper", outflow)), "no error");
}

TEST(FlowCase, NoTemperature) {
  EXPECT_THAT(error_of(face("x-lower", "temperature = \"fixed\"")),
              AllOf(HasSubstr("case.toml:10:"), HasSubstr("fluid.diffusivity")));
  const auto with = [](const std::string& fluid) {
    return read_flow_case(
        parse_case("model = \"incompressible\"\n[grid]\ncells = [4, 4, 4]\n[time]\nsteps = 1\n[fluid]\n"
                   "viscosity = 0.1\n" +
                       fluid,
                   "case.toml", test::flow_schema()));
  };
  try {
    with("buoyancy = [0, 0, 1]\n");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("case.toml:8:"), HasSubstr("fluid.diffusivity")));
  }
  const FlowCase warm = with("buoyancy = [0, 0, 1]\ndiffusivity = 0.25\nreference = 2\nheat_source = \"x\"\n" +
                             face("x-lower", "temperature = \"fixed\"\ntemperature_value = 3") +
                             face("x-upper", "temperature = \"flux\"\ntemperature_value = \"y*t\""));
  ASSERT_TRUE(warm.has_temperature);
  ASSERT_EQ(warm.scalars.size(), 1);
  const FlowScalar& temperature = warm.scalars[0];
  EXPECT_EQ(temperature.name, "T");
  EXPECT_EQ(temperature.diffusivity, 0.25);
  EXPECT_TRUE(with("diffusivity = 0\n").has_temperature);
  EXPECT_EQ(warm.reference, 2);
  EXPECT_EQ(temperature.source({7, 0, 0}), 7);
  EXPECT_EQ(temperature.ends[0].kind, ScalarEnd::fixed);
  EXPECT_EQ(temperature.ends[0].value({0, 0, 0}), 3);
  EXPECT_EQ(temperature.ends[1].kind, ScalarEnd::flux);
  EXPECT_EQ(temperature.ends[1].value({0, 2, 0}, 3), 6);
  EXPECT_EQ(temperature.ends[2].kind, ScalarEnd::no_flux);
}

TEST(FlowCase, TemperatureAtAFace) {
  const std::string flux = "temperature = \"flux\"\ntemperature_value = 1";
  const auto with = [](const std::string& diffusivity, const std::string& more) {
    try {
      read_flow_case(
          parse_case("model = \"incompressible\"\n[grid]\ncells = [4, 4, 4]\n[time]\nsteps = 1\n[fluid]\n"
                     "viscosity = 0.1\ndiffusivity = " +
                         diffusivity + "\n" + more,
                     "case.toml", test::flow_schema()));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(with("0.1", face("x-lower", flux)), "no error");
  EXPECT_THAT(with("0", face("x-lower", flux)),
              AllOf(HasSubstr("case.toml:11:"), HasSubstr("a flux of T needs a diffusivity")));
  EXPECT_THAT(with("0.1", face("y-upper", periodic_face + "\n" + flux) + face("y-lower", periodic_face)),
              AllOf(HasSubstr("case.toml:12:"), HasSubstr("y-upper is periodic")));
}

std::string scalar(const std::string& name, const std::string& more = "") {
  return "[[scalar]]\nname = \"" + name + "\"\ndiffusivity = 0.5\n" + more;
}
std::string scalar_face(const std::string& name, const std::string& where, const std::string& kind) {
  return "[[scalar_boundary]]\nscalar = \"" + name + "\"\nface = \"" + where + "\"\nkind = \"" + kind + "\"\n";
}

TEST(FlowCase, Scalars) {
  const FlowCase flow =
      read(scalar("dye") + scalar("salt_2", "initial = \"x\"\nsource = \"y*t\"\n") +
           scalar_face("salt_2", "x-lower", "fixed") + "value = \"z+t\"\n" + scalar_face("salt_2", "y-upper", "flux") +
           "value = 3\n" + scalar_face("dye", "y-upper", "no-flux"));
  EXPECT_FALSE(flow.has_temperature);
  ASSERT_EQ(flow.scalars.size(), 2);
  EXPECT_EQ(flow.largest_diffusivity(), 0.5);
  EXPECT_EQ(flow.scalars[0].name, "dye");
  EXPECT_EQ(flow.scalars[0].initial({1, 2, 3}), 0);
  EXPECT_EQ(flow.scalars[0].source({1, 2, 3}), 0);
  for (const FlowScalarEnd& end : flow.scalars[0].ends) EXPECT_EQ(end.kind, ScalarEnd::no_flux);
  const FlowScalar& salt = flow.scalars[1];
  EXPECT_EQ(salt.name, "salt_2");
  EXPECT_EQ(salt.diffusivity, 0.5);
  EXPECT_EQ(salt.initial({7, 0, 0}), 7);
  EXPECT_EQ(salt.source({0, 2, 0}, 3), 6);
  EXPECT_EQ(salt.ends[0].kind, ScalarEnd::fixed);
  EXPECT_EQ(salt.ends[0].value({0, 0, 1}, 2), 3);
  EXPECT_EQ(salt.ends[3].kind, ScalarEnd::flux);
  EXPECT_EQ(salt.ends[3].value({0, 0, 0}), 3);
  EXPECT_EQ(salt.ends[1].kind, ScalarEnd::no_flux);
}

TEST(FlowCase, ScalarsHaveNamesOfTheirOwn) {
  for (const char* name : {"", "2x", "a b", "dye,", "_s", "caf\u00e9"})
    EXPECT_THAT(error_of(scalar(name)), AllOf(HasSubstr("case.toml:9:"), HasSubstr("is not a valid name of a scalar")))
        << name;
  for (const char* name : {"velocity", "u", "v", "w", "p", "T", "part"})
    EXPECT_THAT(error_of(scalar(name)), AllOf(HasSubstr("case.toml:9:"), HasSubstr("use another name"))) << name;
  EXPECT_EQ(error_of(scalar("t")), "no error");
  EXPECT_THAT(error_of(scalar("dye") + scalar("salt") + scalar("dye")),
              AllOf(HasSubstr("case.toml:15:"), HasSubstr("'dye' has another table, at case.toml:9:")));
}

TEST(FlowCase, FacesOfScalars) {
  const std::string dye = scalar("dye");
  EXPECT_THAT(error_of(scalar_face("dye", "x-lower", "fixed")),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("there is no scalar 'dye'")));
  EXPECT_THAT(error_of(dye + scalar_face("T", "x-lower", "fixed")),
              AllOf(HasSubstr("case.toml:12:"), HasSubstr("there is no scalar 'T'")));
  EXPECT_THAT(error_of(dye + scalar_face("dye", "x-lower", "fixed") + scalar_face("dye", "x-lower", "no-flux")),
              AllOf(HasSubstr("case.toml:17:"), HasSubstr("another table for the scalar 'dye', at case.toml:13:")));
  EXPECT_THAT(error_of(dye + scalar_face("dye", "y-upper", "fixed") + face("y-upper", periodic_face) +
                       face("y-lower", periodic_face)),
              AllOf(HasSubstr("case.toml:13:"), HasSubstr("y-upper is periodic")));
  EXPECT_THAT(error_of(dye + scalar_face("dye", "x-lower", "no-flux") + "value = 1\n"), HasSubstr("case.toml:15:"));
  EXPECT_THAT(error_of("[[scalar]]\nname = \"dye\"\ndiffusivity = 0\n" + scalar_face("dye", "x-lower", "flux")),
              AllOf(HasSubstr("case.toml:14:"), HasSubstr("a flux of dye needs a diffusivity")));
  EXPECT_THAT(error_of(scalar("dye", "initial = \"t\"\n")),
              AllOf(HasSubstr("case.toml:11:"), HasSubstr("scalar.initial")));
  EXPECT_THAT(error_of("[[scalar]]\nname = \"dye\"\n"), HasSubstr("diffusivity"));
  // A grid one cell thick is periodic there, too.
  std::string what = "no error";
  try {
    read(dye + scalar_face("dye", "z-upper", "fixed"), "[4, 4, 1]");
  } catch (const Error& error) {
    what = error.what();
  }
  EXPECT_THAT(what, HasSubstr("z-upper is periodic"));
}

TEST(FlowCase, TheStartDoesNotDependOnTime) {
  EXPECT_THAT(error_of("[initial]\nvelocity = [0, \"t\", 0]"),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("initial.velocity")));
  EXPECT_THAT(error_of("[initial]\ntemperature = \"x+t\""),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("initial.temperature")));
}

TEST(FlowCase, ColoursNeedAnEvenPeriod) {
  const std::string colours = "[pressure]\nsolver = \"red_black\"\n",
                    period = face("y-upper", periodic_face) + face("y-lower", periodic_face);
  EXPECT_THAT(error_of(period + colours, "[8, 7, 8]"),
              HasSubstr("an even number of cells in a periodic direction, not 7"));
  EXPECT_EQ(error_of(period + colours, "[7, 8, 7]"), "no error");
}

TEST(FlowCase, Turbulence) {
  const auto with = [](const std::string& fluid, const std::string& more = "",
                       const std::string& time = "[time]\nsteps = 1\n") {
    try {
      return std::pair(
          read_flow_case(parse_case("model = \"incompressible\"\n[grid]\ncells = [4, 4, 4]\n[fluid]\n" + fluid +
                                        "\nviscosity = 0.1\n" + more + face("x-lower", periodic_face) +
                                        face("x-upper", periodic_face) + face("z-lower", periodic_face) +
                                        face("z-upper", periodic_face) + time,
                                    "case.toml", test::flow_schema())),
          std::string("no error"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      return std::pair(FlowCase(), std::string(error.what()));
    }
  };
  const FlowCase plain = with("").first, smagorinsky = with("subgrid = \"smagorinsky\"").first;
  EXPECT_FALSE(plain.bulk.has_value());
  EXPECT_EQ(plain.subgrid, SubgridModel::none);
  EXPECT_FALSE(plain.profiles.has_value());
  EXPECT_EQ(smagorinsky.subgrid, SubgridModel::smagorinsky);
  EXPECT_EQ(smagorinsky.subgrid_constant, 0.17);
  EXPECT_EQ(with("subgrid = \"wale\"").first.subgrid_constant, 0.5);
  EXPECT_EQ(with("subgrid = \"wale\"\nsubgrid_constant = 0.3").first.subgrid_constant, 0.3);
  const FlowCase bulk = with("bulk_velocity = -2\nbulk_direction = \"z\"").first;
  ASSERT_TRUE(bulk.bulk.has_value());
  EXPECT_EQ(bulk.bulk->direction, 2);
  EXPECT_EQ(bulk.bulk->velocity, -2);
  EXPECT_THAT(with("bulk_velocity = 1\nbulk_direction = \"y\"").second,
              AllOf(HasSubstr("case.toml:5:"), HasSubstr("y is not periodic")));
  EXPECT_THAT(with("bulk_velocity = \"x\"").second, HasSubstr("case.toml:5:"));
  EXPECT_THAT(with("subgrid_constant = 1").second, HasSubstr("case.toml:5:"));
  EXPECT_THAT(with("subgrid = \"wale\"\nsubgrid_constant = -1").second, HasSubstr("case.toml:6:"));
  EXPECT_THAT(with("subgrid = \"wale\"\ndiffusivity = 0.1").second,
              AllOf(HasSubstr("case.toml:5:"), HasSubstr("does not mix T")));
  for (const char* key : {"bulk_velocity = 1", "subgrid = \"wale\""})
    EXPECT_THAT(with(key, "", "[time]\nsteps = 1\ndiffusion = \"implicit\"\n").second,
                AllOf(HasSubstr("case.toml:5:"), HasSubstr("time.diffusion")));
  const FlowCase profiles = with("", "[profiles]\ndirection = \"y\"\nspectra = [0.5]\nend = 3\n").first;
  ASSERT_TRUE(profiles.profiles.has_value());
  EXPECT_EQ(profiles.profiles->direction, 1);
  EXPECT_EQ(profiles.profiles->every, 10);
  EXPECT_EQ(profiles.profiles->start, 0);
  EXPECT_EQ(profiles.profiles->end, 3);
  EXPECT_EQ(profiles.profiles->positions, std::vector<double>{0.5});
  EXPECT_THAT(with("", "[profiles]\ndirection = \"x\"\n").second,
              AllOf(HasSubstr("case.toml:8:"), HasSubstr("y is not periodic")));
  EXPECT_THAT(with("", "[profiles]\ndirection = \"y\"\nspectra = [0.5, 2]\n").second,
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("2 is outside the grid")));
  EXPECT_THAT(with("", "[profiles]\ndirection = \"y\"\nstart = 2\nend = 1\n").second,
              AllOf(HasSubstr("case.toml:10:"), HasSubstr("before profiles.start")));
  EXPECT_THAT(with("", "[profiles]\ndirection = \"y\"\nevery = 0\n").second, HasSubstr("case.toml:9:"));
  EXPECT_THAT(with("", "[profiles]\nevery = 5\n").second, HasSubstr("case.toml:8:"));
}

TEST(FlowCase, ImplicitDiffusion) {
  const auto with = [](const std::string& time) {
    return read_flow_case(
        parse_case("model = \"incompressible\"\n[grid]\ncells = [4, 4, 4]\n[fluid]\nviscosity = 0.1\n"
                   "[time]\nsteps = 1\n" +
                       time,
                   "case.toml", test::flow_schema()));
  };
  const auto error = [&](const std::string& time) -> std::string {
    try {
      with(time);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input);
      return e.what();
    }
    return "no error";
  };
  EXPECT_FALSE(with("").implicit_diffusion);
  EXPECT_TRUE(with("diffusion = \"implicit\"\n").implicit_diffusion);
  EXPECT_EQ(with("diffusion = \"implicit\"\n").diffusion_tolerance, 1e-8);
  EXPECT_EQ(with("diffusion = \"implicit\"\n[numerics]\nprecision = \"float\"\n").diffusion_tolerance, 1e-5);
  EXPECT_EQ(with("diffusion = \"implicit\"\ndiffusion_tolerance = 1e-3\n").diffusion_tolerance, 1e-3);
  EXPECT_THAT(error("diffusion = \"implicit\"\nmethod = \"rk3\"\n"),
              AllOf(HasSubstr("case.toml:8:"), HasSubstr("needs time.method = \"ab2\", not \"rk3\"")));
  EXPECT_THAT(error("diffusion = \"adi\"\n"), AllOf(HasSubstr("case.toml:8:"), HasSubstr("implicit")));
  EXPECT_THAT(error("diffusion_tolerance = 1e-3\n"), HasSubstr("case.toml:8:"));
  for (const char* tolerance : {"0", "0.2", "-1"})
    EXPECT_THAT(error(fmt::format("diffusion = \"implicit\"\ndiffusion_tolerance = {}\n", tolerance)),
                HasSubstr("case.toml:9:"));
}

TEST(FlowCase, TheGrid) {
  EXPECT_THAT(error_of("upper = [1, -1, 1]"), AllOf(HasSubstr("case.toml:8:"), HasSubstr("lower one in y")));
  EXPECT_THAT(error_of("lower = [0, 0, 1]"), HasSubstr("lower one in z"));
  EXPECT_THAT(error_of("", "[65536, 65536, 65536]"), AllOf(HasSubstr("case.toml:7:"), HasSubstr("too many")));
  EXPECT_THAT(error_of("", "[0, 4, 4]"), HasSubstr("case.toml:7:"));
  EXPECT_THAT(error_of("", "[4, 4]"), HasSubstr("case.toml:7:"));
  const FlowCase flow = read("lower = [-1, 0, 2]\nupper = [1, 3, 8]\nstretch = [0, 2, 0]");
  EXPECT_EQ(flow.grid.lines[0].faces.front(), -1);
  EXPECT_EQ(flow.grid.lines[2].length(), 6);
  EXPECT_FALSE(flow.grid.uniform(1));
  EXPECT_TRUE(flow.grid.uniform(0) && flow.grid.uniform(2));
}

TEST(FlowCase, UnknownKeysAndWords) {
  EXPECT_THAT(error_of("[fluids]\nviscosity = 1"), HasSubstr("case.toml:"));
  EXPECT_THAT(error_of(face("top")), AllOf(HasSubstr("case.toml:9:"), HasSubstr("y-upper")));
  EXPECT_THAT(error_of(face("y-upper", "velocity = \"slip\"")),
              AllOf(HasSubstr("case.toml:10:"), HasSubstr("free-slip")));
  EXPECT_THAT(error_of("[mesh]\ngenerate = \"box\""), HasSubstr("mesh"));
  EXPECT_THAT(error_of("[pressure]\nsolver = \"cg\""), AllOf(HasSubstr("case.toml:9:"), HasSubstr("red_black")));
}

// What only the model knows.

std::string error_of_model(const std::string& more, const std::string& devices, ErrorKind kind) {
  try {
    test::FlowRun(test::world(), more, devices);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

TEST(FlowSetup, AStepAboveTheLimitOfFriction) {
  const auto with = [](const std::string& method, double dt, const std::string& cells = "[4, 5, 1]") {
    return error_of_model(
        fmt::format("model = \"incompressible\"\n[grid]\ncells = {}\n[fluid]\nviscosity = 0.1\n[time]\n"
                    "steps = 1\nmethod = \"{}\"\ndt = {}\n",
                    cells, method, dt),
        "cpu", ErrorKind::numerical);
  };
  // 1 over 4 viscosity (1/h^2 + 1/k^2), times the length of the scheme's interval on the negative axis.
  const double limit = 1 / (0.4 * (16 + 25));
  EXPECT_THAT(with("ab2", 1.001 * limit),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr(fmt::format("{:.6g}", limit)), HasSubstr("ab2")));
  EXPECT_EQ(with("ab2", 0.999 * limit), "no error");
  EXPECT_THAT(with("ab2", 0.999 * limit, "[4, 5, 1]\n[[scalar]]\nname = \"dye\"\ndiffusivity = 0.2"),
              HasSubstr(fmt::format("{:.6g}", 0.5 * limit)));
  EXPECT_THAT(with("rk3", 2.501 * limit), HasSubstr(fmt::format("{:.6g}", 2.5 * limit)));
  EXPECT_EQ(with("rk3", 2.499 * limit), "no error");
  EXPECT_EQ(with("ab2\"\ndiffusion = \"implicit", 50 * limit), "no error");
}

TEST(FlowSetup, TheCheckOfTheSolverAsksForNoMoreThanTheCase) {
  const std::string lid =
      text_of(face("y-upper", "value = [1, 0, 0]") + "[pressure]\nsolver = \"red_black\"\ntolerance = ");
  for (const char* tolerance : {"1e-1", "1e-4", "1e-9"})
    EXPECT_EQ(error_of_model(lid + tolerance + "\n", "cpu", ErrorKind::numerical), "no error") << tolerance;
}

TEST(FlowSetup, RelaxationFromRest) {
  // What flows in, or a force, is all that moves; at first neither does.
  const std::string red_black = "[pressure]\nsolver = \"red_black\"\n";
  for (const char* value : {"[1, 0, 0]", "[\"t\", 0, 0]"}) {
    test::FlowRun run(test::world(),
                      text_of(face("x-lower", inflow + "\nvalue = " + value) + face("x-upper", outflow) + red_black),
                      "cpu");
    run.steps(2);
    EXPECT_LE(run.diagnostic("divergence"), 1e-7) << value;
  }
  test::FlowRun run(
      test::world(),
      "model = \"incompressible\"\n[grid]\ncells = [4, 4, 4]\n[time]\nsteps = 2\n[fluid]\nviscosity = 0.1\n"
      "force = [\"y*t\", \"x\", 0]\n" +
          red_black,
      "cpu");
  run.steps(2);
  EXPECT_LE(run.diagnostic("divergence"), 1e-7);
  EXPECT_GT(run.diagnostic("max|u|"), 0);
}

TEST(FlowSetup, ABoxSmallerThanItsParts) {
  const std::string text = text_of("[balance]\nweights = \"equal\"\n", "[8, 2, 2]");
  EXPECT_THAT(error_of_model(text, "fake:2,cpu", ErrorKind::input),
              AllOf(HasSubstr("case.toml:7:"), HasSubstr("8 x 2 x 2"), HasSubstr("3 parts")));
  EXPECT_EQ(error_of_model(text + "[partition]\ncut = \"blocks\"\n", "fake:2,cpu", ErrorKind::input), "no error");
  EXPECT_EQ(error_of_model(text_of("[balance]\nweights = [1, 0, 1]\n", "[8, 2, 2]"), "fake:2,cpu", ErrorKind::input),
            "no error");
  EXPECT_THAT(error_of_model(text_of("[balance]\nweights = [1, 1]\n", "[8, 2, 2]"), "fake:2,cpu", ErrorKind::input),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("2 entries for 3 devices")));
}

}  // namespace
}  // namespace tutti::incompressible
