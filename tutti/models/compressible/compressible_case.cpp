#include "tutti/models/compressible/compressible_case.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/core.h>

#include "tutti/base/error.hpp"
#include "tutti/domain/held_arrays.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::compressible {
namespace {

/// A kind of boundary in a case's words, and which data it takes: bits of boundary_values.
struct KindWord {
  const char* word;
  BoundaryKind kind;
  unsigned takes;
};
constexpr unsigned rho = 1, velocity = 2 | 4 | 8, pressure_bit = 16, temperature = 32;
constexpr std::array<KindWord, 9> kind_words = {{
    {"slip", BoundaryKind::slip, 0},
    {"adiabatic", BoundaryKind::adiabatic, velocity},
    {"isothermal", BoundaryKind::isothermal, velocity | temperature},
    {"far-field", BoundaryKind::far_field, rho | velocity | pressure_bit},
    {"inflow", BoundaryKind::inflow, rho | velocity},
    {"total-inflow", BoundaryKind::total_inflow, velocity | pressure_bit | temperature},
    {"outflow", BoundaryKind::outflow, pressure_bit},
    {"supersonic-inflow", BoundaryKind::supersonic_inflow, rho | velocity | pressure_bit},
    {"supersonic-outflow", BoundaryKind::supersonic_outflow, 0},
}};

void add_physics_keys(CaseSchema& schema) {
  schema.describe_table("physics", "The ideal gas p = rho R T, and its state at t = 0.");
  const auto number = [&](const char* path, const char* value, const char* unit, const char* text, bool positive) {
    schema.add({.path = path,
                .type = KeyType::number,
                .default_value = value,
                .unit = unit,
                .description = text,
                .min = 0,
                .above_min = positive});
  };
  schema.add({.path = "physics.gamma",
              .type = KeyType::number,
              .default_value = "1.4",
              .description = "Ratio of the specific heats.",
              .min = 1,
              .above_min = true});
  number("physics.gas_constant", "1.0", "J/(kg K)", "R. 287.05 for air in SI units; 1: temperature is p / rho.", true);
  number("physics.viscosity", "0.0", "Pa s", "Dynamic viscosity; 0: inviscid (Euler's equations).", false);
  number("physics.prandtl", "0.72", "", "Viscosity times specific heat at constant pressure over conductivity.", true);
  schema.add({.path = "physics.viscosity_law",
              .type = KeyType::choice,
              .default_value = "\"constant\"",
              .description = "sutherland: grows with temperature, and equals `viscosity` at reference_temperature.",
              .choices = {"constant", "sutherland"}});
  const KeyCondition sutherland{"physics.viscosity_law", {"sutherland"}};
  schema.add({.path = "physics.reference_temperature",
              .type = KeyType::number,
              .default_value = "273.15",
              .unit = "K",
              .description = "Temperature at which the viscosity is `viscosity`.",
              .min = 0,
              .above_min = true,
              .only_if = sutherland});
  schema.add({.path = "physics.sutherland_temperature",
              .type = KeyType::number,
              .default_value = "110.4",
              .unit = "K",
              .description = "Sutherland's constant of the gas.",
              .min = 0,
              .only_if = sutherland});
  schema.add({.path = "physics.initial.rho",
              .type = KeyType::expression,
              .unit = "kg/m^3",
              .description = "Density at t = 0.",
              .required = true,
              .initial = true,
              .exact = "physics.exact.rho"});
  schema.add({.path = "physics.initial.velocity",
              .type = KeyType::expressions,
              .unit = "m/s",
              .description = "Velocity at t = 0.",
              .length = 3,
              .required = true,
              .initial = true});
  schema.add({.path = "physics.initial.p",
              .type = KeyType::expression,
              .unit = "Pa",
              .description = "Pressure at t = 0.",
              .required = true,
              .initial = true});
  schema.add({.path = "physics.source",
              .type = KeyType::expressions,
              .description =
                  "Source of density, momentum (three) and total energy per unit of volume and time, of x, y, z, t.",
              .length = 5});
  schema.add({.path = "physics.exact.rho",
              .type = KeyType::expression,
              .unit = "kg/m^3",
              .description = "Exact density at time t; `history.csv` and the summary then give the errors."});
}

void add_boundary_keys(CaseSchema& schema) {
  schema.describe_table("boundary[]",
                        "Boundary condition of a physical surface. Every surface of the mesh needs a table.");
  schema.add({.path = "boundary[].tag",
              .type = KeyType::text,
              .description = "Name or number of the physical surface, or \"*\" for every other one.",
              .required = true});
  std::vector<std::string> words;
  for (const KindWord& k : kind_words) words.emplace_back(k.word);
  schema.add({.path = "boundary[].type",
              .type = KeyType::choice,
              .description =
                  "slip: a wall without friction, or symmetry; adiabatic, isothermal: no-slip walls; far-field: "
                  "Riemann's invariants; inflow: subsonic, rho and velocity; total-inflow: subsonic, total pressure p "
                  "and temperature, along velocity; outflow: subsonic, p; supersonic-inflow; supersonic-outflow.",
              .choices = words,
              .required = true});
  const auto expression = [&](const char* path, const char* unit, const char* text) {
    schema.add({.path = path, .type = KeyType::expression, .unit = unit, .description = text});
  };
  expression("boundary[].rho", "kg/m^3", "Density, of x, y, z, t.");
  schema.add({.path = "boundary[].velocity",
              .type = KeyType::expressions,
              .unit = "m/s",
              .description = "Velocity, also of a moving wall (default there: 0).",
              .length = 3});
  expression("boundary[].p", "Pa", "Pressure; with total-inflow the total pressure.");
  expression("boundary[].temperature", "K", "Temperature; with total-inflow the total temperature.");
}

void add_force_keys(CaseSchema& schema) {
  schema.describe_table("forces", "Drag, lift and Strouhal number of a body, among the diagnostics.");
  schema.add({.path = "forces.surface",
              .type = KeyType::text,
              .description = "Name or number of the body's physical surface, a wall."});
  const KeyCondition given{"forces.surface", {}};
  const auto number = [&](const char* path, const char* unit, const char* text) {
    schema.add({.path = path,
                .type = KeyType::number,
                .default_value = "1.0",
                .unit = unit,
                .description = text,
                .min = 0,
                .above_min = true,
                .only_if = given});
  };
  number("forces.rho", "kg/m^3", "Density of the free stream.");
  number("forces.speed", "m/s", "Speed of the free stream.");
  number("forces.area", "m^2", "Reference area of the coefficients.");
  number("forces.length", "m", "Reference length of the Strouhal number.");
  const auto direction = [&](const char* path, const char* value, const char* text) {
    schema.add({.path = path,
                .type = KeyType::numbers,
                .default_value = value,
                .description = text,
                .length = 3,
                .only_if = given});
  };
  direction("forces.drag", "[1, 0, 0]", "Direction of the drag.");
  direction("forces.lift", "[0, 1, 0]", "Direction of the lift.");
  schema.add({.path = "forces.from",
              .type = KeyType::number,
              .default_value = "0.0",
              .unit = "s",
              .description = "Time from which means and periods are taken.",
              .min = 0,
              .only_if = given});
  schema.add({.path = "forces.every",
              .type = KeyType::integer,
              .default_value = "10",
              .unit = "steps",
              .description = "Steps between two evaluations of the forces.",
              .min = 1,
              .only_if = given});
}

ForceOptions read_forces(const Case& options) {
  ForceOptions forces;
  if (!options.has("forces.surface")) return forces;
  forces.surface = options.text("forces.surface");
  forces.rho = options.number("forces.rho");
  forces.speed = options.number("forces.speed");
  forces.area = options.number("forces.area");
  forces.length = options.number("forces.length");
  const auto direction = [&](const char* path) {
    const auto v = options.numbers(path);
    const double size = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(size > 0))
      fail(ErrorKind::input, "{}: a direction needs a length above 0; give another", options.where(path));
    return Vec3{v[0] / size, v[1] / size, v[2] / size};
  };
  forces.drag = direction("forces.drag");
  forces.lift = direction("forces.lift");
  forces.from = options.number("forces.from");
  forces.every = static_cast<int>(options.integer("forces.every"));
  return forces;
}

void add_numerics_keys(CaseSchema& schema) {
  schema.describe_table("numerics", "The discontinuous Galerkin method.");
  schema.add({.path = "numerics.order",
              .type = KeyType::integer,
              .default_value = "3",
              .description = "Degree p of the polynomials: errors fall as h^(p + 1).",
              .min = 0,
              .max = max_order});
  schema.add({.path = "numerics.flux",
              .type = KeyType::choice,
              .default_value = "\"hllc\"",
              .description = "Numerical flux between elements: local Lax-Friedrichs (robust), Roe, or HLLC.",
              .choices = {"llf", "roe", "hllc"}});
  schema.add({.path = "numerics.eta",
              .type = KeyType::number,
              .default_value = "2.0",
              .description = "Penalty factor of the jumps at a face in the viscous flux (BR2).",
              .min = 0,
              .above_min = true});
  schema.add(
      {.path = "numerics.form",
       .type = KeyType::choice,
       .default_value = "\"auto\"",
       .description =
           "Tables of the basis at quadrature points. stored: every element has tables of its own and, unless it is a "
           "straight tetrahedron, p + 2 points per direction, as in Choi 2019. auto: elements that are affine images "
           "of the reference element share its tables, with quadrature rules of degree 2p; others have their own. "
           "recomputed: as auto, but the others keep only the matrix of their basis, a tenth as large; faster on CPUs "
           "from order 2 on, and on GPUs that have no room for tables.",
       .choices = {"auto", "stored", "recomputed"}});
  schema.add({.path = "numerics.kernels",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description =
                  "portable: all devices run the same kernels and give the same bits. tuned: GPUs use their tensor "
                  "cores where there are kernels for them: inviscid and viscous flow on straight tetrahedra, or on "
                  "straight hexahedra, of order 1, 2 or 3, without artificial viscosity; otherwise as portable. Tuned "
                  "kernels need a GPU with 160 KiB of shared memory per block, such as A100 and H100. auto: tuned if "
                  "all devices are such GPUs and all elements are such tetrahedra, or such hexahedra. Unless portable "
                  "is set, CPUs compute several such elements at a time in a vector register, with the same bits.",
              .choices = {"auto", "portable", "tuned"}});
  schema.add({.path = "numerics.limiter",
              .type = KeyType::choice,
              .default_value = "\"none\"",
              .description = "positivity: density and pressure are kept above 0 by Zhang and Shu's limiter, for shocks "
                             "and strong expansions; smooth flow is unchanged, bit for bit.",
              .choices = {"none", "positivity"}});
  schema.add({.path = "numerics.shock_viscosity",
              .type = KeyType::number,
              .default_value = "0.0",
              .description =
                  "Artificial viscosity of elements with shocks (Persson and Peraire), times h/p (|velocity| + a); 0: "
                  "none, 0.25 is usual.",
              .min = 0});
  schema.add({.path = "numerics.shock_threshold",
              .type = KeyType::number,
              .default_value = "-1.5",
              .description =
                  "Shock sensor: the artificial viscosity rises from 0 to its full value as the share of the density "
                  "squared in the polynomials of degree p rises from a decade below 10^(this - 4 log10 p) to a decade "
                  "above.",
              .max = 0});
  schema.add({.path = "time.method",
              .type = KeyType::choice,
              .default_value = "\"ssp-rk3\"",
              .description =
                  "Runge-Kutta: strong stability preserving of third order with three stages or of fourth order with "
                  "five; or Carpenter and Kennedy's low-storage one of fourth order with five.",
              .choices = {"ssp-rk3", "ssp-rk54", "low-storage"}});
}

void read_sensor(const Case& options, CompressibleCase& flow) {
  const double strength = options.number("numerics.shock_viscosity");
  if (strength == 0) return;
  if (flow.order == 0)
    fail(ErrorKind::input, "{}: order 0 has no higher polynomials to find shocks by and needs no viscosity; remove it",
         options.where("numerics.shock_viscosity"));
  flow.sensor.strength = strength / flow.order;
  flow.sensor.middle = options.number("numerics.shock_threshold") - 4 * portable::log10(flow.order);
  flow.sensor.share_from = portable::pow(10.0, flow.sensor.middle - 1);
  flow.sensor.share_to = portable::pow(10.0, flow.sensor.middle + 1);
  flow.sensor.lower_bases = basis_size(flow.order - 1);
}

BoundaryCondition read_condition(const Case& options, const std::string& table) {
  BoundaryCondition condition;
  condition.name = options.text(table + ".tag");
  const std::string type = options.text(table + ".type");
  const auto& kind =
      *std::find_if(kind_words.begin(), kind_words.end(), [&](const KindWord& k) { return type == k.word; });
  condition.kind = kind.kind;
  const bool wall = is_wall(kind.kind);
  const auto wants = [&](const char* key, unsigned bit) {
    const std::string path = table + "." + key;
    const bool given = options.is_set(path), takes = (kind.takes & bit) != 0;
    if (given && !takes)
      fail(ErrorKind::input, "{}: a boundary of type \"{}\" takes no {}; remove it", options.where(path), type, key);
    if (!given && takes && !(wall && bit == velocity))
      fail(ErrorKind::input, "{}: a boundary of type \"{}\" needs {}; give it", options.where(table + ".type"), type,
           key);
    return given && takes;
  };
  if (wants("rho", rho)) condition.values[0] = options.expression(table + ".rho");
  if (wants("velocity", velocity)) {
    const auto v = options.expressions(table + ".velocity");
    for (std::size_t d = 0; d < 3; ++d) condition.values[1 + d] = v[d];
  }
  if (wants("p", pressure_bit)) condition.values[4] = options.expression(table + ".p");
  if (wants("temperature", temperature)) condition.values[5] = options.expression(table + ".temperature");
  return condition;
}

}  // namespace

void add_compressible_keys(CaseSchema& schema) {
  schema.begin_group("compressible");
  add_physics_keys(schema);
  add_boundary_keys(schema);
  add_numerics_keys(schema);
  add_force_keys(schema);
  add_residency_keys(schema,
                     "the tables of elements with tables of their own (numerics.form), and of their faces (most of the "
                     "memory of such a mesh)");
}

CompressibleCase read_compressible_case(const Case& options) {
  CompressibleCase flow;
  flow.order = static_cast<int>(options.integer("numerics.order"));
  flow.stored = options.text("numerics.form") == "stored";
  flow.recomputed = options.text("numerics.form") == "recomputed";
  const std::string kernels = options.text("numerics.kernels");
  flow.tuned = kernels == "tuned";
  flow.kernels = flow.tuned          ? KernelChoice::tuned
                 : kernels == "auto" ? KernelChoice::automatic
                                     : KernelChoice::portable;
  flow.held = residency_options(options);
  // Rows of the projection, some together: entries of one point and direction are alike.
  const int columns = padded(flow.bases());
  flow.held.group = columns * std::max(1, 128 / columns);
  flow.eta = options.number("numerics.eta");
  const std::string flux = options.text("numerics.flux"), method = options.text("time.method");
  flow.limited = options.text("numerics.limiter") == "positivity";
  read_sensor(options, flow);
  flow.flux = flux == "llf" ? FluxKind::llf : flux == "roe" ? FluxKind::roe : FluxKind::hllc;
  flow.method = method == "ssp-rk3"    ? TimeMethod::ssp_rk3
                : method == "ssp-rk54" ? TimeMethod::ssp_rk54
                                       : TimeMethod::low_storage;
  flow.gas.gamma = options.number("physics.gamma");
  flow.gas.constant = options.number("physics.gas_constant");
  flow.gas.prandtl = options.number("physics.prandtl");
  flow.gas.viscosity = options.number("physics.viscosity");
  if (flow.gas.viscosity > 0) {
    flow.gas.law = ViscosityLaw::constant;
    if (options.text("physics.viscosity_law") == "sutherland") {
      flow.gas.law = ViscosityLaw::sutherland;
      flow.gas.reference_temperature = options.number("physics.reference_temperature");
      flow.gas.sutherland_temperature = options.number("physics.sutherland_temperature");
    }
  }
  flow.initial[0] = options.expression("physics.initial.rho");
  const auto v = options.expressions("physics.initial.velocity");
  for (std::size_t d = 0; d < 3; ++d) flow.initial[1 + d] = v[d];
  flow.initial[4] = options.expression("physics.initial.p");
  for (std::size_t k = 0; k < flow.initial.size(); ++k)
    require_steady(flow.initial[k],
                   options.where(k == 0   ? "physics.initial.rho"
                                 : k == 4 ? "physics.initial.p"
                                          : "physics.initial.velocity"),
                   "physics.initial");
  if (options.has("physics.source")) flow.source = options.expressions("physics.source");
  if (options.has("physics.exact.rho")) flow.exact_rho = options.expression("physics.exact.rho");
  flow.forces = read_forces(options);
  for (int k = 0; k < options.count("boundary"); ++k)
    flow.conditions.push_back(read_condition(options, fmt::format("boundary[{}]", k)));
  return flow;
}

namespace {
std::string label_of(std::int32_t tag, const std::map<std::int32_t, std::string>& names) {
  const auto at = names.find(tag);
  return at == names.end() ? fmt::format("{}", tag) : fmt::format("'{}' ({})", at->second, tag);
}
}  // namespace

std::int32_t tag_of_surface(const std::string& where, const std::string& name,
                            const std::map<std::int32_t, std::string>& names, const std::set<std::int32_t>& tags) {
  for (const std::int32_t t : tags)
    if (const auto at = names.find(t); at != names.end() && at->second == name) return t;
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error == std::errc() && end == name.data() + name.size() && tags.contains(number)) return number;
  std::string all;
  for (const std::int32_t t : tags) all += " " + label_of(t, names);
  fail(ErrorKind::input, "{}: the mesh has no surface '{}'; use one that it has{}", where, name,
       all.empty() ? ": none, it is periodic" : ":" + all);
}

std::map<std::int32_t, std::int32_t> conditions_of_tags(const Case& options, const CompressibleCase& flow,
                                                        const std::map<std::int32_t, std::string>& names,
                                                        const std::set<std::int32_t>& tags) {
  std::map<std::int32_t, std::int32_t> found;
  std::int32_t others = -1;
  for (std::size_t k = 0; k < flow.conditions.size(); ++k) {
    const std::string& name = flow.conditions[k].name;
    const std::string where = options.where(fmt::format("boundary[{}].tag", k));
    if (name == "*") {
      others = static_cast<std::int32_t>(k);
      continue;
    }
    const std::int32_t tag = tag_of_surface(where, name, names, tags);
    if (!found.emplace(tag, static_cast<std::int32_t>(k)).second)
      fail(ErrorKind::input, "{}: surface '{}' has two [[boundary]] tables; remove one", where, name);
  }
  for (const std::int32_t tag : tags) {
    if (found.contains(tag)) continue;
    if (others < 0)
      fail(ErrorKind::input, "{}: surface {} of the mesh has no [[boundary]] table; add one, or one with tag = \"*\"",
           options.where("model"), tag == 0 ? "without a tag" : label_of(tag, names));
    found.emplace(tag, others);
  }
  return found;
}

}  // namespace tutti::compressible
