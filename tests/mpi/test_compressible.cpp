// Compressible flow: the bits of a single CPU part, for any partition, number of ranks, devices and overlap policy, and
// after a restart on others.
#include <gtest/gtest.h>

#include "tests/support/compressible_run.hpp"
#include "tutti/models/compressible/compressible_plan.hpp"

namespace tutti {
namespace {

using test::CompressibleRun;
using test::difference;
using test::SavedState;
using test::TestBox;

const Comm& world() {
  static const Comm comm;
  return comm;
}

struct Flow {
  const char* name;
  std::string text;
  double dt;
};

std::vector<Flow> flows() {
  const std::string wave =
      "[physics.initial]\nrho = \"1 + 0.2*sin(2*pi*x)*sin(2*pi*y)*sin(2*pi*z)\"\n"
      "velocity = [\"0.5\", \"0.4*cos(2*pi*x)\", \"0.3\"]\np = \"1 + 0.1*x*(1-x)\"\n[time]\nsteps = 1\n";
  const std::string walls =
      "[[boundary]]\ntag = \"x-min\"\ntype = \"far-field\"\nrho = \"1\"\nvelocity = [\"0.2 + 0.1*sin(9*t)\", 0, 0]\np "
      "= \"1\"\n"
      "[[boundary]]\ntag = \"x-max\"\ntype = \"outflow\"\np = \"1\"\n"
      "[[boundary]]\ntag = \"y-min\"\ntype = \"isothermal\"\ntemperature = \"1.1\"\n"
      "[[boundary]]\ntag = \"*\"\ntype = \"adiabatic\"\n";
  return {{"tetrahedra", TestBox{.jitter = 0.1}.text() + "[numerics]\norder = 2\nflux = \"roe\"\n" + wave, 2e-3},
          {"mixed and viscous",
           TestBox{"mixed", {4, 3, 2}, {1, 1, 1}, 0.1, "false"}.text() + walls +
               "[physics]\nviscosity = 0.01\n[numerics]\norder = 1\n" + wave + "method = \"low-storage\"\n",
           2e-3},
          {"stored, five stages",
           TestBox{"prism", {3, 3, 3}, {1, 1, 1}, 0.1}.text() +
               "[numerics]\norder = 1\nform = \"stored\"\nflux = \"llf\"\n" + wave + "method = \"ssp-rk54\"\n",
           2e-3},
          {"shocks",
           TestBox{"mixed", {4, 3, 3}, {1, 1, 1}, 0.1}.text() +
               "[numerics]\norder = 2\nlimiter = \"positivity\"\nshock_viscosity = 0.25\n"
               "[physics.initial]\nrho = \"x < 0.4 ? 1 : 0.125\"\nvelocity = [\"y < 0.5 ? 2 : -2\", 0, 0.5]\n"
               "p = \"x < 0.4 ? 1 : 0.02\"\n[time]\nsteps = 1\n",
           2e-3},
          {"straight hexahedra of order 4",
           TestBox{"hex", {4, 3, 3}}.text() + "[physics]\nviscosity = 0.01\n[numerics]\norder = 4\n" + wave, 5e-4}};
}

struct Machine {
  std::string devices, method, overlap, order;
  std::string keys() const {
    return fmt::format(
        "[partition]\nmethod = \"{}\"\norder = \"{}\"\n[devices]\noverlap = \"{}\"\n[balance]\nweights = \"equal\"\n",
        method, order, overlap);
  }
};
std::vector<Machine> machines() {
  if (world().size() > 1) return {{"cpu", "metis", "full", "hilbert"}, {"fake:1,cpu", "hilbert", "messages", "native"}};
  return {{"fake:2,cpu", "metis", "full", "random"}, {"fake:3", "slabs", "none", "hilbert"}};
}

constexpr int steps_done = 3;

SavedState of_one_part(const Flow& flow) {
  return test::state_of_one_part<CompressibleRun>(world(), flow.text,
                                                  [&](CompressibleRun& run) { run.steps(steps_done, flow.dt); });
}

TEST(Compressible, SameBitsOnEveryMachine) {
  for (const Flow& flow : flows()) {
    const SavedState should = of_one_part(flow);
    for (const auto& [name, values] : should.fields)
      for (const double v : values) ASSERT_TRUE(std::isfinite(v)) << flow.name << ": " << name;
    for (const Machine& machine : machines()) {
      SCOPED_TRACE(fmt::format("{} on {}, {}", flow.name, machine.devices, machine.method));
      CompressibleRun run(world(), flow.text + machine.keys(), machine.devices);
      run.steps(steps_done, flow.dt);
      EXPECT_EQ(difference(run.state(), should), "");
    }
  }
}

/// The solution of this method changes its array after each step, and devices launch captured steps again: each array
/// has its own.
TEST(Compressible, CapturedStepsKnowTheirArraysWhereTheFirstPartIsEmpty) {
  const std::string text = flows()[0].text + "method = \"low-storage\"\n";
  const Comm alone(MPI_COMM_SELF);
  const auto state = [&](const std::string& keys, const char* devices) {
    CompressibleRun run(alone, text + keys, devices);
    run.steps(12, 1e-3);
    return run.state();
  };
  const SavedState should = state("", "cpu");
  for (const char* weights : {"[0, 1]", "[1, 0]", "[1, 1]"})
    EXPECT_EQ(difference(state(fmt::format("[balance]\nweights = {}\n", weights), "fake:2"), should), "") << weights;
}

// Affine elements have the same basis in both at this order, but for rounding. The rules of straight tetrahedra are the
// same, too; those of other straight elements have more points in the stored form.
TEST(Compressible, StoredFormIsTheSharedOne) {
  for (const char* element : {"hex", "tet", "prism"})
    for (const char* viscosity : {"0", "0.01"}) {
      std::vector<std::vector<double>> states;
      for (const char* form : {"auto", "stored"}) {
        CompressibleRun run(world(),
                            TestBox{element, {3, 3, 3}, {1, 2, 1}}.text() +
                                fmt::format("[physics]\nviscosity = {}\n[numerics]\norder = 3\nform = \"{}\"\n"
                                            "[physics.initial]\nrho = \"1 + 0.2*sin(2*pi*x)\"\n"
                                            "velocity = [0.5, 0.4, 0.3]\np = 1\n[time]\nsteps = 1\n",
                                            viscosity, form),
                            "cpu");
        run.steps(steps_done, 1e-3);
        states.push_back(run.coefficients());
      }
      double largest = 0;
      for (std::size_t i = 0; i < states[0].size(); ++i)
        largest = std::max(largest, std::abs(states[1][i] - states[0][i]));
      EXPECT_LT(largest, element == std::string_view("tet") ? 1e-12 : 1e-5) << element << ' ' << viscosity;
      EXPECT_GT(largest, 0) << "they are two ways";
    }
}

TEST(Compressible, GoesOnFromItsStateOnOthers) {
  for (const Flow& flow : flows()) {
    SCOPED_TRACE(flow.name);
    const SavedState should = of_one_part(flow);
    CompressibleRun before(world(), flow.text + Machine{"cpu", "hilbert", "full", "native"}.keys(), "cpu");
    before.steps(1, flow.dt);
    CompressibleRun after(world(), flow.text + machines()[1].keys(), machines()[1].devices, 2);
    after.resume(before.state(), 1, before.time());
    after.steps(steps_done - 1, flow.dt);
    EXPECT_EQ(difference(after.state(), should), "");
  }
}

TEST(Compressible, TunesKernelsByItselfWhereAllDevicesAreGpus) {
  using compressible::KernelChoice;
  const auto tuned = [](KernelChoice kernels, const std::string& list, int order = 2, double viscosity = 0,
                        double shock_viscosity = 0) {
    compressible::CompressibleCase flow;
    flow.kernels = kernels;
    flow.tuned = kernels == KernelChoice::tuned;
    flow.order = order;
    flow.gas.viscosity = viscosity;
    if (viscosity > 0) flow.gas.law = compressible::ViscosityLaw::constant;
    flow.sensor.strength = shock_viscosity;
    compressible::choose_kernels(flow, world(), list.empty() ? DeviceSet{} : open_devices(list, world()));
    return flow.tuned;
  };
  EXPECT_TRUE(tuned(KernelChoice::automatic, "")) << "no device that is no GPU";
  EXPECT_FALSE(tuned(KernelChoice::automatic, "fake:1,cpu"));
  EXPECT_FALSE(tuned(KernelChoice::automatic, "", 4));
  EXPECT_TRUE(tuned(KernelChoice::automatic, "", 2, 0.01));
  EXPECT_FALSE(tuned(KernelChoice::automatic, "", 2, 0, 0.5));
  EXPECT_FALSE(tuned(KernelChoice::portable, ""));
  EXPECT_TRUE(tuned(KernelChoice::tuned, "fake:1,cpu"));
  // No part of a run without GPUs has them, whatever is asked for.
  std::string text = flows()[0].text;
  text.replace(text.find("[numerics]\n"), 11, "[numerics]\nkernels = \"tuned\"\n");
  CompressibleRun run(world(), text, "cpu");
  EXPECT_FALSE(run.model().flow().tuned);
}

// What `tutti plan` says of the devices' memory.
TEST(Compressible, TakesTheMemoryThatIsPlanned) {
  for (const Flow& flow : flows()) {
    SCOPED_TRACE(flow.name);
    CompressibleRun run(world(), flow.text + Machine{"", "hilbert", "full", "native"}.keys(), "fake:2,cpu");
    const auto& domain = run.model().domain();
    std::vector<PlannedPart> parts(domain.mine());
    std::vector<Size> at_most(parts.size(), 0);
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (PlannedArray& a : compressible::plan_arrays(run.model().flow(), domain, p)) {
        if (a.name.find("at most") != std::string::npos) at_most[p] += a.bytes;
        if (a.name != "vorticity, when written") parts[p].arrays.push_back(std::move(a));
      }
    plan_exchanges(world(), domain, compressible::variables * run.model().flow().bases(), 1, parts);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (domain.streams[p].is_host()) continue;  // several arrays of others are there
      EXPECT_GE(parts[p].bytes(), domain.device(p).budget().used()) << "part " << p;
      EXPECT_LE(parts[p].bytes() - at_most[p], domain.device(p).budget().used()) << "part " << p;
    }
  }
}

}  // namespace
}  // namespace tutti
