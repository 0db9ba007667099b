// Steps that no host takes part in: enqueued ahead of the devices, many of them as one captured piece of work.
#include <algorithm>
#include <mutex>
#include <utility>

#include "tutti/base/mpi/alarm.hpp"
#include "tutti/schedule/step_internal.hpp"

namespace tutti {
namespace {

// Captured as one: only within it do parts start without waiting for all. From so many runs on it ends where its first
// one comes again, so that the passes of a time step make few graphs.
constexpr std::size_t runs_together = 16, most_together = 48;
constexpr Size measured_every = 1 + 64 * runs_together;  // runs: waiting for one costs about 0.2 ms
constexpr Size measured_at_first = 2;                    // the first is slow: pages, code, clocks
constexpr Size paced_every = 32;  // runs: so many to twice as many are ahead of the devices, not an endless queue
constexpr std::size_t max_captured = 64, max_together = 128;

}  // namespace

/// The same for all steps that are on these streams.
std::shared_ptr<Step::HeldRuns> Step::held_runs_on(const std::vector<Stream*>& streams) {
  static std::mutex mutex;
  static std::map<std::vector<Stream*>, std::weak_ptr<HeldRuns>> all;
  const std::lock_guard lock(mutex);
  std::erase_if(all, [](const auto& one) { return one.second.expired(); });
  auto held_runs = all[streams].lock();
  if (!held_runs) {
    held_runs = std::make_shared<HeldRuns>();
    for (auto& mark : held_runs->paced) mark = streams.front()->device().make_event();
    all[streams] = held_runs;
  }
  return held_runs;
}

Stream& Step::stream_of(const Task& task) const {
  const PartStreams& part = parts_[task.part];
  // From one stream to another takes longer than a kernel that stores.
  if (task.by_kernel) return *part.separators;
  return task.kind == Task::Kind::kernel ? (task.role == Role::separator ? *part.separators : *part.compute)
                                         : (task.kind == Task::Kind::outgoing ? *part.outgoing : *part.incoming);
}

/// Nothing is to be done: a part of the CPU has no rows.
bool Step::is_idle(const Task& task) {
  return task.kind == Task::Kind::chunks && task.rows.empty();
}

/// Chooses which events are needed: those that another stream waits for.
void Step::plan_ahead() {
  const bool device_only =
      std::all_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return task->on_device() || is_idle(*task); });
  const auto first =
      std::find_if(parts_.begin(), parts_.end(), [](const PartStreams& part) { return !part.is_host(); });
  if (!device_only || first == parts_.end()) return;
  ahead_ = std::make_unique<Ahead>();
  Ahead& a = *ahead_;
  a.last_seconds.resize(parts_.size());
  // Other ranks wait for messages of this one's devices: none may be held back.
  const bool linked = std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return bool(task->abandon); });
  a.may_wait = !linked;
  a.main = first->compute.get();
  a.forked = first->device->make_event();
  a.joined = first->device->make_event();
  a.held_runs = held_runs_on(device_streams());
  a.number = a.held_runs->steps++;
  for (const TaskId id : in_order()) {
    Task& task = *tasks_[id];
    // An idle task passes on what it waits for.
    for (const TaskId e : task.earlier) {
      const Task& earlier = *tasks_[e];
      if (is_idle(earlier))
        task.earlier_on_devices.insert(earlier.earlier_on_devices.begin(), earlier.earlier_on_devices.end());
      else
        task.earlier_on_devices.insert(e);
    }
    if (!is_idle(task)) a.order.push_back(id);
  }
  for (const TaskId id : a.order) {
    Task& task = *tasks_[id];
    for (const TaskId e : task.earlier_on_devices) {
      Task& earlier = *tasks_[e];
      if (&stream_of(earlier) != &stream_of(task)) earlier.awaited_elsewhere = true;
    }
  }
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].is_host()) continue;
    Ahead::Part& part = a.parts.emplace_back();
    part.compute = parts_[p].compute.get();
    part.finished = parts_[p].device->make_event();
    std::map<Stream*, TaskId> last;  // of each other stream: it stands for all of them
    for (const TaskId id : a.order) {
      const Task& task = *tasks_[id];
      Stream* stream = &stream_of(task);
      const auto is_here = [p](int of) { return of == static_cast<int>(p); };
      // What others compute reads their own memory; what they move may be from here, or to here.
      const bool moves =
          task.of_exchange && (std::any_of(task.fills.begin(), task.fills.end(), is_here) ||
                               std::any_of(task.earlier_on_devices.begin(), task.earlier_on_devices.end(),
                                           [&](TaskId e) { return is_here(tasks_[e]->part); }));
      if ((is_here(task.part) || moves) && stream != part.compute) last[stream] = id;
      if (task.part == static_cast<int>(p) && stream != part.compute &&
          std::find(part.others.begin(), part.others.end(), stream) == part.others.end())
        part.others.push_back(stream);
    }
    for (const auto& [_, id] : last) part.awaited.push_back(id);
    const bool plain = std::all_of(a.order.begin(), a.order.end(), [&](TaskId id) {
      const Task& task = *tasks_[id];
      return task.part != static_cast<int>(p) || task.of_exchange || task.role != Role::other;
    });
    for (const TaskId id : a.order) {
      const Task& task = *tasks_[id];
      if (!plain || task.part != static_cast<int>(p) || task.of_exchange || task.role != Role::separator) continue;
      part.separators = parts_[p].separators.get();
      part.last_separator = id;
    }
    if (part.separators != nullptr) tasks_[part.last_separator]->awaited_elsewhere = true;
    std::sort(part.awaited.begin(), part.awaited.end());
    for (const TaskId id : part.awaited) tasks_[id]->awaited_elsewhere = true;
  }
}

void Step::enqueue_tasks() {
  for (const TaskId id : ahead_->order) {
    Task& task = *tasks_[id];
    Stream& stream = stream_of(task);
    for (const TaskId e : task.earlier_on_devices) {
      Task& earlier = *tasks_[e];
      if (&stream_of(earlier) != &stream) stream.wait(*earlier.event);
    }
    if (task.kind != Task::Kind::kernel)
      task.enqueue(stream);
    else if (!task.rows.empty())
      task.body(stream, task.rows);
    if (task.awaited_elsewhere) stream.record(*task.event);
  }
}

/// The first part's compute stream waits for what those of the others have to do.
void Step::gather_parts() const {
  Ahead& a = *ahead_;
  for (Ahead::Part& part : a.parts) {
    if (part.compute == a.main) continue;
    part.compute->record(*part.finished);
    a.main->wait(*part.finished);
  }
}

/// All streams begin behind the first part's compute stream.
void Step::open_run() {
  Ahead& a = *ahead_;
  a.main->record(*a.forked);
  for (Ahead::Part& part : a.parts) {
    if (part.compute != a.main) part.compute->wait(*a.forked);
    for (Stream* stream : part.others) stream->wait(*a.forked);
  }
}

/// This run begins in each part when the one before it, of this or another step, is over there, wherever the others
/// are. Where an exchange is all that runs beside separators and interior, the next interior of the same step does not
/// even wait for it: it reads no ghosts, and the exchange reads separators and writes ghosts only.
void Step::link_runs(const Step& before) {
  const auto event = [&](TaskId id) -> Event& { return *before.tasks_[id]->event; };
  for (std::size_t k = 0; k < ahead_->parts.size(); ++k) {
    const Ahead::Part& last = before.ahead_->parts[k];
    const Ahead::Part& part = ahead_->parts[k];
    if (part.separators != nullptr && &before == this) {
      part.compute->record(*part.finished);
      part.separators->wait(*part.finished);
      for (const TaskId id : part.awaited)
        if (id != part.last_separator) part.separators->wait(event(id));
      part.compute->wait(event(part.last_separator));
      for (Stream* stream : part.others)
        if (stream != part.separators) stream->wait(event(part.last_separator));
      continue;
    }
    for (const TaskId id : last.awaited) part.compute->wait(event(id));
    if (part.others.empty()) continue;
    part.compute->record(*part.finished);
    for (Stream* stream : part.others) stream->wait(*part.finished);
  }
}

/// The first part's compute stream waits for all tasks.
void Step::close_run() const {
  for (Ahead::Part& part : ahead_->parts)
    for (const TaskId id : part.awaited) part.compute->wait(*tasks_[id]->event);
  gather_parts();
}

/// Later work on any compute stream comes behind what the first one has to do now.
void Step::join_parts() const {
  Ahead& a = *ahead_;
  if (a.parts.size() == 1) return;
  a.main->record(*a.joined);
  for (Ahead::Part& part : a.parts)
    if (part.compute != a.main) part.compute->wait(*a.joined);
}

/// One run, as the model has set it up now.
void Step::enqueue_run() {
  open_run();
  enqueue_tasks();
  close_run();
}

/// Enqueues a run whose work came never before or once, which is captured now, and then each time it comes.
void Step::enqueue_new(std::uint64_t graph_key) {
  Ahead& a = *ahead_;
  enqueue_held();
  const auto known = a.single.find(graph_key);
  const bool came_once = known != a.single.end();
  gather_parts();
  a.can_capture = a.can_capture && (!came_once || a.main->begin_capture());
  a.held_runs->capturing = came_once && a.can_capture;
  enqueue_run();
  if (std::exchange(a.held_runs->capturing, false)) {
    known->second = a.main->end_capture();
    a.main->launch(*known->second);
  } else if (graph_key != 0 && a.can_capture) {
    // What came once makes room for others.
    if (a.single.size() == max_captured) std::erase_if(a.single, [](const auto& one) { return !one.second; });
    if (a.single.size() < max_captured) a.single.emplace(graph_key, nullptr);
  }
  join_parts();
  pace(1);
}

/// Holds a run back until there are enough to be launched as one, of all steps on these streams. Such runs, one after
/// the other, are captured the first time they come.
void Step::hold(std::uint64_t graph_key) {
  const Ahead& a = *ahead_;
  HeldRuns& c = *a.held_runs;
  const HeldRuns::Name name{a.number, graph_key};
  const auto start_known = [&] {
    const auto like = c.together.lower_bound(c.names);
    return like != c.together.end() && like->first.size() >= c.names.size() &&
           std::equal(c.names.begin(), c.names.end(), like->first.begin());
  };
  const auto add = [&] {
    c.held.push_back({this, graph_key});
    c.names.push_back(name);
  };
  if (c.held.size() >= runs_together && c.names.front() == name) enqueue_held(true);
  if (!c.held.empty())
    forget_held();
  else  // what is held back on these streams is not of their steps
    for (Stream* stream : device_streams()) stream->release_held();
  add();
  if (c.capturing) {
    link_runs(*c.held[c.held.size() - 2].step);
    enqueue_tasks();
  } else if (!start_known()) {
    c.held.pop_back();
    c.names.pop_back();
    enqueue_held();
    add();
    if (!start_known()) {
      if (c.together.size() >= max_together) return enqueue_held();
      c.capturing = a.main->begin_capture();
      open_run();
      enqueue_tasks();
    }
  }
  if (!a.may_wait || c.held.size() == most_together) return enqueue_held(true);
  for (Stream* stream : device_streams()) stream->hold([this] { enqueue_held(); });
}

void Step::forget_held() const {
  for (Stream* stream : device_streams()) stream->forget_held();
}

/// `whole`: as many as are to be launched as one. Fewer, because other work was enqueued, are kept as one only when the
/// same sequence comes again: they would cut short longer captures that begin alike.
void Step::enqueue_held(bool whole) const {
  const Ahead& a = *ahead_;
  HeldRuns& c = *a.held_runs;
  if (c.held.empty()) return;
  forget_held();
  const std::vector<HeldRuns::Run> runs = std::exchange(c.held, {});
  const std::vector<HeldRuns::Name> names = std::exchange(c.names, {});
  if (std::exchange(c.capturing, false)) {
    runs.back().step->close_run();
    auto work = a.main->end_capture();
    if (whole || c.interrupted.contains(names)) {
      c.together[names] = std::move(work);
    } else {
      if (c.interrupted.size() == max_together) c.interrupted.clear();
      c.interrupted.insert(names);
    }
  }
  gather_parts();
  if (const auto known = c.together.find(names); known != c.together.end())
    a.main->launch(*known->second);
  else
    for (const HeldRuns::Run& run : runs) a.main->launch(*run.step->ahead_->single.at(run.graph_key));
  join_parts();
  pace(static_cast<Size>(runs.size()));
}

/// Waits now and then, so that not too much is ahead of the devices.
void Step::pace(Size runs) const {
  HeldRuns& c = *ahead_->held_runs;
  const Size before = c.enqueued / paced_every;
  c.enqueued += runs;
  if (c.enqueued / paced_every == before) return;
  std::swap(c.paced[0], c.paced[1]);
  c.paced[0]->wait();  // of twice as many runs ago
  ahead_->main->record(*c.paced[0]);
}

void Step::run_ahead(std::uint64_t graph_key) {
  require(finished_, "the step is not finished");
  if (!ahead_) return run();
  Ahead& a = *ahead_;
  const bool measured = a.runs < measured_at_first || a.runs % measured_every == 0 || static_cast<bool>(observer_);
  ++a.runs;
  if (measured) {
    wait();
    const auto before = seconds_;
    run();
    for (std::size_t p = 0; p < seconds_.size(); ++p) a.last_seconds[p] = seconds_[p] - before[p];
    return;
  }
  if (a.unsettled_runs++ == 0) a.since = std::chrono::steady_clock::now();
  try {
    if (const auto known = a.single.find(graph_key); known != a.single.end() && known->second)
      hold(graph_key);
    else
      enqueue_new(graph_key);
  } catch (...) {
    give_up_ahead();
    throw;
  }
}

/// After an error.
void Step::give_up_ahead() const {
  on_lone_failure();
  abandon_messages();
  HeldRuns& c = *ahead_->held_runs;
  if (!c.held.empty()) forget_held();
  c.held.clear();
  c.names.clear();
  if (std::exchange(c.capturing, false)) try {
      ahead_->main->end_capture();
    } catch (const std::exception&) {
      // It is not complete. The step's own error is the one to tell.
    }
  drain_devices();
}

/// What the runs since the last wait add: each as the last one that was timed, but together no more than they took.
void Step::settle_seconds() const {
  Ahead& a = *ahead_;
  const auto runs = static_cast<double>(std::exchange(a.unsettled_runs, 0));
  if (runs == 0) return;
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - a.since).count();
  for (std::size_t p = 0; p < seconds_.size(); ++p) {
    const PartSeconds& one = a.last_seconds[p];
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
  if (!ahead_) return;
  try {
    enqueue_held();
    for (const PartStreams& part : parts_)
      if (!part.is_host()) part.compute->synchronize();
  } catch (...) {
    give_up_ahead();
    throw;
  }
  settle_seconds();
}

}  // namespace tutti
