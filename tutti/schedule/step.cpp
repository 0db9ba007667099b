#include "tutti/schedule/step.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "tutti/base/profiler_range.hpp"
#include "tutti/base/units.hpp"

namespace tutti {

namespace {

constexpr Lid chunk_alignment = 128;  // rows of a transposed block: a chunk never splits one
constexpr Lid smallest_chunk = 512;
constexpr Lid largest_chunk = 65536;
constexpr Lid largest_chunk_beside_devices = 8192;  // a thread that also serves a device must look after it often
constexpr int chunks_a_thread = 24;

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

/// Counter of the pieces taken from one thread's run, on a cache line of its own.
struct alignas(64) NextChunk {
  std::atomic<Lid> taken{0};
};

struct Step::Task {
  enum class Kind : std::uint8_t { chunks, host, kernel, outgoing, incoming, send, receive };
  enum class State : std::uint8_t { waiting, ready, under_way, done };

  Kind kind = Kind::host;
  Role role = Role::other;
  std::string name;
  int part = -1;
  Size bytes = 0;

  // What it does: one of these, by kind.
  std::function<void(Stream&, Range)> body;
  std::function<void(Stream&)> enqueue;
  std::function<void()> work;
  std::function<void(MPI_Request*)> start;
  Range rows;

  // Its place in the graph. A device task that follows a device task is launched behind it (the stream waits for the
  // event); every other edge is met when the earlier task is complete.
  std::vector<TaskId> earlier;
  std::vector<TaskId> later_at_launch, later_at_end;
  int waits = 0;

  // This step's state.
  std::atomic<int> waiting{0};
  std::atomic<State> state{State::waiting};
  std::vector<NextChunk>
      next;  ///< one a thread: the pieces are dealt out in runs, and a thread that is done helps others
  std::atomic<Lid> chunks_left{0};
  std::atomic<bool> begun{false};
  Lid chunk = 0, chunks = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  std::unique_ptr<Event> event;
  std::atomic<double> busy{0};
  double begin = 0, end = 0;

  bool on_device() const { return kind == Kind::kernel || kind == Kind::outgoing || kind == Kind::incoming; }
  Lid pieces() const { return kind == Kind::host || chunks == 0 ? 1 : chunks; }
  bool is_message() const { return kind == Kind::send || kind == Kind::receive; }
  Lane lane() const {
    return kind == Kind::kernel     ? Lane::compute
           : kind == Kind::outgoing ? Lane::outgoing
           : kind == Kind::incoming ? Lane::incoming
           : is_message()           ? Lane::message
                                    : Lane::host;
  }
  bool of_exchange = false;  ///< an operation of an Exchange: what the policies are about
};

struct Step::ThreadRoles {
  bool messages = false;
  std::vector<int> controls, copies;              ///< parts
  std::vector<TaskId> control_tasks, copy_tasks;  ///< what they launch
};

Step::Step(Threads& threads, std::span<PartStreams> parts) : threads_(threads), parts_(parts), seconds_(parts.size()) {
  for (PartStreams& part : parts_)
    serial_streams_.push_back(part.is_host() ? std::make_unique<SerialStream>(*part.device, "chunk") : nullptr);
}

Step::~Step() = default;

TaskId Step::add(std::unique_ptr<Task> task) {
  require(!finished_, "the step is finished");
  tasks_.push_back(std::move(task));
  return static_cast<TaskId>(tasks_.size()) - 1;
}

TaskId Step::compute(const std::string& name, int part, Role role, Range rows,
                     std::function<void(Stream&, Range)> body) {
  auto task = std::make_unique<Task>();
  const bool on_host = parts_[static_cast<std::size_t>(part)].is_host();
  task->kind = on_host ? Task::Kind::chunks : Task::Kind::kernel;
  task->role = role;
  task->name = name;
  task->part = part;
  task->rows = rows;
  task->body = std::move(body);
  if (on_host) {
    // Chunks start at multiples of the alignment, so the first and the last may be short.
    const Lid wanted = rows.size() / (threads_.count() * chunks_a_thread);
    const bool alone = std::all_of(parts_.begin(), parts_.end(), [](const PartStreams& p) { return p.is_host(); });
    task->chunk = std::clamp(wanted / chunk_alignment * chunk_alignment, smallest_chunk,
                             alone ? largest_chunk : largest_chunk_beside_devices);
    const Lid first = rows.begin / chunk_alignment * chunk_alignment;
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

std::vector<TaskId> Step::add_exchange(const std::vector<ExchangeOp>& operations, std::span<const TaskId> separators) {
  std::vector<TaskId> ids;
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
    task->enqueue = op.enqueue;
    task->work = op.work;
    task->start = op.start;
    // A peer copy runs on its target's incoming stream.
    if (op.kind == ExchangeOp::Kind::incoming_copy)
      require(!parts_[static_cast<std::size_t>(op.part)].is_host(), "a copy to the host's own memory");
    const TaskId id = add(std::move(task));
    ids.push_back(id);
    for (const int a : op.after) after(id, ids[static_cast<std::size_t>(a)]);
    if (op.after_separators_of >= 0) after(id, separators[static_cast<std::size_t>(op.after_separators_of)]);
  }
  return ids;
}

void Step::after(TaskId later, TaskId earlier) {
  require(!finished_ && earlier < later, "task {} cannot wait for task {}: it was added later, or the step is finished",
          later, earlier);
  add_edge(later, earlier);
}

void Step::add_edge(TaskId later, TaskId earlier) {
  auto& list = tasks_[static_cast<std::size_t>(later)]->earlier;
  if (std::find(list.begin(), list.end(), earlier) == list.end()) list.push_back(earlier);
}

/// The policies are extra dependencies of the same graph.
void Step::add_policy(Overlap overlap) {
  if (overlap == Overlap::full) return;
  const auto count = static_cast<TaskId>(tasks_.size());
  // Does it wait for a message, directly or not? (A receive counts, and so does a send: both end with MPI.)
  std::vector<char> needs_message(tasks_.size(), 0);
  for (TaskId id = 0; id < count; ++id) {
    const Task& t = *tasks_[static_cast<std::size_t>(id)];
    bool needs = t.is_message();
    for (const TaskId e : t.earlier) needs = needs || needs_message[static_cast<std::size_t>(e)] != 0;
    needs_message[static_cast<std::size_t>(id)] = needs ? 1 : 0;
  }
  for (TaskId i = 0; i < count; ++i) {
    if (tasks_[static_cast<std::size_t>(i)]->role != Role::interior) continue;
    for (TaskId x = 0; x < count; ++x) {
      const Task& other = *tasks_[static_cast<std::size_t>(x)];
      if (!other.of_exchange) continue;
      if (overlap == Overlap::none || needs_message[static_cast<std::size_t>(x)] == 0)
        add_edge(i, x);
      else if (!other.is_message())
        add_edge(x, i);  // the copies behind a message wait for the interior
    }
  }
}

void Step::check_acyclic() const {
  std::vector<int> waits(tasks_.size(), 0);
  std::vector<std::vector<TaskId>> later(tasks_.size());
  std::vector<TaskId> ready;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    waits[i] = static_cast<int>(tasks_[i]->earlier.size());
    for (const TaskId e : tasks_[i]->earlier) later[static_cast<std::size_t>(e)].push_back(static_cast<TaskId>(i));
    if (waits[i] == 0) ready.push_back(static_cast<TaskId>(i));
  }
  std::size_t seen = 0;
  while (!ready.empty()) {
    const TaskId id = ready.back();
    ready.pop_back();
    ++seen;
    for (const TaskId l : later[static_cast<std::size_t>(id)])
      if (--waits[static_cast<std::size_t>(l)] == 0) ready.push_back(l);
  }
  require(seen == tasks_.size(), "the tasks of a step wait for each other in a circle");
}

void Step::finish(Overlap overlap) {
  add_policy(overlap);
  check_acyclic();
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    Task& task = *tasks_[i];
    task.waits = static_cast<int>(task.earlier.size());
    for (const TaskId e : task.earlier) {
      Task& earlier = *tasks_[static_cast<std::size_t>(e)];
      auto& list = task.on_device() && earlier.on_device() ? earlier.later_at_launch : earlier.later_at_end;
      list.push_back(static_cast<TaskId>(i));
    }
    if (task.on_device()) task.event = parts_[static_cast<std::size_t>(task.part)].device->make_event();
    if (task.is_message()) message_tasks_.push_back(static_cast<TaskId>(i));
    if (task.kind == Task::Kind::chunks || task.kind == Task::Kind::host) {
      task.next = std::vector<NextChunk>(static_cast<std::size_t>(threads_.count()));
      host_tasks_.push_back(static_cast<TaskId>(i));
    }
  }
  // Separators before everything else that is ready, the interior last: messages leave early.
  const auto rank = [&](TaskId id) {
    const Task& t = *tasks_[static_cast<std::size_t>(id)];
    return t.role == Role::separator ? 0 : t.role == Role::interior ? 2 : 1;
  };
  std::stable_sort(host_tasks_.begin(), host_tasks_.end(), [&](TaskId a, TaskId b) { return rank(a) < rank(b); });
  assign_roles();
  finished_ = true;
}

/// Langguth 2015, Figure 2: thread 0 talks MPI, threads 1.. copy, the last ones control accelerators. With fewer
/// threads than roles a thread has several.
void Step::assign_roles() {
  const int count = threads_.count();
  roles_.assign(static_cast<std::size_t>(count), {});
  roles_[0].messages = !message_tasks_.empty();
  int accelerator = 0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].is_host()) continue;
    ThreadRoles& control = roles_[static_cast<std::size_t>(count - 1 - accelerator % count)];
    ThreadRoles& copy = roles_[static_cast<std::size_t>((1 + accelerator) % count)];
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
  pieces_.resize(observed_ ? static_cast<std::size_t>(threads_.count()) : 0);
  for (auto& list : pieces_) list.clear();
  start_ = std::chrono::steady_clock::now();
}

void Step::run() {
  require(finished_, "the step is not finished");
  prepare();
  try {
    threads_.run([this](int thread) { work(thread); });
  } catch (...) {
    drain_devices();
    cancel_messages();
    throw;
  }
  account(since_start());
  if (observed_) observer_();
}

double Step::since_start() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Step::note(int thread, const ThreadPiece& piece) {
  pieces_[static_cast<std::size_t>(thread)].push_back(piece);
}

/// After a failure: the caller may free what the devices still work on, so they must come to rest first.
void Step::drain_devices() {
  for (PartStreams& part : parts_) {
    if (part.is_host()) continue;
    for (Stream* stream : {part.compute.get(), part.outgoing.get(), part.incoming.get()}) try {
        stream->synchronize();
      } catch (const std::exception&) {
        // The step's own error is the one to tell.
      }
  }
}

/// After a failure: what may still arrive must not be written into memory that the caller frees. A send only reads.
void Step::cancel_messages() {
  constexpr auto patience = std::chrono::seconds(1);  // for what is arriving already; its sender may be gone
  const auto start = std::chrono::steady_clock::now();
  for (const TaskId id : message_tasks_) {
    Task& task = *tasks_[static_cast<std::size_t>(id)];
    if (task.request == MPI_REQUEST_NULL) continue;
    if (task.kind == Task::Kind::receive) MPI_Cancel(&task.request);
    int done = 0;
    while (MPI_Test(&task.request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0 &&
           task.kind == Task::Kind::receive && std::chrono::steady_clock::now() - start < patience)
      sched_yield();
  }
}

/// One thread's step: its roles first, then chunks of the CPU's rows, until every task is done.
void Step::work(int thread) {
  const ThreadRoles& role = roles_[static_cast<std::size_t>(thread)];
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
    Task& task = *tasks_[static_cast<std::size_t>(id)];
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
  Task& task = *tasks_[static_cast<std::size_t>(id)];
  const ProfilerRange range(task.name.c_str());
  PartStreams& part = parts_[static_cast<std::size_t>(task.part)];
  Stream& stream = task.kind == Task::Kind::kernel     ? *part.compute
                   : task.kind == Task::Kind::outgoing ? *part.outgoing
                                                       : *part.incoming;
  for (const TaskId e : task.earlier) {
    Task& earlier = *tasks_[static_cast<std::size_t>(e)];
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
    Task& later = *tasks_[static_cast<std::size_t>(l)];
    if (later.waiting.fetch_sub(1, std::memory_order_acq_rel) == 1)
      later.state.store(Task::State::ready, std::memory_order_release);
  }
}

bool Step::drive_device(const std::vector<TaskId>& tasks, int thread) {
  bool progress = false;
  for (const TaskId id : tasks) {
    Task& task = *tasks_[static_cast<std::size_t>(id)];
    const auto state = task.state.load(std::memory_order_acquire);
    if (state == Task::State::ready) {
      launch(id, thread);
      // Nothing to wait for, unless it stands behind other work of a device.
      const bool alone = std::none_of(task.earlier.begin(), task.earlier.end(),
                                      [&](TaskId e) { return tasks_[static_cast<std::size_t>(e)]->on_device(); });
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
  const int count = threads_.count();
  for (int k = 0; k < count; ++k) {
    const int run = (thread + k) % count;
    const auto begin = static_cast<Lid>(static_cast<Size>(pieces) * run / count);
    const auto end = static_cast<Lid>(static_cast<Size>(pieces) * (run + 1) / count);
    std::atomic<Lid>& taken = task.next[static_cast<std::size_t>(run)].taken;
    if (taken.load(std::memory_order_relaxed) >= end - begin) continue;
    const Lid piece = begin + taken.fetch_add(1, std::memory_order_relaxed);
    if (piece < end) return piece;
  }
  return -1;
}

/// Takes one piece of host work and does it. False when there is none.
bool Step::take_chunk(int thread) {
  for (const TaskId id : host_tasks_) {
    Task& task = *tasks_[static_cast<std::size_t>(id)];
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
      task.body(*serial_streams_[static_cast<std::size_t>(task.part)], rows);
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
    Task& later = *tasks_[static_cast<std::size_t>(l)];
    if (later.waiting.fetch_sub(1, std::memory_order_acq_rel) == 1)
      later.state.store(Task::State::ready, std::memory_order_release);
  }
  remaining_.fetch_sub(1, std::memory_order_acq_rel);
}

/// Work is launched ahead, and its end is seen when a thread looks: it ended no later than what came behind it, and
/// began when the work before it on its stream, and what it waited for, had ended.
void Step::correct_device_times() {
  std::vector<Task*> launched;
  for (const auto& t : tasks_)
    if (t->on_device()) launched.push_back(t.get());
  std::stable_sort(launched.begin(), launched.end(), [](const Task* a, const Task* b) { return a->begin < b->begin; });
  std::vector<Task*> behind(3 * parts_.size(), nullptr);  // on each stream
  for (auto it = launched.rbegin(); it != launched.rend(); ++it) {
    Task& task = **it;
    const std::size_t stream = task.kind == Task::Kind::kernel ? 0 : task.kind == Task::Kind::outgoing ? 1 : 2;
    Task*& next = behind[3 * static_cast<std::size_t>(task.part) + stream];
    if (next != nullptr) {
      task.end = std::min(task.end, next->end);
      next->begin = std::max(next->begin, task.end);
    }
    next = &task;
    for (const TaskId e : task.earlier)
      if (Task& earlier = *tasks_[static_cast<std::size_t>(e)]; earlier.on_device())
        earlier.end = std::min(earlier.end, task.end);
  }
  for (Task* task : launched)
    for (const TaskId e : task->earlier)
      if (const Task& earlier = *tasks_[static_cast<std::size_t>(e)]; earlier.on_device())
        task->begin = std::max(task->begin, earlier.end);
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
      const double seconds = t.kind == Task::Kind::chunks ? t.busy.load() / threads_.count() : t.end - t.begin;
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

void Step::reset_seconds() {
  seconds_.assign(parts_.size(), {});
}

std::vector<TaskTimes> Step::last_times() const {
  std::vector<TaskTimes> times;
  for (const auto& t : tasks_) times.push_back({t->name, t->part, t->begin, t->end, t->lane(), t->bytes});
  return times;
}

std::vector<std::string> Step::describe_roles() const {
  std::vector<std::string> lines;
  for (std::size_t t = 0; t < roles_.size(); ++t) {
    std::string line = fmt::format("thread {}", t);
    if (!threads_.cores().empty()) line += fmt::format(" on core {}", threads_.cores()[t]);
    line += ":";
    if (roles_[t].messages) line += " messages,";
    for (const int p : roles_[t].controls)
      line += fmt::format(" controls {},", parts_[static_cast<std::size_t>(p)].device->name());
    for (const int p : roles_[t].copies)
      line += fmt::format(" copies to {},", parts_[static_cast<std::size_t>(p)].device->name());
    lines.push_back(line + " computes");
  }
  return lines;
}

std::vector<std::string> Step::describe_tasks() const {
  std::vector<std::string> lines;
  for (const auto& t : tasks_) {
    std::string line = fmt::format("{} (part {})", t->name, t->part);
    for (const TaskId e : t->earlier) line += fmt::format(" <- {}", tasks_[static_cast<std::size_t>(e)]->name);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace tutti
