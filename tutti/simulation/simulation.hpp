// The loop around any model: time, progress, output, summary.
#pragma once

#include <filesystem>
#include <string>

#include "tutti/base/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/io/case.hpp"
#include "tutti/io/trace.hpp"
#include "tutti/simulation/model.hpp"
#include "tutti/simulation/phases.hpp"
#include "tutti/simulation/run_state.hpp"

namespace tutti {

/// What surrounds a run.
struct RunContext {
  std::filesystem::path folder;      ///< of the results; it exists
  const Phases& setup;               ///< for the summary
  Trace& trace;                      ///< takes the chosen steps, if it is on
  const Restart* restart = nullptr;  ///< the run goes on from this checkpoint
};

/// Runs the model as the case says, from t = 0 or from a checkpoint, and leaves results.pvd, probes.csv, metrics.jsonl,
/// checkpoints/, effective.toml (the case with all defaults) and summary.json in the folder. SIGTERM, SIGINT, SIGUSR1
/// and a file `stop` in the folder end it with a checkpoint. Collective. Returns the summary (complete on rank 0).
Summary simulate(const Comm& comm, Model& model, DeviceSet& devices, const Case& options, const RunContext& context);

}  // namespace tutti
