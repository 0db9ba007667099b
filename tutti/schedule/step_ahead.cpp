// Steps that no host takes part in: enqueued as a whole, ahead of the devices.
#include <algorithm>
#include <utility>

#include "tutti/base/alarm.hpp"
#include "tutti/schedule/step_internal.hpp"

namespace tutti {
namespace {

constexpr Size measured_every = 256;   // runs: waiting for one costs about 0.1 ms
constexpr Size measured_at_first = 2;  // the first is slow: pages, code, clocks
constexpr Size paced_every = 32;       // runs: so many to twice as many are ahead of the devices, not an endless queue
constexpr std::size_t most_captured = 64;

}  // namespace

Stream& Step::stream_of(const Task& task) const {
  const PartStreams& part = parts_[static_cast<std::size_t>(task.part)];
  return task.kind == Task::Kind::kernel     ? *part.compute
         : task.kind == Task::Kind::outgoing ? *part.outgoing
                                             : *part.incoming;
}

/// Nothing is to be done: a part of the CPU has no rows.
bool Step::is_idle(const Task& task) {
  return task.kind == Task::Kind::chunks && task.rows.empty();
}

/// Chooses which events are needed: those that another stream waits for.
void Step::plan_ahead() {
  device_only_ =
      std::all_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task->on_device() || is_idle(*task); });
  const auto first =
      std::find_if(parts_.begin(), parts_.end(), [](const PartStreams& part) { return !part.is_host(); });
  device_only_ = device_only_ && first != parts_.end();
  if (!device_only_) return;
  main_ = first->compute.get();
  forked_ = first->device->make_event();
  joined_ = first->device->make_event();
  for (auto& mark : paced_) mark = first->device->make_event();
  for (const TaskId id : in_order()) {
    Task& task = *tasks_[static_cast<std::size_t>(id)];
    // An idle task passes on what it waits for.
    for (const TaskId e : task.earlier) {
      const Task& earlier = *tasks_[static_cast<std::size_t>(e)];
      if (is_idle(earlier))
        task.earlier_on_devices.insert(earlier.earlier_on_devices.begin(), earlier.earlier_on_devices.end());
      else
        task.earlier_on_devices.insert(e);
    }
    if (is_idle(task)) continue;
    ahead_order_.push_back(id);
    Stream* stream = &stream_of(task);
    for (const TaskId e : task.earlier_on_devices) {
      Task& earlier = *tasks_[static_cast<std::size_t>(e)];
      if (&stream_of(earlier) != stream) earlier.awaited_elsewhere = true;
    }
    if (stream == main_) continue;
    // The last task of each stream stands for all of them.
    const auto last = std::find_if(last_of_streams_.begin(), last_of_streams_.end(), [&](TaskId l) {
      return &stream_of(*tasks_[static_cast<std::size_t>(l)]) == stream;
    });
    if (last == last_of_streams_.end())
      last_of_streams_.push_back(id);
    else
      *last = id;
  }
  for (const TaskId l : last_of_streams_) tasks_[static_cast<std::size_t>(l)]->awaited_elsewhere = true;
}

/// All tasks, behind everything that the first device's compute stream has to do; then it waits for all of them.
void Step::enqueue_all() {
  Stream& main = *main_;
  if (!last_of_streams_.empty()) main.record(*forked_);
  for (const TaskId l : last_of_streams_) stream_of(*tasks_[static_cast<std::size_t>(l)]).wait(*forked_);
  for (const TaskId id : ahead_order_) {
    Task& task = *tasks_[static_cast<std::size_t>(id)];
    Stream& stream = stream_of(task);
    for (const TaskId e : task.earlier_on_devices) {
      Task& earlier = *tasks_[static_cast<std::size_t>(e)];
      if (&stream_of(earlier) != &stream) stream.wait(*earlier.event);
    }
    if (task.kind != Task::Kind::kernel)
      task.enqueue(stream);
    else if (!task.rows.empty())
      task.body(stream, task.rows);
    if (task.awaited_elsewhere) stream.record(*task.event);
  }
  for (const TaskId l : last_of_streams_) main.wait(*tasks_[static_cast<std::size_t>(l)]->event);
}

/// The capture of what enqueue_all does now, made when the same work comes again; null where that cannot be had.
CapturedWork* Step::captured(std::uint64_t same_work) {
  if (same_work == 0 || !can_capture_) return nullptr;
  if (const auto known = captured_.find(same_work); known != captured_.end()) {
    if (known->second == nullptr) {
      Stream& main = *main_;
      can_capture_ = main.begin_capture();
      if (!can_capture_) return nullptr;
      enqueue_all();
      known->second = main.end_capture();
    }
    return known->second.get();
  }
  if (captured_.size() < most_captured) captured_.emplace(same_work, nullptr);
  return nullptr;
}

void Step::run_ahead(std::uint64_t same_work) {
  require(finished_, "the step is not finished");
  const bool measured =
      ahead_runs_ < measured_at_first || ahead_runs_ % measured_every == 0 || static_cast<bool>(observer_);
  ++ahead_runs_;
  if (!device_only_ || measured) {
    if (device_only_) wait();
    const auto before = seconds_;
    run();
    for (std::size_t p = 0; p < seconds_.size(); ++p) last_seconds_[p] = seconds_[p] - before[p];
    return;
  }
  if (unsettled_runs_++ == 0) ahead_since_ = std::chrono::steady_clock::now();
  try {
    Stream& main = *main_;
    if (CapturedWork* work = captured(same_work))
      main.launch(*work);
    else
      enqueue_all();
    if (!last_of_streams_.empty()) {
      main.record(*joined_);
      for (const PartStreams& part : parts_)
        if (!part.is_host() && part.compute.get() != main_) part.compute->wait(*joined_);
    }
    if (ahead_runs_ % paced_every == 0) {
      Event& mark = *paced_[static_cast<std::size_t>(ahead_runs_ / paced_every % 2)];
      mark.wait();  // of twice as many runs ago
      main.record(mark);
    }
  } catch (...) {
    on_lone_failure();
    drain_devices();
    throw;
  }
}

/// What the runs since the last wait add: each as the last one that was timed, but together no more than they took.
void Step::settle_seconds() const {
  const auto runs = static_cast<double>(std::exchange(unsettled_runs_, 0));
  if (runs == 0) return;
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - ahead_since_).count();
  for (std::size_t p = 0; p < seconds_.size(); ++p) {
    const PartSeconds& one = last_seconds_[p];
    const double computing = runs * (one.separator + one.interior);
    const double part = computing > wall ? wall / computing : 1;
    seconds_[p].separator += part * runs * one.separator;
    seconds_[p].interior += part * runs * one.interior;
    seconds_[p].exchange += std::min(runs * one.exchange, wall);
    seconds_[p].idle += std::max(0.0, wall - computing);
    seconds_[p].bytes += static_cast<Size>(runs) * one.bytes;
  }
}

void Step::wait() const {
  if (!device_only_) return;
  try {
    for (const PartStreams& part : parts_)
      if (!part.is_host()) part.compute->synchronize();
  } catch (...) {
    on_lone_failure();
    drain_devices();
    throw;
  }
  settle_seconds();
}

}  // namespace tutti
