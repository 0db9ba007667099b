// Where a step's time went.
#include <algorithm>

#include "tutti/schedule/step_internal.hpp"

namespace tutti {

/// Work is launched ahead, and its end is seen when a thread looks: it ended no later than what came behind it, and
/// began when the work before it on its stream, and what it waited for, had ended.
void Step::correct_device_times() {
  std::vector<Task*> launched;
  for (const auto& t : tasks_)
    if (t->on_device()) launched.push_back(t.get());
  std::stable_sort(launched.begin(), launched.end(), [](const Task* a, const Task* b) { return a->begin < b->begin; });
  std::map<Stream*, Task*> behind;  // on each stream
  for (auto it = launched.rbegin(); it != launched.rend(); ++it) {
    Task& task = **it;
    Task*& next = behind[&stream_of(task)];
    if (next != nullptr) {
      task.end = std::min(task.end, next->end);
      next->begin = std::max(next->begin, task.end);
    }
    next = &task;
    for (const TaskId e : task.earlier)
      if (Task& earlier = *tasks_[e]; earlier.on_device()) earlier.end = std::min(earlier.end, task.end);
  }
  for (Task* task : launched)
    for (const TaskId e : task->earlier)
      if (const Task& earlier = *tasks_[e]; earlier.on_device()) task->begin = std::max(task->begin, earlier.end);
}

/// Seconds of a device's interior in which it computes separators, too: these come first.
double Step::beside_separators(const Task& interior) const {
  double seconds = 0;
  for (const auto& t : tasks_)
    if (t->kind == Task::Kind::kernel && t->role == Role::separator && t->part == interior.part)
      seconds += std::max(0.0, std::min(t->end, interior.end) - std::max(t->begin, interior.begin));
  return seconds;
}

void Step::account(double wall) {
  correct_device_times();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    PartSeconds& sum = seconds_[p];
    double computing = 0, exchange_begin = wall, exchange_end = 0;
    for (const auto& pointer : tasks_) {
      const Task& t = *pointer;
      if (t.part != static_cast<int>(p)) continue;
      // On the CPU a task's chunks share the team with other tasks: count thread-seconds.
      double seconds = t.kind == Task::Kind::chunks ? t.busy.load() / members_ : t.end - t.begin;
      if (t.kind == Task::Kind::kernel && t.role == Role::interior) seconds -= beside_separators(t);
      if (t.role == Role::separator) sum.separator += seconds;
      if (t.role == Role::interior) sum.interior += seconds;
      if (t.role != Role::other) computing += seconds;
      if (t.of_exchange) {
        // A receive is posted long before anything can arrive: it says when an exchange ends, not when it begins.
        if (t.kind != Task::Kind::receive) exchange_begin = std::min(exchange_begin, t.begin);
        exchange_end = std::max(exchange_end, t.end);
        sum.bytes += t.bytes;
      }
    }
    sum.exchange += std::max(0.0, exchange_end - exchange_begin);
    sum.idle += std::max(0.0, wall - computing);
  }
}

PartSeconds& PartSeconds::operator+=(const PartSeconds& other) {
  separator += other.separator;
  interior += other.interior;
  exchange += other.exchange;
  idle += other.idle;
  bytes += other.bytes;
  return *this;
}

PartSeconds operator-(const PartSeconds& a, const PartSeconds& b) {
  return {a.separator - b.separator, a.interior - b.interior, a.exchange - b.exchange, a.idle - b.idle,
          a.bytes - b.bytes};
}

void Step::reset_seconds() {
  seconds_.assign(parts_.size(), {});
}

std::vector<TaskTimes> Step::last_times() const {
  std::vector<TaskTimes> times;
  for (const auto& t : tasks_) times.push_back({t->name, t->part, t->begin, t->end, t->lane(), t->bytes});
  return times;
}

}  // namespace tutti
