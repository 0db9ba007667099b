// What is written of a flow: probes and slices, of parts anywhere, some without cells; series that go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/checkpoint_state.hpp"
#include "tests/support/flow_run.hpp"
#include "tutti/io/probes.hpp"
#include "tutti/mesh/box_grid.hpp"
#include "tutti/simulation/field_values.hpp"
#include "tutti/simulation/output/field_files.hpp"

namespace tutti::incompressible {
namespace {

namespace fs = std::filesystem;
using test::flow_text;
using test::FlowRun;
using test::SavedState;
using testing::HasSubstr;

const Comm& world() {
  static const Comm comm;
  return comm;
}

constexpr std::array<Lid, 3> cells{9, 8, 7};

/// Periodic in y, walls elsewhere.
std::string text(const std::string& stretch, const std::string& more) {
  return flow_text("[9, 8, 7]", "lower = [-1, 0, 0]\nstretch = " + stretch +
                                    "\n[fluid]\nviscosity = 0.01\ndiffusivity = 0.02\nbuoyancy = [0, 0, 2]\n"
                                    "[initial]\ntemperature = \"x*y-z\"\n"
                                    "velocity = [\"sin(pi*x)*cos(2*pi*y)\", \"cos(3*z)\", \"x*x\"]\n"
                                    "[[boundary]]\nface = \"y-lower\"\nvelocity = \"periodic\"\n"
                                    "[[boundary]]\nface = \"y-upper\"\nvelocity = \"periodic\"\n"
                                    "[time]\nsteps = 4\n") +
         more;
}

/// Parts of which some have no cells, `devices` a rank; no more have some than there are planes.
std::string machine(const std::string& cut, int devices) {
  std::string weights;
  for (int p = 0; p < devices * world().size(); ++p)
    weights += fmt::format("{}{}", p > 0 ? ", " : "", p < 9 ? (p + 1) % 3 : 0);
  return fmt::format("[partition]\ncut = \"{}\"\n[balance]\nweights = [{}]\n", cut, weights);
}
struct Machine {
  std::string devices, keys;
};
std::vector<Machine> machines() {
  return {{"fake:1,cpu", machine("slabs", 2)}, {"cpu", machine("pencils", 1)}, {"fake:1", machine("blocks", 1)}};
}

std::string probe(const std::string& name, const Vec3& at) {
  return fmt::format("[[output.probe]]\nname = \"{}\"\npoint = [{}, {}, {}]\n", name, at.x, at.y, at.z);
}
std::string slice(const std::string& name, char axis, double position) {
  return fmt::format("[[output.slice]]\nname = \"{}\"\naxis = \"{}\"\nposition = {}\n", name, axis, position);
}

/// Corners, planes between cells, cells in different parts.
const std::vector<Vec3> points = {{-1, 0, 0}, {1, 1, 1}, {0.1, 0.25, 0.5}, {-0.9, 1, 0.01}, {0.4, 0.5, 0.99}};

/// From the state as a checkpoint has it: u, v, w are at the upper faces of cells.
std::vector<double> expected_at(const SavedState& state, const BoxGrid& grid, const Vec3& point, bool warm) {
  std::array<Lid, 3> cell{};
  for (std::size_t d = 0; d < 3; ++d)
    while (cell[d] + 1 < cells[d] && grid.lines[d].faces[cell[d] + 1] <= point[static_cast<int>(d)]) ++cell[d];
  const auto value = [&](const char* name, const std::array<Lid, 3>& at) {
    const Lid number = (at[2] * cells[1] + at[1]) * cells[0] + at[0];
    return state.fields.at(name)[number];
  };
  std::vector<double> values;
  for (std::size_t c = 0; c < 3; ++c) {
    const char* name = std::array<const char*, 3>{"u", "v", "w"}[c];
    std::array<Lid, 3> below = cell;
    double lower = 0;  // nothing flows through a wall
    if (c == 1 || cell[c] > 0) {
      below[c] = (cell[c] + cells[c] - 1) % cells[c];
      lower = value(name, below);
    }
    values.push_back(0.5 * (lower + value(name, cell)));
  }
  values.push_back(value("p", cell));
  if (warm) values.push_back(value("T", cell));
  return values;
}

TEST(FlowOutput, probes_tell_every_field) {
  std::string probes;
  for (std::size_t i = 0; i < points.size(); ++i) probes += probe(fmt::format("p{}", i), points[i]);
  for (const std::string stretch : {"[0, 0, 0]", "[1, 0, 1.5]"})
    for (const Machine& machine : machines())
      for (const bool warm : {true, false}) {
        std::string source = text(stretch, probes + machine.keys);
        if (!warm)
          for (const char* key : {"diffusivity", "buoyancy", "temperature"}) source.insert(source.find(key), "# ");
        SCOPED_TRACE(source);
        FlowRun run(world(), source, machine.devices);
        run.steps(2);
        const std::vector<std::string> labels(points.size(), "probe");
        const auto places = run.model().domain().locate(world(), points, labels);
        run.model().before_output();
        const std::vector<double> got = probed_values(world(), run.model().fields(), places, points.size());
        std::vector<std::string> names{"u", "v", "w", "p"};
        if (warm) names.emplace_back("T");
        ASSERT_EQ(probed_names(run.model().fields()), names);
        BoxGrid grid;
        const double s = stretch == "[0, 0, 0]" ? 0 : 1;
        grid.lines = {make_grid_line(9, -1, 1, s, false), make_grid_line(8, 0, 1, 0, true),
                      make_grid_line(7, 0, 1, 1.5 * s, false)};
        const SavedState state = run.state();
        std::vector<double> expected;
        for (const Vec3& point : points)
          for (const double v : expected_at(state, grid, point, warm)) expected.push_back(v);
        EXPECT_EQ(got, expected);
      }
}

/// The message of all ranks.
std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  ADD_FAILURE() << "taken";
  return {};
}

TEST(FlowOutput, a_probe_outside_is_refused) {
  const std::string says = "probe 'far' at (0, 1.5, 0) is outside the box; move it inside";
  const auto with = [](const Vec3& far) {
    return text("[0, 0, 0]", probe("a", {0, 0, 0}) + probe("far", far) + machine("slabs", 1));
  };
  EXPECT_THAT(refusal([&] { FlowRun(world(), with({0, 1.5, 0}), "cpu"); }), HasSubstr(says));
  FlowRun run(world(), with({0, 0.5, 0}), "cpu");
  EXPECT_THAT(refusal([&] {
                run.model().domain().locate(world(), std::vector<Vec3>{{0, 0, 0}, {0, 1.5, 0}},
                                            std::vector<std::string>{"probe 'a'", "probe 'far'"});
              }),
              HasSubstr(says));
}

void compare(const fs::path& folder, const std::string& slices) {
  world().together([&] {
    if (!world().is_root()) return;
    const char* python = std::getenv("TUTTI_PYTHON");
    const std::string command =
        fmt::format("{} '{}/../python/read_slices.py' '{}' {}", python != nullptr ? python : "/usr/bin/python3",
                    TUTTI_TEST_DATA, folder.string(), slices);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  });
}

TEST(FlowOutput, slices_are_layers_of_the_fields) {
  const std::string slices =
      slice("first", 'z', 0) + slice("last", 'x', 1) + slice("mid_1-2", 'y', 0.5) + slice("again", 'y', 0.51);
  for (const std::string more : {"[0, 0, 0]", "[1, 0, 1.5]"})
    for (const Machine& machine : machines()) {
      SCOPED_TRACE(more + machine.devices + machine.keys);
      const test::SharedFolder own(world(), "flow_slices");
      const auto write = [&](int steps, std::span<const double> before,
                             std::span<const std::vector<double>> slices_before) {
        FlowRun run(world(), text(more, slices + machine.keys), machine.devices);
        Model& model = run.model();
        VtkOptions options;
        FieldFiles results(world(), model.domain().pieces(options), own.path, options, before);
        std::vector<FieldFiles> files;
        auto pieces = model.domain().slices(run.options());
        ASSERT_EQ(pieces.size(), 4U);
        for (std::size_t s = 0; s < 4; ++s) {
          const std::string name = "slice-" + run.options().text(fmt::format("output.slice[{}].name", s));
          files.emplace_back(world(), std::move(pieces[s]), own.path / "slices", options, slices_before[s],
                             SeriesNames{name + ".pvd", name});
        }
        for (int step = 0; step < steps; ++step) {
          run.steps(1);
          const double time = 0.25 * (step + 1 + static_cast<double>(before.size()));
          model.before_output();
          results.write(time, model.fields());
          for (std::size_t s = 0; s < 4; ++s)
            if (s != 2 || step == 0) files[s].write(time, model.fields());
        }
      };
      write(2, {}, std::vector<std::vector<double>>(4));
      compare(own.path, "first:2:0:0.25,0.5 last:0:8:0.25,0.5 mid_1-2:1:4:0.25 again:1:4:0.25,0.5");
      // An earlier run's series go on, and one of them begins anew.
      const std::vector<double> before{0.25, 0.5};
      write(1, before, std::vector<std::vector<double>>{before, before, {0.25}, {}});
      compare(own.path, "first:2:0:0.25,0.5,0.75 last:0:8:0.25,0.5,0.75 mid_1-2:1:4:0.25,0.75 again:1:4:0.75");
    }
}

TEST(FlowOutput, slices_that_cannot_be_are_refused) {
  const auto refused = [&](const std::string& slices) {
    return refusal([&] { FlowRun run(world(), text("[0, 0, 0]", slices + machine("slabs", 1)), "cpu"); });
  };
  const std::string good = slice("a", 'x', 0.5);
  EXPECT_THAT(refused(good + slice("b", 'x', 1.5)),
              HasSubstr("slice 'b' at x = 1.5 is outside the box, from -1 to 1; move it inside"));
  EXPECT_THAT(refused(good + slice("b", 'z', -0.1)),
              HasSubstr("slice 'b' at z = -0.1 is outside the box, from 0 to 1"));
  EXPECT_THAT(refused(good + slice("a", 'z', 0.5)), HasSubstr("there already is a slice 'a'; use another name"));
  for (const std::string name : {"", "../a", "a b", "a.b", "ä"})
    EXPECT_THAT(refused(good + slice(name, 'z', 0.5)), HasSubstr("letters, digits, - and _"));
}

}  // namespace
}  // namespace tutti::incompressible
