// tutti bench incompressible: a lid-driven cube, its steps beside the STREAM triad of the same run.
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/incompressible/flow_model.hpp"
#include "tutti/models/incompressible/flow_plan.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/program/bench_internal.hpp"

namespace tutti::incompressible {
namespace {

struct FlowBench : BenchArguments {
  std::vector<Gid> cells{128};
  std::vector<std::string> solvers{"direct"};
  std::vector<std::string> overlaps{"full"};
  std::string precision = "double", cut = "slabs";
  int sweeps = 20, pieces = 0;
  bool adaptive = false;
};

/// Keys that only some solvers have are left to the case's defaults. `dt`: of time.dt.
Case flow_case(const FlowBench& a, const std::string& solver, const std::string& overlap, int sweeps,
               const std::string& dt) {
  const auto side = [&](std::size_t d) { return a.cells[a.cells.size() == 1 ? 0 : d]; };
  const std::string text = fmt::format(
      "[grid]\ncells = [{}, {}, {}]\n[fluid]\nviscosity = 0.001\n[[boundary]]\nface = "
      "\"y-upper\"\nvalue = [1, 0, 0]\n[pressure]\nsolver = \"{}\"\n{}[numerics]\nprecision = \"{}\"\n[partition]\ncut "
      "= "
      "\"{}\"\n[balance]\nweights = \"{}\"\n[devices]\noverlap = \"{}\"\n[time]\nsteps = 1\ndt = {}\n",
      side(0), side(1), side(2), solver,
      solver == "jacobi"                                         ? fmt::format("sweeps = {}\n", sweeps)
      : a.pieces > 0 && (solver == "auto" || solver == "direct") ? fmt::format("pieces = {}\n", a.pieces)
                                                                 : "",
      a.precision, a.cut, a.weights, overlap, dt);
  return bench_case(incompressible_kind(), text);
}

/// All steps have the length that the first one of a flow that adapts it would have: passes whose numbers stay the same
/// are captured.
Case flow_case(const FlowBench& a, const std::string& solver, const std::string& overlap, int sweeps) {
  Case adaptive = flow_case(a, solver, overlap, sweeps, "\"auto\"");
  if (a.adaptive) return adaptive;
  return flow_case(a, solver, overlap, sweeps,
                   fmt::format("{:.17g}", planned_time_step(adaptive, read_flow_case(adaptive))));
}

struct Measured {
  TimedStep seconds;
  Gid cells = 0;
  Size bytes_a_step = 0;
  double divergence = 0;
  Size messages = 0;
};

/// `counted`: also what it moves and what is left of the divergence, which takes a look at all fields.
Measured measure(const Comm& comm, const FlowBench& a, DeviceSet& devices, const Case& options, bool counted) {
  Phases phases;
  const auto model = make_incompressible({comm, devices, options, {}, phases});
  Measured m;
  m.seconds = time_steps(comm, *model, a.seconds, a.steps);
  m.cells = model->cells();
  if (!counted) return m;
  for (const Diagnostic& d : model->diagnose())
    if (d.name == "divergence") m.divergence = d.value;
  // The counts of one more step.
  Summary before, after;
  summarise(comm, *model, before, 0);
  model->step(0, model->time_step());
  model->wait();
  summarise(comm, *model, after, 0);
  for (std::size_t p = 0; p < after.parts.size(); ++p) m.bytes_a_step += after.parts[p].bytes - before.parts[p].bytes;
  m.messages = after.exchange.messages - before.exchange.messages;
  m.bytes_a_step = comm.sum(m.bytes_a_step);
  return m;
}

/// Measures a solver with an overlap policy; prints and returns its row.
nlohmann::json bench_row(const Comm& comm, const FlowBench& a, DeviceSet& devices, const std::string& solver,
                         const std::string& overlap) {
  const Case options = flow_case(a, solver, overlap, a.sweeps);
  const FlowCase flow = read_flow_case(options);
  const Measured m = measure(comm, a, devices, options, true);
  const double triad = all_triads(comm, devices, a.seconds);
  const double best = m.seconds.best, cells = static_cast<double>(m.cells);
  const double moved = static_cast<double>(m.bytes_a_step), bytes = moved / best;
  nlohmann::json row = {{"cells", m.cells},
                        {"grid", flow.grid.cells()},
                        {"solver", solver},
                        {"precision", a.precision},
                        {"overlap", overlap},
                        {"cut", a.cut},
                        {"seconds_best", best},
                        {"seconds_median", m.seconds.median},
                        {"cell_steps_per_second", cells / best},
                        {"bytes_a_cell", moved / cells},
                        {"gb_per_second", bytes * 1e-9},
                        {"triad_gb_per_second", triad * 1e-9},
                        {"fraction_of_triad", bytes / triad},
                        {"messages_a_step", m.messages},
                        {"divergence", m.divergence}};
  info("{:<10} {:<9} {:<6} {:>13} {:>10.3f} {:>14.1f} {:>8.1f} {:>11.2f} {:>9.3f} {:>10.2e}", solver, overlap,
       a.precision, format_count(m.cells), best * 1e3, cells / best * 1e-6, bytes * 1e-9, triad * 1e-9, bytes / triad,
       m.divergence);
  if (solver != "jacobi") return row;
  // What as many sweeps more take is a sweep's time, without anything else of a step.
  const Measured twice = measure(comm, a, devices, flow_case(a, solver, overlap, 2 * a.sweeps), false);
  const double sweep = (twice.seconds.best - best) / a.sweeps, of_step = flops_a_stage(flow, a.sweeps);
  const double of_sweep = flops_a_stage(flow, 1) - flops_a_stage(flow, 0);
  row["sweeps"] = a.sweeps;
  row["flops_a_sweep_cell"] = of_sweep;
  row["flops_a_step_cell"] = of_step;
  row["gflops"] = cells / best * of_step * 1e-9;
  info("  {} sweeps per step: {:.2f} GFLOPS, {:.0f} flops per cell, {:.0f} of them per sweep", a.sweeps,
       row["gflops"].get<double>(), of_step, of_sweep);
  const bool sensible = sweep > 0;  // else others used the machine more in one measurement than in the other
  const double rate = cells / sweep, bytes_a_second = 3 * rate * (a.precision == "float" ? 4 : 8);
  const auto known = [&](double value) { return sensible ? nlohmann::json(value) : nlohmann::json(nullptr); };
  row["seconds_a_sweep"] = known(sweep);
  row["cell_sweeps_per_second"] = known(rate);
  row["sweep_fraction_of_triad"] = known(bytes_a_second / triad);
  row["sweep_gflops"] = known(rate * of_sweep * 1e-9);
  if (sensible)
    info("  a sweep {:.4f} ms: {:.1f} M cell-sweeps/s, {:.1f} GB/s, {:.3f} of the triad, {:.2f} GFLOPS", sweep * 1e3,
         rate * 1e-6, bytes_a_second * 1e-9, bytes_a_second / triad, rate * of_sweep * 1e-9);
  else
    info("  twice the sweeps took no longer: this machine is too busy to time a sweep");
  return row;
}

void bench(const Comm& comm, const FlowBench& a) {
  comm.together([&] {
    if (a.cells.size() != 1 && a.cells.size() != 3)
      fail(ErrorKind::usage, "--cells: {} numbers; give one for a cube, or three as in 256,32,256", a.cells.size());
  });
  run_bench(comm, a, [&](DeviceSet& devices, nlohmann::json& results) {
    info("a lid-driven cavity; GB/s by values that a step must move, each once; divergence: max|div u| h / U");
    info("{:<10} {:<9} {:<6} {:>13} {:>10} {:>14} {:>8} {:>11} {:>9} {:>10}", "solver", "overlap", "type", "cells",
         "ms/step", "M cell-steps/s", "GB/s", "triad GB/s", "of triad", "divergence");
    for (const std::string& solver : a.solvers)
      for (const std::string& overlap : a.overlaps) results.push_back(bench_row(comm, a, devices, solver, overlap));
  });
}

}  // namespace

void add_flow_bench(CLI::App& bench_command, Action& action) {
  auto a = std::make_shared<FlowBench>();
  BenchCommand command(bench_command, "incompressible", "time steps of incompressible flow in a box");
  const auto words = [](const char* key) { return choices_of(incompressible_kind(), key); };
  command.add_list("--cells", a->cells, 1, 100'000, "cells along the edge of a cube, or X,Y,Z of a box", "N[,N,N]");
  command.add_list("--solver", a->solvers, words("pressure.solver"), "pressure solver; several: one after the other");
  command.add("--sweeps", a->sweeps, 1, 1'000'000, "Jacobi sweeps per step");
  command.add("--pieces", a->pieces, 0, 64,
              "direct solver: number of pieces in which columns are sent, as pressure.pieces; 0: auto");
  command.add("--precision", a->precision, words("numerics.precision"), "precision of all fields");
  command.add_list("--overlap", a->overlaps, words("devices.overlap"),
                   "overlap of computation and messages; several: one after the other");
  command.add("--cut", a->cut, words("partition.cut"), "decomposition of the box");
  command.add_flag("--adaptive", a->adaptive, "the length of a step may follow the flow, as with time.dt = \"auto\"");
  command.add_timing(*a, {"equal", "stream"});
  command.add_report(*a);
  command.run(
      action, [a](const Comm& comm) { bench(comm, *a); },
      "tutti bench incompressible --cells 256 --solver jacobi --precision float --devices cpu --json bench.json");
}

}  // namespace tutti::incompressible
