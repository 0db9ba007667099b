// Checkpoints beside what dd writes: the same bytes onto the same disk, made durable, in turns.
//
// bench_checkpoint [FOLDER] [ROWS] [ROUNDS]; also under mpirun. ROWS rows of one double field, in equal parts.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"

namespace tutti {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Seconds that dd takes for so many bytes with fsync at the end.
double time_dd(const std::filesystem::path& file, Size bytes) {
  const std::string command = fmt::format(
      "dd if=/dev/zero of='{}' bs=4M count={} iflag=count_bytes conv=fsync 2>/dev/null", file.string(), bytes);
  std::filesystem::remove(file);
  const auto start = std::chrono::steady_clock::now();
  if (std::system(command.c_str()) != 0) fail(ErrorKind::resource, "dd failed: {}", command);
  const double seconds = seconds_since(start);
  std::filesystem::remove(file);
  return seconds;
}

void measure(const Comm& comm, const std::filesystem::path& folder, Size rows, int rounds) {
  IndexMap map;
  map.part = comm.rank();
  const Gid first = rows * comm.rank() / comm.size(), end = rows * (comm.rank() + 1) / comm.size();
  map.owned = static_cast<Lid>(end - first);
  map.interior = map.owned;
  map.global.resize(map.owned);
  std::iota(map.global.begin(), map.global.end(), first);
  std::vector<double> u(map.global.size());
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = random_unit(1, static_cast<std::uint64_t>(map.global[i]));
  std::vector<int> rank_of_part(comm.size());
  std::iota(rank_of_part.begin(), rank_of_part.end(), 0);

  ModelState state;
  state.fields.push_back(
      {"u", 1, [&](std::size_t, std::span<double> values) { std::copy(u.begin(), u.end(), values.begin()); }, {}});
  state.maps = {&map, 1};
  state.rank_of_part = rank_of_part;
  state.rows = rows;
  CheckpointWriter writer(comm, state, folder / "checkpoints", 2, "bench");

  std::vector<double> ours, theirs;
  double blocked = 0;
  Size bytes = 0;
  for (int round = 0; round < rounds; ++round) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    writer.begin(round + 1, 0, "{}");
    blocked += comm.max(seconds_since(start)) / rounds;
    writer.finish();
    ours.push_back(comm.max(seconds_since(start)));
    if (const auto report = writer.take_report()) bytes = report->bytes;
    if (comm.is_root()) theirs.push_back(time_dd(folder / "dd", bytes));
  }
  if (!comm.is_root()) return;
  const double gb = static_cast<double>(bytes) / 1e9;
  fmt::print(
      "{} rows, {:.3f} GB, {} rank(s), median of {} rounds in turns: checkpoint {:.3f} s = {:.2f} GB/s, dd {:.3f} s = "
      "{:.2f} GB/s, ratio {:.2f}; the steps wait for {:.1f} ms of it\n",
      rows, gb, comm.size(), rounds, median(ours), gb / median(ours), median(theirs), gb / median(theirs),
      median(theirs) / median(ours), 1e3 * blocked);
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int code = 0;
  try {
    const tutti::Size rows = argc > 2 ? std::atoll(argv[2]) : 5'000'000;
    const int rounds = argc > 3 ? std::atoi(argv[3]) : 9;
    tutti::measure(tutti::Comm(), argc > 1 ? argv[1] : ".", std::max<tutti::Size>(rows, 1), std::max(rounds, 1));
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_checkpoint: {}\n", error.what());
    code = 1;
    MPI_Abort(MPI_COMM_WORLD, code);
  }
  MPI_Finalize();
  return code;
}
