// What the benchmarks of all models measure.
#pragma once

#include "app/commands.hpp"

namespace tutti::app {

struct StepSeconds {
  double best = 0, median = 0;
};
/// Seconds of a step: the best and the median of `count` measurements, or with 0 of as many as fit in about `budget`
/// seconds. Where steps run ahead of the devices, as many as 50 ms take are timed as one. Collective.
StepSeconds time_steps(const Comm& comm, Model& model, double budget, int count = 0);

/// Sum over the devices of all ranks of the STREAM triad, measured at the same time [bytes/s]. Collective.
double all_triads(const Comm& comm, DeviceSet& devices);

/// The subcommand incompressible.
void add_bench_flow(CLI::App& command, Action& action);
void add_bench_transport(CLI::App& command, Action& action);

}  // namespace tutti::app
