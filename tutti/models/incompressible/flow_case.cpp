#include "tutti/models/incompressible/flow_case.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tutti/domain/box_files.hpp"
#include "tutti/io/probes.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/incompressible/turbulence/turbulence_keys.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::incompressible {
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
              .description = "Temperature at which there is no buoyancy."});
  schema.add({.path = "fluid.heat_source",
              .type = KeyType::expression,
              .default_value = "0",
              .unit = "1/s",
              .description = "Heat source."});
  schema.add({.path = "fluid.force",
              .type = KeyType::expressions,
              .default_value = "[0, 0, 0]",
              .unit = "length/s^2",
              .description = "Acceleration.",
              .length = 3});
  schema.describe_table("initial", "The flow at t = 0; it is made divergence-free by a projection.");
  schema.add({.path = "initial.velocity",
              .type = KeyType::expressions,
              .default_value = "[0, 0, 0]",
              .unit = "length/s",
              .description = "Velocity.",
              .length = 3,
              .initial = true,
              .exact = "exact.velocity"});
  schema.add({.path = "initial.temperature",
              .type = KeyType::expression,
              .default_value = "0",
              .description = "Temperature.",
              .initial = true,
              .exact = "exact.temperature"});
  schema.describe_table("exact", "An exact solution: `history.csv` then has the errors, the summary those at the end.");
  schema.add({.path = "exact.velocity", .type = KeyType::expressions, .description = "Velocity.", .length = 3});
  schema.add({.path = "exact.temperature",
              .type = KeyType::expression,
              .description = "Temperature.",
              .only_if = {"fluid.diffusivity", {}}});
}

void add_boundary_keys(CaseSchema& schema) {
  schema.describe_table("boundary[]",
                        "Boundary conditions at a face of the box; without a table: an adiabatic wall at rest "
                        "(periodic where the grid is one cell thick).");
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
              .description = "Velocity of the wall or of the inflow.",
              .length = 3});
  schema.add({.path = "boundary[].temperature",
              .type = KeyType::choice,
              .default_value = "\"adiabatic\"",
              .description = "adiabatic; fixed: T is `temperature_value`; flux: `temperature_value` flows in.",
              .choices = {"adiabatic", "fixed", "flux"}});
  schema.add(
      {.path = "boundary[].temperature_value",
       .type = KeyType::expression,
       .default_value = "0",
       .description =
           "Temperature, or the flux into the domain: minus diffusivity times the gradient along the inward normal."});
}

void add_scalar_keys(CaseSchema& schema) {
  schema.describe_table("scalar[]",
                        "A passive scalar, written as a field of its name: ds/dt + div(u s) = diffusivity lap s + "
                        "source. May be repeated.");
  schema.add({.path = "scalar[].name",
              .type = KeyType::text,
              .description = "Letters, digits and _, a letter first.",
              .required = true});
  schema.add({.path = "scalar[].diffusivity",
              .type = KeyType::number,
              .unit = "length^2/s",
              .description = "Diffusivity.",
              .min = 0,
              .required = true});
  schema.add({.path = "scalar[].initial",
              .type = KeyType::expression,
              .default_value = "0",
              .description = "The scalar at t = 0.",
              .initial = true,
              .exact = "scalar[].exact"});
  schema.add({.path = "scalar[].exact", .type = KeyType::expression, .description = "Exact solution, as in [exact]."});
  schema.add({.path = "scalar[].source",
              .type = KeyType::expression,
              .default_value = "0",
              .unit = "1/s",
              .description = "Source term."});
  schema.describe_table("scalar_boundary[]",
                        "Boundary condition of a scalar at a face of the box; without a table: no diffusive flux. At "
                        "an inflow it should be fixed.");
  schema.add({.path = "scalar_boundary[].scalar",
              .type = KeyType::text,
              .description = "The `name` of the scalar.",
              .required = true});
  schema.add({.path = "scalar_boundary[].face",
              .type = KeyType::choice,
              .description = "Which face.",
              .choices = {box_face_names.begin(), box_face_names.end()},
              .required = true});
  schema.add({.path = "scalar_boundary[].kind",
              .type = KeyType::choice,
              .description = "no-flux; fixed: the scalar is `value`; flux: `value` flows in.",
              .choices = {"no-flux", "fixed", "flux"},
              .required = true});
  schema.add(
      {.path = "scalar_boundary[].value",
       .type = KeyType::expression,
       .default_value = "0",
       .description =
           "The scalar, or the flux into the domain: minus diffusivity times the gradient along the inward normal.",
       .only_if = {"scalar_boundary[].kind", {"fixed", "flux"}}});
}

void add_numerics_keys(CaseSchema& schema) {
  schema.add({.path = "time.method",
              .type = KeyType::choice,
              .default_value = "\"ab2\"",
              .description = "ab2: Adams-Bashforth (Jacobsen 2010); rk3: Runge-Kutta with three projections per step.",
              .choices = {"ab2", "rk3"}});
  schema.add(
      {.path = "time.diffusion",
       .type = KeyType::choice,
       .default_value = "\"explicit\"",
       .description =
           "How viscosity and conduction are integrated; implicit: by Crank-Nicolson (only with ab2), so that they do "
           "not limit the time step.",
       .choices = {"explicit", "implicit"}});
  schema.add({.path = "time.diffusion_tolerance",
              .type = KeyType::number,
              .default_value = "\"auto\"",
              .description = "Relative error that the iteration of implicit diffusion may leave in the change of a "
                             "step; auto: 1e-8, in float 1e-5.",
              .choices = {"auto"},
              .min = 0,
              .max = 0.1,
              .above_min = true,
              .only_if = {"time.diffusion", {"implicit"}}});
  schema.add({.path = "time.adapt_every",
              .type = KeyType::integer,
              .default_value = "10",
              .unit = "steps",
              .description = "With dt = \"auto\", steps between two adjustments of the time step to the flow; 0: none.",
              .min = 0});
  schema.add({.path = "time.steady",
              .type = KeyType::number,
              .default_value = "0",
              .unit = "1/s",
              .description = "Stop when max|du/dt| / max|u| is below this, and likewise the rate of the temperature "
                             "and of each scalar relative to its range; checked every 50 steps; 0: never.",
              .min = 0});
  schema.add({.path = "output.extra",
              .type = KeyType::texts,
              .description = "Extra fields. face_velocity: the velocity components on a cell's upper faces, where the "
                             "staggered scheme has them. stream_function: psi of a plane flow on a grid one cell "
                             "thick, with u = dpsi/dy and v = -dpsi/dx; every rank computes all of it.",
              .choices = {"face_velocity", "stream_function"}});
  schema.describe_table("pressure", "Solver for the pressure.");
  schema.add({.path = "pressure.solver",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description =
                  "auto: direct; direct: by separation of variables, exact to rounding; jacobi: `sweeps` sweeps, as in "
                  "Jacobsen 2010; red_black: over-relaxation until `tolerance` is met; multigrid: V-cycles until "
                  "`tolerance` is met.",
              .choices = {"auto", "direct", "jacobi", "red_black", "multigrid"}});
  schema.add({.path = "pressure.sweeps",
              .type = KeyType::integer,
              .default_value = "\"auto\"",
              .description = "jacobi: sweeps per step, auto 20; red_black: maximum number of sweeps, auto 10,000; "
                             "multigrid: maximum number of cycles, auto 50.",
              .choices = {"auto"},
              .min = 1});
  schema.add(
      {.path = "pressure.pieces",
       .type = KeyType::integer,
       .default_value = "\"auto\"",
       .description =
           "direct, with several parts: number of pieces in which columns along z pass from part to part, so that all "
           "parts work at the same time (auto: 2 (parts - 1)). Where parts are not whole planes, or z is periodic: "
           "number of pieces in which planes and columns are sent, each while the next is computed (auto: 3). auto "
           "takes fewer if pieces would be small. Results do not depend on it.",
       .choices = {"auto"},
       .min = 1,
       .max = 64,
       .only_if = {"pressure.solver", {"auto", "direct"}}});
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
              .description = "Test the solver on noise before the run."});
  schema.describe_table("numerics", "Precision.");
  schema.add({.path = "numerics.precision",
              .type = KeyType::choice,
              .default_value = "\"double\"",
              .description = "Type of all fields.",
              .choices = {"double", "float"}});
}

VelocityEnd velocity_end(const std::string& word) {
  if (word == "no-slip") return VelocityEnd::no_slip;
  if (word == "free-slip") return VelocityEnd::free_slip;
  if (word == "periodic") return VelocityEnd::periodic;
  return word == "inflow" ? VelocityEnd::inflow : VelocityEnd::outflow;
}

ScalarEnd scalar_end(const std::string& word) {
  return word == "fixed" ? ScalarEnd::fixed : word == "flux" ? ScalarEnd::flux : ScalarEnd::no_flux;
}

/// What a flux lets in is a gradient times the diffusivity.
void require_diffusive(const FlowScalar& scalar, const std::string& where) {
  if (scalar.diffusivity == 0)
    fail(ErrorKind::input, "{}: a flux of {} needs a diffusivity; give one, or remove the flux", where, scalar.name);
}

std::array<Expression, 3> three(const std::vector<Expression>& list) {
  return {list[0], list[1], list[2]};
}

/// The face that a table names.
std::size_t face_of(const Case& options, const std::string& table) {
  const auto at = std::find(box_face_names.begin(), box_face_names.end(), options.text(table + ".face"));
  return static_cast<std::size_t>(at - box_face_names.begin());
}

void read_ends(const Case& options, FlowCase& flow) {
  std::array<std::string, 6> where;
  std::array<bool, 6> given{};
  for (int b = 0; b < options.count("boundary"); ++b) {
    const std::string table = fmt::format("boundary[{}]", b), name = options.text(table + ".face");
    const std::size_t f = face_of(options, table);
    if (!where[f].empty())
      fail(ErrorKind::input, "{}: the face {} has another table, at {}; remove one", options.where(table + ".face"),
           name, where[f]);
    where[f] = options.where(table + ".face");
    FlowEnd& end = flow.ends[f];
    given[f] = true;
    end.velocity = velocity_end(options.text(table + ".velocity"));
    end.value = three(options.expressions(table + ".value"));
    const std::size_t d = f / 2;
    const Expression& through = end.value[d];
    if (end.velocity == VelocityEnd::no_slip && !(through.is_constant() && through({0, 0, 0}) == 0))
      fail(ErrorKind::input, "{}: flow through the wall {}: component {} of `value` must be 0; an inflow may have it",
           options.where(table + ".value"), name, "xyz"[d]);
    const ScalarEnd warm = scalar_end(options.text(table + ".temperature"));
    if (warm != ScalarEnd::no_flux && !flow.has_temperature)
      fail(ErrorKind::input, "{}: there is no temperature; give fluid.diffusivity",
           options.where(table + ".temperature"));
    if (warm != ScalarEnd::no_flux && end.velocity == VelocityEnd::periodic)
      fail(ErrorKind::input, "{}: the face {} is periodic and takes no temperature; remove it",
           options.where(table + ".temperature"), name);
    if (flow.has_temperature) flow.scalars[0].ends[f] = {warm, options.expression(table + ".temperature_value")};
    if (warm == ScalarEnd::flux) require_diffusive(flow.scalars[0], options.where(table + ".temperature"));
  }
  bool inflow = false;
  const auto cells = options.integers("grid.cells");
  for (std::size_t d = 0; d < 3; ++d) {
    if (cells[d] == 1 && !given[2 * d] && !given[2 * d + 1])  // nothing changes along it
      for (std::size_t f = 2 * d; f < 2 * d + 2; ++f) flow.ends[f].velocity = VelocityEnd::periodic;
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
        fail(ErrorKind::input, "{}: there is an inflow at {} but no outflow; make another face an outflow", where[f],
             box_face_names[f]);
}

/// A word that no field of the model has.
void check_scalar_name(const std::string& name, const std::string& where) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool word = !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_';
  });
  if (!word)
    fail(ErrorKind::input, "{}: '{}' is not a valid name of a scalar; use letters, digits and _, a letter first", where,
         name);
  for (const char* field : {"velocity", "u", "v", "w", "p", "T", "part"})
    if (name == field)
      fail(ErrorKind::input, "{}: the results already have a field '{}'; use another name", where, name);
}

void read_scalars(const Case& options, FlowCase& flow) {
  for (int k = 0; k < options.count("scalar"); ++k) {
    const std::string table = fmt::format("scalar[{}]", k), name = options.text(table + ".name"),
                      where = options.where(table + ".name");
    check_scalar_name(name, where);
    for (int other = 0; other < k; ++other)
      if (const std::string key = fmt::format("scalar[{}].name", other); options.text(key) == name)
        fail(ErrorKind::input, "{}: the scalar '{}' has another table, at {}; remove one", where, name,
             options.where(key));
    const Expression initial = options.expression(table + ".initial");
    require_steady(initial, options.where(table + ".initial"), "scalar.initial");
    flow.scalars.push_back(
        {name, options.number(table + ".diffusivity"), options.expression(table + ".source"), initial, {}});
    if (options.has(table + ".exact")) flow.scalars.back().exact = options.expression(table + ".exact");
  }
}

/// After the faces of the flow.
void read_scalar_ends(const Case& options, FlowCase& flow) {
  const auto passive = flow.scalars.begin() + (flow.has_temperature ? 1 : 0);
  std::map<std::pair<std::string, std::size_t>, std::string> given;
  for (int b = 0; b < options.count("scalar_boundary"); ++b) {
    const std::string table = fmt::format("scalar_boundary[{}]", b), name = options.text(table + ".scalar"),
                      face = options.text(table + ".face"), where = options.where(table + ".face");
    const auto scalar =
        std::find_if(passive, flow.scalars.end(), [&](const FlowScalar& one) { return one.name == name; });
    if (scalar == flow.scalars.end())
      fail(ErrorKind::input, "{}: there is no scalar '{}'; add a table [[scalar]], or use the name of one",
           options.where(table + ".scalar"), name);
    const std::size_t f = face_of(options, table);
    const auto [before, first] = given.try_emplace({name, f}, where);
    if (!first)
      fail(ErrorKind::input, "{}: the face {} has another table for the scalar '{}', at {}; remove one", where, face,
           name, before->second);
    if (flow.ends[f].velocity == VelocityEnd::periodic)
      fail(ErrorKind::input, "{}: the face {} is periodic and takes no scalar; remove the table", where, face);
    const ScalarEnd kind = scalar_end(options.text(table + ".kind"));
    if (kind == ScalarEnd::flux) require_diffusive(*scalar, options.where(table + ".kind"));
    scalar->ends[f].kind = kind;
    if (kind != ScalarEnd::no_flux) scalar->ends[f].value = options.expression(table + ".value");
  }
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
      fail(ErrorKind::input, "{}: {} is periodic, and has no walls to stretch the grid towards; give 0",
           options.where("grid.stretch"), "xyz"[d]);
    all *= static_cast<double>(cells[d]);
    grid.lines[d] = make_grid_line(static_cast<Lid>(cells[d]), lower[d], upper[d], stretch[d], periodic);
  }
  if (all > 1e13)
    fail(ErrorKind::input, "{}: {:g} cells are too many; give 1e13 at most", options.where("grid.cells"), all);
  return grid;
}

void read_pressure(const Case& options, FlowCase& flow) {
  const std::string solver = options.text("pressure.solver");
  flow.pressure = solver == "jacobi"      ? PressureMethod::jacobi
                  : solver == "red_black" ? PressureMethod::red_black
                  : solver == "multigrid" ? PressureMethod::multigrid
                                          : PressureMethod::direct;
  const bool automatic = options.is_word("pressure.sweeps", "auto");
  flow.sweeps = !automatic                                   ? static_cast<int>(options.integer("pressure.sweeps"))
                : flow.pressure == PressureMethod::jacobi    ? 20
                : flow.pressure == PressureMethod::multigrid ? 50
                                                             : 10000;
  flow.pieces = options.is_word("pressure.pieces", "auto") ? 0 : static_cast<int>(options.integer("pressure.pieces"));
  if (flow.pressure == PressureMethod::red_black || flow.pressure == PressureMethod::multigrid)
    flow.tolerance = !options.is_word("pressure.tolerance", "auto")   ? options.number("pressure.tolerance")
                     : options.text("numerics.precision") == "double" ? 1e-8
                     : flow.pressure == PressureMethod::multigrid     ? 1e-6
                                                                      : 1e-5;
  if (flow.pressure != PressureMethod::red_black) return;
  for (const GridLine& line : flow.grid.lines)
    if (line.periodic && line.cells() % 2 != 0 && line.cells() > 1)
      fail(ErrorKind::input,
           "{}: red_black needs an even number of cells in a periodic direction, not {}: otherwise two cells of one "
           "colour are neighbours; choose another solver",
           options.where("pressure.solver"), line.cells());
  flow.omega = options.is_word("pressure.omega", "auto") ? 0 : options.number("pressure.omega");
}

void read_diffusion(const Case& options, FlowCase& flow) {
  flow.implicit_diffusion = options.text("time.diffusion") == "implicit";
  if (!flow.implicit_diffusion) return;
  if (flow.scheme != TimeScheme::ab2)
    fail(ErrorKind::input, "{}: implicit diffusion needs time.method = \"ab2\", not \"{}\"; change one of the two",
         options.where("time.diffusion"), options.text("time.method"));
  flow.diffusion_tolerance = !options.is_word("time.diffusion_tolerance", "auto")
                                 ? options.number("time.diffusion_tolerance")
                             : options.text("numerics.precision") == "double" ? 1e-8
                                                                              : 1e-5;
}

}  // namespace

bool FlowCase::is_forced() const {
  return std::any_of(force.begin(), force.end(), [](const Expression& e) { return !e.is_constant(); });
}

bool FlowCase::has_outflow() const {
  return std::any_of(ends.begin(), ends.end(), [](const FlowEnd& e) { return e.velocity == VelocityEnd::outflow; });
}

double FlowCase::largest_diffusivity() const {
  double largest = viscosity;
  for (const FlowScalar& scalar : scalars) largest = std::max(largest, scalar.diffusivity);
  return largest;
}

void add_incompressible_keys(CaseSchema& schema) {
  schema.begin_group("incompressible");
  add_physics_keys(schema);
  add_turbulence_keys(schema);
  add_boundary_keys(schema);
  add_scalar_keys(schema);
  add_numerics_keys(schema);
}

namespace {

/// The directions of the plane, where output.extra asks for a stream function.
std::optional<std::array<std::size_t, 2>> read_plane(const Case& options, const BoxGrid& grid) {
  if (!options.has("output.extra")) return {};
  const auto extra = options.texts("output.extra");
  if (std::find(extra.begin(), extra.end(), "stream_function") == extra.end()) return {};
  for (const std::size_t thin : {2, 1, 0})
    if (grid.lines[thin].cells() == 1)
      return std::array<std::size_t, 2>{thin == 0 ? std::size_t{1} : 0, thin == 2 ? std::size_t{1} : 2};
  fail(ErrorKind::input, "{}: only a flow in a plane has a stream function; make the grid one cell thick",
       options.where("output.extra"));
}

}  // namespace

FlowCase read_flow_case(const Case& options) {
  FlowCase flow;
  flow.viscosity = options.number("fluid.viscosity");
  const Expression temperature_deviation = options.expression("initial.temperature");
  flow.has_temperature = options.has("fluid.diffusivity");
  if (flow.has_temperature)
    flow.scalars.push_back(
        {"T", options.number("fluid.diffusivity"), options.expression("fluid.heat_source"), temperature_deviation, {}});
  const auto buoyancy = options.numbers("fluid.buoyancy");
  flow.buoyancy = {buoyancy[0], buoyancy[1], buoyancy[2]};
  if (norm(flow.buoyancy) > 0 && !flow.has_temperature)
    fail(ErrorKind::input, "{}: there is no temperature; give fluid.diffusivity", options.where("fluid.buoyancy"));
  flow.reference = options.number("fluid.reference");
  flow.force = three(options.expressions("fluid.force"));
  flow.initial_velocity = three(options.expressions("initial.velocity"));
  for (const Expression& e : flow.initial_velocity)
    require_steady(e, options.where("initial.velocity"), "initial.velocity");
  require_steady(temperature_deviation, options.where("initial.temperature"), "initial.temperature");
  if (options.has("exact.temperature")) flow.scalars[0].exact = options.expression("exact.temperature");
  if (options.has("exact.velocity")) flow.exact = three(options.expressions("exact.velocity"));
  read_scalars(options, flow);
  read_ends(options, flow);
  read_scalar_ends(options, flow);
  flow.grid = read_grid(options, flow.ends);
  flow.scheme = options.text("time.method") == "rk3" ? TimeScheme::rk3 : TimeScheme::ab2;
  read_diffusion(options, flow);
  read_turbulence(options, flow);
  flow.steady = options.number("time.steady");
  read_pressure(options, flow);
  // What is to be written of it is refused here, before anything is set up or planned.
  flow.plane = read_plane(options, flow.grid);
  read_slices(options, flow.grid);
  probe_cells(flow.grid, probe_points(options), probe_labels(options));
  return flow;
}

}  // namespace tutti::incompressible
