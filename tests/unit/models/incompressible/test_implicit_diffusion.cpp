// Implicit diffusion: its sweeps against a dense solution of the same system, and steps against shorter ones.
#include "tutti/models/incompressible/viscous/implicit_diffusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/elimination.hpp"
#include "tests/support/flow_run.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/random.hpp"
#include "tutti/models/incompressible/flow_model.hpp"

namespace tutti::incompressible {
namespace {

using test::face;
using test::FlowRun;
using test::periodic;
using test::SavedState;
using test::world;

TEST(Chebyshev, LeavesWhatItSays) {
  for (const double bound : {0.0, 1e-3, 0.5, 10.0, 1e4})
    for (const double tolerance : {0.1, 1e-3, 1e-8}) {
      const int sweeps = chebyshev_sweeps(bound, tolerance);
      double most = 0, max_before = 0;
      for (int k = 0; k <= 1000; ++k) {
        const double eigenvalue = 1 + bound * k / 1000;
        ChebyshevIteration iteration(bound);
        double error = 1, before = 1;
        for (int n = 0; n < sweeps; ++n) {
          const ChebyshevWeights w = iteration.next();
          const double next = error + w.carry * (error - before) - w.gain * eigenvalue * error;
          before = error;
          error = next;
        }
        most = std::max(most, std::abs(error));
        max_before = std::max(max_before, std::abs(before));
      }
      EXPECT_LE(most, tolerance * (1 + 1e-6)) << bound;
      EXPECT_GT(max_before, tolerance) << bound << ": a sweep too many";
    }
}

// One solve on a small box against the matrix, written out from lengths alone.

struct System {
  std::string name, text;
};
void PrintTo(const System& one, std::ostream* out) {
  *out << one.name;
}

/// A solve of all fields on one part, with random values, and what it should have given.
template <class T>
class OneSolve {
 public:
  OneSolve(const std::string& text, const std::string& device, double tolerance)
      : options_(parse_case(
            text + fmt::format("[time]\nsteps = 1\ndiffusion = \"implicit\"\ndiffusion_tolerance = {}\n", tolerance),
            "flow.toml", test::flow_schema())),
        devices_(open_devices(device, world())),
        flow_(read_flow_case(options_)),
        domain_(make_box_domain({world(), devices_, options_, {}, phases_}, flow_.grid)) {
    Stream& stream = *domain_.streams[0].compute;
    array_ = domain_.arrays[0];
    FlowPart<T>& part = parts_.emplace_back();
    part.grid = PartGrid<T>(stream, flow_.grid, array_);
    part.box = domain_.box(0);
    ends_.emplace_back(stream, flow_, part.box, array_);
    part.p = put(stream, p_ = some(1));
    part.rhs = put(stream, some(2));
    std::vector<DiffusedField<T>> fields;
    for (std::size_t c = 0; c < 3; ++c) {
      part.u[c] = put(stream, before_[c] = some(3 + c));
      part.intermediate[c] = put(stream, explicit_[c] = some(7 + c));
      fields.push_back({static_cast<int>(c), 0, flow_.viscosity, [c](FlowPart<T>& q) -> Buffer<T>& { return q.u[c]; },
                        [c](FlowPart<T>& q) -> Buffer<T>& { return q.intermediate[c]; }});
    }
    for (std::size_t s = 0; s < flow_.scalars.size(); ++s) {
      PartScalar<T>& scalar = part.scalars.emplace_back();
      scalar.now = put(stream, before_[3 + s] = some(11 + 2 * s));
      scalar.next = put(stream, explicit_[3 + s] = some(12 + 2 * s));
      scalar.diffusivity = static_cast<T>(flow_.scalars[s].diffusivity);
      fields.push_back({at_centres, s, flow_.scalars[s].diffusivity,
                        [s](FlowPart<T>& q) -> Buffer<T>& { return q.scalars[s].now; },
                        [s](FlowPart<T>& q) -> Buffer<T>& { return q.scalars[s].next; }});
    }
    ImplicitDiffusion<T> diffusion(
        {world(), *devices_.threads, domain_, flow_, parts_, ends_, parse_overlap(options_.text("devices.overlap"))},
        fields);
    diffusion.solve(time, dt, [](std::size_t, Kernels&) {});
    for (std::size_t f = 0; f < count; ++f) found_[f] = take(stream, fields[f].result(part));
    diffusion.pressure_of_potential(dt);
    pressure_ = take(stream, part.rhs);
  }

  /// Norm of the error of field f, in which the operator is symmetric, over that of what the sweeps begin with.
  double error(std::size_t f) const {
    const int c = f < 3 ? static_cast<int>(f) : at_centres;
    std::vector<std::array<Lid, 3>> cells;
    std::map<std::array<Lid, 3>, std::size_t> number;
    for (Lid k = 0; k < size(2); ++k)
      for (Lid j = 0; j < size(1); ++j)
        for (Lid i = 0; i < size(0); ++i) {
          const std::array<Lid, 3> cell{i, j, k};
          if (c >= 0 && !line(c).periodic && cell[c] == size(c) - 1) continue;
          number[cell] = cells.size();
          cells.push_back(cell);
        }
    const std::size_t n = cells.size();
    if (n == 0) return 0;
    const double a = (f < 3 ? flow_.viscosity : flow_.scalars[f - 3].diffusivity) * dt / 2;
    test::Rows<double> matrix = test::zero_rows<double>(n, n);
    std::vector<double> right(n), volume(n, 1.0), start(n), found(n);
    for (std::size_t r = 0; r < n; ++r) {
      matrix[r][r] = 1;
      const std::array<Lid, 3> cell = cells[r];
      right[r] = at(explicit_[f], cell);
      start[r] = at(before_[f], cell);
      if (c >= 0) {
        std::array<Lid, 3> next = cell;
        next[f] += 1;
        start[r] += dt * (at(p_, next) - at(p_, cell)) / distance(c, cell[f]);
      }
      found[r] = at(found_[f], cell);
      for (int d = 0; d < 3; ++d) {
        const auto axis = static_cast<std::size_t>(d);
        const double across = d == c ? distance(d, cell[axis]) : width(d, cell[axis]);
        volume[r] *= across;
        for (const int side : {-1, 1}) {
          const double length =
              d == c ? width(d, cell[axis] + (side > 0 ? 1 : 0)) : distance(d, cell[axis] - (side > 0 ? 0 : 1));
          const double weight = a / (across * length);
          std::array<Lid, 3> other = cell;
          other[axis] += side;
          right[r] += weight * (at(before_[f], other) - at(before_[f], cell));
          // weight (q_other - q), q_other = share q_mirror + given.
          const Beyond q = beyond(c, f, other, d, side);
          matrix[r][r] += weight;
          if (q.share != 0) matrix[r][number.at(q.cell)] -= weight * q.share;
          right[r] += weight * q.given;
        }
      }
    }
    const std::vector<double> exact = test::solve_by_elimination(matrix, right);
    const auto distance_of = [&](const std::vector<double>& x) {
      double sum = 0;
      for (std::size_t r = 0; r < n; ++r) sum += (x[r] - exact[r]) * (x[r] - exact[r]) * volume[r];
      return std::sqrt(sum);
    };
    return distance_of(found) / distance_of(start);
  }
  /// Largest error of the pressure that is made of the potential.
  double pressure_error() const {
    double largest = 0;
    for (Lid k = 0; k < size(2); ++k)
      for (Lid j = 0; j < size(1); ++j)
        for (Lid i = 0; i < size(0); ++i) {
          double sum = 0;
          for (int d = 0; d < 3; ++d) {
            const std::array<Lid, 3> cell{i, j, k};
            const auto axis = static_cast<std::size_t>(d);
            for (const int side : {-1, 1}) {
              std::array<Lid, 3> other = cell;
              other[axis] += side;
              sum += (at(p_, other) - at(p_, cell)) /
                     (width(d, cell[axis]) * distance(d, cell[axis] - (side > 0 ? 0 : 1)));
            }
          }
          const double right = at(p_, {i, j, k}) - flow_.viscosity * dt / 2 * sum;
          largest = std::max(largest, std::abs(at(pressure_, {i, j, k}) - right) / (1 + std::abs(right)));
        }
    return largest;
  }
  int sweeps() const { return diffusion_sweeps(flow_, dt); }

  static constexpr double time = 0.75, dt = 0.5;
  static constexpr std::size_t count = 5;  ///< fields: three components and two scalars

 private:
  struct Beyond {
    std::array<Lid, 3> cell;
    double share, given;
  };
  Lid size(int d) const { return line(d).cells(); }
  const GridLine& line(int d) const { return flow_.grid.lines[d]; }
  double width(int d, Lid i) const {
    const auto& faces = line(d).faces;
    const Lid n = size(d), in = line(d).periodic ? (i + n) % n : i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
    return faces[in + 1] - faces[in];
  }
  double distance(int d, Lid i) const { return (width(d, i) + width(d, i + 1)) / 2; }
  double at(const std::vector<T>& values, const std::array<Lid, 3>& cell) const {
    return static_cast<double>(values[array_.at(cell[0], cell[1], cell[2])]);
  }

  /// The value of a field in a cell that may be beyond an end, or on it.
  Beyond beyond(int c, std::size_t f, std::array<Lid, 3> cell, int d, int side) const {
    const auto axis = static_cast<std::size_t>(d);
    const Lid n = size(d), i = cell[axis];
    if (line(d).periodic) {
      cell[axis] = (i + n) % n;
      return {cell, 1, 0};
    }
    const bool outside = i < 0 || i >= n;
    if (!outside && !(c == d && i == n - 1)) return {cell, 1, 0};
    const FlowEnd& end = flow_.ends[2 * axis + (side > 0 ? 1 : 0)];
    const bool open = end.velocity == VelocityEnd::outflow;
    Vec3 place;
    for (int k = 0; k < 3; ++k) {
      const Lid j = cell[k];
      const auto& faces = line(k).faces;
      place[k] = k == d   ? (side > 0 ? faces.back() : faces.front())
                 : k == c ? faces[j + 1]
                          : (faces[j] + faces[j + 1]) / 2;
    }
    std::array<Lid, 3> inner = cell;
    inner[axis] -= side;
    if (c == d) {
      if (open) return {inner, 1, 0};
      return {inner, 0, end.velocity == VelocityEnd::inflow ? end.value[axis](place, time) : 0};
    }
    if (c == at_centres) {
      const FlowScalar& scalar = flow_.scalars[f - 3];
      const FlowScalarEnd& held = scalar.ends[2 * axis + (side > 0 ? 1 : 0)];
      if (held.kind == ScalarEnd::no_flux) return {inner, 1, 0};
      const double value = held.value(place, time);
      if (held.kind == ScalarEnd::fixed) return {inner, -1, 2 * value};
      return {inner, 1, value * distance(d, side > 0 ? n - 1 : -1) / scalar.diffusivity};
    }
    if (open || end.velocity == VelocityEnd::free_slip) return {inner, 1, 0};
    std::array<Lid, 3> next = inner;
    next[f] += 1;
    const double slip = dt * (at(p_, next) - at(p_, inner)) / distance(c, inner[f]);
    return {inner, -1, 2 * (end.value[f](place, time) + slip)};
  }

  /// Random values of all stored cells; those beyond a period are those of the other end.
  std::vector<T> some(std::uint64_t seed) const {
    std::vector<T> values(array_.values());
    const CellBox& box = array_.stored;
    for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
      for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
        for (Lid i = box.lower[0]; i < box.upper[0]; ++i) {
          std::array<Lid, 3> cell{i, j, k};
          for (int d = 0; d < 3; ++d)
            if (auto& x = cell[d]; line(d).periodic) x = (x + size(d)) % size(d);
          values[array_.at(i, j, k)] =
              static_cast<T>(random_unit(seed, static_cast<std::uint64_t>(array_.at(cell[0], cell[1], cell[2]))) - 0.5);
        }
    return values;
  }
  static Buffer<T> put(Stream& stream, const std::vector<T>& values) {
    return make_buffer(stream, std::span<const T>(values), "values");
  }
  static std::vector<T> take(Stream& stream, const Buffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    download(stream, std::span<T>(values), buffer);
    return values;
  }

  Case options_;
  DeviceSet devices_;
  Phases phases_;
  FlowCase flow_;
  BoxDomain domain_;
  BoxArray array_;
  std::vector<FlowPart<T>> parts_;
  std::vector<BoundaryConditions> ends_;
  std::vector<T> p_, pressure_;
  std::array<std::vector<T>, count> before_, explicit_, found_;
};

class ImplicitSystem : public ::testing::TestWithParam<System> {};

TEST_P(ImplicitSystem, IsSolvedToTheTolerance) {
  int fewest = 0;
  for (const double tolerance : {0.03, 1e-4, 1e-12}) {
    const OneSolve<double> solve(GetParam().text, tolerance > 0.01 ? "fake:1" : "cpu", tolerance);
    for (std::size_t f = 0; f < solve.count; ++f) EXPECT_LE(solve.error(f), tolerance + 1e-13) << "field " << f;
    EXPECT_LE(solve.pressure_error(), 1e-13);
    EXPECT_GT(solve.sweeps(), fewest);
    fewest = solve.sweeps();
  }
  const OneSolve<float> solve(GetParam().text + "[numerics]\nprecision = \"float\"\n", "cpu", 1e-5);
  for (std::size_t f = 0; f < solve.count; ++f) EXPECT_LE(solve.error(f), 1e-5) << "field " << f << " in float";
}

const std::string dye = "[[scalar]]\nname = \"dye\"\ndiffusivity = 0.07\n",
                  fluid = "[fluid]\nviscosity = 0.1\ndiffusivity = 0.03\n" + dye,
                  lid = face("y-upper",
                             "value = [\"1+x*z*t\", 0, -0.5]\ntemperature = \"fixed\"\n"
                             "temperature_value = \"x-t\"") +
                        "[[scalar_boundary]]\nscalar = \"dye\"\nface = \"y-upper\"\nkind = \"flux\"\nvalue = 0.3\n";

INSTANTIATE_TEST_SUITE_P(
    All, ImplicitSystem,
    ::testing::Values(
        System{"lid", test::flow_text("[4, 5, 3]", fluid + lid)},
        System{"lid, stretched", test::flow_text("[5, 4, 6]", "stretch = [1.5, 2, 0.5]\n" + fluid + lid)},
        System{"slice", test::flow_text("[7, 6, 1]", "upper = [1, 1, 0.001]\n" + fluid + lid)},
        System{"slice between walls", test::flow_text("[5, 6, 1]", fluid + lid + face("z-lower", "") +
                                                                       face("z-upper", "velocity = \"free-slip\""))},
        System{"column", test::flow_text("[1, 9, 1]", "stretch = [0, 1, 0]\n" + fluid + lid)},
        System{"periods", test::flow_text("[4, 3, 5]", fluid + periodic("x") + periodic("y") + periodic("z"))},
        System{"period and slip",
               test::flow_text("[4, 5, 4]", "stretch = [0, 0, 1]\n" + fluid + periodic("x") + lid +
                                                face("z-lower",
                                                     "velocity = \"free-slip\"\ntemperature = \"flux\"\n"
                                                     "temperature_value = \"0.1*x\""))},
        System{"channel",
               test::flow_text("[5, 4, 3]", "stretch = [0.5, 1, 0]\nlower = [0, -1, 0]\n" + fluid + periodic("z") +
                                                face("x-lower",
                                                     "velocity = \"inflow\"\nvalue = [\"1-y*y+t\", \"0.1*y\", 0.2]\n"
                                                     "temperature = \"fixed\"\ntemperature_value = \"y\"") +
                                                face("x-upper", "velocity = \"outflow\""))},
        System{"channel downwards",
               test::flow_text("[3, 4, 5]", fluid + face("z-upper", "velocity = \"inflow\"\nvalue = [0, 0.3, -1]") +
                                                face("z-lower", "velocity = \"outflow\""))},
        System{"no friction",
               test::flow_text("[3, 4, 5]", "[fluid]\nviscosity = 0\ndiffusivity = 0.1\n" + dye + lid)}));

// Whole steps.

/// Of an explicit step, what viscosity and conduction allow.
double explicit_limit(const FlowCase& flow) {
  return longest_step(flow, 0, 0);
}

double largest_difference(const SavedState& a, const SavedState& b) {
  double largest = 0;
  for (const auto& [name, values] : a.fields) {
    if (name.size() != 1 || name == "p") continue;
    for (std::size_t i = 0; i < values.size(); ++i)
      largest = std::max(largest, std::abs(values[i] - b.fields.at(name)[i]));
  }
  return largest;
}

SavedState after(double end, double dt, const std::string& diffusion, const std::string& text) {
  const int steps = static_cast<int>(std::lround(end / dt));
  FlowRun run(
      world(),
      text + fmt::format("[time]\nsteps = {}\ndt = {:.17g}\ndiffusion = \"{}\"\n", steps, end / steps, diffusion),
      "cpu");
  run.steps(steps);
  return run.state();
}

/// Errors of steps that get half as long, against explicit ones of a length that shows no error; `limit`: of explicit
/// steps.
void expect_second_order(const std::string& text, double end, double longest, double limit) {
  EXPECT_GT(longest / 4, 10 * limit);
  const SavedState exact = after(end, 0.4 * limit, "explicit", text);
  std::vector<double> errors;
  for (const double dt : {longest, longest / 2, longest / 4})
    errors.push_back(largest_difference(after(end, dt, "implicit", text), exact));
  for (std::size_t k = 1; k < errors.size(); ++k) {
    const double order = std::log2(errors[k - 1] / errors[k]);
    EXPECT_GE(order, 1.75) << fmt::format("{}", errors[k]);
    EXPECT_LE(order, 2.6) << fmt::format("{}", errors[k]);
  }
  ::testing::Test::RecordProperty("errors", fmt::format("{} {} {}", errors[0], errors[1], errors[2]));
}

TEST(ImplicitSteps, SecondOrderUnderALid) {
  // Four decades of eigenvalues between the walls; the lid starts and stops gently.
  const std::string text = test::flow_text(
      "[20, 20, 1]", "stretch = [0, 1, 0]\n[fluid]\nviscosity = 0.5\ndiffusivity = 0.3\nbuoyancy = [0, 2, 0]\n" +
                         face("y-upper",
                              "value = [\"16*x^2*(1-x)^2*sin(3*t)^2\", 0, 0]\ntemperature = \"fixed\"\n"
                              "temperature_value = \"x*sin(2*t)^2\""));
  const FlowCase flow = read_flow_case(parse_case(text + "[time]\nsteps = 1\n", "flow.toml", test::flow_schema()));
  expect_second_order(text, 0.8, 0.02, explicit_limit(flow));
}

TEST(ImplicitSteps, SecondOrderOfVortices) {
  const std::string text =
      test::flow_text("[32, 32, 1]",
                      "upper = [6.283185307179586, 6.283185307179586, 1]\n[fluid]\nviscosity = 1\n[initial]\n"
                      "velocity = [\"0.05 + 0.1*sin(x)*cos(y)\", \"0.02 - 0.1*cos(x)*sin(y)\", 0]\n" +
                          periodic("x") + periodic("y"));
  const FlowCase flow = read_flow_case(parse_case(text + "[time]\nsteps = 1\n", "flow.toml", test::flow_schema()));
  expect_second_order(text, 1.6, 0.2, explicit_limit(flow));
}

TEST(ImplicitSteps, TheSteadyFlowOfExplicitOnes) {
  const std::string text = test::flow_text(
      "[12, 12, 1]", "stretch = [0, 1, 0]\n[fluid]\nviscosity = 0.1\ndiffusivity = 0.1\nbuoyancy = [0, 1, 0]\n" +
                         face("y-upper", "value = [1, 0, 0]\ntemperature = \"fixed\"\ntemperature_value = 1") +
                         face("x-lower", "temperature = \"fixed\""));
  const SavedState right = after(60, 0.0025, "explicit", text), found = after(60, 0.03, "implicit", text);
  EXPECT_LE(largest_difference(found, right), 1e-10);
  EXPECT_GT(*std::max_element(right.fields.at("u").begin(), right.fields.at("u").end()), 0.5);
}

TEST(ImplicitSteps, HeatStaysInAClosedBox) {
  FlowRun run(world(),
              test::flow_text("[9, 8, 8]",
                              "stretch = [1, 0, 2]\n[fluid]\nviscosity = 1\ndiffusivity = 2\nbuoyancy = [0, 0, 3]\n"
                              "[initial]\ntemperature = \"1+x*x-y*z\"\n[time]\nsteps = 8\ndt = 0.01\n"
                              "diffusion = \"implicit\"\n") +
                  face("z-upper", "value = [1, 0, 0]") + face("x-lower", "velocity = \"free-slip\"") + periodic("y"),
              "cpu");
  const double before = run.diagnostic("heat");
  run.steps(8);
  EXPECT_NEAR(run.diagnostic("heat"), before, 1e-13 * before);
  EXPECT_LE(run.diagnostic("divergence"), 1e-12);
}

TEST(ImplicitSteps, FromOneKindOfDiffusionToTheOther) {
  const std::string text = test::flow_text("[4, 4, 4]", "[fluid]\nviscosity = 0.1\n[time]\nsteps = 1\ndiffusion = ");
  FlowRun with(world(), text + "\"explicit\"\n", "cpu"), without(world(), text + "\"implicit\"\n", "cpu");
  EXPECT_EQ(with.state().fields.count("rate of u"), 1);
  EXPECT_EQ(without.state().fields.count("rate of u"), 0) << "rates of the other kind would be read";
  EXPECT_THAT(without.model().describe().front(), testing::HasSubstr("implicit diffusion, "));
}

TEST(ImplicitSteps, FromRestUnderAForce) {
  // Nothing moves yet and viscosity bounds no step: the force must.
  FlowRun run(world(),
              test::flow_text("[8, 8, 8]",
                              "[fluid]\nviscosity = 0.001\nforce = [\"y\", 0, 0]\n[time]\nend = 100\n"
                              "diffusion = \"implicit\"\n"),
              "cpu");
  EXPECT_LE(run.model().time_step(), 0.1);
}

}  // namespace
}  // namespace tutti::incompressible
