#include "tutti/schedule/step_tracer.hpp"

#include <algorithm>

namespace tutti {
namespace {

constexpr int device_rows = 10;  // from here on ten a part: compute, separators, copy out, copy in
constexpr int max_device_rows = 99'000;
constexpr int message_rows = 100'000;
constexpr int thread_rows = 200'000;

int device_row(int part, Lane lane) {
  return std::min(device_rows + 10 * part, max_device_rows) + static_cast<int>(lane);
}

}  // namespace

StepTracer::StepTracer(const Comm& comm, Trace& trace, std::vector<const Step*> schedules, Size first_step,
                       Size last_step)
    : trace_(trace), schedules_(std::move(schedules)), last_step_(last_step) {
  if (!trace_.on()) return;
  const TraceWindow usual;
  const bool few = last_step - first_step + 1 < usual.last;
  const TraceWindow window = trace_.window().value_or(few ? TraceWindow{1, last_step - first_step + 1} : usual);
  first_ = first_step + window.first - 1;
  last_ = std::min(last_step, first_step + window.last - 1);

  if (schedules_.empty()) return;  // steps of no graph: the program's phases alone
  const std::vector<int> mine{static_cast<int>(schedules_.front()->part_count())};
  const auto counts = comm.all_gather(std::span<const int>(mine));
  for (int r = 0; r < comm.rank(); ++r) first_part_ += counts[r];
  const auto roles = schedules_.front()->describe_roles();
  for (std::size_t t = 0; t < roles.size(); ++t) trace_.name_row(thread_rows + static_cast<int>(t), roles[t]);
}

StepTracer::~StepTracer() {
  for (const Step* schedule : schedules_)
    if (trace_.on()) schedule->observe({});
}

void StepTracer::begin(Size step) {
  if (step < first_ || step > last_) return;
  step_ = step;
  for (const Step* schedule : schedules_) schedule->observe([this, schedule] { add_run(*schedule); });
  step_begin_ = Trace::Clock::now();
}

void StepTracer::end(Size step) {
  if (step < first_ || step > last_) return;
  TraceSlice whole;
  whole.name = fmt::format("step {}", step);
  whole.begin = step_begin_;
  whole.end = Trace::Clock::now();
  whole.step = step;
  trace_.add(std::move(whole));
  for (const Step* schedule : schedules_) schedule->observe({});
  if (step == last_) trace_.write(false);
}

/// `begin` and `end` in seconds from the start of the graph's last run.
TraceSlice StepTracer::slice(const Step& schedule, const std::string& name, int row, double begin, double end) const {
  const auto at = [&](double seconds) {
    return schedule.last_start() +
           std::chrono::duration_cast<Trace::Clock::duration>(std::chrono::duration<double>(seconds));
  };
  TraceSlice s;
  s.name = name;
  s.row = row;
  s.begin = at(begin);
  s.end = at(end);
  s.step = step_;
  return s;
}

void StepTracer::add_run(const Step& schedule) {
  const auto tasks = schedule.last_times();
  add_tasks(schedule, tasks);
  add_threads(schedule, tasks);
}

/// Several messages are under way at a time, and slices of one row must not overlap: the first row that is free.
int StepTracer::message_row(double begin, double end) {
  std::size_t lane = 0;
  while (lane < lanes_.size() && lanes_[lane] > begin) ++lane;
  if (lane == lanes_.size()) lanes_.push_back(0);
  lanes_[lane] = end;
  for (; message_rows_ < static_cast<int>(lanes_.size()); ++message_rows_)
    trace_.name_row(message_rows + message_rows_,
                    message_rows_ == 0 ? "MPI" : fmt::format("MPI, {} at a time", message_rows_ + 1));
  return message_rows + static_cast<int>(lane);
}

void StepTracer::add_tasks(const Step& schedule, const std::vector<TaskTimes>& tasks) {
  std::vector<const TaskTimes*> messages;
  for (const TaskTimes& task : tasks) {
    if (task.lane == Lane::host) continue;
    if (task.lane == Lane::message) {
      messages.push_back(&task);
      continue;
    }
    const int row = device_row(task.part, task.lane);
    const char* stream = task.lane == Lane::compute      ? "compute"
                         : task.lane == Lane::separators ? "compute separators"
                         : task.lane == Lane::outgoing   ? "copy out"
                                                         : "copy in";
    trace_.name_row(row, fmt::format("{} {}", schedule.device_name(task.part), stream));
    TraceSlice s = slice(schedule, task.name, row, task.begin, task.end);
    s.part = first_part_ + task.part;
    if (task.bytes > 0) s.bytes = task.bytes;
    trace_.add(std::move(s));
  }
  std::stable_sort(messages.begin(), messages.end(),
                   [](const TaskTimes* a, const TaskTimes* b) { return a->begin < b->begin; });
  lanes_.clear();
  for (const TaskTimes* task : messages) {
    TraceSlice s = slice(schedule, task->name, message_row(task->begin, task->end), task->begin, task->end);
    s.part = first_part_ + task->part;
    s.bytes = task->bytes;
    trace_.add(std::move(s));
  }
}

void StepTracer::add_threads(const Step& schedule, const std::vector<TaskTimes>& tasks) {
  const auto& threads = schedule.last_pieces();
  for (std::size_t t = 0; t < threads.size(); ++t)
    for (const ThreadPiece& piece : threads[t]) {
      const TaskTimes& task = tasks[piece.task];
      TraceSlice s = slice(schedule, piece.launch ? "start " + task.name : task.name, thread_rows + static_cast<int>(t),
                           piece.begin, piece.end);
      if (task.part >= 0) s.part = first_part_ + task.part;
      if (!piece.rows.empty()) s.rows = piece.rows.size();
      if (!piece.launch && task.bytes > 0) s.bytes = task.bytes;
      trace_.add(std::move(s));
    }
}

}  // namespace tutti
