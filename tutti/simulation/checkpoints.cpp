#include "tutti/simulation/checkpoints.hpp"

#include <algorithm>
#include <array>

#include "tutti/base/log.hpp"
#include "tutti/base/system/fault.hpp"
#include "tutti/base/units.hpp"
#include "tutti/base/version.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/simulation/finite_watch.hpp"
#include "tutti/simulation/run/stop.hpp"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double apart = 0.5;  // seconds between two questions to all ranks

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Checkpoints::Checkpoints(Run& run, std::function<void(RunState&)> describe)
    : state_(run.exchanges ? run.state() : ModelState{}),
      describe_(std::move(describe)),
      when_(run.options, "checkpoint."),
      minutes_(run.options.number("checkpoint.minutes")),
      wait_(run.options.flag("checkpoint.wait")),
      at_end_(run.options.flag("checkpoint.at_end")),
      agreed_(Clock::now()),
      last_(agreed_) {
  if (!state_.empty())
    writer_ = std::make_unique<CheckpointWriter>(run.comm, state_, run.folder / "checkpoints",
                                                 static_cast<int>(run.options.integer("checkpoint.keep")), version(),
                                                 release_cores);
}

/// What all ranks know after asking each other, about twice a second: a message every step would be one too many.
Checkpoints::Wish Checkpoints::agree(Run& run) {
  const Size step = run.step;
  std::array<std::int64_t, 4> wish{stop_signalled() ? 1 : 0, writer_ && writer_->failed() ? 1 : 0, 0, 0};
  if (run.comm.is_root()) {
    const auto now = Clock::now();
    if (take_stop_file(run.folder)) wish[0] = 1;
    if (minutes_ > 0 && seconds_between(last_, now) >= 60 * minutes_) wish[2] = 1;
    // The rate of the steps since the last time. It may have been a lucky few: no leap over twice as many.
    const double rate = static_cast<double>(step - agreed_step_) / std::max(seconds_between(agreed_, now), 1e-6);
    wish[3] = static_cast<std::int64_t>(std::clamp(apart * rate, 1.0, 2.0 * static_cast<double>(step - agreed_step_)));
    agreed_ = now;
    agreed_step_ = step;
  }
  run.comm.sum(std::span<std::int64_t>(wish));
  next_agreement_ = step + wish[3];
  return {wish[0] > 0, wish[1] > 0, wish[2] > 0};
}

void Checkpoints::write(Run& run) {
  const auto scope = run.trace.scope("checkpoint");
  fault_point("checkpoint");
  // No state that cannot be right takes a good one's place.
  run.wait_for_devices();
  run.diagnose();
  require_good_state(run);
  RunState state;
  state.step = run.step;
  state.time = run.time;
  state.rows = state_.rows;
  state.mesh_checksum = state_.mesh_checksum;
  for (const StateNumber& number : state_.numbers) state.numbers[number.name] = *number.value;
  describe_(state);
  writer_->begin(run.step, run.time, run_state_json(state));
  if (wait_) writer_->finish();
  last_ = Clock::now();
  run.has_checkpoint = true;
}

void Checkpoints::tell() {
  if (const auto report = writer_->take_report())
    verbose("checkpoint of step {}: {} in {:.2f} s, {}/s", report->step,
            format_bytes(static_cast<double>(report->bytes)), report->seconds,
            format_bytes(static_cast<double>(report->bytes) / std::max(report->seconds, 1e-9)));
}

void Checkpoints::after_step(Run& run) {
  const Size step = run.step;
  if (agreed_step_ < 0) agreed_step_ = step - 1;
  if (writer_) writer_->progress();
  Wish wish;
  // Alone, nobody has to know before at which step to ask.
  const bool due = run.comm.size() == 1 && (stop_signalled() || seconds_between(agreed_, Clock::now()) >= apart);
  if (step >= next_agreement_ || due || run.last) {
    wish = agree(run);
    if (wish.failed) writer_->finish();
    if (writer_) tell();
  }
  run.stopped = wish.stop && !run.last;
  if (!writer_) {
    if (run.stopped) warn("stopped after step {}; this model keeps no state, so the run cannot be continued", step);
    return;
  }
  const bool scheduled = run.due(when_), ends = run.stopped || run.last || run.shares;
  if (run.stopped || run.shares || scheduled || wish.minutes || (run.last && at_end_)) write(run);
  if (!ends) return;
  const auto scope = run.trace.scope("wait for the checkpoint");
  writer_->finish();
  tell();
}

void Checkpoints::finish(Run& run, Summary& summary) {
  summary.checkpoint_seconds = run.comm.max(writer_ ? writer_->blocked_seconds() : 0);
}

}  // namespace tutti
