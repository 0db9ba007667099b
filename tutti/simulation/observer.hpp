// What follows a run: files, lines on a screen, checkpoints. The loop knows a list of these and nothing else of them.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/folder_lock.hpp"
#include "tutti/io/summary.hpp"
#include "tutti/io/trace.hpp"
#include "tutti/simulation/model.hpp"
#include "tutti/simulation/run/load_monitor.hpp"
#include "tutti/simulation/run/occasions.hpp"
#include "tutti/simulation/run/run_state.hpp"

namespace tutti {

/// Where a run stands. A step is the model's unit of advance.
struct Run {
  const Comm& comm;
  Model& model;
  const Case& options;
  const std::filesystem::path& folder;  ///< of the results; it exists
  Trace& trace;
  const FolderLock* lock = nullptr;  ///< of the folder, on the root
  const RunState* before = nullptr;  ///< what an earlier run has left in the folder, to go on behind; null: nothing
  int threads = 1;                   ///< that may compress files
  bool exchanges = true;             ///< else the fields are wrong, and nothing is written of them
  bool has_checkpoint = false;       ///< one exists, to go on from after an error

  TimePlan plan = {};                        ///< of the steps to come; plan.time_of(step) is `time`
  Size first = 0, step = 0;                  ///< steps done: before this run, and now
  double began = 0, time = 0;                ///< of the model: before this run, and after `step`
  double before_step = 0;                    ///< the time before `step`
  bool last = false;                         ///< no step follows
  bool reports = false;                      ///< it is time to tell how the run is doing
  double wall = 0;                           ///< seconds that the steps of this run took on this rank
  std::vector<Diagnostic> diagnostics = {};  ///< of the step `diagnosed`
  std::optional<Size> diagnosed = {};

  std::vector<ModelField> more_fields = {};    ///< of observers: written and kept in checkpoints as the model's are
  std::vector<StateNumber> more_numbers = {};  ///< of observers, for checkpoints

  bool finished = false;                 ///< the model has nothing left to do
  bool stopped = false;                  ///< someone asked the run to stop; its state is on the disk
  std::optional<NewShares> shares = {};  ///< the run ends here, to go on from a checkpoint with the work shared so
  std::chrono::steady_clock::time_point interrupted = {};  ///< when those were found

  /// Error(io) on the root where the folder was moved or removed: who writes asks first. Within Comm::together.
  void require_folder() const {
    if (lock != nullptr) lock->require_folder();
  }
  /// Of the model and of observers.
  std::vector<ModelField> fields() const;
  /// What a checkpoint keeps of both.
  ModelState state();
  /// The last step was one of these.
  bool due(const Occasions& when) const { return when.due(step, before_step, time); }
  /// Steps may be ahead of the devices; who looks at the fields waits for them, and that is the steps' time.
  void wait_for_devices();
  /// The diagnostics of where the run stands; they are computed once a step. Collective.
  const std::vector<Diagnostic>& diagnose();
};

/// What an observer looks at when a step is done; each includes the one before.
enum class Looks { at_nothing, at_fields, at_diagnostics };

/// One thing that follows a run. All members are collective and called on the observers in the order of the list.
/// An observer knows the run and no other observer. Constructors check the case and write nothing into files.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Before the first step; run.time is where it starts.
  virtual void start(Run& run) { (void)run; }
  /// Around a step, which is number run.step.
  virtual void begin_step(const Run& run) { (void)run; }
  virtual void end_step(const Run& run) { (void)run; }
  /// What after_step() of this step will look at.
  virtual Looks looks(const Run& run) const {
    (void)run;
    return Looks::at_nothing;
  }
  /// run.step steps are done. The fields are at rest, and the diagnostics known, where some observer looks at them.
  virtual void after_step(Run& run) { (void)run; }
  /// Puts what it has written so far into a checkpoint's description; all of that is on the disk on return. Not
  /// collective: called within Comm::together.
  virtual void describe(RunState& state) { (void)state; }
  /// The run is over.
  virtual void finish(Run& run, Summary& summary) { (void)run, (void)summary; }
};

}  // namespace tutti
