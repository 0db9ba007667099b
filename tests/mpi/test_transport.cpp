// Transport on the sphere: the bits of a single CPU part, for any partition, number of ranks, devices and overlap
// policy, and after a restart on others.
#include <gtest/gtest.h>

#include "tests/support/transport_run.hpp"

namespace tutti::transport {
namespace {

using test::difference;
using test::SavedState;
using test::TransportRun;

const Comm& world() {
  static const Comm comm;
  return comm;
}

/// Who computes: keys of the case and a list of devices, for this number of ranks.
struct Machine {
  std::string devices, method, overlap, order;
  std::vector<double> weights;  ///< one a part; empty: equal

  std::string keys() const {
    std::string list;
    for (const double w : weights) list += fmt::format("{}{}", list.empty() ? "" : ", ", w);
    return fmt::format(
        "[partition]\nmethod = \"{}\"\norder = \"{}\"\n[devices]\noverlap = \"{}\"\n[balance]\nweights = {}\n", method,
        order, overlap, weights.empty() ? "\"equal\"" : "[" + list + "]");
  }
};

/// Weights 1, 0, 3, 1, 0, ... of `parts` parts.
std::vector<double> uneven_weights(int parts) {
  std::vector<double> weights;
  for (int p = 0; p < parts; ++p) weights.push_back(p % 3 == 1 ? 0 : 1 + p % 3);
  return weights;
}

/// Fake devices take much time of the system: many ranks have few.
std::vector<Machine> machines() {
  const int ranks = world().size();
  if (ranks > 1)
    return {{"cpu", "metis", "full", "hilbert", {}},
            {"fake:1,cpu", "hilbert", "messages", "native", uneven_weights(2 * ranks)},
            {"cpu", "latitude", "none", "random", {}},
            {"fake:1", "metis", "full", "native", uneven_weights(ranks)},
            {"cpu", "hilbert", "full", "hilbert", uneven_weights(ranks)},
            {"fake:1", "latitude", "messages", "hilbert", {}}};
  return {{"fake:1", "metis", "full", "native", {}},
          {"fake:3", "hilbert", "full", "hilbert", {}},
          {"fake:2,cpu", "metis", "full", "random", {}},
          {"fake:2", "metis", "messages", "hilbert", {0, 1}},
          {"fake:2,cpu", "latitude", "messages", "hilbert", {1, 0, 2}},
          {"fake:3", "latitude", "none", "native", {}},
          {"fake:2,cpu", "hilbert", "none", "hilbert", {3, 1, 0}}};
}

struct Flow {
  std::string name, text;
};

std::string nodes(const std::string& kind, int count) {
  return fmt::format("model = \"transport\"\n[nodes]\ngenerate = \"{}\"\ncount = {}\n", kind, count);
}

std::vector<Flow> flows() {
  const std::string splines = "[stencil]\nsize = 25\nexponent = 5\ndegree = 4\n[hyperviscosity]\nk = 2\n",
                    gaussian =
                        "[stencil]\nbasis = \"gaussian\"\nsize = 17\nepsilon = 2.5\n"
                        "[hyperviscosity]\nkind = \"paper\"\nk = 2\ngamma_c = 8\n",
                    undamped =
                        "[stencil]\nsize = 20\nexponent = 3\ndegree = 3\n[hyperviscosity]\nkind = \"none\"\n"
                        "k = 1\n";
  const std::string steady = "[velocity]\neast = \"cos(lat) + 0.3*sin(lat)*cos(lon)\"\nnorth = \"-0.3*sin(lon)\"\n",
                    changing =
                        "[velocity]\neast = \"sin(lon - t)^2*sin(2*lat)*cos(t)\"\n"
                        "north = \"sin(2*lon)*cos(lat)*cos(2*t)\"\n",
                    cartesian = "[velocity]\ncartesian = [\"-y + 0.2*sin(3*t)*z\", \"x\", \"x*y*cos(t)\"]\n";
  const std::string one = "[[tracer]]\nname = \"dye\"\ninitial = \"sin(2*lon)*cos(lat)^2 + z\"\n",
                    three = one + "[[tracer]]\nname = \"salt\"\ninitial = \"exp(-4*((x-1)^2 + y^2 + z^2))\"\n" +
                            "[[tracer]]\nname = \"step\"\ninitial = \"x > 0.3 ? 1 : 0\"\n";
  const std::string steps = "[time]\nsteps = 6\n", rk3 = steps + "method = \"ssp-rk3\"\n",
                    unchecked = "[numerics]\ncheck = false\n";
  return {{"steady, rk4", nodes("icosahedral", 252) + splines + steady + one + steps + unchecked},
          {"changing, three tracers, rk4", nodes("fibonacci", 230) + splines + changing + three + steps + unchecked},
          {"steady, three tracers, ssp-rk3", nodes("random", 200) + splines + steady + three + rk3 + unchecked},
          {"cartesian and changing, ssp-rk3", nodes("relaxed", 210) + undamped + cartesian + one + rk3 + unchecked},
          {"steady, gaussian, rk4", nodes("icosahedral", 252) + gaussian + steady + one + steps + unchecked}};
}

TEST(Transport, any_machine_gives_the_bits_of_one_part) {
  const auto all = machines();
  const auto some = flows();
  for (std::size_t f = 0; f < some.size(); ++f) {
    const Flow& flow = some[f];
    std::uint64_t checksum = 0;
    const SavedState expected = test::state_of_one_part<TransportRun>(world(), flow.text, 3, &checksum);
    // Every second machine; the others with other flows and numbers of ranks.
    for (std::size_t m = (f + static_cast<std::size_t>(world().size()) / 2) % 2; m < all.size(); m += 2) {
      const Machine& machine = all[m];
      SCOPED_TRACE(fmt::format("{}; {}, {}", flow.name, machine.devices, machine.keys()));
      TransportRun run(world(), flow.text + machine.keys(), machine.devices, 10 * f + m);
      run.steps(3);
      EXPECT_EQ(difference(expected, run.state()), "");
      EXPECT_EQ(run.summary().checksum, checksum);
    }
  }
}

TEST(Transport, with_an_end_the_time_step_is_for_all_velocities_until_then) {
  const std::string start = nodes("icosahedral", 162) +
                            "[stencil]\nsize = 17\nexponent = 5\ndegree = 2\n[hyperviscosity]\nk = 1\n"
                            "[velocity]\neast = \"cos(lat)";
  const std::string rest =
      "\"\n[[tracer]]\nname = \"dye\"\ninitial = \"x\"\n"
      "[numerics]\ncheck = false\n[time]\n";
  const std::string text = start + "*(1 + 9*t)" + rest;
  const Machine machine = machines()[1];
  TransportRun run(world(), text + "end = 1.0\n" + machine.keys(), machine.devices);
  std::vector<double> expected(2);
  if (world().is_root()) {
    const Comm alone(MPI_COMM_SELF);
    expected[0] = TransportRun(alone, text + "end = 1.0\n", "cpu").model().time_step();
    expected[1] = TransportRun(alone, start + rest + "steps = 1\n", "cpu").model().time_step();
  }
  world().broadcast(expected);
  EXPECT_EQ(run.model().time_step(), expected[0]);
  EXPECT_NEAR(expected[1] / expected[0], 10, 1e-9) << "beside the one of the velocity at the start";
}

TEST(Transport, the_noise_test_leaves_no_trace) {
  // The set-up works in the arrays of the run: with the test and without, on one part and on many.
  const std::string text = nodes("icosahedral", 252) +
                           "[velocity]\neast = \"cos(lat)\"\n[[tracer]]\nname = \"dye\"\ninitial = \"z*x\"\n"
                           "[hyperviscosity]\nk = 2\n[time]\nsteps = 6\n[numerics]\ncheck = ";
  const SavedState expected = test::state_of_one_part<TransportRun>(world(), text + "false\n", 3);
  TransportRun run(world(), text + "true\n[balance]\nweights = \"equal\"\n", world().size() > 1 ? "cpu" : "fake:2,cpu");
  run.steps(3);
  EXPECT_EQ(difference(expected, run.state()), "");
}

TEST(Transport, sums_do_not_depend_on_the_machine) {
  const Flow flow = flows()[1];
  const Machine machine = machines()[1];
  TransportRun run(world(), flow.text + machine.keys(), machine.devices);
  run.steps(2);
  const Summary summary = run.summary();
  std::vector<double> expected;
  if (world().is_root()) {
    const Comm alone(MPI_COMM_SELF);
    TransportRun single(alone, flow.text, "cpu");
    single.steps(2);
    for (const TracerSummary& s : single.summary().tracers)
      expected.insert(expected.end(), {s.mass, s.mass_drift, s.min, s.max});
    for (const char* name : {"max|q|", "mass of dye", "mass of salt", "mass of step"})
      expected.push_back(single.diagnostic(name));
  }
  world().broadcast(expected);
  std::vector<double> found;
  for (const TracerSummary& s : summary.tracers) found.insert(found.end(), {s.mass, s.mass_drift, s.min, s.max});
  for (const char* name : {"max|q|", "mass of dye", "mass of salt", "mass of step"})
    found.push_back(run.diagnostic(name));
  EXPECT_EQ(found, expected);
}

TEST(Transport, has_the_same_bits_when_its_passes_are_captured) {
  if (world().size() > 1) GTEST_SKIP() << "other ranks' messages are waited for";
  const auto some = flows();
  for (std::size_t k : {0U, 1U, 2U, 3U}) {
    SCOPED_TRACE(some[k].name);
    // Steps enough for all passes to come again and again.
    const SavedState expected = test::state_of_one_part<TransportRun>(world(), some[k].text, 14);
    TransportRun run(world(), some[k].text, "fake:2");
    run.steps(14);
    EXPECT_EQ(difference(expected, run.state()), "");
  }
}

TEST(Transport, goes_on_from_a_state_on_another_machine) {
  const auto all = machines();
  const auto some = flows();
  const auto ranks = static_cast<std::size_t>(world().size());
  for (std::size_t turn = 0; turn < 2; ++turn) {
    const Flow& flow = some[(2 * ranks + turn + 1) % some.size()];
    const Machine &before = all[(ranks + turn) % all.size()], &behind = all[(ranks + turn + 3) % all.size()];
    SCOPED_TRACE(fmt::format("{}; {}, {}; then {}, {}", flow.name, before.devices, before.keys(), behind.devices,
                             behind.keys()));
    const SavedState expected = test::state_of_one_part<TransportRun>(world(), flow.text, 6);
    TransportRun first(world(), flow.text + before.keys(), before.devices);
    first.steps(3);
    TransportRun second(world(), flow.text + behind.keys(), behind.devices);
    second.resume(first.state(), 3);
    second.steps(3);
    EXPECT_EQ(difference(expected, second.state()), "");
    // What the mass is compared with is the run's first.
    EXPECT_EQ(second.summary().mass.initial, first.summary().mass.initial);
  }
}

}  // namespace
}  // namespace tutti::transport
