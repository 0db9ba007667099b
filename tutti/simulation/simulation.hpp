// The loop around any model: time, progress, output, summary.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/domain/phases.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/folder_lock.hpp"
#include "tutti/io/trace.hpp"
#include "tutti/simulation/model.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti {

/// What a run did before it was repartitioned.
struct RunSoFar {
  Size first_step = 0;  ///< done before the run
  double wall_seconds = 0, output_seconds = 0, checkpoint_seconds = 0;
  Size exchange_bytes = 0, exchange_messages = 0;
  std::vector<RebalanceSummary> rebalances;
  std::vector<double> weights;         ///< of all parts, to go on with; empty: the run is over
  std::filesystem::path restart_from;  ///< a checkpoint
  std::chrono::steady_clock::time_point interrupted;
  /// The steps of one model: their seconds, and what its summary knows of outputs, checkpoints and exchanges.
  void add(const Summary& summary, double wall);
};

/// What surrounds a run.
struct RunContext {
  std::filesystem::path folder;      ///< of the results; it exists
  const Phases& setup;               ///< for the summary
  Trace& trace;                      ///< takes the chosen steps, if it is on
  const Restart* restart = nullptr;  ///< the run goes on from this checkpoint
  const FolderLock* lock = nullptr;  ///< of the folder, on the root
  RunSoFar* so_far = nullptr;        ///< it may be repartitioned; null: it may not
};

/// Runs the model as the case says, from t = 0 or from a checkpoint, and leaves results.pvd, slices/, probes.csv,
/// history.csv, metrics.jsonl, checkpoints/, effective.toml (the case with all defaults) and summary.json in the
/// folder. SIGTERM, SIGINT, SIGUSR1 and a file `stop` in the folder end it with a checkpoint. Where a device keeps
/// waiting for others, the run ends with a checkpoint and new weights in `so_far`, without a summary.json: a model with
/// these weights goes on from there. Collective. Returns the summary (complete on rank 0).
Summary simulate(const Comm& comm, Model& model, DeviceSet& devices, const Case& options, const RunContext& context);

}  // namespace tutti
