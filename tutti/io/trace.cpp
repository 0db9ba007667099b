#include "tutti/io/trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "tutti/base/log.hpp"
#include "tutti/base/system/profiler_range.hpp"

namespace tutti {
namespace {

constexpr int ping_rounds = 25;
constexpr int ping_tag = 32002, events_tag = 32003;

std::int64_t nanoseconds(Trace::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}
std::int64_t now() {
  return nanoseconds(Trace::Clock::now());
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds with three digits.
std::string microseconds(std::int64_t ns) {
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", std::abs(ns) / 1000, std::abs(ns) % 1000);
}

Size parse_step(std::string_view text, const std::string& whole) {
  Size step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || step < 1)
    fail(ErrorKind::usage, "--trace-steps '{}' is not A:B with whole numbers >= 1; write e.g. 10:14", whole);
  return step;
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown host";
}

std::string metadata(const char* what, int rank, int row, const std::string& argument) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{{}}}}})", what, rank, row, argument);
}

constexpr std::string_view header = "{\"displayTimeUnit\":\"ms\",\n\"traceEvents\":[\n";

}  // namespace

TraceWindow parse_trace_window(const std::string& text) {
  const std::string_view view = text;
  const std::size_t colon = view.find(':');
  TraceWindow window;
  window.first = parse_step(view.substr(0, colon), text);
  window.last = colon == std::string_view::npos ? window.first : parse_step(view.substr(colon + 1), text);
  if (window.last < window.first)
    fail(ErrorKind::usage, "--trace-steps '{}': step {} is before step {}; the earlier one goes first", text,
         window.last, window.first);
  return window;
}

Trace::Trace(const Comm& comm, std::filesystem::path file, std::optional<TraceWindow> window)
    : comm_(&comm), file_(std::move(file)), window_(window) {
  process_name_ = fmt::format("rank {} ({})", comm.rank(), host_name());
  name_row(program_row, "program");
  comm.together([&] {
    if (!comm.is_root()) return;
    auto target = std::make_unique<AtomicFile>(file_, Place::given);
    // A pipe or a device takes one trace. JSON may begin with a blank line, and a device that is full tells now.
    in_place_ = target->in_place();
    if (in_place_) return (target_ = std::move(target))->write("\n");
    target->write(std::string(header) + "]}\n");
    target->commit();
  });
  measure_clocks();
}

/// Ping-pong of each rank with rank 0: of the fastest round, rank r's time is held against the middle of rank 0's two.
void Trace::measure_clocks() {
  const Comm& comm = *comm_;
  const auto exchange = [&](int other, std::int64_t value, bool send) {
    if (send)
      check_mpi(MPI_Send(&value, 1, MPI_INT64_T, other, ping_tag, comm.handle()), "MPI_Send");
    else
      check_mpi(MPI_Recv(&value, 1, MPI_INT64_T, other, ping_tag, comm.handle(), MPI_STATUS_IGNORE), "MPI_Recv");
    return value;
  };
  std::vector<std::int64_t> origin{now()};
  comm.broadcast(origin);
  if (comm.is_root()) {
    for (int r = 1; r < comm.size(); ++r) {
      std::int64_t best = std::numeric_limits<std::int64_t>::max(), offset = 0;
      for (int k = 0; k < ping_rounds; ++k) {
        const std::int64_t begin = now();
        exchange(r, 0, true);
        const std::int64_t there = exchange(r, 0, false);
        const std::int64_t end = now();
        if (end - begin >= best) continue;
        best = end - begin;
        offset = there - (begin + best / 2);
      }
      // Ranks of one host have one clock; then the measured offset is noise.
      exchange(r, std::abs(offset) <= best / 2 + 1 ? 0 : offset, true);
    }
  } else {
    for (int k = 0; k < ping_rounds; ++k) {
      exchange(0, 0, false);
      exchange(0, now(), true);
    }
    offset_ = exchange(0, 0, false);
  }
  origin_ = origin[0] + offset_;
}

void Trace::name_row(int row, const std::string& name) {
  if (!on()) return;
  const std::lock_guard lock(mutex_);
  rows_[row] = name;
}

void Trace::add(TraceSlice slice) {
  if (!on()) return;
  const std::lock_guard lock(mutex_);
  if (slices_.size() < max_slices)
    slices_.push_back(std::move(slice));
  else
    ++left_out_;
}

Trace::Scope::Scope(Trace* trace, const char* name, int row) : trace_(trace), name_(name), row_(row) {
  begin_profiler_range(name);
  if (trace_ != nullptr) begin_ = Clock::now();
}

Trace::Scope::~Scope() {
  end_profiler_range();
  if (trace_ == nullptr) return;
  if (row_ == background_row) trace_->name_row(background_row, "background");
  trace_->add({name_, row_, begin_, Clock::now()});
}

/// The lines of this rank, each with a comma and a line break before it.
std::string Trace::events() const {
  const int rank = comm_->rank();
  std::string text;
  const auto append = [&text](const std::string& line) { text += ",\n" + line; };
  append(metadata("process_name", rank, 0, "\"name\":" + quoted(process_name_)));
  append(metadata("process_sort_index", rank, 0, fmt::format("\"sort_index\":{}", rank)));
  for (const auto& [row, name] : rows_) {
    append(metadata("thread_name", rank, row, "\"name\":" + quoted(name)));
    append(metadata("thread_sort_index", rank, row, fmt::format("\"sort_index\":{}", row)));
  }
  for (const TraceSlice& s : slices_) {
    const std::int64_t begin = nanoseconds(s.begin) - origin_, length = nanoseconds(s.end) - nanoseconds(s.begin);
    std::string line = fmt::format(R"({{"name":{},"ph":"X","ts":{},"dur":{},"pid":{},"tid":{},"args":{{"rank":{})",
                                   quoted(s.name), microseconds(begin), microseconds(length), rank, s.row, rank);
    for (const auto& [key, value] :
         {std::pair<const char*, Size>{"step", s.step}, {"part", s.part}, {"rows", s.rows}, {"bytes", s.bytes}})
      if (value >= 0) line += fmt::format(R"(,"{}":{})", key, value);
    append(line + "}}");
  }
  return text;
}

void Trace::write(bool end) {
  if (!on()) return;
  const Comm& comm = *comm_;
  std::string mine;
  Size left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    mine = events();
    left_out = left_out_;
  }
  left_out = comm.sum(left_out);
  if (!comm.is_root()) {
    send_bytes(comm, std::span<const char>(mine), 0, events_tag);
    return;
  }
  std::vector<std::vector<char>> others;
  for (int r = 1; r < comm.size(); ++r) others.push_back(receive_bytes(comm, r, events_tag));
  const std::string footer = fmt::format(
      "\n],\n\"otherData\":{{\"program\":\"tutti\",\"ranks\":{},\"slices_left_out\":{}}}}}\n", comm.size(), left_out);
  std::vector<std::string_view> pieces{header, std::string_view(mine).substr(2)};  // no comma before the first
  for (const auto& text : others) pieces.emplace_back(text.data(), text.size());
  pieces.emplace_back(footer);
  try {
    if (!in_place_) {
      write_file(file_, pieces, Place::given);
    } else if (end && target_) {
      const auto target = std::move(target_);
      for (const auto& piece : pieces) target->write(piece);
      target->commit();
    }
  } catch (const Error& error) {
    warn("the trace is incomplete: {}", error.what());
  }
  if (left_out > 0) warn("{}: {} slices were left out; trace fewer steps", file_.string(), left_out);
}

}  // namespace tutti
