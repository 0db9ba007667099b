#include "tutti/models/diffusion/diffusion_case.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tutti/base/units.hpp"
#include "tutti/domain/groups.hpp"
#include "tutti/domain/held_arrays.hpp"
#include "tutti/models/diffusion/ionic/ionic_case.hpp"
#include "tutti/models/diffusion/scheme/scheme_faces.hpp"
#include "tutti/simulation/evaluate.hpp"

namespace tutti::diffusion {
namespace {

void add_tensor_keys(CaseSchema& schema, const std::string& table) {
  schema.add({.path = table + ".K",
              .type = KeyType::tensor,
              .unit = "length^2/s",
              .description = "Diffusivity: a number or formula, or a symmetric 3x3 tensor of them. It may depend on u.",
              .initial = true,
              .solution = true});
  schema.add({.path = table + ".fibre",
              .type = KeyType::expressions,
              .description = "Fibre direction (any length), with `longitudinal` and `transverse` instead of K.",
              .length = 3,
              .initial = true});
  schema.add({.path = table + ".fibre_data",
              .type = KeyType::text,
              .description = "Fibre directions from the mesh file: name of cell data (Gmsh: $ElementData) with three "
                             "components."});
  schema.at_most_one_of({table + ".K", table + ".fibre", table + ".fibre_data"});
  schema.add({.path = table + ".longitudinal",
              .type = KeyType::expression,
              .unit = "length^2/s",
              .description = "Diffusivity along the fibre. It may depend on u.",
              .initial = true,
              .solution = true});
  schema.add({.path = table + ".transverse",
              .type = KeyType::expression,
              .unit = "length^2/s",
              .description = "Diffusivity across the fibre. It may depend on u.",
              .initial = true,
              .solution = true});
}

using TagNames = std::map<std::int32_t, std::string>;
using Tags = std::set<std::int32_t>;

}  // namespace

void add_diffusion_keys(CaseSchema& schema) {
  schema.begin_group("diffusion");
  schema.describe_table("physics", "du/dt = div(K grad u) + source.");
  add_tensor_keys(schema, "physics");
  schema.add({.path = "physics.initial",
              .type = KeyType::expression,
              .default_value = "0",
              .description = "u at t = 0.",
              .initial = true,
              .exact = "physics.exact"});
  schema.add({.path = "physics.source",
              .type = KeyType::expression,
              .default_value = "0",
              .unit = "1/s",
              .description = "Source. It may depend on u.",
              .initial = true,
              .solution = true});
  schema.add(
      {.path = "physics.exact",
       .type = KeyType::expression,
       .description =
           "Exact solution: `history.csv` then has the errors; the summary has those at the end, and the error of the "
           "gradient."});
  schema.describe_table("physics.region[]", "A different K in a physical volume.");
  schema.add({.path = "physics.region[].name",
              .type = KeyType::text,
              .description = "Name or number of the physical volume.",
              .required = true});
  add_tensor_keys(schema, "physics.region[]");
  schema.describe_table("boundary[]", "Boundary condition of a physical surface; without a table: no flux.");
  schema.add({.path = "boundary[].tag",
              .type = KeyType::text,
              .description = "Name or number of the physical surface, or \"*\" for every other one.",
              .required = true});
  schema.add({.path = "boundary[].type",
              .type = KeyType::choice,
              .default_value = "\"neumann\"",
              .description = "dirichlet: value is u; neumann: value is n.K grad u, the flux into the domain; robin: "
                             "n.K grad u = h (value - u), e.g. heat transfer to a fluid of the temperature `value`.",
              .choices = {"dirichlet", "neumann", "robin"}});
  schema.add({.path = "boundary[].value",
              .type = KeyType::expression,
              .default_value = "0",
              .description = "The boundary value, evaluated at the face's centroid.",
              .initial = true});
  schema.add({.path = "boundary[].h",
              .type = KeyType::expression,
              .unit = "length/s",
              .description = "Transfer coefficient, not negative, evaluated at the face's centroid.",
              .required = true,
              .only_if = {"boundary[].type", {"robin"}}});
  schema.describe_table(
      "interface[]",
      "Contact resistance between two regions: u jumps by the resistance times the flux. Without a table: none.");
  schema.add({.path = "interface[].regions",
              .type = KeyType::texts,
              .description = "Names or numbers of the two physical volumes.",
              .length = 2,
              .required = true});
  schema.add({.path = "interface[].resistance",
              .type = KeyType::expression,
              .unit = "s/length",
              .description = "Resistance (1/h of a film), not negative, evaluated at the face's centroid.",
              .required = true});
  add_ionic_keys(schema);
  schema.add({.path = "output.extra",
              .type = KeyType::texts,
              .description = "Extra cell fields. gradient: the fitted gradient that the fluxes use; flux: -K grad u.",
              .choices = {"gradient", "flux"}});
  schema.describe_table("numerics",
                        "The operator: how its rows are stored, its flux, and tests of its stability. Results in "
                        "double do not depend on `format` and `layout`.");
  schema.add(
      {.path = "numerics.format",
       .type = KeyType::choice,
       .default_value = "\"sliced\"",
       .description = "ellpack: 16 entries per row (Langguth 2015); sliced: SELL-C-sigma, C = 8 on CPUs, 32 on GPUs.",
       .choices = {"ellpack", "sliced"}});
  schema.add({.path = "numerics.layout",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description = "Rows, or transposed blocks of 128 rows; auto: rows on CPUs, blocks on GPUs.",
              .choices = {"auto", "rows", "blocks"},
              .only_if = {"numerics.format", {"ellpack"}}});
  schema.add({.path = "numerics.precision",
              .type = KeyType::choice,
              .default_value = "\"double\"",
              .description = "compact: coefficients in float (about 1e-8 relative), vectors and sums in double.",
              .choices = {"double", "compact"}});
  schema.add(
      {.path = "numerics.columns",
       .type = KeyType::choice,
       .default_value = "\"auto\"",
       .description =
           "Type of the column indices: int32; int16 (eight windows of 8,192 columns per slice; slices that need more "
           "keep int32); int10 (among the up to 1,024 values that 256 rows read; where there are more, int32); auto: "
           "on GPUs the first of int10 and int16 that nearly all tiles or slices can use, else int32.",
       .choices = {"auto", "int32", "int16", "int10"},
       .only_if = {"numerics.format", {"sliced"}}});
  schema.add({.path = "numerics.sigma",
              .type = KeyType::integer,
              .default_value = "256",
              .unit = "rows",
              .description = "Window in which rows are sorted by length.",
              .min = 1,
              .max = 1 << 20,
              .only_if = {"numerics.format", {"sliced"}}});
  schema.add({.path = "numerics.flux",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description =
                  "least-squares: as in Langguth 2015; an error where it is unstable. auto: least-squares if it has no "
                  "growing mode, else a damped form of it. full: the name of least-squares in checkpoints of tutti "
                  "0.1. monotone: least-squares, limited where it would create new extrema; with euler, backward-euler "
                  "and steady. two-point: without gradients, wrong on general meshes, for comparison only.",
              .choices = {"auto", "least-squares", "full", "monotone", "two-point"}});
  schema.add(
      {.path = "numerics.check",
       .type = KeyType::boolean,
       .default_value = "true",
       .description =
           "Test the stability before the run: search for growing modes of the operator, and take some steps from "
           "random values."});
  schema.add({.path = "numerics.search",
              .type = KeyType::choice,
              .default_value = "\"short\"",
              .description = "Length of the search for growing modes on a mesh with flat cells. short: some 700 "
                             "evaluations of the right-hand side, which find growth rates of 1e-4 of the spectral "
                             "radius; long: ten times as many, for slower growth that a run has reported.",
              .choices = {"short", "long"}});
  add_residency_keys(schema, "the coefficients of the rows (128 of about 200 bytes per cell)");
  schema.add({.path = "time.method",
              .type = KeyType::choice,
              .default_value = "\"euler\"",
              .description =
                  "Explicit: euler; rkc2, stabilised Runge-Kutta of second order in time, up to 3.5 times fewer "
                  "evaluations of the right-hand side for long times. Implicit, with steps of any length `dt`: "
                  "backward-euler, of first order; crank-nicolson and bdf2, of second. steady: solve for the steady "
                  "state directly; no time passes, and a step is an iteration.",
              .choices = {"euler", "rkc2", "backward-euler", "crank-nicolson", "bdf2", "steady"}});
  const KeyCondition in_time = {"time.method", {"euler", "rkc2", "backward-euler", "crank-nicolson", "bdf2"}};
  for (const char* path : {"time.dt", "time.end", "time.steps", "time.steady"}) schema.narrow(path, in_time);
  schema.narrow("time.safety", {"time.method", {"euler", "rkc2"}});
  schema.add({.path = "time.tolerance",
              .type = KeyType::number,
              .description =
                  "Largest local error of a step, relative to max|u|: a step of dt is divided into as many sub-steps "
                  "as the error estimate requires. Events shorter than dt may be missed. Without it, steps are as long "
                  "as dt.",
              .min = 0,
              .max = 1,
              .above_min = true,
              .only_if = {"time.method", {"backward-euler", "crank-nicolson", "bdf2"}}});
  const KeyCondition implicit = {"time.method", {"backward-euler", "crank-nicolson", "bdf2", "steady"}};
  schema.describe_table("solver", "The linear solver of implicit steps and of the steady solution.");
  schema.add({.path = "solver.tolerance",
              .type = KeyType::number,
              .default_value = "1e-10",
              .description = "Largest residual of a solution, relative to the right-hand side, both in L2.",
              .min = 0,
              .max = 0.1,
              .above_min = true,
              .only_if = implicit});
  schema.add(
      {.path = "solver.iterations",
       .type = KeyType::integer,
       .default_value = "1000",
       .description = "Maximum number of iterations per solution; if they do not suffice, the run ends with code 6.",
       .min = 1,
       .max = 1e6,
       .only_if = implicit});
  schema.add({.path = "solver.linearisations",
              .type = KeyType::integer,
              .default_value = "50",
              .description =
                  "If K or the source depends on u, or numerics.flux is \"monotone\": maximum number of linear "
                  "systems per solution. K and bounds are taken at the last iterate (Picard), the source is "
                  "linearised (Newton).",
              .min = 1,
              .max = 1e6,
              .only_if = implicit});
  schema.add({.path = "solver.preconditioner",
              .type = KeyType::choice,
              .default_value = "\"multigrid\"",
              .description =
                  "multigrid: coarse levels of boxes of some 48 cells, and a Chebyshev polynomial on the cells; the "
                  "number of iterations hardly grows with the mesh. chebyshev: the polynomial alone, for short steps.",
              .choices = {"multigrid", "chebyshev"},
              .only_if = implicit});
  schema.add({.path = "time.stages",
              .type = KeyType::integer,
              .default_value = "\"auto\"",
              .description =
                  "Stages per step; auto: as few as dt allows (a long dt is split so that 20 suffice), 10 if dt is "
                  "auto, too.",
              .choices = {"auto"},
              .min = 2,
              .max = 500,
              .only_if = {"time.method", {"rkc2"}}});
}

TimeMethod time_method(const Case& options) {
  const std::string word = options.text("time.method");
  if (word == "rkc2") return TimeMethod::rkc2;
  if (word == "backward-euler") return TimeMethod::backward_euler;
  if (word == "crank-nicolson") return TimeMethod::crank_nicolson;
  if (word == "bdf2") return TimeMethod::bdf2;
  return word == "steady" ? TimeMethod::steady : TimeMethod::euler;
}

bool adapts(const Case& options) {
  const TimeMethod method = time_method(options);
  return is_implicit(method) && method != TimeMethod::steady && options.is_set("time.tolerance");
}

bool uses_multigrid(const Case& options) {
  return options.text("solver.preconditioner") == "multigrid";
}

DiffusionPhysics::Tensor DiffusionPhysics::read_tensor(const Case& options, const std::string& table) {
  Tensor tensor;
  const bool by_fibre = options.has(table + ".fibre"), by_data = options.has(table + ".fibre_data");
  if (!by_fibre && !by_data) {
    if (!options.has(table + ".K"))
      fail(ErrorKind::input, "{}: {} needs K, or fibre with longitudinal and transverse", options.name(), table);
    tensor.full = options.tensor(table + ".K");
    tensor.where = options.where(table + ".K");
    for (const auto& row : *tensor.full)
      for (const Expression& entry : row) require_steady(entry, tensor.where, table + ".K");
    return tensor;
  }
  if (by_fibre) tensor.fibre = options.expressions(table + ".fibre");
  if (by_data) tensor.fibre_data = options.text(table + ".fibre_data");
  tensor.where = options.where(table + (by_fibre ? ".fibre" : ".fibre_data"));
  for (const char* key : {".longitudinal", ".transverse"})
    if (!options.has(table + key)) fail(ErrorKind::input, "{}: a fibre needs {}{} too", tensor.where, table, key);
  tensor.longitudinal = options.expression(table + ".longitudinal");
  tensor.transverse = options.expression(table + ".transverse");
  for (const Expression& entry : tensor.fibre) require_steady(entry, tensor.where, table + ".fibre");
  require_steady(tensor.longitudinal, options.where(table + ".longitudinal"), table + ".longitudinal");
  require_steady(tensor.transverse, options.where(table + ".transverse"), table + ".transverse");
  return tensor;
}

DiffusionPhysics::DiffusionPhysics(const Case& options, const TagNames& region_names, const TagNames& boundary_names,
                                   const Tags& region_tags, const Tags& boundary_tags) {
  everywhere_ = read_tensor(options, "physics");
  for (int i = 0; i < options.count("physics.region"); ++i) {
    const std::string table = fmt::format("physics.region[{}]", i);
    const std::string name = options.text(table + ".name"), where = options.where(table + ".name");
    if (!regions_.emplace(find_group(name, {region_names, region_tags}, "region", where), read_tensor(options, table))
             .second)
      fail(ErrorKind::input, "{}: region '{}' has two [[physics.region]] tables; remove one", where, name);
  }
  initial_ = options.expression("physics.initial");
  require_steady(initial_, options.where("physics.initial"), "physics.initial");
  source_ = options.expression("physics.source");
  require_steady_fields(source_, options.where("physics.source"), "physics.source");
  if (options.has("physics.exact")) exact_ = options.expression("physics.exact");
  bool has_other = false;
  for (int i = 0; i < options.count("boundary"); ++i) {
    const std::string table = fmt::format("boundary[{}]", i), tag = options.text(table + ".tag");
    const std::string where = options.where(table + ".tag");
    BoundaryCondition condition;
    const std::string kind = options.text(table + ".type");
    condition.kind = kind == "dirichlet" ? BoundaryKind::dirichlet
                     : kind == "robin"   ? BoundaryKind::robin
                                         : BoundaryKind::neumann;
    condition.value = options.expression(table + ".value");
    require_steady_fields(condition.value, options.where(table + ".value"), table + ".value");
    if (condition.kind == BoundaryKind::robin) {
      condition.transfer = options.expression(table + ".h");
      condition.where = options.where(table + ".h");
    }
    const bool first =
        tag == "*"
            ? !std::exchange(has_other, true)
            : conditions_.emplace(find_group(tag, {boundary_names, boundary_tags}, "surface", where), condition).second;
    if (!first) fail(ErrorKind::input, "{}: surface '{}' has two [[boundary]] tables; remove one", where, tag);
    if (tag == "*") other_ = condition;
  }
  for (int i = 0; i < options.count("interface"); ++i) {
    const std::string table = fmt::format("interface[{}]", i), where = options.where(table + ".regions");
    Interface interface { {}, options.expression(table + ".resistance"), options.where(table + ".resistance") };
    require_steady(interface.resistance, interface.where, table + ".resistance");
    const std::vector<std::string> names = options.texts(table + ".regions");
    for (std::size_t k = 0; k < 2; ++k)
      interface.regions[k] = find_group(names[k], {region_names, region_tags}, "region", where);
    if (interface.regions[0] == interface.regions[1])
      fail(ErrorKind::input, "{}: '{}' stands twice; an interface needs two regions", where, names[0]);
    if (interface.regions[0] > interface.regions[1]) std::swap(interface.regions[0], interface.regions[1]);
    for (const Interface& other : interfaces_)
      if (other.regions == interface.regions)
        fail(ErrorKind::input, "{}: the regions '{}' and '{}' have two [[interface]] tables; remove one", where,
             names[0], names[1]);
    interfaces_.push_back(std::move(interface));
  }
}

namespace {

double not_negative(const Expression& e, Vec3 x, double time, const std::string& where, const char* what) {
  const double value = e(x, time);
  if (value < 0)
    fail(ErrorKind::input, "{}: {} is {:g} at ({:.6g}, {:.6g}, {:.6g}); it must not be negative", where, what, value,
         x.x, x.y, x.z);
  return value;
}

}  // namespace

SchemeOptions DiffusionPhysics::scheme_options(double time) const {
  SchemeOptions options;
  options.transfer = [this, time](std::int32_t tag, Vec3 x) {
    const BoundaryCondition& c = condition(tag);
    return not_negative(c.transfer, x, time, c.where, "the transfer coefficient h");
  };
  if (!interfaces_.empty())
    options.resistance = [this](std::int32_t one, std::int32_t other, Vec3 x) {
      for (const Interface& i : interfaces_)
        if (i.regions[0] == one && i.regions[1] == other)
          return not_negative(i.resistance, x, 0, i.where, "the contact resistance");
      return 0.0;
    };
  return options;
}

const BoundaryCondition& DiffusionPhysics::condition(std::int32_t tag) const {
  const auto at = conditions_.find(tag);
  return at == conditions_.end() ? other_ : at->second;
}

bool DiffusionPhysics::forcing_depends_on_time() const {
  bool depends = source_changes() || other_.value.depends_on_time();
  for (const auto& [_, c] : conditions_) depends = depends || c.value.depends_on_time();
  return depends;
}

bool DiffusionPhysics::any_gives_u() const {
  return gives_u(other_.kind) ||
         std::any_of(conditions_.begin(), conditions_.end(), [](const auto& c) { return gives_u(c.second.kind); });
}

bool DiffusionPhysics::has_forcing() const {
  const auto zero = [](const Expression& e) { return e.is_constant() && e({}) == 0; };
  bool any = !zero(source_) || !zero(other_.value);
  for (const auto& [_, c] : conditions_) any = any || !zero(c.value);
  return any;
}

bool DiffusionPhysics::depends_on_solution(const Tensor& tensor) {
  bool any = tensor.longitudinal.depends_on_solution() || tensor.transverse.depends_on_solution();
  if (tensor.full)
    for (const auto& row : *tensor.full)
      for (const Expression& entry : row) any = any || entry.depends_on_solution();
  return any;
}

bool DiffusionPhysics::diffusivity_depends_on_solution() const {
  return depends_on_solution(everywhere_) ||
         std::any_of(regions_.begin(), regions_.end(), [](const auto& r) { return depends_on_solution(r.second); });
}

bool DiffusionPhysics::rows_change(const Case& options) {
  bool changes = depends_on_solution(read_tensor(options, "physics")) || options.text("numerics.flux") == "monotone" ||
                 (is_implicit(time_method(options)) && options.expression("physics.source").depends_on_solution());
  for (int i = 0; i < options.count("physics.region"); ++i)
    changes = changes || depends_on_solution(read_tensor(options, fmt::format("physics.region[{}]", i)));
  for (int i = 0; i < options.count("boundary"); ++i) {
    const std::string table = fmt::format("boundary[{}]", i);
    if (options.text(table + ".type") == "robin")
      changes = changes || options.expression(table + ".h").depends_on_time();
  }
  return changes;
}

Sym3 DiffusionPhysics::evaluate(const Tensor& tensor, const LocalTetMesh& mesh, Lid cell, double u) const {
  const Vec3 p = mesh.centroid(cell);
  const auto place = [&] {
    return fmt::format("cell {} at ({:.6g}, {:.6g}, {:.6g}){}", mesh.global[cell], p.x, p.y, p.z,
                       depends_on_solution(tensor) ? fmt::format(" where u is {:.6g}", u) : "");
  };
  const auto check = [&](const Sym3& k) {
    if (!scheme_faces::positive_definite(k))
      fail(ErrorKind::input,
           "{}: K is not positive definite in {}: xx {:g}, yy {:g}, zz {:g}, xy {:g}, xz {:g}, yz {:g}; a diffusion "
           "tensor needs three positive eigenvalues",
           tensor.where, place(), k.xx, k.yy, k.zz, k.xy, k.xz, k.yz);
    return k;
  };
  if (tensor.full) {
    std::array<std::array<double, 3>, 3> k{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) k[i][j] = (*tensor.full)[i][j](p, 0, u);
    const double size = std::abs(k[0][0]) + std::abs(k[1][1]) + std::abs(k[2][2]);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (!(std::abs(k[i][j] - k[j][i]) <= 1e-10 * size))
          fail(ErrorKind::input, "{}: K is not symmetric in {}: K[{}][{}] = {}, K[{}][{}] = {}; the two must be equal",
               tensor.where, place(), i, j, k[i][j], j, i, k[j][i]);
    return check({k[0][0], k[1][1], k[2][2], k[0][1], k[0][2], k[1][2]});
  }
  Vec3 f;
  if (!tensor.fibre.empty()) {
    f = {tensor.fibre[0](p), tensor.fibre[1](p), tensor.fibre[2](p)};
  } else {
    const auto data = std::find_if(mesh.cell_data.begin(), mesh.cell_data.end(),
                                   [&](const CellData& d) { return d.name == tensor.fibre_data; });
    if (data == mesh.cell_data.end() || data->components != 3)
      fail(ErrorKind::input, "{}: the mesh has no cell data '{}' with three components; see tutti mesh info",
           tensor.where, tensor.fibre_data);
    const double* v = data->values.data() + 3 * static_cast<std::size_t>(cell);
    f = {v[0], v[1], v[2]};
  }
  const double length = norm(f);
  if (!(length > 0) || !std::isfinite(length))
    fail(ErrorKind::input, "{}: the fibre has no direction in {}; its length must be finite and above 0", tensor.where,
         place());
  f = (1.0 / length) * f;
  const double across = tensor.transverse(p, 0, u), along = tensor.longitudinal(p, 0, u) - across;
  return check(identity3(across) + along * Sym3{f.x * f.x, f.y * f.y, f.z * f.z, f.x * f.y, f.x * f.z, f.y * f.z});
}

RawVector<Sym3> DiffusionPhysics::diffusivity(const LocalTetMesh& mesh, Threads& threads,
                                              std::span<const double> u) const {
  RawVector<Sym3> K(mesh.cells.size());
  threads.for_range(mesh.cell_count(), [&](Size begin, Size end) {
    for (Size c = begin; c < end; ++c) {
      const auto region = regions_.find(mesh.regions[c]);
      K[c] = evaluate(region == regions_.end() ? everywhere_ : region->second, mesh, static_cast<Lid>(c),
                      u.empty() ? 0 : u[c]);
    }
  });
  return K;
}

RawVector<Sym3> DiffusionPhysics::largest_diffusivity(const LocalTetMesh& mesh, Threads& threads, double low,
                                                      double high) const {
  if (!diffusivity_depends_on_solution()) return diffusivity(mesh, threads);
  RawVector<Sym3> largest;
  constexpr int samples = 16;
  for (int k = 0; k <= samples; ++k) {
    const std::vector<double> u(mesh.cells.size(), low + k * (high - low) / samples);
    auto K = diffusivity(mesh, threads, u);
    if (k == 0) largest = K;
    for (std::size_t c = 0; c < K.size(); ++c)
      if (K[c].xx + K[c].yy + K[c].zz > largest[c].xx + largest[c].yy + largest[c].zz) largest[c] = K[c];
  }
  return largest;
}

RowFormat row_format(const Case& options, bool on_host) {
  if (options.text("numerics.format") == "sliced") return RowFormat::sliced;
  const std::string layout = options.text("numerics.layout");
  return layout == "blocks" || (layout == "auto" && !on_host) ? RowFormat::blocks : RowFormat::rows;
}

ColumnBytes row_column_bytes(const Case& options) {
  if (row_format(options, false) != RowFormat::sliced) return ColumnBytes::four;
  const std::string columns = options.text("numerics.columns");
  if (columns == "int10") return ColumnBytes::tiles;
  return columns == "int32" ? ColumnBytes::four : columns == "int16" ? ColumnBytes::two : ColumnBytes::automatic;
}

Precision row_precision(const Case& options) {
  return options.text("numerics.precision") == "compact" ? Precision::compact : Precision::full;
}

}  // namespace tutti::diffusion
