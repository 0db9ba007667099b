// When a run writes checkpoints, and when it stops because someone asked it to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "tutti/base/comm.hpp"
#include "tutti/io/case.hpp"
#include "tutti/io/checkpoint.hpp"
#include "tutti/io/trace.hpp"
#include "tutti/simulation/run_state.hpp"

namespace tutti {

/// Checkpoints of a run in <folder>/checkpoints, every so many steps and minutes, at the end, and on request: a signal
/// or the file <folder>/stop. All members are collective.
class Checkpoints {
 public:
  /// `describe` fills what changes of the run's state: step and time are set. A model without state gets no
  /// checkpoints, and only stops.
  Checkpoints(const Comm& comm, ModelState state, const Case& options, const std::filesystem::path& folder,
              const std::string& version, Trace& trace, std::function<void(RunState&)> describe);

  /// Call it when `step` steps are done and everything else of the step is written. Returns true when the run shall
  /// stop now; its state is on the disk then. Errors: those of CheckpointWriter, within about half a second of when
  /// they happened.
  bool after_step(Size step, double time, bool last);
  bool possible() const { return writer_ != nullptr; }  ///< the model has a state
  /// For a run that is interrupted here, whatever the case says: its state is on the disk on return.
  void write_now(Size step, double time);
  /// A checkpoint exists, to go on from after an error.
  bool any() const { return any_; }
  double blocked_seconds() const { return writer_ ? writer_->blocked_seconds() : 0; }

 private:
  struct Wish {
    bool stop = false, failed = false, minutes = false;
  };
  Wish agree(Size step);
  void write(Size step, double time);
  void tell();

  const Comm& comm_;
  ModelState state_;
  std::filesystem::path folder_;
  Trace& trace_;
  std::function<void(RunState&)> describe_;
  std::unique_ptr<CheckpointWriter> writer_;
  Size every_ = 0;
  double minutes_ = 0;
  bool wait_ = false, any_ = false;
  Size agreed_step_ = -1, next_agreement_ = 0;
  std::chrono::steady_clock::time_point agreed_, last_;
};

}  // namespace tutti
