// Turbulent flow: the same bits of a kept mass flow, a subgrid model and profiles on any machine and after a restart;
// profiles and eddy viscosities beside those of plain loops and formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

#include "tests/support/flow_run.hpp"
#include "tests/support/shared_folder.hpp"
#include "tutti/mesh/box_grid.hpp"

namespace tutti::incompressible {
namespace {

using test::face;
using test::flow_text;
using test::FlowRun;
using test::periodic;
using test::SavedState;

const Comm& world() {
  static const Comm comm;
  return comm;
}

constexpr int steps = 6;
const std::string channel =
    "stretch = [0, 1.5, 0]\n[initial]\nvelocity = [\"1-y*y+0.3*sin(6.2831853071795862*z)\", "
    "\"sin(6.2831853071795862*(x+z))\", \"y*cos(6.2831853071795862*x)\"]\n" +
    periodic("x") + periodic("z") +
    "[profiles]\ndirection = \"y\"\nevery = 2\nspectra = [0.1, 0.5]\n[fluid]\nviscosity = 0.01\nbulk_velocity = 0.7\n";

/// With temperature and a dye, or with a subgrid model and a force that a formula gives.
std::vector<std::string> flows() {
  const std::string time = fmt::format("[time]\nsteps = {}\n", steps);
  const std::string warm = "diffusivity = 0.02\nbuoyancy = [0, 1, 0]\nheat_source = \"sin(7*x)\"\n" + time +
                           "method = \"rk3\"\n[[scalar]]\nname = \"dye\"\ndiffusivity = 0.01\ninitial = \"y*y\"\n",
                    force = "force = [0, \"sin(6.2831853071795862*x)\", 0]\n";
  return {flow_text("[8, 9, 12]", channel + warm),
          flow_text("[8, 9, 12]", channel + "subgrid = \"wale\"\n" + force + time),
          flow_text("[8, 10, 9]", channel + "subgrid = \"smagorinsky\"\n" + time +
                                      "method = \"rk3\"\n[numerics]\nprecision = \"float\"\n"),
          flow_text("[8, 9, 9]", "[initial]\nvelocity = [\"y\", \"sin(6.2831853071795862*y)\", 0]\n" + periodic("x") +
                                     periodic("y") + "[profiles]\ndirection = \"z\"\nevery = 3\n[fluid]\n" +
                                     "viscosity = 0.01\nbulk_velocity = -1\nbulk_direction = \"y\"\n" + time)};
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// All that a run leaves: fields, numbers, files.
struct Left {
  SavedState state;
  std::string profiles, spectra;
};
Left left_by(const Comm& comm, FlowRun& run) {
  const test::SharedFolder folder(comm, "profiles");
  if (comm.is_root()) std::filesystem::create_directories(folder.path);
  run.model().write_results(folder.path);
  comm.barrier();
  return {run.state(), text_of(folder.path / "profiles.csv"), text_of(folder.path / "spectra.csv")};
}

TEST(Turbulence, any_machine_and_a_restart_give_the_bits_of_one_part) {
  const int ranks = world().size();
  const std::vector<std::pair<std::string, std::string>> machines =
      ranks > 1 ? std::vector<std::pair<std::string, std::string>>{{"fake:1", "slabs"},
                                                                   {"cpu", "blocks"},
                                                                   {"fake:1,cpu", "pencils"}}
                : std::vector<std::pair<std::string, std::string>>{
                      {"fake:2,cpu", "blocks"}, {"fake:2", "slabs"}, {"cpu,fake:1", "pencils"}};
  std::size_t turn = 0;
  for (const std::string& text : flows()) {
    SCOPED_TRACE(text);
    const Comm alone(MPI_COMM_SELF);
    FlowRun one(alone, text, "cpu");
    one.steps(steps);
    const Left expected = left_by(alone, one);
    EXPECT_GT(expected.state.numbers.at("samples of profiles"), 1);
    const auto& [devices, cut] = machines[turn++ % machines.size()];
    const auto& [later_devices, later_cut] = machines[turn % machines.size()];
    FlowRun first(world(), text + "[partition]\ncut = \"" + cut + "\"\n[balance]\nweights = \"equal\"\n", devices);
    first.steps(steps / 2);
    FlowRun second(world(), text + "[partition]\ncut = \"" + later_cut + "\"\n", later_devices, turn);
    second.resume(first.state(), steps / 2);
    second.steps(steps - steps / 2);
    const Left found = left_by(world(), second);
    EXPECT_EQ(test::difference(expected.state, found.state), "");
    EXPECT_EQ(expected.state.numbers, found.state.numbers);
    if (world().is_root()) {
      EXPECT_EQ(expected.profiles, found.profiles);
      EXPECT_EQ(expected.spectra, found.spectra);
    }
  }
}

/// Columns of a CSV by name; words are 0.
std::map<std::string, std::vector<double>> columns_of(const std::string& text) {
  std::map<std::string, std::vector<double>> columns;
  std::vector<std::string> names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::size_t i = 0;
    const bool first = names.empty();
    for (std::string word; std::getline(words, word, ',');)
      first ? names.push_back(word) : columns[names.at(i++)].push_back(std::strtod(word.c_str(), nullptr));
  }
  return columns;
}

TEST(Turbulence, profiles_are_the_means_of_what_was_there) {
  if (world().size() > 1) GTEST_SKIP();
  const std::string text = flows()[0];
  FlowRun run(world(), text, "cpu");
  const Lid nx = 8, ny = 9, nz = 12;
  std::map<std::string, std::vector<double>> sums;
  double samples = 0;
  std::vector<double> plane_squares(3);
  for (int k = 2; k <= steps; k += 2, ++samples) {
    run.steps(2);
    const SavedState state = run.state();
    const auto value = [&](const std::string& name, Lid i, Lid j, Lid k3) {
      return state.fields.at(name)[static_cast<std::size_t>(((k3 + nz) % nz * ny + j) * nx + (i + nx) % nx)];
    };
    for (Lid j = 0; j < ny; ++j)
      for (Lid k3 = 0; k3 < nz; ++k3)
        for (Lid i = 0; i < nx; ++i) {
          const double cells = nx * nz;
          const double u0 = value("u", i - 1, j, k3), u1 = value("u", i, j, k3), v1 = value("v", i, j, k3),
                       v0 = j > 0 ? value("v", i, j - 1, k3) : 0, w0 = value("w", i, j, k3 - 1),
                       w1 = value("w", i, j, k3), u = (u0 + u1) / 2, v = (v0 + v1) / 2, w = (w0 + w1) / 2,
                       p = value("p", i, j, k3), t = value("T", i, j, k3), dye = value("dye", i, j, k3);
          for (const auto& [name, amount] : std::map<std::string, double>{{"u", u},
                                                                          {"v", v},
                                                                          {"w", w},
                                                                          {"uu", (u0 * u0 + u1 * u1) / 2},
                                                                          {"vv", (v0 * v0 + v1 * v1) / 2},
                                                                          {"ww", (w0 * w0 + w1 * w1) / 2},
                                                                          {"uv", u * v},
                                                                          {"uw", u * w},
                                                                          {"vw", v * w},
                                                                          {"p", p},
                                                                          {"pp", p * p},
                                                                          {"T", t},
                                                                          {"T T", t * t},
                                                                          {"u T", u * t},
                                                                          {"v T", v * t},
                                                                          {"w T", w * t},
                                                                          {"dye", dye},
                                                                          {"dye dye", dye * dye},
                                                                          {"w dye", w * dye}}) {
            auto& sum = sums[name];
            sum.resize(static_cast<std::size_t>(ny));
            sum[static_cast<std::size_t>(j)] += amount / cells;
          }
          if (j == 4) {
            plane_squares[0] += u1 * u1 / cells;
            plane_squares[1] += v * v / cells;
            plane_squares[2] += dye * dye / cells;
          }
        }
  }
  const Left left = left_by(world(), run);
  const auto found = columns_of(left.profiles);
  const auto expect = [&](const std::string& name, const std::string& unit, const std::string& a = "",
                          const std::string& b = "") {
    const std::vector<double>& column = found.at(fmt::format("{} [{}]", name, unit));
    ASSERT_EQ(column.size(), static_cast<std::size_t>(ny));
    double largest = 0;
    for (std::size_t j = 0; j < column.size(); ++j) {
      const double mean = sums[name][j] / samples;
      EXPECT_NEAR(column[j], a.empty() ? mean : mean - sums[a][j] * sums[b][j] / samples / samples, 1e-11)
          << name << " of plane " << j;
      largest = std::max(largest, std::abs(column[j]));
    }
    EXPECT_GT(largest, 1e-6) << name << " is all but 0, which any code may find";
  };
  const std::string speed = "length/s", square = "length^2/s^2";
  expect("u", speed);
  expect("w", speed);
  for (const std::string c : {"u", "v", "w"}) expect(c + c, square, c, c);
  expect("uv", square, "u", "v");
  expect("uw", square, "u", "w");
  expect("vw", square, "v", "w");
  expect("p", square);
  expect("pp", "length^4/s^4", "p", "p");
  expect("T", "T");
  expect("T T", "T^2", "T", "T");
  for (const std::string c : {"u", "v", "w"}) expect(c + " T", "length/s T", c, "T");
  expect("dye dye", "dye^2", "dye", "dye");
  expect("w dye", "length/s dye", "w", "dye");

  // All modes of a plane together are the mean of the squares. Lines: two planes, along x then z.
  const auto spectra = columns_of(left.spectra);
  const std::vector<double>& at = spectra.at("y [length]");
  EXPECT_EQ(at.size(), static_cast<std::size_t>(2 * (nx / 2 + 1 + nz / 2 + 1)));
  std::size_t c = 0;
  for (const char* name : {"uu [length^2/s^2]", "vv [length^2/s^2]", "dye dye [dye^2]"}) {
    double sum = 0;
    for (std::size_t i = 0; i < at.size(); ++i) sum += at[i] == 0.5 ? spectra.at(name)[i] : 0;
    EXPECT_NEAR(sum, 2 * plane_squares[c++] / samples, 1e-10) << name;
  }
}

TEST(Turbulence, a_mass_flow_is_kept_by_the_force_that_friction_needs) {
  if (world().size() > 1) GTEST_SKIP();
  for (const char* method : {"ab2", "rk3"}) {
    FlowRun run(world(),
                flow_text("[4, 32, 1]",
                          "upper = [1, 2, 1]\nstretch = [0, 1, 0]\n[fluid]\nviscosity = 0.5\n"
                          "bulk_velocity = 0.25\n[time]\nend = 1000\nmethod = \"" +
                              std::string(method) + "\"\n" + periodic("x")),
                "cpu");
    run.until(8);
    const std::vector<double> u = run.state().fields.at("u");
    const GridLine y = make_grid_line(32, 0, 2, 1, false);
    double mean = 0;
    for (Lid j = 0; j < 32; ++j) mean += u[static_cast<std::size_t>(4 * j)] * y.width(j) / 2;
    EXPECT_NEAR(mean, 0.25, 1e-13);
    EXPECT_NEAR(run.diagnostic("force x"), 12 * 0.5 * 0.25 / 4, 4e-3 * 0.375) << "12 nu U / H^2 (Poiseuille)";
    const double wall = 0.5 * u[0] / (y.width(0) / 2);
    EXPECT_NEAR(run.diagnostic("force x") * 2, 2 * wall, 1e-9) << "the balance of the scheme itself";
  }
}

/// nu_t of the present velocity, on one CPU part.
std::vector<double> eddy_viscosity_of(FlowRun& run, const CellBox& box) {
  run.model().before_output();
  for (const ModelField& field : run.model().fields())
    if (field.name == "nu_t") {
      std::vector<double> values(static_cast<std::size_t>(box.cells()));
      field.read(0, {{0, static_cast<Lid>(box.cells())}, box}, values);
      return values;
    }
  ADD_FAILURE() << "no field nu_t";
  return {};
}

TEST(Turbulence, subgrid_models_in_pure_shear) {
  if (world().size() > 1) GTEST_SKIP();
  const std::string shear = "[initial]\nvelocity = [\"3*y\", 0, 0]\n" + face("y-upper", "value = [3, 0, 0]") +
                            periodic("x") + periodic("z") + "[time]\nsteps = 1\n[fluid]\nviscosity = 0.1\n";
  const Lid n = 8;
  const CellBox box{{0, 0, 0}, {n, n, n}};
  for (const double stretch : {0.0, 1.5}) {
    const std::string text = flow_text("[8, 8, 8]", fmt::format("stretch = [0, {}, 0]\n", stretch) + shear);
    const GridLine y = make_grid_line(n, 0, 1, stretch, false);
    FlowRun smagorinsky(world(), text + "subgrid = \"smagorinsky\"\nsubgrid_constant = 0.2\n", "cpu"),
        wale(world(), text + "subgrid = \"wale\"\n", "cpu");
    const auto expected = eddy_viscosity_of(smagorinsky, box), none = eddy_viscosity_of(wale, box);
    for (Lid k = 0; k < n; ++k)
      for (Lid j = 0; j < n; ++j)
        for (Lid i = 0; i < n; ++i) {
          const auto at = static_cast<std::size_t>((k * n + j) * n + i);
          const double delta = std::cbrt(y.width(j) / (n * n));
          EXPECT_NEAR(expected[at], std::pow(0.2 * delta, 2) * 3, 1e-12 * delta) << j;
          EXPECT_LT(none[at], 1e-12 * delta * delta) << "in pure shear";
        }
  }
}

TEST(Turbulence, wale_grows_as_the_cube_of_the_distance_from_a_wall) {
  if (world().size() > 1) GTEST_SKIP();
  // Near a wall: u = y, w = y cos z, and v = y^2 / 2 sin z for no divergence.
  const Lid ny = 32, nz = 16;
  FlowRun run(world(),
              flow_text("[4, 32, 16]", fmt::format("upper = [1, 0.02, {:.17g}]\n", 2 * std::numbers::pi) +
                                           "[initial]\nvelocity = [\"y\", \"0.5*y*y*sin(z)\", \"y*cos(z)\"]\n" +
                                           face("y-upper", "velocity = \"outflow\"") + periodic("x") + periodic("z") +
                                           "[time]\nsteps = 1\n[fluid]\nviscosity = 0.1\nsubgrid = \"wale\"\n"),
              "cpu");
  const auto found = eddy_viscosity_of(run, {{0, 0, 0}, {4, ny, nz}});
  const auto mean = [&](Lid j) {
    double sum = 0;
    for (Lid k = 0; k < nz; ++k) sum += found[static_cast<std::size_t>((k * ny + j) * 4)];
    return sum;
  };
  for (const Lid j : {1, 3, 7}) {  // distances 2 j + 1 half cells
    const double exponent = std::log(mean(2 * j + 1) / mean(j)) / std::log((4.0 * j + 3) / (2.0 * j + 1));
    EXPECT_NEAR(exponent, 3, 0.1) << "from plane " << j;
  }
}

}  // namespace
}  // namespace tutti::incompressible
