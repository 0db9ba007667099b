#include "tutti/models/transport/transport_case.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "tutti/base/error.hpp"
#include "tutti/domain/held_arrays.hpp"
#include "tutti/models/transport/paper_parameters.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::transport {
namespace {

const KeyCondition gaussian{"stencil.basis", {"gaussian"}}, polyharmonic{"stencil.basis", {"polyharmonic"}};

void add_stencil_keys(CaseSchema& schema) {
  schema.describe_table("stencil", "Finite-difference weights on the nearest nodes.");
  schema.add({.path = "stencil.basis",
              .type = KeyType::choice,
              .default_value = "\"polyharmonic\"",
              .description = "polyharmonic: splines r^exponent plus polynomials, stable on any nodes; gaussian: "
                             "Gaussians plus a constant, as in Bollig 2012, for nodes that suit its shape parameters.",
              .choices = {"polyharmonic", "gaussian"}});
  schema.add({.path = "stencil.size",
              .type = KeyType::integer,
              .default_value = "57",
              .description = "Nodes of a stencil.",
              .min = 3,
              .max = max_stencil_size});
  schema.add({.path = "stencil.exponent",
              .type = KeyType::integer,
              .default_value = "7",
              .description = "Exponent of r, odd.",
              .min = 3,
              .max = 15,
              .only_if = polyharmonic});
  schema.add(
      {.path = "stencil.degree",
       .type = KeyType::integer,
       .default_value = "6",
       .description = "Degree of the polynomials; about half the stencil's nodes should be left for the splines.",
       .min = 1,
       .max = 12,
       .only_if = polyharmonic});
  schema.add({.path = "stencil.epsilon",
              .type = KeyType::number,
              .default_value = "\"auto\"",
              .unit = "1/radius",
              .description = "Shape parameter; auto: c1 sqrt(N) - c2.",
              .choices = {"auto"},
              .min = 0,
              .above_min = true,
              .only_if = gaussian});
  for (const char* name : {"c1", "c2"})
    schema.add({.path = std::string("stencil.") + name,
                .type = KeyType::number,
                .default_value = "\"auto\"",
                .description =
                    "Coefficient of the shape parameter; auto: that of Bollig 2012, for stencils of 17, 31, 50 or 101 "
                    "nodes.",
                .choices = {"auto"},
                .only_if = gaussian});
}

void add_cache_key(CaseSchema& schema) {
  schema.add({.path = "stencil.cache",
              .type = KeyType::text,
              .description = "Cache file for the weights, relative to the case file: read if it belongs to these nodes "
                             "and this basis, otherwise written."});
}

void add_damping_keys(CaseSchema& schema) {
  schema.describe_table("hyperviscosity", "gamma Delta^k, which damps waves that the stencils cannot resolve.");
  schema.add(
      {.path = "hyperviscosity.kind",
       .type = KeyType::choice,
       .default_value = "\"spectral\"",
       .description = "spectral: gamma = beta / (dt times the spectral radius of Delta^k); paper: gamma_c N^-k; none.",
       .choices = {"spectral", "paper", "none"}});
  schema.add({.path = "hyperviscosity.k",
              .type = KeyType::integer,
              .default_value = "\"auto\"",
              .description =
                  "Power of the Laplacian; polyharmonic: 2 k <= degree. 3 is more accurate on even nodes, and may "
                  "be unstable on few or uneven ones. auto: 2, or the value of the table that gamma_c names.",
              .choices = {"auto"},
              .min = 1,
              .max = 12});
  schema.add({.path = "hyperviscosity.beta",
              .type = KeyType::number,
              .default_value = "\"auto\"",
              .description = "Damping of the shortest waves per step; auto: the first of 0.3, 0.5, 0.8, 1.2 and 2 with "
                             "which no eigenvector of a step grows.",
              .choices = {"auto"},
              .min = 0,
              .max = 2,
              .only_if = {"hyperviscosity.kind", {"spectral"}}});
  schema.add({.path = "hyperviscosity.gamma",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description =
                  "uniform: the same at all nodes; local: at each node in proportion to its own stencil's "
                  "Delta^k, for uneven nodes; auto: local where the spacings of nodes differ by more than half.",
              .choices = {"auto", "uniform", "local"},
              .only_if = {"hyperviscosity.kind", {"spectral"}}});
  schema.add({.path = "hyperviscosity.gamma_c",
              .type = KeyType::number,
              .unit = "1/s",
              .description = "As in the tables of Bollig 2012, but positive: the sign is chosen so that it damps. By "
                             "name, for gaussian stencils of 17, 31, 50 or 101 nodes: vortex (Table 2); bell (Table 3, "
                             "where time is in 1/u_0: a turn takes 2 pi); bell-seconds (Table 3 as printed: a turn "
                             "takes 12 days, in seconds).",
              .choices = {"vortex", "bell", "bell-seconds"},
              .min = 0,
              .required = true,
              .only_if = {"hyperviscosity.kind", {"paper"}}});
}

void add_velocity_keys(CaseSchema& schema) {
  schema.describe_table("velocity", "Velocity of the flow, in sphere radii per second: east and north, or x, y, z.");
  for (const char* name : {"east", "north"})
    schema.add({.path = std::string("velocity.") + name,
                .type = KeyType::expression,
                .unit = "1/s",
                .description = fmt::format("Towards {}, of lon, lat (or x, y, z) and t.", name),
                .initial = true});
  schema.add({.path = "velocity.cartesian",
              .type = KeyType::expressions,
              .unit = "1/s",
              .description = "Along x, y and z; only the tangential part counts.",
              .length = 3,
              .initial = true});
}

void check_name(const std::string& name, const std::string& where) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto fits = [&](char c) { return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (name.empty() || !letter(name[0]) || !std::all_of(name.begin(), name.end(), fits))
    fail(ErrorKind::input, "{}: '{}' is not a valid name of a tracer; use letters, digits and _, a letter first", where,
         name);
  if (name == "node" || name == "part")
    fail(ErrorKind::input, "{}: '{}' is a field of all results already; use another name", where, name);
}

void read_basis(const Case& options, TransportCase& transport) {
  StencilBasis& basis = transport.basis;
  basis.size = static_cast<int>(options.integer("stencil.size"));
  basis.hyper = options.is_word("hyperviscosity.k", "auto") ? 2 : static_cast<int>(options.integer("hyperviscosity.k"));
  if (options.text("stencil.basis") == "polyharmonic") {
    basis.kind = StencilBasis::Kind::polyharmonic;
    basis.exponent = static_cast<int>(options.integer("stencil.exponent"));
    basis.degree = static_cast<int>(options.integer("stencil.degree"));
    return;
  }
  basis.kind = StencilBasis::Kind::gaussian;
  if (!options.is_word("stencil.epsilon", "auto")) {
    transport.epsilon = options.number("stencil.epsilon");
    return;
  }
  const PaperParameters* known = find_parameters(vortex_parameters, basis.size);
  const auto constant = [&](const char* key, double PaperParameters::*member) {
    if (!options.is_word(key, "auto")) return options.number(key);
    if (known == nullptr)
      fail(ErrorKind::input,
           "{}: the paper has no shape parameter for stencils of {} nodes, only for 17, 31, 50 and 101; give {}",
           options.where("stencil.size"), basis.size, key);
    return known->*member;
  };
  transport.c1 = constant("stencil.c1", &PaperParameters::c1);
  transport.c2 = constant("stencil.c2", &PaperParameters::c2);
}

/// gamma_c: a number, or of a table by its name, which has k, too.
void read_paper_damping(const Case& options, TransportCase& transport) {
  const char* const key = "hyperviscosity.gamma_c";
  const auto* const table = std::find_if(paper_tables.begin(), paper_tables.end(),
                                         [&](const PaperTable& t) { return options.is_word(key, t.name); });
  if (table == paper_tables.end()) {
    transport.strength = options.number(key);
    return;
  }
  StencilBasis& basis = transport.basis;
  const PaperParameters* entry = find_parameters(table->entries, basis.size);
  if (basis.kind != StencilBasis::Kind::gaussian || entry == nullptr)
    fail(
        ErrorKind::input,
        "{}: the paper's table \"{}\" is for stencil.basis = \"gaussian\" and stencils of 17, 31, 50 or 101 nodes; use "
        "such, or give gamma_c as a number",
        options.where(key), table->name);
  if (!options.is_word("hyperviscosity.k", "auto") && basis.hyper != entry->k)
    fail(ErrorKind::input, "{}: gamma_c = \"{}\" belongs to k = {} for stencils of {} nodes; use k = \"auto\"",
         options.where("hyperviscosity.k"), table->name, entry->k, entry->size);
  basis.hyper = entry->k;
  transport.strength = table->factor * entry->gamma_c;
}

void read_velocity(const Case& options, TransportCase& transport) {
  const bool east = options.has("velocity.east"), north = options.has("velocity.north");
  transport.cartesian = options.has("velocity.cartesian");
  if (transport.cartesian && (east || north))
    fail(ErrorKind::input,
         "{}: the velocity is given twice; give velocity.cartesian, or velocity.east and velocity.north",
         options.where("velocity.cartesian"));
  if (!transport.cartesian && !east && !north)
    fail(ErrorKind::input, "{}: there is no velocity; give velocity.east and velocity.north, or velocity.cartesian",
         options.where("model"));
  if (transport.cartesian)
    transport.velocity = options.expressions("velocity.cartesian");
  else
    for (const char* key : {"velocity.east", "velocity.north"})
      transport.velocity.push_back(options.has(key) ? options.expression(key) : Expression());
  // One that changes is evaluated on devices, all its components.
  if (transport.steady()) return;
  const char* key = transport.cartesian ? "velocity.cartesian" : east ? "velocity.east" : "velocity.north";
  for (const Expression& formula : transport.velocity)
    if (formula.is_sampled())
      fail(ErrorKind::input,
           "{}: the velocity names a [[field]] and t; a formula with a [[field]] is evaluated once: leave one of them "
           "out",
           options.where(key));
}

void read_tracers(const Case& options, TransportCase& transport) {
  for (int k = 0; k < options.count("tracer"); ++k) {
    const std::string table = fmt::format("tracer[{}]", k), where = options.where(table + ".name");
    Tracer tracer{options.text(table + ".name"), options.expression(table + ".initial"), {}};
    check_name(tracer.name, where);
    for (const Tracer& other : transport.tracers)
      if (other.name == tracer.name)
        fail(ErrorKind::input, "{}: the tracer '{}' has two tables; remove one", where, tracer.name);
    require_steady(tracer.initial, options.where(table + ".initial"), "initial");
    if (options.has(table + ".exact")) tracer.exact = options.expression(table + ".exact");
    transport.tracers.push_back(std::move(tracer));
  }
  if (transport.tracers.empty())
    fail(ErrorKind::input, "{}: there is no [[tracer]]; add one with a name and an initial value",
         options.where("model"));
}

}  // namespace

void add_transport_keys(CaseSchema& schema) {
  schema.begin_group("transport");
  add_stencil_keys(schema);
  add_cache_key(schema);
  add_damping_keys(schema);
  add_velocity_keys(schema);
  schema.describe_table("tracer[]", "A tracer, written as a field of its name. May be repeated.");
  schema.add({.path = "tracer[].name",
              .type = KeyType::text,
              .description = "Letters, digits and _, a letter first.",
              .required = true});
  schema.add({.path = "tracer[].initial",
              .type = KeyType::expression,
              .description = "The tracer at t = 0.",
              .required = true,
              .initial = true,
              .exact = "tracer[].exact"});
  schema.add({.path = "tracer[].exact",
              .type = KeyType::expression,
              .description = "Exact solution at time t; `history.csv` and the summary then give the errors."});
  schema.add({.path = "time.method",
              .type = KeyType::choice,
              .default_value = "\"rk4\"",
              .description = "rk4: the classical Runge-Kutta method; ssp-rk3: the three-stage method of Shu and Osher.",
              .choices = {"rk4", "ssp-rk3"}});
  schema.add({.path = "time.tolerance",
              .type = KeyType::number,
              .default_value = "0.005",
              .description = "With dt = \"auto\": largest error of the time steps in the initial tracers, relative to "
                             "the integral of their magnitudes, while the fastest node goes once around the sphere. "
                             "Steps are shortened to meet it, at most to half. 0: the longest stable step.",
              .min = 0});
  schema.describe_table("numerics", "Numerics of the model.");
  schema.add({.path = "numerics.check",
              .type = KeyType::boolean,
              .default_value = "true",
              .description = "Check the stability before the run, by eigenvalues of a step: no mode may grow."});
  schema.add({.path = "numerics.operators",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description = "For a steady velocity. auto: advection and hyperviscosity in one operator; separate: two "
                             "operators, as in Bollig 2012, which is only slower.",
              .choices = {"auto", "separate"}});
  schema.add({.path = "numerics.kernel",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description = "GPU kernel for the sum over a stencil. threads: one thread per node, or several with "
                             "more than three tracers; warp: a warp per node, as in Bollig 2012, which sums in another "
                             "order (on CPUs, too), so that the last bits differ; auto: the fastest kernel with the "
                             "same bits as threads.",
              .choices = {"auto", "threads", "warp"}});
  add_residency_keys(schema, "the weights of the stencils (most of a node's memory)");
}

bool TransportCase::steady() const {
  return std::none_of(velocity.begin(), velocity.end(), [](const Expression& e) { return e.depends_on_time(); });
}

StencilBasis TransportCase::basis_for(Gid nodes) const {
  StencilBasis chosen = basis;
  if (basis.kind == StencilBasis::Kind::gaussian)
    chosen.epsilon = epsilon ? *epsilon : c1 * std::sqrt(static_cast<double>(nodes)) - c2;
  return chosen;
}

TransportCase read_transport_case(const Case& options) {
  TransportCase transport;
  read_basis(options, transport);
  const std::string kind = options.text("hyperviscosity.kind");
  transport.damping = kind == "spectral" ? Damping::spectral : kind == "paper" ? Damping::paper : Damping::none;
  if (transport.damping == Damping::none) transport.basis.hyper = 1;  // made, and not used
  if (transport.damping == Damping::spectral) {
    if (!options.is_word("hyperviscosity.beta", "auto")) transport.strength = options.number("hyperviscosity.beta");
    const std::string gamma = options.text("hyperviscosity.gamma");
    transport.gamma = gamma == "local"     ? GammaKind::local
                      : gamma == "uniform" ? GammaKind::uniform
                                           : GammaKind::automatic;
  }
  if (transport.damping == Damping::paper) read_paper_damping(options, transport);
  if (options.has("stencil.cache")) transport.cache = options.directory() / options.text("stencil.cache");
  read_velocity(options, transport);
  read_tracers(options, transport);
  transport.separate = options.text("numerics.operators") == "separate";
  if (options.text("numerics.kernel") == "warp") transport.kernel = StencilKernel::warps;
  transport.held = residency_options(options);
  const bool exact = is_exact(transport.held.format) && transport.held.tolerance <= 0;
  if (transport.kernel == StencilKernel::warps && !exact)
    fail(ErrorKind::input, "{}: numerics.kernel = \"warp\" reads weights in double; set residency.format = \"double\"",
         options.where("numerics.kernel"));
  transport.method = options.text("time.method") == "rk4" ? RungeKutta::rk4 : RungeKutta::ssp_rk3;
  return transport;
}

}  // namespace tutti::transport
