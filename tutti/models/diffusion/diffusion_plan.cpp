#include "tutti/models/diffusion/diffusion_plan.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "tutti/mesh/stencil.hpp"
#include "tutti/models/diffusion/diffusion_rate.hpp"
#include "tutti/models/diffusion/forcing.hpp"
#include "tutti/models/diffusion/ionic/ionic_case.hpp"
#include "tutti/models/diffusion/rows/operator.hpp"
#include "tutti/models/diffusion/scheme/scheme_faces.hpp"

namespace tutti::diffusion {
namespace {

/// Arrays of an implicit method with a value a row: of the solver, and values of steps before.
std::vector<std::string> implicit_arrays(const Case& options, bool changes) {
  const TimeMethod method = time_method(options);
  if (!is_implicit(method)) return {};
  std::vector<std::string> names = {"right-hand side", "solver, r",   "solver, r^",   "solver, p",
                                    "solver, A p",     "solver, A s", "diagonal of A"};
  if (method == TimeMethod::bdf2 || adapts(options)) names.push_back("u, a step ago");
  if (adapts(options)) names.push_back("u, at the start");
  if (adapts(options) && method != TimeMethod::backward_euler) names.push_back("u, two steps ago");
  if (changes && method != TimeMethod::steady) names.push_back("right-hand side, known part");
  return names;
}
/// Copies of u.
int copies(TimeMethod method) {
  return method == TimeMethod::euler ? 2 : 3;
}

/// Of cells that react (IonicPart).
std::vector<PlannedArray> ionic_arrays(const Case& options, Lid owned) {
  const auto ionic = ionic_case(options);
  if (!ionic) return {};
  std::vector<PlannedArray> arrays = {
      {"ionic state", 8 * static_cast<Size>(ionic->variables().size()) * state_stride(owned)}};
  if (ionic->has_marks()) arrays.push_back({"ionic marks", 8 * static_cast<Size>(owned)});
  if (!ionic->threshold) return arrays;
  arrays.push_back({"ionic potential before", 8 * static_cast<Size>(owned)});
  arrays.push_back({"ionic activation", 8 * static_cast<Size>(owned)});
  return arrays;
}

/// Bytes of a row, about: its entries, diagonal, volume and vectors.
double row_bytes(const Case& options, bool on_host, double entries) {
  const bool sliced = row_format(options, on_host) == RowFormat::sliced;
  // Slices are a little wider than their mean row.
  const double stored = sliced ? std::min<double>(max_row_entries, entries + 0.3) : max_row_entries;
  const double coefficient = row_precision(options) == Precision::full ? 8 : 4;
  const bool narrow = sliced && choose_columns(row_column_bytes(options), on_host, {}) != ColumnBytes::four;
  const double column = narrow ? 2 : 4;  // ten bits and what a tile lists are less
  const TimeMethod method = time_method(options);
  const int vectors =
      copies(method) + (method == TimeMethod::rkc2 ? 1 : 0) + static_cast<int>(implicit_arrays(options, false).size());
  // A source or a boundary's data, and what a source in time is evaluated at.
  const bool source = options.has("physics.source"), forced = source || options.count("boundary") > 0;
  const Expression formula = source ? options.expression("physics.source") : Expression();
  const bool time_dependent = formula.depends_on_time() || formula.depends_on_solution();
  double ionic = 0;
  for (const PlannedArray& a : ionic_arrays(options, 16)) ionic += static_cast<double>(a.bytes) / 16;
  return ionic + stored * (coefficient + column) + 16 + 8 * vectors + (sliced ? 2 : 0) + (forced ? 8 : 0) +
         (time_dependent ? 24 : 0);
}

/// Do rows stay as they are, in the format of those that memory policies keep?
bool can_be_apart(const Case& options) {
  return options.text("numerics.format") == "sliced" && row_precision(options) == Precision::full &&
         !DiffusionPhysics::rows_change(options);
}

MemoryModel diffusion_memory(const Case& options) {
  MemoryModel memory;
  memory.row = [&options](Device& device, double entries) { return row_bytes(options, device.is_host(), entries); };
  memory.ghost = 8 * copies(time_method(options));
  if (coefficient_options(options).policy == Policy::resident) {
    if (can_be_apart(options)) memory.advice_for_gpus = {policy_advice};
  } else {
    memory.held = [&options](Device& device, double entries) {
      const double coefficient = row_precision(options) == Precision::full ? 8 : 4;
      const double as_doubles = coefficient * std::min<double>(max_row_entries, entries + 0.3);
      return held_bytes(coefficient_options(options), device.is_host(), held_width, tile_rows, as_doubles);
    };
  }
  memory.parts = [&options](const Comm&, const Domain& of) {
    const auto& domain = dynamic_cast<const TetDomain&>(of);
    const DiffusionPhysics physics(options, domain.region_names, domain.boundary_names, domain.region_tags,
                                   domain.boundary_tags);
    std::vector<Size> bytes;
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      const LocalTetMesh& mesh = domain.meshes[p];
      const IndexMap& map = domain.maps[p];
      Device& device = domain.device(p);
      const bool apart = keeps_apart(options, physics, mesh, map, device, device.budget().capacity());
      bytes.push_back(apart ? least_held_bytes(coefficient_options(options), held_tiles(map.owned), held_width) : 0);
      for (const PlannedArray& a : plan_arrays(options, physics, mesh, map, device.is_host(), apart))
        bytes.back() += a.bytes;
    }
    return bytes;
  };
  return memory;
}

}  // namespace

TetOptions diffusion_tet_options(const Case& options) {
  TetOptions tets;
  tets.layers = 2;
  if (options.text("numerics.format") == "sliced")
    tets.similar_rows = static_cast<Lid>(options.integer("numerics.sigma"));
  return tets;
}

Sharing diffusion_sharing(const Case& options, Threads& threads) {
  return {kernel_rate(options, threads), diffusion_memory(options)};
}

namespace {

/// What sliced rows would store of their columns, for each way to store them.
struct SlicedSizes : WideColumns {
  Size stored = 0;
  Size externals = 0, codes = 0;  ///< of tiles; codes: halves
};

/// Rows read face neighbours only.
bool reads_faces_only(const Case& options) {
  return options.text("numerics.flux") == "two-point" || options.text("numerics.flux") == "monotone";
}

/// `even`: all are as wide as a row can be.
SlicedSizes sliced_sizes(const LocalTetMesh& mesh, bool on_host, bool even, bool faces_only) {
  SlicedSizes sizes;
  const auto stencil =
      faces_only ? face_graph<Lid>(mesh.neighbours, mesh.owned) : tet_stencil<Lid>(mesh.neighbours, mesh.owned);
  const Lid slice_rows = 1 << slice_shift(on_host);
  std::vector<Lid> columns;
  std::vector<int> widths;
  for (Lid first = 0; first < mesh.owned; first += tile_rows) {
    const Lid last = std::min(mesh.owned, first + tile_rows);
    columns.clear();
    widths.clear();
    for (Lid begin = first; begin < last; begin += slice_rows) {
      std::size_t width = even ? static_cast<std::size_t>(max_row_entries) : 0;
      WindowSet windows;
      bool fits = true;
      for (Lid i = begin; i < std::min(last, begin + slice_rows); ++i) {
        const auto row = stencil.row(i);
        width = std::max(width, row.size());
        fits = fits && windows.find(i) >= 0;
        for (const Lid column : row) fits = fits && windows.find(column) >= 0;
        columns.insert(columns.end(), row.begin(), row.end());
      }
      sizes.wide_slices += fits ? 0 : 1;
      sizes.stored += static_cast<Size>(width) * slice_rows;
      widths.push_back(static_cast<int>(width));
      ++sizes.slices;
    }
    WindowSet windows;
    const bool wide = !find_externals(first, last - first, columns, windows);
    sizes.wide_tiles += wide ? 1 : 0;
    for (const int width : widths) sizes.codes += static_cast<Size>(tile_halves(width, wide)) * slice_rows;
    sizes.externals += wide ? 0 : static_cast<Size>(columns.size());
    ++sizes.tiles;
  }
  return sizes;
}

/// What a forcing that changes in time keeps besides its values (forcing.hpp).
void plan_time_dependent_forcing(const Case& options, const DiffusionPhysics& physics, const LocalTetMesh& mesh,
                                 bool on_host, std::vector<PlannedArray>& arrays) {
  const Expression& source = physics.source();
  const bool faces_only = reads_faces_only(options);
  Size rows = 0, terms = 0, faces = 0, time_dependent = 0;
  const bool changes = physics.source_changes();
  Size steps = changes ? static_cast<Size>(source.steps().size()) : 0;
  std::set<const Expression*> known;
  const auto boundary_faces = [&](Lid c, const std::function<void(std::int32_t)>& use) {
    for (const Lid n : mesh.neighbours[c])
      if (n < 0 && n != LocalTetMesh::outside_halo) use(boundary_tag(n));
  };
  for (Lid c = 0; c < mesh.cell_count(); ++c) {
    if (!scheme_faces::is_active(mesh, c)) continue;
    boundary_faces(c, [&](std::int32_t tag) {
      const Expression& value = physics.condition(tag).value;
      ++faces;
      if (!value.depends_on_time()) return;
      ++time_dependent;
      if (known.insert(&value).second) steps += static_cast<Size>(value.steps().size());
    });
  }
  for (Lid c = 0; c < mesh.owned; ++c) {
    Size own = 0;
    const auto count = [&](std::int32_t) { ++own; };
    boundary_faces(c, count);
    if (!faces_only)
      for (const Lid n : mesh.neighbours[c])
        if (n >= 0) boundary_faces(n, count);
    terms += own;
    rows += own > 0 ? 1 : 0;
  }
  const auto add = [&](const char* name, Size count, std::size_t bytes) {
    if (count > 0) arrays.push_back({name, count * static_cast<Size>(bytes)});
  };
  add("formulas", steps, sizeof(FormulaStep));
  if (changes && (source.depends_on_space() || source.depends_on_solution()) && !on_host)
    add("centroids", mesh.owned, sizeof(Vec3));
  add("boundary faces", time_dependent, sizeof(TimeDependentFace));
  add("boundary data", faces, sizeof(double));
  add("boundary rows", rows, sizeof(BoundaryRow));
  add("boundary terms", terms, sizeof(BoundaryTerm));
  if (!changes) add("steady source", rows, sizeof(double));
  add("first bad time", 1, sizeof(std::uint64_t));
}

}  // namespace

std::vector<PlannedArray> plan_arrays(const Case& options, const DiffusionPhysics& physics, const LocalTetMesh& mesh,
                                      const IndexMap& map, bool on_host, bool apart) {
  const RowFormat format = row_format(options, on_host);
  const Precision precision = row_precision(options);
  const ColumnBytes wanted = row_column_bytes(options);
  Size stored = stored_entries(format, map.owned);
  SlicedSizes sizes;
  if (format == RowFormat::sliced) {
    sizes = sliced_sizes(mesh, on_host, apart, reads_faces_only(options));
    stored = sizes.stored;
  }
  std::vector<PlannedArray> arrays;
  switch (format == RowFormat::sliced && map.owned > 0 ? choose_columns(wanted, on_host, sizes) : ColumnBytes::four) {
    case ColumnBytes::tiles:
      arrays.push_back({"columns I (ten bits)", 2 * sizes.codes});
      arrays.push_back({"starts of columns", 4 * (sizes.slices + 1)});
      arrays.push_back({"tiles", 8 * sizes.tiles});
      arrays.push_back({"externals of tiles", 2 * sizes.externals});
      arrays.push_back({"windows of tiles", 4 * windows_a_slice * sizes.tiles});
      break;
    case ColumnBytes::two:
      arrays.push_back({"columns I (two bytes)", 2 * stored});
      arrays.push_back({"windows of columns", 4 * windows_a_slice * sizes.slices});
      if (sizes.wide_slices > 0)
        arrays.push_back(
            {"columns of wide slices", (Size{4} * max_row_entries * sizes.wide_slices) << slice_shift(on_host)});
      break;
    default:
      arrays.push_back({"columns I", 4 * stored});
  }
  if (!apart && precision == Precision::full) arrays.push_back({"coefficients A", 8 * stored});
  if (!apart && precision == Precision::compact) arrays.push_back({"coefficients A (float)", 4 * stored});
  const bool changes = DiffusionPhysics::rows_change(options);
  if (keeps_diagonal(format, precision) || physics.any_gives_u() || changes)
    arrays.push_back({"diagonal D", 8 * static_cast<Size>(map.owned)});
  if (format == RowFormat::sliced && map.owned > 0) arrays.push_back({"slices", 8 * (sizes.slices + 1)});
  arrays.push_back({"volumes", 8 * static_cast<Size>(map.owned)});
  const TimeMethod method = time_method(options);
  for (int i = 0; i < copies(method); ++i)
    arrays.push_back({i == 0 ? "u" : fmt::format("u, work {}", i), 8 * static_cast<Size>(map.local())});
  if (method == TimeMethod::rkc2) arrays.push_back({"first rate F0", 8 * static_cast<Size>(map.owned)});
  for (const std::string& name : implicit_arrays(options, changes))
    arrays.push_back({name, 8 * static_cast<Size>(map.owned)});
  if (is_implicit(method) && uses_multigrid(options)) {
    arrays.push_back({"boxes of cells", 4 * static_cast<Size>(map.owned)});
    // As many as in a mesh of one part: where parts are many, each has those of all.
    arrays.push_back({"sums and values of boxes", 16 * static_cast<Size>(map.owned) / 32});
  }
  for (const PlannedArray& a : ionic_arrays(options, map.owned)) arrays.push_back(a);
  if (physics.has_forcing()) arrays.push_back({"forcing", 8 * static_cast<Size>(map.owned)});
  if (physics.forcing_depends_on_time() && !changes)
    plan_time_dependent_forcing(options, physics, mesh, on_host, arrays);
  return arrays;
}

ResidencyOptions coefficient_options(const Case& options) {
  ResidencyOptions result = residency_options(options);
  result.group = held_group;
  if (result.policy == Policy::resident) return result;
  if (options.text("numerics.format") != "sliced")
    fail(ErrorKind::input,
         "{}: residency.policy = \"{}\" does not work with this row format; set numerics.format = \"sliced\"",
         options.where("residency.policy"), policy_name(result.policy));
  if (row_precision(options) == Precision::compact)
    fail(ErrorKind::input,
         "{}: residency.policy = \"{}\" cannot be combined with numerics.precision = \"compact\"; set residency.format "
         "= \"float\" instead",
         options.where("residency.policy"), policy_name(result.policy));
  if (DiffusionPhysics::rows_change(options))
    fail(ErrorKind::input,
         "{}: residency.policy = \"{}\" keeps rows that do not change, but here K or the source names u, h names t, or "
         "numerics.flux is \"monotone\"; leave it out",
         options.where("residency.policy"), policy_name(result.policy));
  return result;
}

bool keeps_apart(const Case& options, const DiffusionPhysics& physics, const LocalTetMesh& mesh, const IndexMap& map,
                 const Device& device, Size capacity) {
  if (device.is_host() || map.owned == 0) return false;
  const ResidencyOptions wanted = coefficient_options(options);
  if (wanted.policy == Policy::resident) return false;
  if (wanted.policy != Policy::automatic || wanted.tolerance > 0) return true;
  Size bytes = 16 * Size{map.separator_rows().size()};  // of messages, at most
  for (const PlannedArray& a : plan_arrays(options, physics, mesh, map, false)) bytes += a.bytes;
  return bytes + held_margin(device) > capacity;
}

HeldPlan plan_coefficients(const Case& options, const IndexMap& map, Size room) {
  return plan_held(coefficient_options(options), held_tiles(map.owned), held_width, room);
}

Size plan_bytes_a_step(const std::vector<PlannedArray>& arrays, const IndexMap& map, int stages) {
  // A rate reads the stored rows, u and the forcing once, and writes one value; a stage of RKC2 reads three arrays
  // more.
  Size rate = 16 * static_cast<Size>(map.owned), ionic = 0;
  for (const PlannedArray& a : arrays)
    if (a.name.starts_with("ionic"))  // and u, read and written once a step
      ionic += 2 * a.bytes + (a.name == "ionic state" ? 16 * static_cast<Size>(map.owned) : 0);
    else if (a.name != "volumes" && a.name != "first rate F0" && a.name[0] != 'u')
      rate += a.bytes;
  return ionic + (stages == 1 ? rate : stages * (rate + 24 * static_cast<Size>(map.owned)));
}

}  // namespace tutti::diffusion
