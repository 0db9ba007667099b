#include "tutti/models/incompressible/flow_plan.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tutti/exchange/box_pieces.hpp"
#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/models/incompressible/flow_rate.hpp"
#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_gpu.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/models/incompressible/pressure/direct/line_transform.hpp"
#include "tutti/models/incompressible/viscous/diffusion_bounds.hpp"

namespace tutti::incompressible {
namespace {

using Wanted = std::vector<std::vector<CellBox>>;  // of all parts

Wanted around(const std::vector<CellBox>& boxes, std::vector<CellBox> (*layer)(const CellBox&)) {
  Wanted wanted;
  for (const CellBox& box : boxes) wanted.push_back(layer(box));
  return wanted;
}
Wanted each(const std::vector<CellBox>& boxes) {
  Wanted wanted;
  for (const CellBox& box : boxes) wanted.push_back({box});
  return wanted;
}

/// Collects what a part takes and moves.
class PartPlanner {
 public:
  PartPlanner(const FlowCase& flow, const BoxDomain& domain, std::size_t p, Size value_bytes)
      : flow_(flow), domain_(domain), p_(p), value_bytes_(value_bytes) {}

  /// Arrays with the part's layout.
  void fields(const std::string& name, Size count = 1) { array(name, count * values() * value_bytes_); }
  void array(const std::string& name, Size bytes) {
    if (bytes > 0) plan.arrays.push_back({name, bytes});
  }
  /// A BoxTransfer with room for so many fields, of cells that `boxes` own, made `times` a step.
  void transfer(const std::string& name, const std::vector<CellBox>& boxes, const Wanted& wanted, bool same_arrays,
                int count, Size times) {
    BoxParts parts = domain_.parts;
    parts.boxes = boxes;
    const auto stores = [&](std::int32_t other) {
      const auto& mine = domain_.parts.mine;
      const auto at = std::find(mine.begin(), mine.end(), other);
      return at != mine.end() && other != mine[p_] &&
             reach_each_other(domain_.routing, domain_.streams[p_],
                              domain_.streams[static_cast<std::size_t>(at - mine.begin())]);
    };
    const TransferCount one = count_transfer(parts, wanted, domain_.parts.mine[p_], same_arrays, stores);
    array(name, one.bytes(count, value_bytes_));
    const auto rank = [&](std::int32_t part) { return parts.rank_of_part[part]; };
    for (const auto& [part, cells] : one.to) {
      plan.message_bytes += times * cells * count * value_bytes_;
      if (rank(part) != rank(domain_.parts.mine[p_])) plan.messages += times;
    }
  }
  void grid();
  void pressure(int sweeps, Size stages);
  void diffusion(int sweeps);

  FlowPartPlan plan;

 private:
  void direct(Size stages);
  Size values() const { return domain_.arrays[p_].values(); }
  const CellBox& of_part(const std::vector<CellBox>& boxes) const { return boxes[domain_.parts.mine[p_]]; }

  const FlowCase& flow_;
  const BoxDomain& domain_;
  std::size_t p_;
  Size value_bytes_;
};

/// Lengths along the three directions, and formulas at the ends of the box that the part touches.
void PartPlanner::grid() {
  const BoxArray& array_of = domain_.arrays[p_];
  const CellBox& box = domain_.box(p_);
  if (box.empty()) return;
  Size lines = 0, steps = 0, longest = 0;
  for (int d = 0; d < 3; ++d) {
    lines += array_of.stored.size(d);
    const auto i = static_cast<std::size_t>(d);
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
      const bool there = side == 0 ? box.lower[i] == 0 : box.upper[i] == flow_.grid.lines[i].cells();
      if (!there || flow_.grid.lines[i].periodic) continue;
      const FlowEnd& end = flow_.ends[2 * i + side];
      for (const Expression& e : end.value) steps += e.is_constant() ? 0 : static_cast<Size>(e.steps().size());
      for (const FlowScalar& scalar : flow_.scalars) {
        const Expression& value = scalar.ends[2 * i + side].value;
        steps += value.is_constant() ? 0 : static_cast<Size>(value.steps().size());
      }
    }
  }
  for (const auto& three : {flow_.initial_velocity, flow_.force})
    for (const Expression& e : three) longest = std::max(longest, static_cast<Size>(e.steps().size()));
  for (const FlowScalar& scalar : flow_.scalars)
    for (const Expression& e : {scalar.initial, scalar.source})
      longest = std::max(longest, static_cast<Size>(e.steps().size()));
  array("lengths of cells", lines * (3 * value_bytes_ + static_cast<Size>(sizeof(double))));
  array("values at the ends",
        2 * lines * static_cast<Size>(sizeof(double)) + steps * static_cast<Size>(sizeof(FormulaStep)));
  array("while formulas are evaluated",
        lines * static_cast<Size>(sizeof(double)) + longest * static_cast<Size>(sizeof(FormulaStep)));
}

void PartPlanner::pressure(int sweeps, Size stages) {
  switch (flow_.pressure) {
    case PressureMethod::jacobi:
      fields("pressure, next");
      transfer("halo of a sweep", domain_.parts.boxes, around(domain_.parts.boxes, faces_around), true, 1,
               stages * sweeps);
      return;
    case PressureMethod::red_black:
      transfer("halo of a sweep", domain_.parts.boxes, around(domain_.parts.boxes, faces_around), true, 1,
               2 * stages * sweeps);
      return;
    case PressureMethod::multigrid:
      // Cells of coarser grids add up to a seventh, where all directions are merged.
      array("coarse grids", 2 * of_part(domain_.parts.boxes).cells() * value_bytes_ / 7);
      transfer("halo of a sweep", domain_.parts.boxes, around(domain_.parts.boxes, faces_around), true, 1,
               8 * stages * sweeps);
      return;
    case PressureMethod::direct:
      direct(stages);
      return;
  }
}

void PartPlanner::diffusion(int sweeps) {
  const int count = 3 + static_cast<int>(flow_.scalars.size());
  fields("right sides of diffusion", count);
  Size lines = 0;
  for (int d = 0; d < 3; ++d) lines += domain_.arrays[p_].stored.size(d);
  array("weights of diffusion", 4 * lines * value_bytes_ + 2 * lines * static_cast<Size>(sizeof(double)));
  transfer("halo of diffusion", domain_.parts.boxes, around(domain_.parts.boxes, faces_around), true, count,
           sweeps + 1);
}

void PartPlanner::direct(Size stages) {
  const std::vector<CellBox>& boxes = domain_.parts.boxes;
  const DirectLayout layout = direct_layout(flow_, boxes, domain_.weights);
  const bool one_part = layout.aligned && layout.parts == 1;
  const bool by_modes = has_column_modes(pressure_line(flow_, flow_.grid.lines[layout.axis()], layout.axis()));
  const CellBox& planes = of_part(layout.planes);
  const Size plane = planes.empty() ? 0 : planes.cells() / planes.size(layout.axis());
  array("planes of the direct solver", (planes.cells() + (layout.passes ? 2 * plane : 0)) * value_bytes_);
  const CellBox& columns = of_part(layout.columns);
  if (!layout.aligned && layout.turns()) array("planes on their way", planes.cells() * value_bytes_);
  const bool on_gpu = domain_.streams[p_].device->kind() == DeviceKind::cuda;
  const bool is_last = planes.upper[static_cast<std::size_t>(layout.axis())] == flow_.grid.lines[layout.axis()].cells();
  if (layout.passes && !on_gpu && !is_last)
    array("factors of the direct solver", columns.cells() * value_bytes_);
  else if (!layout.passes && !one_part)
    array("columns of the direct solver", columns.cells() * value_bytes_);
  if (on_gpu) {
    const auto line = [&](int d) { return pressure_line(flow_, flow_.grid.lines[d], d); };
    const Size sizes = direct_gpu_values(line(layout.order[0]), line(layout.order[1]), line(layout.axis()),
                                         columns.empty() ? 0 : columns.cells() / columns.size(layout.axis()),
                                         planes.size(layout.axis()), columns.size(layout.axis()));
    array("the direct solver's matrices and scratch", sizes * value_bytes_);
  }
  if (!layout.aligned) transfer("cells to planes", boxes, each(layout.planes), false, 1, stages);
  if (layout.passes) {
    const auto d = static_cast<std::size_t>(layout.axis());
    CellBox column{{0, 0, 0}, {1, 1, 1}};
    column.upper[d] = flow_.grid.lines[d].cells();
    Wanted wanted(boxes.size());
    for (std::size_t part = 0; part < boxes.size(); ++part)
      if (!layout.planes[part].empty()) wanted[part].push_back(column);
    array("constant column", column.cells() * value_bytes_);
    transfer("constant column", layout.planes, wanted, false, 1, stages);
  }
  for (int wave = 0; layout.passes && wave + 1 < layout.waves(0).waves(); ++wave) {
    Wanted wanted;
    for (std::size_t part = 0; part < boxes.size(); ++part) wanted.push_back(layout.wanted_behind(wave, part));
    transfer("rows of columns", layout.planes, wanted, true, 1, stages);
  }
  for (int n = 0; n < layout.pieces && !one_part && !layout.passes; ++n) {
    const Wanted columns_there = by_modes ? each(layout.columns) : boxes_without(layout.columns, layout.planes),
                 planes_there = by_modes ? each(layout.planes) : boxes_without(layout.planes, layout.columns);
    transfer("planes to columns", layout.planes_of(n), columns_there, false, 1, stages);
    transfer("columns to planes", layout.columns_of(n), planes_there, false, 1, stages);
  }
  Wanted back = around(boxes, faces_around);
  for (std::size_t part = 0; part < boxes.size() && !layout.aligned; ++part) back[part].push_back(boxes[part]);
  transfer("planes to cells", layout.planes, back, false, 1, stages);

  plan.flops_a_step +=
      static_cast<double>(stages) * static_cast<double>(planes.cells()) * transform_flops_a_cell(flow_);
}

/// Of initial values: the largest component at points of the grid.
double largest_initial(const FlowCase& flow) {
  double largest = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const Expression& value = flow.initial_velocity[c];
    std::array<Lid, 3> step{1, 1, 1};
    for (std::size_t d = 0; d < 3; ++d)
      step[d] = value.is_constant() ? flow.grid.lines[d].cells() : (flow.grid.lines[d].cells() + 31) / 32;
    for (Lid k = 0; k < flow.grid.lines[2].cells(); k += step[2])
      for (Lid j = 0; j < flow.grid.lines[1].cells(); j += step[1])
        for (Lid i = 0; i < flow.grid.lines[0].cells(); i += step[0]) {
          Vec3 at = flow.grid.centre(i, j, k);
          at[static_cast<int>(c)] += 0.5 * flow.grid.lines[c].width(std::array{i, j, k}[c]);
          largest = std::max(largest, std::abs(value(at)));
        }
  }
  return largest;
}

template <class T>
double transform_rate(Threads& threads) {
  using Clock = std::chrono::steady_clock;
  constexpr Lid n = 64, lines = 64;  // of a member: 32 KiB in double
  const LineTransform<T> transform(line_modes(uniform_line(n, 1, LineEnd::neumann, LineEnd::neumann)),
                                   Transform::to_modes, LineAxis::x);
  std::vector<std::vector<T>> values(threads.count(), std::vector<T>(n * lines, T(1)));
  double best = std::numeric_limits<double>::infinity();
  const auto start = Clock::now();
  constexpr int rounds = 8;
  do {
    const auto begin = Clock::now();
    threads.run([&](int member) {
      T* const at = values[member].data();
      for (int k = 0; k < rounds; ++k) {
        std::fill_n(at, n * lines, T(1));
        transform_x(transform.view(), at, at, {0, lines});
      }
    });
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  } while (std::chrono::duration<double>(Clock::now() - start).count() < 0.02);
  return 2.0 * static_cast<double>(transform.work()) * lines * rounds * threads.count() / best;
}

template <class T>
double transform_rate_on_gpu(Device& device) {
  using Clock = std::chrono::steady_clock;
  constexpr Lid n = 256, planes = 64;
  const auto stream = device.make_stream("sample");
  const Line line = uniform_line(n, 1, LineEnd::neumann, LineEnd::neumann);
  const LineModes modes = line_modes(line);
  DirectGpu<T> direct(*stream, modes, modes, line_operator(line), {}, planes);
  const std::vector<T> ones(std::size_t{n} * n * planes, T(1));
  Buffer<T> values = make_buffer(*stream, std::span<const T>(ones), "sample of the transforms");
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round) {
    const auto begin = Clock::now();
    direct.to_modes(*stream, {values.data(), n, Size{n} * n}, values.data(), {0, planes});
    stream->synchronize();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return 4.0 * static_cast<double>(fast_work(n)) / n * static_cast<double>(ones.size()) / best;
}

}  // namespace

int stages_of(const FlowCase& flow) {
  return flow.scheme == TimeScheme::rk3 ? 3 : 1;
}

int planned_sweeps(const FlowCase& flow) {
  if (flow.pressure == PressureMethod::direct) return 0;
  if (flow.pressure == PressureMethod::jacobi) return flow.sweeps;
  if (flow.pressure == PressureMethod::multigrid) return std::min(flow.sweeps, 4);  // a cycle leaves a tenth or less
  double slowest = 1;
  for (const GridLine& line : flow.grid.lines)
    if (line.cells() > 1) slowest = std::max(slowest, static_cast<double>(line.cells()) / (line.periodic ? 2 : 1));
  // A sweep leaves omega - 1, about 1 - 2 pi / n, of the slowest mode.
  const double sweeps = std::log(100.0) * slowest / (2 * std::acos(-1.0));
  return std::clamp(static_cast<int>(std::ceil(sweeps / 10)) * 10, 10, std::max(10, flow.sweeps));
}

Size values_besides_pressure(const FlowCase& flow) {
  // A scalar: four of its own, and half of the velocities, which GPUs read once for two scalars (rounded up).
  Size values = 10 + 4 + 7 + 6 * static_cast<Size>(flow.scalars.size());
  if (flow.is_forced() || flow.subgrid != SubgridModel::none) values += 3;
  if (flow.subgrid != SubgridModel::none) values += (3 + 1) + (3 + 1 + 3) + (flow.is_forced() ? 3 : 0);
  if (flow.bulk) ++values;
  for (const FlowScalar& scalar : flow.scalars)
    if (!scalar.source.is_constant()) ++values;
  return values;
}

Size values_a_stage(const FlowCase& flow, int sweeps) {
  const Size values = values_besides_pressure(flow);
  switch (flow.pressure) {
    case PressureMethod::jacobi:
      return values + 3 * sweeps;
    case PressureMethod::red_black:
      return values + 6 * sweeps;
    case PressureMethod::multigrid:
      // Four sweeps of both colours, residual and correction, on all grids.
      return values + (4 * 6 + 7) * 8 * sweeps / 7;
    case PressureMethod::direct:
      return values + 8;
  }
  return values;
}

double flops_a_stage(const FlowCase& flow, int sweeps) {
  // A component: 13 of its own direction, 17 of each other one, 2 to join them, 1 force, 4 of the time scheme.
  constexpr double momentum = 3 * (13 + 2 * 17 + 2 + 1 + 4), divergence = 10, correction = 12, sweep = 10;
  // A scalar: 15 a direction, 2 to join, 1 source, 4 of the time scheme; buoyancy 5 a component.
  const double scalars = (3 * 15 + 2 + 1 + 4) * static_cast<double>(flow.scalars.size()),
               buoyancy = flow.has_temperature ? 3 * 5 : 0;
  return momentum + divergence + correction + scalars + buoyancy + sweep * sweeps;
}

FlowPartPlan plan_part(const Case& options, const FlowCase& flow, const BoxDomain& domain, std::size_t p, int sweeps) {
  const Size value_bytes = options.text("numerics.precision") == "float" ? 4 : 8;
  PartPlanner planner(flow, domain, p, value_bytes);
  const auto& boxes = domain.parts.boxes;
  const Size stages = stages_of(flow);
  planner.fields("velocity", 3);
  planner.fields("velocity without pressure", 3);
  planner.fields("rate of velocity", 3);
  planner.fields("pressure and divergence", 2);
  const int scalars = static_cast<int>(flow.scalars.size());
  for (const FlowScalar& scalar : flow.scalars) planner.fields(scalar.name + ", next, and rate", 3);
  const bool subgrid = flow.subgrid != SubgridModel::none;
  if (flow.is_forced() || subgrid) planner.fields("force", 3);
  if (subgrid) planner.fields("eddy viscosity");
  if (flow.is_forced() && subgrid) planner.fields("force of the case", 3);
  for (const FlowScalar& scalar : flow.scalars)
    if (!scalar.source.is_constant()) planner.fields("source of " + scalar.name);
  if (flow.steady > 0) planner.fields("flow before a step", 3 + scalars);
  planner.grid();
  const Wanted faces = around(boxes, faces_around);
  planner.transfer("halo of u", boxes, around(boxes, ring_around), true, 3, stages);
  planner.transfer("halo of u without pressure", boxes, faces, true, 3 + scalars, flow.implicit_diffusion ? 0 : stages);
  if (subgrid) planner.transfer("halo of the eddy viscosity", boxes, around(boxes, ring_around), true, 1, stages);
  planner.transfer("halo of a scalar", boxes, faces, true, 1, 0);
  planner.pressure(sweeps, stages);
  Size values = stages * values_a_stage(flow, sweeps);
  if (flow.implicit_diffusion) {
    const double dt = planned_time_step(options, flow);
    planner.diffusion(diffusion_sweeps(flow, dt));
    values += diffusion_values(flow, dt);
  }
  planner.plan.bytes_a_step = values * domain.box(p).cells() * value_bytes;
  return planner.plan;
}

namespace {

/// Bytes of a cell, as if a part on this device had all of them; a part of several takes halos besides.
double cell_bytes(const Case& options, const FlowCase& flow, Device& device) {
  BoxDomain alone(flow.grid, z_first, true);
  alone.streams.emplace_back(device);
  alone.weights = {1};
  alone.rank_of_part = {0};
  alone.parts.boxes = {{{0, 0, 0}, flow.grid.cells()}};
  alone.parts.cells = flow.grid.cells();
  alone.parts.periodic = flow.grid.periodic();
  alone.parts.rank_of_part = {0};
  alone.parts.mine = {0};
  alone.arrays = {{grown(alone.box(0), 1)}};
  return static_cast<double>(plan_part(options, flow, alone, 0, planned_sweeps(flow)).bytes()) /
         static_cast<double>(flow.grid.cell_count());
}

}  // namespace

Sharing flow_sharing(const Case& options, const FlowCase& flow, Threads& threads) {
  MemoryModel memory;
  memory.row = [&options, flow](Device& device, double) { return cell_bytes(options, flow, device); };
  memory.parts = [&options, flow](const Comm&, const Domain& of) {
    const auto& domain = dynamic_cast<const BoxDomain&>(of);
    std::vector<Size> bytes;
    for (std::size_t p = 0; p < domain.mine(); ++p)
      bytes.push_back(plan_part(options, flow, domain, p, planned_sweeps(flow)).bytes());
    return bytes;
  };
  return {flow_rate(flow, options.text("numerics.precision") == "float", threads), memory, exchanges_a_pass(flow)};
}

double planned_time_step(const Case& options, const FlowCase& flow) {
  if (!options.is_word("time.dt", "auto")) return options.number("time.dt");
  const double speed = std::max(largest_initial(flow), driven_speed(flow));
  double crossing = 0, temperature_deviation = 0;
  for (int d = 0; d < 3; ++d)
    if (flow.grid.lines[d].cells() > 1) crossing += speed / flow.grid.smallest_width(d);
  if (flow.has_temperature)
    for (const FlowScalarEnd& end : flow.scalars[0].ends)
      if (end.kind == ScalarEnd::fixed && end.value.is_constant())
        temperature_deviation = std::max(temperature_deviation, std::abs(end.value({0, 0, 0}) - flow.reference));
  const double longest = longest_step(flow, crossing, temperature_deviation);
  if (!std::isinf(longest)) return options.number("time.safety") * longest;
  return options.has("time.end") ? options.number("time.end") : 1.0;
}

double quick_transform_rate(Device& device, Threads& threads, bool single) {
  if (device.kind() == DeviceKind::cuda)
    return single ? transform_rate_on_gpu<float>(device) : transform_rate_on_gpu<double>(device);
  return single ? transform_rate<float>(threads) : transform_rate<double>(threads);
}

}  // namespace tutti::incompressible
