// What a case of transport says, and what is told where it contradicts itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "tests/support/transport_run.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/models/transport/paper_parameters.hpp"

namespace tutti::transport {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string velocity = "[velocity]\neast = \"cos(lat)\"\n",
                  tracer = "[[tracer]]\nname = \"dye\"\ninitial = \"x\"\n";

/// Six lines, then `more` from line 7 on.
std::string text_of(const std::string& more) {
  return "model = \"transport\"\n[nodes]\ngenerate = \"icosahedral\"\ncount = 162\n[time]\nsteps = 1\n" + more;
}
TransportCase read(const std::string& more) {
  return read_transport_case(parse_case(text_of(more), "case.toml", test::transport_schema()));
}
std::string error_of(const std::string& more) {
  try {
    read(more);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line";
    return error.what();
  }
  return "no error";
}

TEST(TransportCase, Defaults) {
  const TransportCase found = read(velocity + tracer);
  EXPECT_EQ(found.basis.kind, StencilBasis::Kind::polyharmonic);
  EXPECT_EQ(found.basis.size, 57);
  EXPECT_EQ(found.basis.exponent, 7);
  EXPECT_EQ(found.basis.degree, 6);
  EXPECT_EQ(found.basis.hyper, 2);
  EXPECT_EQ(found.damping, Damping::spectral);
  EXPECT_FALSE(found.strength.has_value()) << "found by the noise test";
  EXPECT_EQ(found.method, RungeKutta::rk4);
  EXPECT_FALSE(found.cartesian);
  EXPECT_TRUE(found.steady());
  ASSERT_EQ(found.velocity.size(), 2U);
  EXPECT_EQ(found.velocity[1]({0.6, 0, 0.8}), 0) << "north";
  ASSERT_EQ(found.tracers.size(), 1U);
  EXPECT_EQ(found.tracers[0].name, "dye");
  EXPECT_FALSE(found.tracers[0].exact.has_value());
}

TEST(TransportCase, Words) {
  const TransportCase found = read(
      "[velocity]\ncartesian = [\"-y\", \"x*cos(t)\", 0]\n" + tracer +
      "[[tracer]]\nname = \"Salt_2\"\ninitial = 1\nexact = \"cos(t)\"\n[stencil]\nsize = 30\nexponent = 5\ndegree = 4\n"
      "[hyperviscosity]\nkind = \"paper\"\nk = 2\ngamma_c = 8\n");
  EXPECT_TRUE(found.cartesian);
  EXPECT_FALSE(found.steady());
  EXPECT_EQ(found.velocity.size(), 3U);
  ASSERT_EQ(found.tracers.size(), 2U);
  EXPECT_EQ(found.tracers[1].name, "Salt_2");
  EXPECT_EQ(found.tracers[1].exact->text(), "cos(t)");
  EXPECT_EQ(found.basis.size, 30);
  EXPECT_EQ(found.basis.hyper, 2);
  EXPECT_EQ(found.damping, Damping::paper);
  EXPECT_EQ(found.strength, 8);
  EXPECT_EQ(read(velocity + tracer + "[hyperviscosity]\nkind = \"none\"\n").damping, Damping::none);
  EXPECT_EQ(read("method = \"ssp-rk3\"\n" + velocity + tracer).method, RungeKutta::ssp_rk3);
}

TEST(TransportCase, ShapeParameters) {
  const std::string rest = velocity + tracer, gaussian = rest + "[stencil]\nbasis = \"gaussian\"\n";
  for (const PaperParameters& entry : vortex_parameters) {
    const TransportCase found = read(gaussian + fmt::format("size = {}\n", entry.size));
    EXPECT_EQ(found.basis_for(10201).epsilon, entry.c1 * 101 - entry.c2);
  }
  EXPECT_EQ(read(gaussian + "size = 31\nc1 = 0.5\nc2 = 1.5\n").basis_for(400).epsilon, 0.5 * 20 - 1.5);
  EXPECT_EQ(read(gaussian + "size = 31\nc2 = 0.2\n").basis_for(400).epsilon, 0.035 * 20 - 0.2);
  EXPECT_EQ(read(gaussian + "size = 40\nepsilon = 3.5\n").basis_for(400).epsilon, 3.5);
  EXPECT_EQ(read(rest).basis_for(400).epsilon, 0) << "splines have none";
  EXPECT_THAT(error_of(gaussian + "size = 40\n"),
              AllOf(HasSubstr("case.toml:14:"), HasSubstr("17, 31, 50 and 101"), HasSubstr("40"), HasSubstr("c1")));
}

TEST(TransportCase, DampingOfThePaperByName) {
  const auto text = [](int size, const std::string& name, const std::string& more = "") {
    return velocity + tracer + fmt::format("[stencil]\nbasis = \"gaussian\"\nsize = {}\n", size) +
           fmt::format("[hyperviscosity]\nkind = \"paper\"\ngamma_c = \"{}\"\n", name) + more;
  };
  // As printed.
  const int k[2][4] = {{2, 4, 4, 4}, {2, 4, 6, 8}}, sizes[4] = {17, 31, 50, 101};
  const double gamma[2][4] = {{8, 800, 145, 40}, {8e-4, 5e-2, 5e-1, 5e-2}};
  for (int i = 0; i < 4; ++i) {
    const TransportCase vortex = read(text(sizes[i], "vortex")), seconds = read(text(sizes[i], "bell-seconds")),
                        bell = read(text(sizes[i], "bell"));
    EXPECT_EQ(vortex.damping, Damping::paper);
    EXPECT_EQ(vortex.basis.hyper, k[0][i]);
    EXPECT_EQ(vortex.strength, gamma[0][i]);
    EXPECT_EQ(seconds.basis.hyper, k[1][i]);
    EXPECT_EQ(seconds.strength, gamma[1][i]);
    EXPECT_EQ(bell.basis.hyper, k[1][i]);
    // A turn in 12 days is one in 2 pi units of time: u_0 = 1.
    EXPECT_DOUBLE_EQ(*bell.strength, gamma[1][i] * 86400 * 12 / (2 * std::numbers::pi));
  }
  EXPECT_EQ(read(text(50, "bell", "k = 6\n")).basis.hyper, 6) << "the table's own";
  EXPECT_THAT(error_of(text(50, "bell", "k = 4\n")),
              AllOf(HasSubstr("case.toml:18:"), HasSubstr("k = 6"), HasSubstr("k = \"auto\"")));
  EXPECT_THAT(error_of(text(50, "bells")), AllOf(HasSubstr("case.toml:17:"), HasSubstr("bell-seconds")));
  const std::string rest = velocity + tracer, named = "[hyperviscosity]\nkind = \"paper\"\ngamma_c = \"vortex\"\n";
  EXPECT_THAT(error_of(rest + "[stencil]\nbasis = \"gaussian\"\nepsilon = 4\nsize = 40\n" + named),
              AllOf(HasSubstr("case.toml:18:"), HasSubstr("17, 31, 50 or 101"), HasSubstr("\"vortex\"")));
  EXPECT_THAT(error_of(rest + "[stencil]\nsize = 50\n" + named),
              AllOf(HasSubstr("case.toml:16:"), HasSubstr("gaussian"), HasSubstr("as a number")));
}

TEST(TransportCase, VelocitiesThatAreNone) {
  EXPECT_THAT(error_of(tracer), AllOf(HasSubstr("case.toml:1:"), HasSubstr("no velocity"), HasSubstr("velocity.east")));
  EXPECT_THAT(error_of(velocity + "cartesian = [0, 0, 0]\n" + tracer),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("given twice")));
  EXPECT_THAT(error_of("[velocity]\ncartesian = [0, 0]\n" + tracer), AllOf(HasSubstr("case.toml:8:"), HasSubstr("3")));
  EXPECT_THAT(error_of("[velocity]\nwest = 1\n" + tracer),
              AllOf(HasSubstr("case.toml:8:"), HasSubstr("'velocity.west'")));
  EXPECT_THAT(error_of("[velocity]\neast = \"cos(latt)\"\n" + tracer),
              AllOf(HasSubstr("case.toml:8:"), HasSubstr("latt"), HasSubstr("did you mean 'lat'")));
}

TEST(TransportCase, TracersThatAreNone) {
  EXPECT_THAT(error_of(velocity), AllOf(HasSubstr("case.toml:1:"), HasSubstr("[[tracer]]")));
  EXPECT_THAT(error_of(velocity + tracer + tracer),
              AllOf(HasSubstr("case.toml:13:"), HasSubstr("the tracer 'dye' has two tables")));
  for (const char* name : {"", "2nd", "_x", "a b", "a-b", "a/../b"})
    EXPECT_THAT(error_of(velocity + fmt::format("[[tracer]]\nname = \"{}\"\ninitial = 1\n", name)),
                AllOf(HasSubstr("case.toml:10:"), HasSubstr("not a valid name of a tracer")))
        << name;
  EXPECT_THAT(error_of(velocity + "[[tracer]]\nname = \"a\"\n"),
              AllOf(HasSubstr("case.toml:9:"), HasSubstr("initial")));
  EXPECT_THAT(error_of(velocity + "[[tracer]]\nname = \"a\"\ninitial = \"t*x\"\n"),
              AllOf(HasSubstr("case.toml:11:"), HasSubstr("t")));
  EXPECT_THAT(error_of(velocity + tracer + "inital = 2\n"),
              AllOf(HasSubstr("case.toml:12:"), HasSubstr("did you mean 'tracer[0].initial'")));
}

TEST(TransportCase, KeysThatDoNotFit) {
  const std::string rest = velocity + tracer;
  EXPECT_THAT(error_of(rest + "[stencil]\nbasis = \"gaussian\"\nsize = 31\ndegree = 4\n"), HasSubstr("case.toml:15:"));
  EXPECT_THAT(error_of(rest + "[stencil]\nepsilon = 4\n"), HasSubstr("case.toml:13:"));
  EXPECT_THAT(error_of(rest + "[stencil]\nsize = 301\n"), AllOf(HasSubstr("case.toml:13:"), HasSubstr("300")));
  EXPECT_THAT(error_of(rest + "[hyperviscosity]\nkind = \"paper\"\n"), HasSubstr("gamma_c"));
  EXPECT_THAT(error_of(rest + "[hyperviscosity]\ngamma_c = 4\n"), HasSubstr("case.toml:13:"));
  EXPECT_THAT(error_of(rest + "[hyperviscosity]\nkind = \"none\"\nbeta = 0.1\n"), HasSubstr("case.toml:14:"));
  EXPECT_THAT(error_of("tolerance = -1\n" + rest), AllOf(HasSubstr("case.toml:7:"), HasSubstr("time.tolerance")));
  EXPECT_THAT(error_of("method = \"rk5\"\n" + rest), AllOf(HasSubstr("case.toml:7:"), HasSubstr("ssp-rk3")));
}

}  // namespace
}  // namespace tutti::transport
