// A timeline of all ranks in one file, for Perfetto and chrome://tracing (docs/reference/trace.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/system/atomic_file.hpp"

namespace tutti {

/// Steps to trace, both included. Step 1 is the first step of this run, after a restart, too.
struct TraceWindow {
  Size first = 10, last = 14;
};
/// "A:B" or "A". Error(usage).
TraceWindow parse_trace_window(const std::string& text);

/// Something that took time, on one row of this rank.
struct TraceSlice {
  std::string name;
  int row = 0;
  std::chrono::steady_clock::time_point begin, end;
  // What else is known of it; -1: nothing.
  Size step = -1;
  int part = -1;
  Size rows = -1, bytes = -1;
};

/// Gathers slices and writes them as one JSON file in the Trace Event Format: a process a rank, a thread a row. Times
/// of all ranks are on rank 0's clock. A trace that is off takes nothing and writes nothing.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int program_row = 0;     ///< set-up, steps, output, checkpoints
  static constexpr int background_row = 1;  ///< what another thread does meanwhile
  static constexpr int free_rows = 2;       ///< rows from here on are the callers'

  /// Off.
  Trace() = default;
  /// Collective: measures how each rank's clock stands to rank 0's, and writes an empty trace to `file`, so that a path
  /// that cannot be written is an Error(io) before the run. The communicator must outlive the trace.
  Trace(const Comm& comm, std::filesystem::path file, std::optional<TraceWindow> window);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  bool on() const { return comm_ != nullptr; }
  /// The steps to trace; none: the caller chooses.
  const std::optional<TraceWindow>& window() const { return window_; }

  void name_row(int row, const std::string& name);
  /// Any thread. Beyond `max_slices` of a rank they are counted, not kept.
  void add(TraceSlice slice);
  static constexpr std::size_t max_slices = 2'000'000;

  /// A slice as long as the object lives; a range for NVIDIA's profilers, too.
  class Scope {
   public:
    Scope(Trace* trace, const char* name, int row);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Trace* trace_;
    const char* name_;
    int row_;
    Clock::time_point begin_;
  };
  /// `name` must outlive the scope. Scopes of one row may nest, not cross.
  [[nodiscard]] Scope scope(const char* name, int row = program_row) { return {on() ? this : nullptr, name, row}; }

  /// Writes all there is so far; the file appears whole. Collective. A disk that is full now is a warning: a run is not
  /// ended for its timeline. `end`: nothing more comes; a device or a pipe, which is written once, gets it then.
  void write(bool end = true);

  /// This rank's clock minus rank 0's [ns]; 0 where the two cannot be told apart.
  std::int64_t clock_offset() const { return offset_; }

 private:
  void measure_clocks();
  std::string events() const;

  const Comm* comm_ = nullptr;
  std::filesystem::path file_;
  std::optional<TraceWindow> window_;
  bool in_place_ = false;               ///< the file is a device or a pipe; known on the root
  std::unique_ptr<AtomicFile> target_;  ///< that is open until it is written
  std::int64_t origin_ = 0;             ///< of the file's times, on this rank's clock [ns]
  std::int64_t offset_ = 0;
  std::string process_name_;
  std::map<int, std::string> rows_;
  std::vector<TraceSlice> slices_;
  Size left_out_ = 0;
  std::mutex mutex_;
};

}  // namespace tutti
