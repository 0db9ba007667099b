#include "tutti/residency/choose.hpp"

#include <algorithm>
#include <chrono>

namespace tutti {
namespace {

Trial candidate(Policy policy, ValueFormat format, const ResidencyOptions& options, int width) {
  Trial trial;
  trial.policy = policy;
  trial.layout = make_row_layout(format, width, options.rate, options.group);
  return trial;
}

ResidencyOptions options_of(const Trial& trial, ResidencyOptions options) {
  options.policy = trial.policy;
  options.format = trial.layout.format;
  return options;
}

/// Times a candidate; where that cannot be, says why in the trial.
void try_one(Trial& trial, Stream& stream, const RowSource& source, const ResidencyOptions& options,
             const std::function<double(Residency&)>& seconds) {
  try {
    Residency residency(stream, source, options_of(trial, options));
    trial.device_bytes = residency.placement().device_bytes;
    trial.loss = residency.loss();
    if (trial.loss <= options.tolerance)
      trial.seconds = seconds(residency);
    else
      trial.why_not = fmt::format("it loses {:.1e}, more than {:.1e}", trial.loss, options.tolerance);
  } catch (const Error& error) {
    // A value that a format cannot hold rules the format out, not the run.
    const bool lossy = !is_exact(trial.layout.format) && error.kind() == ErrorKind::numerical;
    if (error.kind() != ErrorKind::resource && !lossy) throw;
    trial.why_not = error.what();
  }
}

}  // namespace

std::string Trial::name() const {
  return is_exact(layout.format) ? policy_name(policy) : policy_name(policy) + " " + layout.name();
}

std::vector<Trial> candidates_of(const ResidencyOptions& options, Lid rows, int width, Size room) {
  std::vector<Trial> all;
  const auto add = [&](ValueFormat format, Policy where_it_fits, std::initializer_list<Policy> else_by) {
    const Trial one = candidate(where_it_fits, format, options, width);
    if (one.layout.shared_bytes() + one.layout.bytes(rows) <= room)
      all.push_back(one);
    else
      for (const Policy policy : else_by) all.push_back(candidate(policy, format, options, width));
  };
  add(ValueFormat::doubles, Policy::resident, {Policy::streamed, Policy::overlaid, Policy::managed});
  if (options.tolerance <= 0) return all;
  for (const ValueFormat format : {ValueFormat::int32, ValueFormat::floats, ValueFormat::int16, ValueFormat::zfp})
    add(format, Policy::compressed, {Policy::streamed});
  return all;
}

Choice choose_residency(Stream& stream, const RowSource& source, const ResidencyOptions& options,
                        const std::function<double(Residency&)>& seconds) {
  const Budget& budget = stream.device().budget();
  const Size room = budget.capacity() - budget.used() - options.leave_bytes;
  Choice choice;
  choice.trials = candidates_of(options, source.rows, source.width, room);
  const Trial* best = nullptr;
  for (Trial& trial : choice.trials) {
    try_one(trial, stream, source, options, seconds);
    if (trial.seconds >= 0 && (best == nullptr || trial.seconds < best->seconds)) best = &trial;
  }
  if (best == nullptr)
    fail(ErrorKind::resource, "no residency.policy fits; of the first: {}", choice.trials.front().why_not);
  choice.best = static_cast<std::size_t>(best - choice.trials.data());
  choice.residency = std::make_unique<Residency>(stream, source, options_of(*best, options));
  return choice;
}

double seconds_of_pass(Residency& residency, const std::function<void()>& pass, double least_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto timed = [&] {
    const auto start = Clock::now();
    pass();
    residency.stream().synchronize();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  timed();
  double best = timed(), spent = best;
  for (int calls = 1; calls < 2 || (spent < least_seconds && calls < 1000); ++calls) {
    const double seconds = timed();
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

Choice make_residency(Stream& stream, const RowSource& source, const ResidencyOptions& options,
                      const std::function<void(Residency&)>& pass) {
  if (options.policy == Policy::automatic)
    return choose_residency(stream, source, options,
                            [&](Residency& residency) { return seconds_of_pass(residency, [&] { pass(residency); }); });
  Choice choice;
  choice.residency = std::make_unique<Residency>(stream, source, options);
  choice.trials.push_back(candidate(options.policy, options.format, options, source.width));
  choice.trials.back().device_bytes = choice.residency->placement().device_bytes;
  choice.trials.back().loss = choice.residency->loss();
  return choice;
}

}  // namespace tutti
