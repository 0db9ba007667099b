// Building a step: tasks, the edges between them, and which thread does what.
#include "tutti/schedule/step.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "tutti/schedule/step_internal.hpp"

namespace tutti {

namespace {

constexpr Lid smallest_chunk = 512;
constexpr Lid largest_chunk = 65536;
constexpr Lid largest_chunk_beside_devices = 8192;  // a thread that also serves a device must look after it often
constexpr int chunks_a_thread = 24;
constexpr Size serial_rows = 16384;  // of diffusion

/// Runs a chunk on the calling thread: the stream that a CPU task's body sees.
class SerialStream final : public Stream {
 public:
  using Stream::Stream;
  void copy(void* to, const void* from, std::size_t bytes, CopyDirection) override { std::memmove(to, from, bytes); }
  void loop(Range range, const std::function<void(Lid, Lid)>& body) override { body(range.begin, range.end); }
  void record(Event&) override {}
  void wait(Event&) override {}
  void synchronize() override {}
};

}  // namespace

Overlap parse_overlap(const std::string& name) {
  for (const Overlap o : {Overlap::none, Overlap::messages, Overlap::full})
    if (name == overlap_name(o)) return o;
  fail(ErrorKind::usage, "overlap '{}' is unknown; choose none, messages or full", name);
}

const char* overlap_name(Overlap overlap) {
  switch (overlap) {
    case Overlap::none:
      return "none";
    case Overlap::messages:
      return "messages";
    case Overlap::full:
      return "full";
  }
  return "";
}

Step::Step(Threads& threads, std::span<PartStreams> parts, int row_cost)
    : threads_(threads), parts_(parts), row_cost_(row_cost), members_(threads.count()), seconds_(parts.size()) {
  require(row_cost >= 1, "a row costs {} rows", row_cost);
  // One for messages and two for each accelerator: more would only spin.
  if (std::none_of(parts.begin(), parts.end(), [](const PartStreams& part) { return part.is_host(); }))
    members_ = std::min(members_, 1 + 2 * static_cast<int>(parts.size()));
  for (PartStreams& part : parts_) {
    serial_streams_.push_back(part.is_host() ? std::make_unique<SerialStream>(*part.device, "chunk") : nullptr);
    begun_.push_back(part.is_host() ? nullptr : part.device->make_event());
  }
}

/// What was run ahead may still be at work on memory that goes next.
Step::~Step() {
  if (!ahead_) return;
  try {
    enqueue_held();
  } catch (const std::exception&) {
    // It is told to nobody: whoever wants to know waits.
  }
  drain_devices();
  std::erase_if(ahead_->held_runs->together, [&](const auto& one) {
    return std::any_of(one.first.begin(), one.first.end(),
                       [&](const HeldRuns::Name& name) { return name.first == ahead_->number; });
  });
}

std::vector<Stream*> Step::device_streams() const {
  std::vector<Stream*> streams;
  for (const PartStreams& part : parts_)
    if (!part.is_host())
      for (const auto* stream : {&part.compute, &part.separators, &part.outgoing, &part.incoming})
        streams.push_back(stream->get());
  return streams;
}

TaskId Step::add(std::unique_ptr<Task> task) {
  require(!finished_, "the step is finished");
  task->exchange = exchanges_;
  tasks_.push_back(std::move(task));
  return static_cast<TaskId>(tasks_.size()) - 1;
}

TaskId Step::compute(const std::string& name, int part, Role role, Range rows, std::function<void(Stream&, Range)> body,
                     bool whole) {
  auto task = std::make_unique<Task>();
  const bool on_host = parts_[part].is_host();
  task->kind = on_host ? Task::Kind::chunks : Task::Kind::kernel;
  task->role = role;
  task->name = name;
  task->part = part;
  task->rows = rows;
  task->body = std::move(body);
  if (on_host) {
    // Chunks start at multiples of the alignment, so the first and the last may be short.
    const Lid wanted = rows.size() / (members_ * chunks_a_thread);
    const bool alone = std::all_of(parts_.begin(), parts_.end(), [](const PartStreams& p) { return p.is_host(); });
    const Lid smallest = std::max(chunk_alignment, smallest_chunk / row_cost_ / chunk_alignment * chunk_alignment);
    task->chunk = std::clamp(wanted / chunk_alignment * chunk_alignment, smallest,
                             alone ? largest_chunk : largest_chunk_beside_devices);
    const Lid first = rows.begin / chunk_alignment * chunk_alignment;
    if (whole) task->chunk = rows.end - first;
    task->chunks = rows.empty() ? 0 : (rows.end - first + task->chunk - 1) / task->chunk;
  }
  return add(std::move(task));
}

TaskId Step::host(const std::string& name, int part, std::function<void()> work) {
  auto task = std::make_unique<Task>();
  task->name = name;
  task->part = part;
  task->work = std::move(work);
  return add(std::move(task));
}

TaskId Step::upload(const std::string& name, int part, std::function<void(Stream&)> enqueue) {
  auto task = std::make_unique<Task>();
  task->kind = Task::Kind::incoming;
  task->name = name;
  task->part = part;
  task->enqueue = std::move(enqueue);
  return add(std::move(task));
}

std::vector<TaskId> Step::add_exchange(const std::vector<ExchangeOp>& operations, std::span<const TaskId> separators,
                                       bool ghosts_are_read) {
  std::vector<TaskId> ids;
  ++exchanges_;
  for (const ExchangeOp& op : operations) {
    auto task = std::make_unique<Task>();
    switch (op.kind) {
      case ExchangeOp::Kind::host:
        task->kind = Task::Kind::host;
        break;
      case ExchangeOp::Kind::outgoing_copy:
        task->kind = Task::Kind::outgoing;
        break;
      case ExchangeOp::Kind::incoming_copy:
        task->kind = Task::Kind::incoming;
        break;
      case ExchangeOp::Kind::send:
        task->kind = Task::Kind::send;
        break;
      case ExchangeOp::Kind::receive:
        task->kind = Task::Kind::receive;
        break;
    }
    task->of_exchange = true;
    task->name = op.name;
    task->part = op.part;
    task->bytes = op.bytes;
    task->by_kernel = op.by_kernel;
    task->fills = op.fills;
    task->enqueue = op.enqueue;
    task->work = op.work;
    task->start = op.start;
    task->abandon = op.abandon;
    // A peer copy runs on its target's incoming stream.
    if (op.kind == ExchangeOp::Kind::incoming_copy)
      require(!parts_[op.part].is_host(), "a copy to the host's own memory");
    const TaskId id = add(std::move(task));
    ids.push_back(id);
    for (const int a : op.after) after(id, ids[a]);
    for (const int p : op.after_separators_of) after(id, separators[p]);
    if (op.overwrites && ghosts_are_read)
      for (const int p : op.fills) after(id, separators[p]);
    // All ranks enqueue what a link moves in one order (DeviceLink), whichever control threads they have.
    if (op.abandon && last_linked_ >= 0) after(id, last_linked_);
    if (op.abandon) last_linked_ = id;
  }
  return ids;
}

void Step::after(TaskId later, TaskId earlier) {
  require(!finished_ && earlier < later, "task {} cannot wait for task {}: it was added later, or the step is finished",
          later, earlier);
  add_edge(later, earlier);
}

void Step::add_edge(TaskId later, TaskId earlier) {
  auto& list = tasks_[later]->earlier;
  if (std::find(list.begin(), list.end(), earlier) == list.end()) list.push_back(earlier);
}

/// The policies are extra dependencies of the same graph.
void Step::add_policy(Overlap overlap) {
  if (overlap == Overlap::full) return;
  const auto count = static_cast<TaskId>(tasks_.size());
  // Does it wait for a message, directly or not? (A receive counts, and so does a send: both end with MPI.)
  std::vector<char> needs_message(tasks_.size(), 0);
  for (TaskId id = 0; id < count; ++id) {
    const Task& t = *tasks_[id];
    bool needs = t.is_message();
    for (const TaskId e : t.earlier) {
      const Task& earlier = *tasks_[e];
      const bool of_the_same = exchanges_ < 2 || (earlier.of_exchange && earlier.exchange == t.exchange);
      needs = needs || (of_the_same && needs_message[e] != 0);
    }
    needs_message[id] = needs ? 1 : 0;
  }
  for (TaskId i = 0; i < count; ++i) {
    if (tasks_[i]->role != Role::interior) continue;
    for (TaskId x = 0; x < count; ++x) {
      const Task& other = *tasks_[x];
      if (!other.of_exchange || (exchanges_ > 1 && other.exchange != tasks_[i]->exchange)) continue;
      if (overlap == Overlap::none || needs_message[x] == 0)
        add_edge(i, x);
      else if (!other.is_message())
        add_edge(x, i);  // the copies behind a message wait for the interior
    }
  }
}

/// All tasks, each behind those it waits for, otherwise as they were added.
std::vector<TaskId> Step::in_order() const {
  std::vector<int> waits(tasks_.size(), 0);
  std::vector<std::vector<TaskId>> later(tasks_.size());
  std::set<TaskId> ready;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    waits[i] = static_cast<int>(tasks_[i]->earlier.size());
    for (const TaskId e : tasks_[i]->earlier) later[e].push_back(static_cast<TaskId>(i));
    if (waits[i] == 0) ready.insert(static_cast<TaskId>(i));
  }
  std::vector<TaskId> order;
  while (!ready.empty()) {
    const TaskId id = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(id);
    for (const TaskId l : later[id])
      if (--waits[l] == 0) ready.insert(l);
  }
  require(order.size() == tasks_.size(), "the tasks of a step wait for each other in a circle");
  return order;
}

void Step::finish(Overlap overlap) {
  add_policy(overlap);
  in_order();  // a circle is found here
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = *tasks_[i];
    task.waits = static_cast<int>(task.earlier.size());
    for (const TaskId e : task.earlier) {
      Task& earlier = *tasks_[e];
      auto& list = task.on_device() && earlier.on_device() ? earlier.later_at_launch : earlier.later_at_end;
      list.push_back(static_cast<TaskId>(i));
    }
    if (task.on_device()) task.event = parts_[task.part].device->make_event();
    if (task.is_message()) message_tasks_.push_back(static_cast<TaskId>(i));
    if (task.kind == Task::Kind::chunks || task.kind == Task::Kind::host) {
      task.next = std::vector<NextChunk>(members_);
      host_tasks_.push_back(static_cast<TaskId>(i));
    }
  }
  // Separators before everything else that is ready, the interior last: messages leave early.
  const auto rank = [&](TaskId id) {
    const Task& t = *tasks_[id];
    return t.role == Role::separator ? 0 : t.role == Role::interior ? 2 : 1;
  };
  std::stable_sort(host_tasks_.begin(), host_tasks_.end(), [&](TaskId a, TaskId b) { return rank(a) < rank(b); });
  assign_roles();
  Size rows = 0;
  for (const auto& task : tasks_) rows += task->rows.size();
  serial_ = rows * row_cost_ <= serial_rows &&
            std::all_of(parts_.begin(), parts_.end(), [](const auto& p) { return p.is_host(); });
  plan_ahead();
  finished_ = true;
}

/// Langguth 2015, Figure 2: thread 0 talks MPI, threads 1.. copy, the last ones control accelerators. With fewer
/// threads than roles a thread has several.
void Step::assign_roles() {
  const int count = members_;
  roles_.assign(count, {});
  roles_[0].messages = !message_tasks_.empty();
  int accelerator = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].is_host()) continue;
    ThreadRoles& control = roles_[count - 1 - accelerator % count];
    ThreadRoles& copy = roles_[(1 + accelerator) % count];
    control.controls.push_back(static_cast<int>(p));
    copy.copies.push_back(static_cast<int>(p));
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const Task& task = *tasks_[i];
      if (!task.on_device() || task.part != static_cast<int>(p)) continue;
      (task.kind == Task::Kind::incoming ? copy.copy_tasks : control.control_tasks).push_back(static_cast<TaskId>(i));
    }
    ++accelerator;
  }
}

std::vector<std::string> Step::describe_roles() const {
  std::vector<std::string> lines;
  for (std::size_t t = 0; t < roles_.size(); ++t) {
    std::string line = fmt::format("thread {}", t);
    if (!threads_.cores().empty()) line += fmt::format(" on core {}", threads_.cores()[t]);
    line += ":";
    if (roles_[t].messages) line += " messages,";
    for (const int p : roles_[t].controls) line += fmt::format(" controls {},", parts_[p].device->name());
    for (const int p : roles_[t].copies) line += fmt::format(" copies to {},", parts_[p].device->name());
    lines.push_back(line + " computes");
  }
  return lines;
}

std::vector<std::string> Step::describe_tasks() const {
  std::vector<std::string> lines;
  std::set<std::string> told;  // blocks of a part have tasks of the same name
  for (const auto& t : tasks_) {
    std::string line = fmt::format("{} (part {})", t->name, t->part);
    std::set<std::string> earlier;
    for (const TaskId e : t->earlier)
      if (earlier.insert(tasks_[e]->name).second) line += fmt::format(" <- {}", tasks_[e]->name);
    if (told.insert(line).second) lines.push_back(line);
  }
  return lines;
}

}  // namespace tutti
