// When a run writes checkpoints, and when it stops because someone asked it to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "tutti/io/checkpoint/checkpoint.hpp"
#include "tutti/simulation/observer.hpp"

namespace tutti {

/// Checkpoints of a run in <folder>/checkpoints, every so many steps and minutes, at the end, and on request: a signal
/// or the file <folder>/stop. The last of the list, so that what a checkpoint mentions is written before it.
class Checkpoints : public Observer {
 public:
  /// `describe` fills the run's state but for what this class knows itself. A model without state gets no checkpoints,
  /// and only stops.
  Checkpoints(Run& run, std::function<void(RunState&)> describe);

  /// Sets run.stopped when the run shall stop now; its state is on the disk then, as it is where the run is to go on
  /// with other shares. Errors: those of CheckpointWriter, within about half a second of when they happened.
  void after_step(Run& run) override;
  void finish(Run& run, Summary& summary) override;

 private:
  struct Wish {
    bool stop = false, failed = false, minutes = false;
  };
  Wish agree(Run& run);
  void write(Run& run);
  void tell();

  ModelState state_;
  std::function<void(RunState&)> describe_;
  std::unique_ptr<CheckpointWriter> writer_;
  Occasions when_;
  double minutes_ = 0;
  bool wait_ = false, at_end_ = true;
  Size agreed_step_ = -1, next_agreement_ = 0;
  std::chrono::steady_clock::time_point agreed_, last_;
};

}  // namespace tutti
