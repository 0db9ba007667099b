#include "tutti/models/compressible/compressible_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "tutti/base/units.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/compressible_rate.hpp"
#include "tutti/models/compressible/elements/operator_sizes.hpp"
#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"
#include "tutti/models/compressible/flow_part.hpp"
#include "tutti/models/compressible/runge_kutta.hpp"

namespace tutti::compressible {
namespace {

template <class T>
constexpr Size size_of = static_cast<Size>(sizeof(T));

/// Of one coefficient of one variable, all arrays of the time method.
Size state_bytes(const CompressibleCase& flow) {
  return 8 * Size{variables} * flow.bases() * time_scheme(flow.method).arrays;
}

/// Formulas of all conditions, which every part with a boundary has.
Size formula_bytes(const CompressibleCase& flow) {
  Size bytes = 0;
  for (const BoundaryCondition& condition : flow.conditions) {
    bytes += 1;  // its kind
    for (const auto& value : condition.values)
      if (value) bytes += size_of<BoundaryFormula> + static_cast<Size>(value->steps().size()) * size_of<FormulaStep>;
  }
  return bytes;
}

OperatorOptions operator_options(const CompressibleCase& flow, bool apart) {
  return {flow.order, flow.stored, flow.diffuses(), apart, flow.limited, flow.recomputed};
}

/// What a memory policy keeps of part p: rows of elements, and of faces.
struct TablesToHold {
  HeldRows elements, faces;
};
TablesToHold tables_to_hold(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p) {
  const OperatorSizes sizes = count_operators(domain.meshes[p], domain.maps[p], operator_options(flow, true));
  return {{domain.maps[p].owned, sizes.element_row}, {static_cast<Lid>(sizes.faces), sizes.face_row}};
}

/// What an element takes before there is a mesh: doubles of tables that it shares with no others, of its volume and of
/// its sides, those of the rows that a policy may keep elsewhere, and what is in none; bytes of half of its faces. Of a
/// file's elements the largest; of several types something between.
struct ElementNeeds {
  double volume = 0, sides = 0;
  int rows = 0;
  double others = 0;
  double faces = 0;   ///< but for fluxes
  double fluxes = 0;  ///< where they are kept
  ElementType type = ElementType::hexahedron;
};
ElementNeeds element_needs(const Case& options, const CompressibleCase& flow) {
  ElementType type = ElementType::hexahedron;
  bool affine = false;
  if (options.has("mesh.generate")) {
    const BoxElements box = parse_box_elements(options.text("mesh.element"));
    if (box == BoxElements::prisms || box == BoxElements::mixed) type = ElementType::prism;
    if (box == BoxElements::tetrahedra) type = ElementType::tetrahedron;
    affine = type == ElementType::tetrahedron || !(options.number("mesh.jitter") > 0);
  }
  const int n = flow.bases(), points = padded(volume_rule(type, flow.order, affine, flow.stored).size());
  double face_points = 0;
  for (int f = 0; f < face_count(type); ++f)
    face_points += padded(face_rule(face_corner_count(type, f), flow.order, affine, flow.stored).size());
  const int volume = volume_table_size(points, flow.order), side = n + padded(n);
  // Each side is in the row of its element, for the limiter twice, and in that of its face.
  const double in_rows = face_points * (padded(n) + (flow.limited ? n : 0) + (flow.diffuses() ? side : n));
  const double tables = flow.recomputed ? 0 : 1, matrix = 2.0 * n * padded(n) + 3 * points + 3.5 * face_points,
               derivatives = flow.diffuses() ? 3.0 * n * padded(n) : 0;
  return {tables * volume,
          tables * face_points * side,
          volume + static_cast<int>(in_rows),
          points + (flow.recomputed ? matrix : derivatives),
          0.5 * (face_points * (affine ? 0 : 24) + face_count(type) * static_cast<double>(size_of<FaceRecord> + 24)),
          0.5 * face_points * 8 * variables * (flow.diffuses() ? 2 : 1),
          type};
}

/// Do elements of these types compute the fluxes at their faces, so that only those at the boundary are kept
/// (StraightView::fused)?
bool fuse_fluxes(const CompressibleCase& flow, DeviceKind device, std::span<const ElementType> types) {
  return device == DeviceKind::cuda && flow.has_straight_kernels(device) && !flow.gas.viscous() &&
         has_symmetric_basis(ElementType::tetrahedron, flow.order) &&
         std::all_of(types.begin(), types.end(), [](ElementType t) { return t == ElementType::tetrahedron; });
}

}  // namespace

bool keeps_apart(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p) {
  Device& device = domain.device(p);
  const IndexMap& map = domain.maps[p];
  if (device.is_host() || flow.held.policy == Policy::resident || map.owned == 0) return false;
  if (count_operators(domain.meshes[p], map, operator_options(flow, true)).own_volumes == 0) return false;
  if (flow.held.policy != Policy::automatic || flow.held.tolerance > 0) return true;
  Size bytes = 16 * Size{variables} * flow.bases() * map.separator_rows().size();  // of messages, at most
  for (const PlannedArray& a : plan_arrays(flow, domain, p)) bytes += a.bytes;
  return bytes + held_margin(device) > device.budget().capacity();
}

std::vector<std::pair<std::string, HeldPlan>> plan_held_tables(const CompressibleCase& flow,
                                                               const ElementDomain& domain, std::size_t p, Size room) {
  const auto [elements, faces] = tables_to_hold(flow, domain, p);
  const HeldPlan first =
      plan_held(flow.held, elements.rows, elements.width, room - left_for_second(flow.held, elements, faces, room));
  return {{element_tables, first},
          {face_tables, plan_held(flow.held, faces.rows, faces.width, room - first.placement.device_bytes)}};
}

std::vector<PlannedArray> plan_arrays(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p,
                                      bool apart) {
  const IndexMap& map = domain.maps[p];
  const OperatorSizes sizes = count_operators(domain.meshes[p], map, operator_options(flow, apart));
  const Size local = map.local(), owned = map.owned;
  std::vector<PlannedArray> arrays;
  const auto add = [&](const char* name, Size bytes) {
    if (bytes > 0) arrays.push_back({name, bytes});
  };
  add("state and stages", local * state_bytes(flow));
  add("tables", 8 * sizes.tables);
  add("normals", 8 * sizes.normals + sizes.turns);
  add("elements", local * (size_of<ElementRecord> + max_faces * 4 + 72) + 25 * owned);
  if (sizes.recomputed > 0) add("sums of elements", 8 * owned + Size{Monomials::entries} * flow.bases());
  add("faces", sizes.faces * size_of<FaceRecord>);
  const DeviceKind device = domain.device(p).kind();
  const bool shared = sizes.own_volumes + sizes.recomputed == 0;
  // Where one part cannot have such kernels, none may have them.
  const bool fused = shared && std::all_of(domain.meshes.begin(), domain.meshes.end(), [&](const LocalElementMesh& m) {
                       return fuse_fluxes(flow, device, m.types);
                     });
  add("fluxes", 8 * (fused ? variables * sizes.boundary_points : sizes.flux));
  if (flow.diffuses()) add("jumps", 8 * sizes.flux);
  // Tiles are filled up with faces that come twice: less than a twelfth, of a CPU's smaller blocks half. There they
  // have two scales each in viscous flow, and rows of their fluxes, as sides have.
  if (flow.has_straight_kernels(device) && shared) {
    const bool on_gpu = device == DeviceKind::cuda;
    add("tables of tuned kernels, at most", (on_gpu            ? 13
                                             : flow.diffuses() ? 48
                                                               : 24) *
                                                    sizes.faces +
                                                (on_gpu ? 12 : 16) * max_faces * owned +
                                                (Size{1} << (on_gpu ? 18 : 15)));
  }
  if (sizes.boundary_points > 0)
    add("boundary", sizes.boundary_points * (size_of<Vec3> + 8 + 4 + 8 * boundary_values) + formula_bytes(flow));
  if (!flow.source.empty() && owned > 0) {
    Size steps = 0;
    for (const Expression& formula : flow.source) steps += static_cast<Size>(formula.steps().size());
    add("source", sizes.source_points * size_of<Vec3> + owned * (8 + 8 * Size{variables} * flow.bases()) +
                      steps * size_of<FormulaStep>);
  }
  add("vorticity, when written", rotation_bytes(owned));
  return arrays;
}

std::string compare_forms(const Comm& comm, const CompressibleCase& flow, const ElementDomain& domain) {
  if (flow.stored || flow.recomputed) return {};
  std::array<std::int64_t, 3> counts =
      {};  // elements with tables of their own; bytes of all tables: theirs, recomputed
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    OperatorOptions options = operator_options(flow, false);
    const OperatorSizes tables = count_operators(domain.meshes[p], domain.maps[p], options);
    options.recomputed = true;
    const OperatorSizes matrices = count_operators(domain.meshes[p], domain.maps[p], options);
    counts[0] += tables.own_volumes;
    counts[1] += 8 * tables.tables;
    counts[2] += 8 * matrices.tables;
  }
  comm.sum(counts);
  if (counts[0] == 0) return {};
  return fmt::format(
      "{} elements have tables of their own: all tables take {}, with numerics.form = \"recomputed\" {} (results "
      "differ by "
      "rounding)",
      format_count(counts[0]), format_bytes(static_cast<double>(counts[1])),
      format_bytes(static_cast<double>(counts[2])));
}

Sharing element_sharing(const Case& options, const CompressibleCase& flow, Threads& threads) {
  const Size state = state_bytes(flow);
  const ElementNeeds own = element_needs(options, flow);
  const bool generated = options.has("mesh.generate");
  const bool straight = !flow.stored && (!generated || !(options.number("mesh.jitter") > 0) ||
                                         parse_box_elements(options.text("mesh.element")) == BoxElements::tetrahedra);
  const double sides = straight ? 0 : 8 * own.sides, large = straight ? 0 : 8 * own.volume + sides,
               others = straight ? 0 : 8 * own.others;
  MemoryModel memory;
  const bool fused = straight && fuse_fluxes(flow, DeviceKind::cuda, std::span(&own.type, 1));
  memory.row = [=](Device& device, double) {
    const bool kept = !(fused && device.kind() == DeviceKind::cuda);
    return static_cast<double>(state) + own.faces + (kept ? own.fluxes : 0) + 300 + large + others;
  };
  const bool may_move = large > 0 && flow.held.policy != Policy::resident;
  if (large > 0 && !may_move) memory.advice_for_gpus = {policy_advice};
  if (large > 0 && !flow.recomputed) memory.advice = {"numerics.form = \"recomputed\""};
  memory.ghost = static_cast<double>(state) + 200 + others + (may_move ? 0 : sides);
  if (may_move)
    memory.held = [held = flow.held, width = own.rows, large](Device& device, double) {
      return held_bytes(held, device.is_host(), width, 1, large);
    };
  memory.parts = [flow](const Comm& comm, const Domain& of) {
    const auto& domain = dynamic_cast<const ElementDomain&>(of);
    std::vector<PlannedPart> parts(domain.mine());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const bool apart = keeps_apart(flow, domain, p);
      parts[p].arrays = plan_arrays(flow, domain, p, apart);
      if (!apart) continue;
      const TablesToHold held = tables_to_hold(flow, domain, p);
      parts[p].arrays.push_back({element_tables, least_held_bytes(flow.held, held.elements.rows, held.elements.width)});
      parts[p].arrays.push_back({face_tables, least_held_bytes(flow.held, held.faces.rows, held.faces.width)});
    }
    plan_exchanges(comm, domain, variables * flow.bases(), 1, parts);
    std::vector<Size> bytes;
    for (const PlannedPart& part : parts) bytes.push_back(part.bytes());
    return bytes;
  };
  return {stage_rate(options, flow, threads), memory};
}

Size plan_bytes_a_step(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p) {
  const TimeScheme& scheme = time_scheme(flow.method);
  Size tables = 0;  // and whatever else does not change
  for (const PlannedArray& a : plan_arrays(flow, domain, p)) {
    if (a.name == "tables" || a.name == "normals" || a.name == "elements" || a.name == "faces") tables += a.bytes;
    if (a.name == "fluxes" || a.name == "jumps") tables += 2 * a.bytes;
  }
  const Size row = 8 * Size{variables} * flow.bases() * domain.maps[p].owned;
  Size bytes = 0;
  for (const Stage& stage : scheme.stages) {
    // What the rate is of is read for the sum, too, where it is one of its terms.
    const bool is_term = std::any_of(stage.terms.begin(), stage.terms.end(),
                                     [&](const Stage::Term& t) { return t.array == stage.from; });
    const auto arrays = static_cast<Size>(stage.terms.size()) + (is_term ? 0 : 1) + (stage.second >= 0 ? 2 : 1);
    bytes += tables + arrays * row;
  }
  return bytes;
}

}  // namespace tutti::compressible
