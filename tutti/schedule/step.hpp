// One time step as a graph of tasks: what waits for what, and so what may hide what. The only home of overlap.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/device/threads.hpp"
#include "tutti/exchange/exchange.hpp"

namespace tutti {

/// What may overlap with the interior's computation (Langguth 2015; Jacobsen 2010 calls them the three strategies).
enum class Overlap : std::uint8_t {
  none,      ///< nothing: the interior starts when all ghosts have arrived
  messages,  ///< MPI messages; copies between host and devices do not overlap
  full,      ///< messages and copies
};
Overlap parse_overlap(const std::string& name);
const char* overlap_name(Overlap overlap);

using TaskId = int;  ///< place in the list of tasks

/// Seconds of one part, summed over the steps since the last reset_seconds().
struct PartSeconds {
  double separator = 0;  ///< computing separators
  double interior = 0;   ///< computing the interior; on a device, while no separators are computed beside it
  double exchange = 0;   ///< some copy or message of this part was under way (it may have been hidden)
  double idle = 0;       ///< the part's device computed nothing
  Size bytes = 0;        ///< moved by exchanges

  friend PartSeconds operator-(const PartSeconds& a, const PartSeconds& b);
  PartSeconds& operator+=(const PartSeconds& other);
};

/// What ran a task: the CPU team in pieces, one of the device's streams, or MPI. A row of a timeline.
enum class Lane : std::uint8_t { host, compute, separators, outgoing, incoming, message };

/// When a task of the last step ran, in seconds from the step's start. Tasks of one stream do not overlap; a device's
/// times are what its control thread saw.
struct TaskTimes {
  std::string name;
  int part = -1;
  double begin = 0, end = 0;
  Lane lane = Lane::host;
  Size bytes = 0;  ///< moved, by tasks of an exchange
};

/// What one thread did in an observed step: a chunk or a host task, or it launched a task of a stream or of MPI.
struct ThreadPiece {
  TaskId task = -1;
  Range rows;  ///< of a chunk; else empty
  bool launch = false;
  double begin = 0, end = 0;  ///< seconds from the step's start
};

/// A graph of tasks over the parts of one rank. Build it once (compute, host, exchange, after, then finish), run it
/// every step. Results do not depend on the overlap policy, the number of threads or the order in which tasks happen to
/// run, as long as every true dependency was declared.
class Step {
 public:
  /// row_cost: as many rows of diffusion take a CPU about as long as one row here; by it work is dealt out to threads.
  Step(Threads& threads, std::span<PartStreams> parts, int row_cost = 1);
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  enum class Role : std::uint8_t { separator, interior, other };
  /// A kernel over rows of a part. On the CPU `body` is called for chunks (of a multiple of 128 rows, but for the ends)
  /// by any thread; on a device once, with the compute stream. It enqueues its work on the stream it is given. `whole`:
  /// one thread does it all, as one of many such tasks.
  TaskId compute(const std::string& name, int part, Role role, Range rows, std::function<void(Stream&, Range)> body,
                 bool whole = false);
  /// Serial work on some thread of the host, of no part (-1) or for a part.
  TaskId host(const std::string& name, int part, std::function<void()> work);
  /// A copy on a device part's incoming stream.
  TaskId upload(const std::string& name, int part, std::function<void(Stream&)> enqueue);
  /// The operations of an Exchange or a BoxTransfer; separators[p] is the task that computes part p's separators. Where
  /// a step has several, an interior may overlap with the exchange that was added last before it. ghosts_are_read: by
  /// the receivers' separators; else whoever stores into another part's ghosts (ExchangeOp::overwrites) does not wait.
  template <class Travelling>
  std::vector<TaskId> exchange(const Travelling& exchange, std::span<const TaskId> separators,
                               bool ghosts_are_read = true) {
    return exchange.disabled() ? std::vector<TaskId>{}
                               : add_exchange(exchange.operations(), separators, ghosts_are_read);
  }
  /// `later` waits for `earlier`, which was added before it.
  void after(TaskId later, TaskId earlier);
  /// Closes the graph. Adds the policy's dependencies; a cycle is an internal error.
  void finish(Overlap overlap);

  /// Runs all tasks once. Throws what a task threw, when no device is at work any more.
  void run();
  /// The same, but where no task needs the host (all are kernels, and copies between GPUs) it returns while the devices
  /// are at work: later work on any compute stream comes behind all tasks. Errors are thrown by a later call, or by
  /// wait(). One run of many is waited for and timed; seconds() counts the others like it when they are waited for.
  /// `graph_key`: runs with the same number enqueue the same work on the same memory, so that it can be captured once
  /// (a CUDA graph) and launched again, many runs as one, with those of other steps on the same streams between them;
  /// 0: nothing is known. What is held back until then is enqueued when a stream of this step is used by anybody else.
  void run_ahead(std::uint64_t graph_key = 0);
  /// Until the devices have done what was run ahead. Throws what it threw.
  void wait() const;
  /// Does run_ahead() return before the devices are done?
  bool runs_ahead() const { return ahead_ != nullptr; }
  /// So little of a CPU's work, by row_cost, that other threads would be awake too late.
  bool for_one_thread() const { return serial_; }

  const std::vector<PartSeconds>& seconds() const { return seconds_; }
  void reset_seconds();  ///< e.g. after a set-up that runs the step, too
  std::vector<TaskTimes> last_times() const;
  /// `observer` is called after each run, until observe({}). While there is one, threads note their pieces. It changes
  /// nothing of the graph or its results.
  void observe(std::function<void()> observer) const { observer_ = std::move(observer); }
  /// One list a thread, each in order of time; empty when the last run was not observed.
  const std::vector<std::vector<ThreadPiece>>& last_pieces() const { return pieces_; }
  std::chrono::steady_clock::time_point last_start() const { return start_; }
  /// The device of a part: "cpu", "fake:0".
  const std::string& device_name(int part) const { return parts_[part].device->name(); }
  std::size_t part_count() const { return parts_.size(); }
  /// Who does what: one line a thread ("thread 0: messages, computes"), for --verbose.
  std::vector<std::string> describe_roles() const;
  /// The graph in words, one line a task, those that read alike once: for tests and --verbose.
  std::vector<std::string> describe_tasks() const;

 private:
  struct Task;
  struct ThreadRoles;
  std::vector<TaskId> add_exchange(const std::vector<ExchangeOp>& operations, std::span<const TaskId> separators,
                                   bool ghosts_are_read);
  TaskId add(std::unique_ptr<Task> task);
  void add_edge(TaskId later, TaskId earlier);
  void add_policy(Overlap overlap);
  void assign_roles();
  void prepare();
  void work(int thread);
  bool drive_messages();
  bool drive_device(const std::vector<TaskId>& tasks, int thread);
  void launch(TaskId id, int thread);
  double since_start() const;
  void note(int thread, const ThreadPiece& piece);
  Lid next_piece(Task& task, int thread);
  bool take_chunk(int thread);
  void complete(Task& task);
  void drain_devices() const;
  void abandon_messages() const;
  std::vector<TaskId> in_order() const;
  static bool is_idle(const Task& task);
  void begin_part(const PartStreams& part);
  Stream& stream_of(const Task& task) const;
  void plan_ahead();
  void enqueue_tasks();
  void gather_parts() const;
  void open_run();
  void link_runs(const Step& before);
  void close_run() const;
  void join_parts() const;
  void enqueue_run();
  void enqueue_new(std::uint64_t graph_key);
  void hold(std::uint64_t graph_key);
  void forget_held() const;
  void enqueue_held(bool whole = false) const;
  void pace(Size runs) const;
  void give_up_ahead() const;
  void settle_seconds() const;
  std::vector<Stream*> device_streams() const;
  void correct_device_times();
  double beside_separators(const Task& interior) const;
  void account(double wall);

  Threads& threads_;
  std::span<PartStreams> parts_;
  int row_cost_;
  int members_;  ///< of the team: all, or without a part of the CPU no more than have something to do
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<ThreadRoles> roles_;
  std::vector<TaskId> message_tasks_, host_tasks_;
  std::vector<std::unique_ptr<Stream>> serial_streams_;  ///< one a host part: runs a chunk on the calling thread
  mutable std::vector<PartSeconds> seconds_;

  struct HeldRuns;
  static std::shared_ptr<HeldRuns> held_runs_on(const std::vector<Stream*>& streams);
  struct Ahead;
  std::unique_ptr<Ahead> ahead_;               ///< null: some task needs the host
  std::vector<std::unique_ptr<Event>> begun_;  ///< one a part: what its compute stream had to do before a run

  std::atomic<int> remaining_{0};
  std::atomic<bool> failed_{false};
  std::chrono::steady_clock::time_point start_;
  bool finished_ = false;
  int exchanges_ = 0;
  TaskId last_linked_ = -1;  ///< what a DeviceLink moves last
  bool serial_ = false;
  mutable std::function<void()> observer_;
  bool observed_ = false;  ///< this run is
  std::vector<std::vector<ThreadPiece>> pieces_;
};

}  // namespace tutti
