#include "tutti/models/incompressible/flow_case.hpp"

#include <algorithm>

#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti {
namespace {

void add_physics_keys(CaseSchema& schema) {
  schema.describe_table("fluid",
                        "du/dt + div(u u) = -grad p + viscosity lap u + buoyancy (T - reference) + force, "
                        "div u = 0; dT/dt + div(u T) = diffusivity lap T + heat_source.");
  schema.add({.path = "fluid.viscosity",
              .type = KeyType::number,
              .unit = "length^2/s",
              .description = "Kinematic viscosity.",
              .min = 0,
              .required = true});
  schema.add({.path = "fluid.diffusivity",
              .type = KeyType::number,
              .unit = "length^2/s",
              .description = "Thermal diffusivity; without it there is no temperature.",
              .min = 0});
  schema.add({.path = "fluid.buoyancy",
              .type = KeyType::numbers,
              .default_value = "[0, 0, 0]",
              .unit = "length/s^2",
              .description = "Acceleration of fluid that is one unit of temperature warmer: -gravity times expansion.",
              .length = 3});
  schema.add({.path = "fluid.reference",
              .type = KeyType::number,
              .default_value = "0.0",
              .description = "Temperature without buoyancy."});
  schema.add({.path = "fluid.heat_source",
              .type = KeyType::expression,
              .default_value = "0",
              .unit = "1/s",
              .description = "What heats the fluid."});
  schema.add({.path = "fluid.force",
              .type = KeyType::expressions,
              .default_value = "[0, 0, 0]",
              .unit = "length/s^2",
              .description = "Acceleration.",
              .length = 3});
  schema.describe_table("initial", "The flow at t = 0; what diverges of it is projected away.");
  schema.add({.path = "initial.velocity",
              .type = KeyType::expressions,
              .default_value = "[0, 0, 0]",
              .unit = "length/s",
              .description = "Velocity.",
              .length = 3});
  schema.add({.path = "initial.temperature",
              .type = KeyType::expression,
              .default_value = "0",
              .description = "Temperature."});
  schema.describe_table("exact", "An exact solution: the summary then gives the errors of the velocity at the end.");
  schema.add({.path = "exact.velocity", .type = KeyType::expressions, .description = "Velocity.", .length = 3});
}

void add_boundary_keys(CaseSchema& schema) {
  schema.describe_table("boundary[]",
                        "What holds at a face of the box; faces without a table: walls at rest, adiabatic (periodic "
                        "where the grid is one cell thick).");
  schema.add({.path = "boundary[].face",
              .type = KeyType::choice,
              .description = "Which face.",
              .choices = {box_face_names.begin(), box_face_names.end()},
              .required = true});
  schema.add({.path = "boundary[].velocity",
              .type = KeyType::choice,
              .default_value = "\"no-slip\"",
              .description = "no-slip: a wall that moves with `value`; free-slip: no friction; periodic: both ends of "
                             "the direction; inflow: `value`; outflow: p = 0.",
              .choices = {"no-slip", "free-slip", "periodic", "inflow", "outflow"}});
  schema.add({.path = "boundary[].value",
              .type = KeyType::expressions,
              .default_value = "[0, 0, 0]",
              .unit = "length/s",
              .description = "Velocity of the wall, or of what flows in.",
              .length = 3});
  schema.add({.path = "boundary[].temperature",
              .type = KeyType::choice,
              .default_value = "\"adiabatic\"",
              .description = "adiabatic; fixed: T is `temperature_value`; flux: `temperature_value` flows in.",
              .choices = {"adiabatic", "fixed", "flux"}});
  schema.add({.path = "boundary[].temperature_value",
              .type = KeyType::expression,
              .default_value = "0",
              .description = "Temperature, or diffusivity times the gradient along the inward normal, negated."});
}

void add_numerics_keys(CaseSchema& schema) {
  schema.add({.path = "time.method",
              .type = KeyType::choice,
              .default_value = "\"ab2\"",
              .description = "ab2: Adams-Bashforth, as the paper; rk3: Runge-Kutta with three projections a step.",
              .choices = {"ab2", "rk3"}});
  schema.add({.path = "time.diffusion",
              .type = KeyType::choice,
              .default_value = "\"explicit\"",
              .description =
                  "Friction and conduction; implicit: by Crank-Nicolson, they no longer bound the step (with "
                  "ab2 only).",
              .choices = {"explicit", "implicit"}});
  schema.add({.path = "time.diffusion_tolerance",
              .type = KeyType::number,
              .default_value = "\"auto\"",
              .description =
                  "Part of what diffusion changes in a step that its sweeps may leave undone; auto: 1e-8, in "
                  "float 1e-5.",
              .choices = {"auto"},
              .min = 0,
              .max = 0.1,
              .above_min = true,
              .only_if = {"time.diffusion", {"implicit"}}});
  schema.add(
      {.path = "time.adapt_every",
       .type = KeyType::integer,
       .default_value = "10",
       .unit = "steps",
       .description = "With dt = \"auto\" the step follows the flow, looked at every so many steps; 0: it stays.",
       .min = 0});
  schema.add({.path = "time.steady",
              .type = KeyType::number,
              .default_value = "0",
              .unit = "1/s",
              .description =
                  "The run ends when a step changes the velocity by less than so much of its largest value a "
                  "unit of time, and the temperature of its spread; looked at every 50 steps; 0: never.",
              .min = 0});
  schema.describe_table("pressure", "How the pressure is found.");
  schema.add({.path = "pressure.solver",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description = "auto: direct, with GPUs multigrid; direct: by separation, exact to rounding; jacobi: "
                             "`sweeps` sweeps, as the paper; "
                             "red_black: relaxation up to `tolerance`; multigrid: V-cycles up to `tolerance`.",
              .choices = {"auto", "direct", "jacobi", "red_black", "multigrid"}});
  schema.add({.path = "pressure.sweeps",
              .type = KeyType::integer,
              .default_value = "\"auto\"",
              .description = "jacobi: sweeps a step, auto 20; red_black: at most, auto 10,000; multigrid: cycles "
                             "at most, auto 50.",
              .choices = {"auto"},
              .min = 1});
  schema.add({.path = "pressure.omega",
              .type = KeyType::number,
              .default_value = "\"auto\"",
              .description = "Over-relaxation of red_black; auto: the best for the grid.",
              .choices = {"auto"},
              .min = 0,
              .max = 2,
              .above_min = true,
              .only_if = {"pressure.solver", {"red_black"}}});
  schema.add({.path = "pressure.tolerance",
              .type = KeyType::number,
              .default_value = "\"auto\"",
              .description = "Largest divergence that red_black and multigrid leave, times a cell's width over the "
                             "largest velocity; auto: 1e-8, in float 1e-6 of multigrid and 1e-5 of red_black.",
              .choices = {"auto"},
              .min = 0,
              .above_min = true,
              .only_if = {"pressure.solver", {"auto", "red_black", "multigrid"}}});
  schema.add({.path = "pressure.check",
              .type = KeyType::boolean,
              .default_value = "true",
              .description = "Try the solver on noise before the run."});
  schema.describe_table("numerics", "How numbers are stored.");
  schema.add({.path = "numerics.precision",
              .type = KeyType::choice,
              .default_value = "\"double\"",
              .description = "Of all fields.",
              .choices = {"double", "float"}});
}

VelocityEnd velocity_end(const std::string& word) {
  if (word == "no-slip") return VelocityEnd::no_slip;
  if (word == "free-slip") return VelocityEnd::free_slip;
  if (word == "periodic") return VelocityEnd::periodic;
  return word == "inflow" ? VelocityEnd::inflow : VelocityEnd::outflow;
}

ScalarEnd scalar_end(const std::string& word) {
  return word == "adiabatic" ? ScalarEnd::adiabatic : word == "fixed" ? ScalarEnd::fixed : ScalarEnd::flux;
}

std::array<Expression, 3> three(const std::vector<Expression>& list) {
  return {list[0], list[1], list[2]};
}

void read_ends(const Case& options, FlowCase& flow) {
  std::array<std::string, 6> where;
  std::array<bool, 6> given{};
  for (int b = 0; b < options.count("boundary"); ++b) {
    const std::string table = fmt::format("boundary[{}]", b), name = options.text(table + ".face");
    const auto f = static_cast<std::size_t>(std::find(box_face_names.begin(), box_face_names.end(), name) -
                                            box_face_names.begin());
    if (!where[f].empty())
      fail(ErrorKind::input, "{}: the face {} has a table already, at {}; leave one out",
           options.where(table + ".face"), name, where[f]);
    where[f] = options.where(table + ".face");
    FlowEnd& end = flow.ends[f];
    given[f] = true;
    end.velocity = velocity_end(options.text(table + ".velocity"));
    end.value = three(options.expressions(table + ".value"));
    end.temperature =
        end.velocity == VelocityEnd::periodic ? ScalarEnd::periodic : scalar_end(options.text(table + ".temperature"));
    end.temperature_value = options.expression(table + ".temperature_value");
    const std::size_t d = f / 2;
    const Expression& through = end.value[d];
    if (end.velocity == VelocityEnd::no_slip && !(through.is_constant() && through({0, 0, 0}) == 0))
      fail(ErrorKind::input, "{}: flow through the wall {}: component {} of `value` must be 0; an inflow may have it",
           options.where(table + ".value"), name, "xyz"[d]);
    if (options.text(table + ".temperature") != "adiabatic" && !flow.has_temperature())
      fail(ErrorKind::input, "{}: there is no temperature; give fluid.diffusivity",
           options.where(table + ".temperature"));
  }
  bool inflow = false;
  const auto cells = options.integers("grid.cells");
  for (std::size_t d = 0; d < 3; ++d) {
    if (cells[d] == 1 && !given[2 * d] && !given[2 * d + 1])  // nothing changes along it
      for (std::size_t f = 2 * d; f < 2 * d + 2; ++f) {
        flow.ends[f].velocity = VelocityEnd::periodic;
        flow.ends[f].temperature = ScalarEnd::periodic;
      }
    const bool lower = flow.ends[2 * d].velocity == VelocityEnd::periodic,
               upper = flow.ends[2 * d + 1].velocity == VelocityEnd::periodic;
    if (lower != upper)
      fail(ErrorKind::input, "{}: {} is periodic and {} is not; give both the same", where[2 * d + (lower ? 0 : 1)],
           box_face_names[2 * d + (lower ? 0 : 1)], box_face_names[2 * d + (lower ? 1 : 0)]);
    for (std::size_t f = 2 * d; f < 2 * d + 2; ++f)
      if (cells[d] == 1 && flow.ends[f].velocity == VelocityEnd::outflow)
        fail(ErrorKind::input, "{}: an outflow at {} needs two cells or more along {}; raise grid.cells", where[f],
             box_face_names[f], "xyz"[d]);
    for (std::size_t f = 2 * d; f < 2 * d + 2; ++f) inflow = inflow || flow.ends[f].velocity == VelocityEnd::inflow;
  }
  if (inflow && !flow.has_outflow())
    for (std::size_t f = 0; f < 6; ++f)
      if (flow.ends[f].velocity == VelocityEnd::inflow)
        fail(ErrorKind::input, "{}: what flows in at {} has no way out; another face must be an outflow", where[f],
             box_face_names[f]);
}

BoxGrid read_grid(const Case& options, const std::array<FlowEnd, 6>& ends) {
  const auto cells = options.integers("grid.cells");
  const auto lower = options.numbers("grid.lower"), upper = options.numbers("grid.upper"),
             stretch = options.numbers("grid.stretch");
  BoxGrid grid;
  double all = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (!(upper[d] > lower[d]))
      fail(ErrorKind::input, "{}: the upper corner must lie above the lower one in {}", options.where("grid.upper"),
           "xyz"[d]);
    const bool periodic = ends[2 * d].velocity == VelocityEnd::periodic;
    if (periodic && stretch[d] > 0)
      fail(ErrorKind::input, "{}: {} is periodic, it has no walls to stretch to; give 0", options.where("grid.stretch"),
           "xyz"[d]);
    all *= static_cast<double>(cells[d]);
    grid.lines[d] = make_grid_line(static_cast<Lid>(cells[d]), lower[d], upper[d], stretch[d], periodic);
  }
  if (all > 1e13)
    fail(ErrorKind::input, "{}: {:g} cells are too many; give 1e13 at most", options.where("grid.cells"), all);
  return grid;
}

void read_pressure(const Case& options, bool gpus, FlowCase& flow) {
  const std::string word = options.text("pressure.solver"), solver = word != "auto" ? word
                                                                     : gpus         ? "multigrid"
                                                                                    : "direct";
  flow.pressure = solver == "jacobi"      ? PressureMethod::jacobi
                  : solver == "red_black" ? PressureMethod::red_black
                  : solver == "multigrid" ? PressureMethod::multigrid
                                          : PressureMethod::direct;
  const bool automatic = options.is_word("pressure.sweeps", "auto");
  flow.sweeps = !automatic                                   ? static_cast<int>(options.integer("pressure.sweeps"))
                : flow.pressure == PressureMethod::jacobi    ? 20
                : flow.pressure == PressureMethod::multigrid ? 50
                                                             : 10000;
  if (flow.pressure == PressureMethod::red_black || flow.pressure == PressureMethod::multigrid)
    flow.tolerance = !options.is_word("pressure.tolerance", "auto")   ? options.number("pressure.tolerance")
                     : options.text("numerics.precision") == "double" ? 1e-8
                     : flow.pressure == PressureMethod::multigrid     ? 1e-6
                                                                      : 1e-5;
  if (flow.pressure != PressureMethod::red_black) return;
  for (const GridLine& line : flow.grid.lines)
    if (line.periodic && line.cells() % 2 != 0 && line.cells() > 1)
      fail(ErrorKind::input,
           "{}: red_black needs an even number of cells in a periodic direction, not {}: else two of a colour are "
           "neighbours; choose another solver",
           options.where("pressure.solver"), line.cells());
  flow.omega = options.is_word("pressure.omega", "auto") ? 0 : options.number("pressure.omega");
}

void read_diffusion(const Case& options, FlowCase& flow) {
  flow.implicit_diffusion = options.text("time.diffusion") == "implicit";
  if (!flow.implicit_diffusion) return;
  if (flow.scheme != TimeScheme::ab2)
    fail(ErrorKind::input,
         "{}: implicit diffusion goes with time.method = \"ab2\", not with \"{}\"; change one of the two",
         options.where("time.diffusion"), options.text("time.method"));
  flow.diffusion_tolerance = !options.is_word("time.diffusion_tolerance", "auto")
                                 ? options.number("time.diffusion_tolerance")
                             : options.text("numerics.precision") == "double" ? 1e-8
                                                                              : 1e-5;
}

}  // namespace

bool FlowCase::has_outflow() const {
  return std::any_of(ends.begin(), ends.end(), [](const FlowEnd& e) { return e.velocity == VelocityEnd::outflow; });
}

void add_incompressible_keys(CaseSchema& schema) {
  schema.begin_group("incompressible");
  add_physics_keys(schema);
  add_boundary_keys(schema);
  add_numerics_keys(schema);
}

FlowCase read_flow_case(const Case& options, bool gpus) {
  FlowCase flow;
  flow.viscosity = options.number("fluid.viscosity");
  if (options.has("fluid.diffusivity")) flow.diffusivity = options.number("fluid.diffusivity");
  const auto buoyancy = options.numbers("fluid.buoyancy");
  flow.buoyancy = {buoyancy[0], buoyancy[1], buoyancy[2]};
  if (norm(flow.buoyancy) > 0 && !flow.has_temperature())
    fail(ErrorKind::input, "{}: there is no temperature; give fluid.diffusivity", options.where("fluid.buoyancy"));
  flow.reference = options.number("fluid.reference");
  flow.heat_source = options.expression("fluid.heat_source");
  flow.force = three(options.expressions("fluid.force"));
  flow.initial_velocity = three(options.expressions("initial.velocity"));
  flow.initial_temperature = options.expression("initial.temperature");
  for (const Expression& e : flow.initial_velocity)
    require_steady(e, options.where("initial.velocity"), "initial.velocity");
  require_steady(flow.initial_temperature, options.where("initial.temperature"), "initial.temperature");
  if (options.has("exact.velocity")) flow.exact = three(options.expressions("exact.velocity"));
  read_ends(options, flow);
  flow.grid = read_grid(options, flow.ends);
  flow.scheme = options.text("time.method") == "rk3" ? TimeScheme::rk3 : TimeScheme::ab2;
  read_diffusion(options, flow);
  flow.steady = options.number("time.steady");
  read_pressure(options, gpus, flow);
  return flow;
}

}  // namespace tutti
