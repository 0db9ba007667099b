// A flow at rest in a cube, timed. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/flow_rate.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/flow_part.hpp"
#include "tutti/models/incompressible/flow_plan.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/models/incompressible/pressure/jacobi_pass.hpp"
#include "tutti/models/incompressible/pressure/relaxation_kernel.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti::incompressible {
namespace {

constexpr int most_jacobi_sweeps = 20, colours = 16;  // more tell nothing new
constexpr int direct_passes = 3 + 4;                  // each of its four transforms reads and writes all cells

template <class T>
FlowPart<T> sample_part(Stream& stream, Lid side, std::size_t scalars) {
  BoxGrid grid;
  for (GridLine& line : grid.lines) line = make_grid_line(side, 0, 1, 0, false);
  FlowPart<T> part;
  part.box = {{0, 0, 0}, {side, side, side}};
  part.grid = PartGrid<T>(stream, grid, {grown(part.box, 1)});
  const std::vector<T> ones(part.grid.array.values(), T(1));
  const auto make = [&] { return make_buffer(stream, std::span<const T>(ones), "flow of the sample"); };
  for (auto* fields : {&part.u, &part.intermediate, &part.rate})
    for (Buffer<T>& field : *fields) field = make();
  part.p = make();
  part.rhs = make();
  for (std::size_t s = 0; s < scalars; ++s) part.scalars.push_back({make(), make(), make(), {}, T(0), T(1)});
  part.warm = scalars > 0;
  return part;
}

/// A sweep of what solves for the pressure; of the direct solver, which is counted apart, and of multigrid a colour.
template <class T>
void add_sweep(Kernels& to, const FlowCase& flow, FlowPart<T>& part, Buffer<T>& next, int number) {
  const auto add_jacobi = [&]<template <class> class Stencil>(const Stencil<T>& stencil) {
    const bool back = number % 2 == 1;
    to.add(JacobiPass<T, Stencil>{{part.grid.array,
                                   stencil,
                                   (back ? next : part.p).data(),
                                   part.rhs.data(),
                                   (back ? part.p : next).data(),
                                   T(1),
                                   {}}});
  };
  if (flow.pressure != PressureMethod::jacobi)
    to.add(on_cells<T>(RedBlackSweep<T, GridView>{part.grid.view(), part.p.data(), part.rhs.data(), T(1), number % 2}));
  else if (has_equal_cells(flow.grid))
    add_jacobi(uniform_stencil<T>(flow.grid));
  else
    add_jacobi(metric_stencil(part.grid.view()));
}

template <class T>
double measure(Device& device, Threads& threads, Gid cells, const FlowCase& flow) {
  constexpr double shortest = 8, longest = 256;
  const auto side = static_cast<Lid>(std::clamp(std::round(std::cbrt(static_cast<double>(cells))), shortest, longest));
  std::vector<PartStreams> streams;
  streams.emplace_back(device);
  FlowPart<T> part = sample_part<T>(*streams[0].compute, side, flow.scalars.size());
  Buffer<T> next;
  if (flow.pressure == PressureMethod::jacobi) {
    const std::vector<T> ones(static_cast<std::size_t>(part.p.size()), T(1));
    next = make_buffer(*streams[0].compute, std::span<const T>(ones), "p of the sample, next");
  }
  const Range all{0, static_cast<Lid>(part.box.cells())};
  const int passes =
      3 + (flow.pressure == PressureMethod::jacobi ? std::min(flow.sweeps, most_jacobi_sweeps) : colours);
  Step step(threads, streams);
  std::vector<Kernels> kernels(static_cast<std::size_t>(passes));
  for (int k = 0; k < passes; ++k) {
    Kernels& to = kernels[static_cast<std::size_t>(k)];
    if (k == 0)
      predict(to, part, FlowConstants<T>{}, StageWeights<T>{});
    else if (k == 1)
      pressure_right_hand_side(to, part, T(1));
    else if (k + 1 < passes)
      add_sweep(to, flow, part, next, k);
    else
      correct(to, part, T(1));
    const TaskId task = step.compute("sample", 0, Step::Role::interior, all,
                                     [&](Stream& on, Range range) { to.enqueue(on, part.box, range); });
    if (k > 0) step.after(task, task - 1);
  }
  step.finish(Overlap::full);
  return static_cast<double>(part.box.cells()) * passes / sample_seconds(step);
}

}  // namespace

MeasureRate flow_rate(const FlowCase& flow, bool single, Threads& threads) {
  // The direct solver computes more than it moves.
  const double flops = flow.pressure == PressureMethod::direct ? transform_flops_a_cell(flow) : 0;
  return [flow, single, flops, &threads](Device& device, Gid cells) {
    const double rate =
        single ? measure<float>(device, threads, cells, flow) : measure<double>(device, threads, cells, flow);
    if (flops == 0) return rate;
    const double seconds_a_cell = direct_passes / rate + flops / quick_transform_rate(device, threads, single);
    return direct_passes / seconds_a_cell;
  };
}

double exchanges_a_pass(const FlowCase& flow) {
  // A step of 128^3 to 256^3 cells takes longer on two H200 than half of it on one: 20 to 29 us for each of its passes
  // with the direct solver, 16 to 24 us with Jacobi. An exchange alone takes 8.
  return flow.pressure == PressureMethod::direct ? 3 : 2.5;
}

}  // namespace tutti::incompressible
