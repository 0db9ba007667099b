// Running a step: threads take roles and pieces until every task is done.
#include <sched.h>

#include <algorithm>

#include "tutti/base/alarm.hpp"
#include "tutti/base/profiler_range.hpp"
#include "tutti/schedule/step_internal.hpp"

namespace tutti {

void Step::prepare() {
  for (auto& pointer : tasks_) {
    Task& task = *pointer;
    task.waiting.store(task.waits, std::memory_order_relaxed);
    task.state.store(task.waits == 0 ? Task::State::ready : Task::State::waiting, std::memory_order_relaxed);
    for (NextChunk& next : task.next) next.taken.store(0, std::memory_order_relaxed);
    task.chunks_left.store(task.chunks, std::memory_order_relaxed);
    task.busy.store(0, std::memory_order_relaxed);
    task.begun.store(false, std::memory_order_relaxed);
    task.begin = -1;
  }
  remaining_.store(static_cast<int>(tasks_.size()), std::memory_order_relaxed);
  failed_.store(false, std::memory_order_relaxed);
  observed_ = static_cast<bool>(observer_);
  pieces_.resize(observed_ ? static_cast<std::size_t>(members_) : 0);
  for (auto& list : pieces_) list.clear();
  start_ = std::chrono::steady_clock::now();
}

void Step::run() {
  require(finished_, "the step is not finished");
  prepare();
  try {
    for (const PartStreams& part : parts_)
      if (!part.is_host()) begin_part(part);
    if (serial_)
      work(0);
    else
      threads_.run(members_, [this](int thread) { work(thread); });
  } catch (...) {
    on_lone_failure();
    abandon_messages();
    drain_devices();
    for (const auto& task : tasks_)
      if (task->kind == Task::Kind::receive) abandon_receive(task->request);
    throw;
  }
  account(since_start());
  if (observed_) observer_();
}

/// A run's first tasks on any stream come behind what the part's compute stream has to do.
void Step::begin_part(const PartStreams& part) {
  Event& begun = *begun_[&part - parts_.data()];
  part.compute->record(begun);
  for (Stream* stream : {part.separators.get(), part.outgoing.get(), part.incoming.get()}) stream->wait(begun);
}

double Step::since_start() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Step::note(int thread, const ThreadPiece& piece) {
  pieces_[thread].push_back(piece);
}

/// After a failure: what waits on a device for another rank would never come to rest.
void Step::abandon_messages() const {
  for (const auto& task : tasks_)
    if (task->abandon) task->abandon();
}

/// After a failure: the caller may free what the devices still work on, so they must come to rest first.
void Step::drain_devices() const {
  for (Stream* stream : device_streams()) try {
      stream->synchronize();
    } catch (const std::exception&) {
      // The step's own error is the one to tell.
    }
}

/// One thread's step: its roles first, then chunks of the CPU's rows, until every task is done.
void Step::work(int thread) {
  const ThreadRoles& role = roles_[thread];
  int idle_turns = 0;
  try {
    while (remaining_.load(std::memory_order_acquire) > 0 && !failed_.load(std::memory_order_relaxed)) {
      bool progress = false;
      if (role.messages) progress = drive_messages() || progress;
      progress = drive_device(role.control_tasks, thread) || progress;
      progress = drive_device(role.copy_tasks, thread) || progress;
      progress = take_chunk(thread) || progress;
      // With more threads than cores a spinning thread keeps the one it waits for from running.
      if (progress)
        idle_turns = 0;
      else if (++idle_turns > 200)
        sched_yield();
    }
  } catch (...) {
    failed_.store(true);
    throw;
  }
}

bool Step::drive_messages() {
  bool progress = false;
  for (const TaskId id : message_tasks_) {
    Task& task = *tasks_[id];
    const auto state = task.state.load(std::memory_order_acquire);
    if (state == Task::State::ready) {
      const ProfilerRange range(task.name.c_str());
      task.begin = since_start();
      task.start(&task.request);
      if (observed_) note(0, {id, {}, true, task.begin, since_start()});
      task.state.store(Task::State::under_way, std::memory_order_relaxed);
      progress = true;
    } else if (state == Task::State::under_way) {
      int done = 0;
      check_mpi(MPI_Test(&task.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done == 0) continue;
      complete(task);
      progress = true;
    }
  }
  return progress;
}

void Step::launch(TaskId id, int thread) {
  Task& task = *tasks_[id];
  const ProfilerRange range(task.name.c_str());
  Stream& stream = stream_of(task);
  for (const TaskId e : task.earlier) {
    Task& earlier = *tasks_[e];
    if (earlier.on_device()) stream.wait(*earlier.event);
  }
  task.begin = since_start();
  if (task.kind == Task::Kind::kernel)
    task.body(stream, task.rows);
  else
    task.enqueue(stream);
  stream.record(*task.event);
  if (observed_) note(thread, {id, {}, true, task.begin, since_start()});
  task.state.store(Task::State::under_way, std::memory_order_release);
  for (const TaskId l : task.later_at_launch) {
    Task& later = *tasks_[l];
    if (later.waiting.fetch_sub(1, std::memory_order_acq_rel) == 1)
      later.state.store(Task::State::ready, std::memory_order_release);
  }
}

bool Step::drive_device(const std::vector<TaskId>& tasks, int thread) {
  bool progress = false;
  for (const TaskId id : tasks) {
    Task& task = *tasks_[id];
    const auto state = task.state.load(std::memory_order_acquire);
    if (state == Task::State::ready) {
      launch(id, thread);
      // Nothing to wait for, unless it stands behind other work of a device.
      const bool alone =
          std::none_of(task.earlier.begin(), task.earlier.end(), [&](TaskId e) { return tasks_[e]->on_device(); });
      if (task.kind == Task::Kind::kernel && task.rows.empty() && alone) complete(task);
      progress = true;
    } else if (state == Task::State::under_way && task.event->done()) {
      complete(task);
      progress = true;
    }
  }
  return progress;
}

/// The next piece of a task for a thread: from its own run while there is one, so that a thread walks through memory in
/// order, then from the runs of others. -1 when all are taken.
Lid Step::next_piece(Task& task, int thread) {
  const Lid pieces = task.pieces();
  const int count = members_;
  for (int k = 0; k < count; ++k) {
    const int run = (thread + k) % count;
    const auto begin = static_cast<Lid>(static_cast<Size>(pieces) * run / count);
    const auto end = static_cast<Lid>(static_cast<Size>(pieces) * (run + 1) / count);
    std::atomic<Lid>& taken = task.next[run].taken;
    if (taken.load(std::memory_order_relaxed) >= end - begin) continue;
    const Lid piece = begin + taken.fetch_add(1, std::memory_order_relaxed);
    if (piece < end) return piece;
  }
  return -1;
}

/// Takes one piece of host work and does it. False when there is none.
bool Step::take_chunk(int thread) {
  for (const TaskId id : host_tasks_) {
    Task& task = *tasks_[id];
    if (task.state.load(std::memory_order_acquire) != Task::State::ready) continue;
    const Lid chunk = next_piece(task, thread);
    if (chunk < 0) continue;
    const bool whole = task.kind == Task::Kind::host || task.chunks == 0;
    const ProfilerRange range(task.name.c_str());
    const double begin = since_start();
    if (!task.begun.exchange(true, std::memory_order_relaxed)) task.begin = begin;
    Range rows;
    if (task.kind == Task::Kind::host) {
      task.work();
    } else if (task.chunks > 0) {
      const Lid first = task.rows.begin / chunk_alignment * chunk_alignment;
      rows = {std::max(task.rows.begin, first + chunk * task.chunk),
              std::min(task.rows.end, first + (chunk + 1) * task.chunk)};
      task.body(*serial_streams_[task.part], rows);
    }
    const double end = since_start();
    task.busy.fetch_add(end - begin, std::memory_order_relaxed);
    if (observed_) note(thread, {id, rows, false, begin, end});
    if (whole || task.chunks_left.fetch_sub(1, std::memory_order_acq_rel) == 1) complete(task);
    return true;
  }
  return false;
}

void Step::complete(Task& task) {
  task.end = since_start();
  task.state.store(Task::State::done, std::memory_order_release);
  for (const TaskId l : task.later_at_end) {
    Task& later = *tasks_[l];
    if (later.waiting.fetch_sub(1, std::memory_order_acq_rel) == 1)
      later.state.store(Task::State::ready, std::memory_order_release);
  }
  remaining_.fetch_sub(1, std::memory_order_acq_rel);
}

}  // namespace tutti
