// A step's tasks and threads, for the files that build, run and time it.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tutti/schedule/step.hpp"

namespace tutti {

inline constexpr Lid chunk_alignment = 128;  ///< rows of a transposed block: a chunk never splits one

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
  bool by_kernel = false;  ///< of an exchange: see ExchangeOp
  std::vector<int> fills;  ///< the same

  // What it does: one of these, by kind.
  std::function<void(Stream&, Range)> body;
  std::function<void(Stream&)> enqueue;
  std::function<void()> work;
  std::function<void(MPI_Request*)> start;
  std::function<void()> abandon;  ///< after a failure; may be empty
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
  // When run ahead.
  std::set<TaskId> earlier_on_devices;  ///< tasks that do something
  bool awaited_elsewhere = false;       ///< by another stream
  std::atomic<double> busy{0};
  double begin = 0, end = 0;

  bool on_device() const { return kind == Kind::kernel || kind == Kind::outgoing || kind == Kind::incoming; }
  Lid pieces() const { return kind == Kind::host || chunks == 0 ? 1 : chunks; }
  bool is_message() const { return kind == Kind::send || kind == Kind::receive; }
  Lane lane() const {
    return kind == Kind::kernel     ? (role == Role::separator ? Lane::separators : Lane::compute)
           : kind == Kind::outgoing ? (by_kernel ? Lane::separators : Lane::outgoing)
           : kind == Kind::incoming ? Lane::incoming
           : is_message()           ? Lane::message
                                    : Lane::host;
  }
  bool of_exchange = false;  ///< an operation of an Exchange: what the policies are about
  int exchange = 0;          ///< the number of its exchange; of other tasks how many exchanges were added before
};

/// Runs of the steps on the same streams, of which many are launched as one. They belong to one thread, as the steps.
struct Step::HeldRuns {
  struct Run {
    Step* step;
    std::uint64_t graph_key;
  };
  using Name = std::pair<std::uint64_t, std::uint64_t>;  ///< the step's number, and that of the run's work
  std::vector<Run> held;                                 ///< not enqueued yet, in their order
  std::vector<Name> names;                               ///< of these
  bool capturing =
      false;  ///< work is being captured: what is held, as such runs did not come one after the other before
  std::map<std::vector<Name>, std::unique_ptr<CapturedWork>> together;  ///< several runs
  std::set<std::vector<Name>> interrupted;                              ///< captured once, and not kept
  std::array<std::unique_ptr<Event>, 2> paced;
  Size enqueued = 0;
  std::uint64_t steps = 0;  ///< that there have been
};

/// What run_ahead() keeps.
struct Step::Ahead {
  /// One part's streams, between one run and the next.
  struct Part {
    Stream* compute = nullptr;
    std::vector<Stream*> others;  ///< that have tasks
    std::vector<TaskId> awaited;  ///< the last of each of these, and tasks of other parts that read what this one has
    std::unique_ptr<Event> finished;  ///< what its compute stream had to do
    Stream* separators = nullptr;     ///< where its interior may begin before ghosts are there; else null
    TaskId last_separator = -1;
  };
  std::vector<Part> parts;
  Stream* main = nullptr;  ///< the first part's compute stream
  std::vector<TaskId> order;
  std::unique_ptr<Event> forked, joined;  ///< what comes before all parts' work, and after it

  std::shared_ptr<HeldRuns> held_runs;
  std::uint64_t number = 0;  ///< among the steps on these streams
  std::map<std::uint64_t, std::unique_ptr<CapturedWork>>
      single;            ///< one run, by the number of its work; null: it came once
  bool may_wait = true;  ///< runs may be held back
  bool can_capture = true;

  std::vector<PartSeconds> last_seconds;  ///< of the last run that was measured
  Size runs = 0, unsettled_runs = 0;
  std::chrono::steady_clock::time_point since;  ///< the first run whose seconds are not counted yet
};

struct Step::ThreadRoles {
  bool messages = false;
  std::vector<int> controls, copies;              ///< parts
  std::vector<TaskId> control_tasks, copy_tasks;  ///< what they launch
};

}  // namespace tutti
