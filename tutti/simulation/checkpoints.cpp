#include "tutti/simulation/checkpoints.hpp"

#include <algorithm>
#include <array>

#include "tutti/base/fault.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/simulation/stop.hpp"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double apart = 0.5;  // seconds between two questions to all ranks

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Checkpoints::Checkpoints(const Comm& comm, ModelState state, const Case& options, const std::filesystem::path& folder,
                         const std::string& version, Trace& trace, std::function<void(RunState&)> describe)
    : comm_(comm),
      state_(std::move(state)),
      folder_(folder),
      trace_(trace),
      describe_(std::move(describe)),
      every_(options.integer("checkpoint.every")),
      minutes_(options.number("checkpoint.minutes")),
      wait_(options.flag("checkpoint.wait")),
      agreed_(Clock::now()),
      last_(agreed_) {
  if (!state_.empty())
    writer_ = std::make_unique<CheckpointWriter>(comm_, state_, folder_ / "checkpoints",
                                                 static_cast<int>(options.integer("checkpoint.keep")), version,
                                                 release_cores);
}

/// What all ranks know after asking each other, about twice a second: a message every step would be one too many.
Checkpoints::Wish Checkpoints::agree(Size step) {
  std::array<std::int64_t, 4> wish{stop_signalled() ? 1 : 0, writer_ && writer_->failed() ? 1 : 0, 0, 0};
  if (comm_.is_root()) {
    const auto now = Clock::now();
    if (take_stop_file(folder_)) wish[0] = 1;
    if (minutes_ > 0 && seconds_between(last_, now) >= 60 * minutes_) wish[2] = 1;
    // The rate of the steps since the last time. It may have been a lucky few: no leap over twice as many.
    const double rate = static_cast<double>(step - agreed_step_) / std::max(seconds_between(agreed_, now), 1e-6);
    wish[3] = static_cast<std::int64_t>(std::clamp(apart * rate, 1.0, 2.0 * static_cast<double>(step - agreed_step_)));
    agreed_ = now;
    agreed_step_ = step;
  }
  comm_.sum(std::span<std::int64_t>(wish));
  next_agreement_ = step + wish[3];
  return {wish[0] > 0, wish[1] > 0, wish[2] > 0};
}

void Checkpoints::write(Size step, double time) {
  const auto scope = trace_.scope("checkpoint");
  fault_point("checkpoint");
  RunState run;
  run.step = step;
  run.time = time;
  run.rows = state_.rows;
  run.mesh_checksum = state_.mesh_checksum;
  for (const StateNumber& number : state_.numbers) run.numbers[number.name] = *number.value;
  describe_(run);
  writer_->begin(step, time, run_state_json(run));
  if (wait_) writer_->finish();
  last_ = Clock::now();
  any_ = true;
}

void Checkpoints::tell() {
  if (const auto report = writer_->take_report())
    verbose("checkpoint of step {}: {} in {:.2f} s, {}/s", report->step,
            format_bytes(static_cast<double>(report->bytes)), report->seconds,
            format_bytes(static_cast<double>(report->bytes) / std::max(report->seconds, 1e-9)));
}

void Checkpoints::write_now(Size step, double time) {
  write(step, time);
  const auto scope = trace_.scope("wait for the checkpoint");
  writer_->finish();
  tell();
}

bool Checkpoints::after_step(Size step, double time, bool last) {
  if (agreed_step_ < 0) agreed_step_ = step - 1;
  if (writer_) writer_->progress();
  Wish wish;
  // Alone, nobody has to know before at which step to ask.
  const bool due = comm_.size() == 1 && (stop_signalled() || seconds_between(agreed_, Clock::now()) >= apart);
  if (step >= next_agreement_ || due || last) {
    wish = agree(step);
    if (wish.failed) writer_->finish();
    if (writer_) tell();
  }
  const bool stop = wish.stop && !last;
  if (!writer_) {
    if (stop) warn("stopped after step {}; this model keeps no state, so the run cannot go on from here", step);
    return stop;
  }
  const bool scheduled = every_ > 0 && step % every_ == 0;
  // The end of a run with checkpoints is one, too: time.end may be moved later.
  if (stop || scheduled || wish.minutes || (last && (any_ || every_ > 0))) write(step, time);
  if (stop || last) {
    const auto scope = trace_.scope("wait for the checkpoint");
    writer_->finish();
    tell();
  }
  return stop;
}

}  // namespace tutti
