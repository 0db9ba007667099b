#include "tutti/models/compressible/flow_part.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tutti/domain/part_capacity.hpp"

namespace tutti::compressible {
namespace {

/// Says where each face's fluxes go, behind one another; `inner`: those between elements have a place, too. How many
/// doubles that are.
Size place_fluxes(std::vector<FaceRecord>& faces, bool inner) {
  Size end = 0;
  for (FaceRecord& face : faces) {
    if (!inner && face.right >= 0) continue;
    face.at = end;
    end += Size{variables} * face.points;
  }
  return end;
}

}  // namespace

FlowPart::FlowPart(Stream& stream, const CompressibleCase& flow, const LocalElementMesh& mesh, const IndexMap& map,
                   const IndexMap& values, const std::map<std::int32_t, std::int32_t>& conditions, int arrays,
                   const ParallelFor& parallel, bool apart) {
  // Tables of a CPU are made where they stay.
  const auto in_place = [&](Size count) {
    tables_ = Buffer<double>(stream.device(), count, "tables");
    return tables_.data();
  };
  const bool on_host = stream.device().is_host();
  rows_ = map.owned_rows();
  const OperatorOptions operators{flow.order, flow.stored, flow.diffuses(), apart, flow.limited, flow.recomputed};
  Operators made = make_operators(mesh, map, operators, parallel, on_host ? in_place : std::function<double*(Size)>());
  for (FaceRecord& face : made.faces)
    if (face.right < 0) face.condition = conditions.at(made.boundary.tags[face.boundary]);
  const auto keep = [&](const auto& from, const char* name) {
    return make_buffer(stream, std::span(std::as_const(from)), name);
  };
  if (flow.has_straight_kernels(stream.kind()) && !apart)
    make_straight(stream, make_straight_tables(made, mesh, map, flow.order, flow.gas.viscous(), stream.kind()));
  elements_ = keep(made.elements, "elements");
  make_fluxes(stream, made.faces, flow.diffuses());
  face_of_ = keep(made.face_of, "faces of elements");
  metric_ = keep(made.metric, "metric of elements");
  if (!on_host) tables_ = make_buffer(stream, std::span<const double>(made.tables), "tables");
  normals_ = keep(made.normals, "normals");
  turns_ = keep(made.turns, "orders of points");
  broken_ = keep(std::vector<std::uint8_t>(map.owned, 0), "marks of elements");
  interior_faces_ = mesh.interior_faces;
  faces_count_ = static_cast<Lid>(made.faces.size());
  view_.elements = elements_.data();
  view_.metric = metric_.data();
  view_.face_of = face_of_.data();
  view_.tables = tables_.data();
  view_.normals = normals_.data();
  view_.turns = turns_.data();
  view_.bases = flow.bases();
  view_.order = flow.order;
  view_.face_points = 0;
  for (const FaceRecord& face : made.faces) view_.face_points = std::max(view_.face_points, face.points);
  if (made.lines >= 0) view_.lines = tables_.data() + made.lines;
  view_.gas = flow.gas;
  view_.flux = flow.flux;
  view_.sensor = flow.sensor;
  view_.broken = broken_.data();
  if (!made.monomials.empty()) {
    monomials_ = keep(made.monomials, "sums of elements");
    numbers_ = Buffer<double>(stream.device(), map.owned, "sums of elements");
    view_.monomials = {monomials_.data(), flow.bases()};
    view_.numbers = numbers_.data();
    view_.all_recomputed = std::all_of(made.elements.begin(), made.elements.begin() + map.owned,
                                       [](const ElementRecord& e) { return e.matrix >= 0; });
  }
  make_boundary(stream, flow, made, conditions);
  projected_ = keep(made.projected, "projected areas");
  if (!flow.source.empty()) make_source(stream, flow, mesh, made);
  for (int i = 0; i < arrays; ++i)
    u.emplace_back(stream.device(), values, i == 0 ? "state" : fmt::format("state, work {}", i));
  apart_ = std::move(made.apart);
}

void FlowPart::make_fluxes(Stream& stream, std::vector<FaceRecord>& faces, bool jumps) {
  const Size count = place_fluxes(faces, !(view_.straight != nullptr && view_.straight->fused));
  faces_ = make_buffer(stream, std::span<const FaceRecord>(faces), "faces");
  view_.faces = faces_.data();
  flux_ = Buffer<double>(stream.device(), count, "fluxes");
  if (jumps) jump_ = Buffer<double>(stream.device(), count, "jumps");
}

void FlowPart::use_portable_kernels(Stream& stream) {
  const bool all_are_kept = view_.straight == nullptr || !view_.straight->fused;
  view_.straight = nullptr;
  if (all_are_kept) return;
  flux_ = {};  // before there are more
  std::vector<FaceRecord> faces(faces_.size());
  download(stream, std::span<FaceRecord>(faces), faces_);
  make_fluxes(stream, faces, !jump_.empty());
}

void FlowPart::make_straight(Stream& stream, const StraightTables& made) {
  straight_ = made.view;
  if (!straight_.tuned()) return;
  blocks_ = made.blocks;
  const auto keep = [&](const auto& from) { return make_buffer(stream, std::span(from), "tables of tuned kernels"); };
  element_fragments_ = keep(made.element_fragments);
  trace_fragments_ = keep(made.trace_fragments);
  lift_scales_ = keep(made.scales);
  face_scales_ = keep(made.face_scales);
  lift_sides_ = keep(made.sides);
  beyond_ = keep(made.beyond);
  tile_faces_ = keep(made.faces);
  tile_tables_ = keep(made.tables);
  product_blocks_ = keep(made.products.blocks);
  product_terms_ = keep(made.products.terms);
  product_factors_ = keep(made.products.factors);
  side_products_ = keep(made.side_products);
  straight_.element_fragments = element_fragments_.data();
  straight_.trace_fragments = trace_fragments_.data();
  straight_.scales = lift_scales_.data();
  straight_.face_scales = face_scales_.data();
  straight_.sides = lift_sides_.data();
  straight_.beyond = beyond_.data();
  straight_.faces = tile_faces_.data();
  straight_.tables = tile_tables_.data();
  products_ = {product_blocks_.data(), product_terms_.data(), product_factors_.data(), side_products_.data(),
               made.element_products};
  straight_.products = &products_;
  view_.straight = &straight_;
}

void FlowPart::reuse_fluxes(Stream& stream, int threads) {
  // More than the threads work on, so that they seldom wait for each other; not many more than caches hold.
  const int window = 2 * threads + 2;
  if (!stream.device().is_host() || static_cast<int>(blocks_.size()) <= window) return;
  window_ = static_cast<std::size_t>(window);
  const FluxRows rows = reuse_flux_rows(straight_, faces_count_, blocks_, lift_sides_.span(), window);
  unused_rows_ = rows.unused;
  flux_rows_ = make_buffer(stream, std::span(rows.tiles), "rows of fluxes");
  side_rows_ = make_buffer(stream, std::span(rows.sides), "rows of fluxes");
  reusing_ = straight_;
  reusing_.flux_rows = flux_rows_.data();
  reusing_.side_rows = side_rows_.data();
}

std::vector<TaskId> FlowPart::add_interior(Step& step, int p, Range rows, const Kernel& fluxes,
                                           const Kernel& elements) const {
  const auto compute_faces = [&](Range faces, bool whole) {
    return step.compute("interior faces", p, Step::Role::interior, faces, fluxes, whole);
  };
  if (blocks_.empty()) {
    const TaskId faces = compute_faces(interior_fluxes(), false);
    const TaskId interior = step.compute("interior", p, Step::Role::interior, rows, elements);
    step.after(interior, faces);
    return {interior};
  }
  const TaskId boundary = compute_faces({tile_rows * straight_.ends[interior_inner + 1], interior_fluxes().end}, false);
  std::vector<TaskId> faces, interior;
  for (const StraightBlock& block : blocks_) {
    const std::size_t b = faces.size();
    faces.push_back(compute_faces({tile_rows * block.tiles.begin, tile_rows * block.tiles.end}, true));
    if (window_ > 0 && b >= window_) step.after(faces[b], interior[b - window_]);
    interior.push_back(step.compute("interior", p, Step::Role::interior, block.rows, elements, true));
    step.after(interior.back(), boundary);
    for (const int of : block.after) step.after(interior.back(), faces[static_cast<std::size_t>(of)]);
  }
  return interior;
}

void FlowPart::set_uniform(Stream& stream, const double (&state)[variables]) {
  const auto bases = static_cast<std::size_t>(view_.bases);
  std::vector<double> uniform(static_cast<std::size_t>(rows_.end) * variables * bases, 0.0);
  for (std::size_t i = 0; i < uniform.size(); i += bases) uniform[i] = state[i / bases % variables];
  upload(stream, u[0].buffer(), std::span<const double>(uniform));
}

std::vector<const Residency*> FlowPart::held() const {
  if (!held_elements_) return {};
  return {held_elements_.get(), held_faces_.get()};
}

std::vector<std::string> FlowPart::hold(Stream& stream, const CompressibleCase& flow, const ResidencyOptions& options) {
  const bool timed = options.policy == Policy::automatic;
  StageArrays stage;
  if (timed) {
    double state[variables];
    to_conserved(flow.gas, {1, 0.3, 0.2, 0.1, 1}, state);
    set_uniform(stream, state);
    for (Buffer<double>* at_faces : {&flux_, &jump_})
      if (!at_faces->empty())
        upload(stream, *at_faces, std::span<const double>(std::vector<double>(at_faces->size(), 0.0)));
    stage.count = 1;
    stage.x[0] = u[0].data();
    stage.weight[0] = 1;
    stage.factor = 1e-6;
    stage.out = u[1].data();
  }
  std::vector<std::string> lines;
  const auto put = [&](const char* name, Lid rows, int width, const auto& fill, const ResidencyOptions& where,
                       const auto& pass) {
    Choice choice = make_residency(stream, {name, rows, width, fill}, where, pass);
    lines.push_back(describe_held(name, *choice.residency, choice.trials));
    return std::move(choice.residency);
  };
  // Both get their share of the room.
  ResidencyOptions of_elements = options;
  of_elements.leave_bytes +=
      left_for_second(options, {rows_.end, apart_.element_width}, {faces_count_, apart_.face_width},
                      free_bytes(stream.device()) - options.leave_bytes);
  held_elements_ =
      put(element_tables, rows_.end, apart_.element_width, apart_.fill_elements, of_elements, [&](Residency& array) {
        PartView view = view_;
        view.volumes = &array;
        advance_elements(stream, rows_, view, u[0].data(), at_faces(), stage, flow.limited ? stage.out : nullptr);
      });
  held_faces_ = put(face_tables, faces_count_, apart_.face_width, apart_.fill_faces, options, [&](Residency& array) {
    PartView view = view_;
    view.sides = &array;
    compute_fluxes(stream, all_fluxes(), view, boundary_, flow.eta, u[0].data(), at_faces());
  });
  if (timed) upload(stream, broken_, std::span<const std::uint8_t>(std::vector<std::uint8_t>(rows_.end, 0)));
  apart_ = {};
  view_.volumes = held_elements_.get();
  view_.sides = held_faces_.get();
  return lines;
}

void FlowPart::make_boundary(Stream& stream, const CompressibleCase& flow, const Operators& made,
                             const std::map<std::int32_t, std::int32_t>& conditions) {
  const auto& points = made.boundary;
  if (points.places.empty()) return;
  std::vector<std::int32_t> of_points;
  for (const std::int32_t tag : points.tags) of_points.push_back(conditions.at(tag));
  std::vector<std::uint8_t> kinds;
  std::vector<BoundaryFormula> formulas;
  std::vector<FormulaStep> steps;
  for (std::size_t c = 0; c < flow.conditions.size(); ++c) {
    const BoundaryCondition& condition = flow.conditions[c];
    kinds.push_back(static_cast<std::uint8_t>(condition.kind));
    for (std::size_t k = 0; k < condition.values.size(); ++k) {
      if (!condition.values[k]) continue;
      const auto formula = condition.values[k]->steps();
      boundary_depends_on_time_ = boundary_depends_on_time_ || condition.values[k]->depends_on_time();
      formulas.push_back({static_cast<std::int32_t>(c), static_cast<std::int32_t>(k),
                          static_cast<std::int32_t>(steps.size()), static_cast<std::int32_t>(formula.size())});
      steps.insert(steps.end(), formula.begin(), formula.end());
    }
  }
  places_ = make_buffer(stream, std::span<const Vec3>(points.places), "boundary, places");
  areas_ = make_buffer(stream, std::span<const double>(points.areas), "boundary, areas");
  conditions_ = make_buffer(stream, std::span<const std::int32_t>(of_points), "boundary, conditions");
  kinds_ = make_buffer(stream, std::span<const std::uint8_t>(kinds), "boundary, kinds");
  formulas_ = make_buffer(stream, std::span<const BoundaryFormula>(formulas), "boundary, formulas");
  steps_ = make_buffer(stream, std::span<const FormulaStep>(steps), "boundary, steps of formulas");
  const std::vector<double> zeros(points.places.size() * boundary_values, 0.0);
  values_ = make_buffer(stream, std::span<const double>(zeros), "boundary, values");
  boundary_ = {kinds_.data(), values_.data(), static_cast<Size>(points.places.size())};
}

void FlowPart::make_source(Stream& stream, const CompressibleCase& flow, const LocalElementMesh& mesh,
                           const Operators& made) {
  if (rows_.empty()) return;
  std::vector<Vec3> places;
  std::vector<Size> first;
  std::map<std::pair<ElementType, bool>, Quadrature> rules;
  for (Lid e = 0; e < rows_.end; ++e) {
    const ElementMap map(mesh.types[e], mesh.element_nodes(e));
    const auto [found, is_new] = rules.try_emplace({map.type(), map.affine()});
    Quadrature& rule = found->second;
    if (is_new) rule = volume_rule(map.type(), flow.order, map.affine(), flow.stored);
    first.push_back(static_cast<Size>(places.size()));
    for (int q = 0; q < made.elements[e].points; ++q) places.push_back(map.point(rule.points[q < rule.size() ? q : 0]));
  }
  std::vector<FormulaStep> steps;
  for (std::size_t v = 0; v < variables; ++v) {
    const auto formula = flow.source[v].steps();
    steps.insert(steps.end(), formula.begin(), formula.end());
    source_formulas_.counts[v] = static_cast<int>(formula.size());
    source_depends_on_time_ = source_depends_on_time_ || flow.source[v].depends_on_time();
  }
  source_places_ = make_buffer(stream, std::span<const Vec3>(places), "source, places");
  source_first_ = make_buffer(stream, std::span<const Size>(first), "source, places of elements");
  source_steps_ = make_buffer(stream, std::span<const FormulaStep>(steps), "source, steps of formulas");
  source_ = Buffer<double>(stream.device(), Size{rows_.end} * variables * flow.bases(), "source");
  source_formulas_.steps = source_steps_.data();
  source_formulas_.places = source_places_.data();
  source_formulas_.first = source_first_.data();
  source_formulas_.source = source_.data();
}

void FlowPart::update_source(Stream& stream, double time) {
  if (!source_.empty()) evaluate_source(stream, rows_, view_, source_formulas_, time);
}

void FlowPart::update_boundary(Stream& stream, double time) {
  if (values_.empty()) return;
  evaluate_boundary(stream,
                    {formulas_.data(), static_cast<int>(formulas_.size()), steps_.data(), places_.data(),
                     conditions_.data(), static_cast<Lid>(places_.size()), values_.data()},
                    time);
}

std::vector<std::uint8_t> FlowPart::broken(Stream& stream) const {
  std::vector<std::uint8_t> marks(rows_.size());
  download(stream, std::span<std::uint8_t>(marks), broken_);
  return marks;
}

Size FlowPart::bytes() const {
  Size held = 0;
  for (const Residency* array : this->held()) held += array->layout().bytes(array->placement().rows);
  // What is used again stays in caches.
  const double used = 1 - static_cast<double>(unused_rows_) / std::max<Lid>(1, faces_count_);
  const auto at_faces = static_cast<Size>(used * static_cast<double>(flux_.bytes() + jump_.bytes()));
  return 2 * (u.empty() ? 0 : u[0].buffer().bytes()) + elements_.bytes() + faces_.bytes() + face_of_.bytes() +
         metric_.bytes() + tables_.bytes() + held + normals_.bytes() + 2 * at_faces;
}

}  // namespace tutti::compressible
