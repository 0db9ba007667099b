// What the CPU kernels of the row operator gain over the portable one, in the cache and in memory, beside the STREAM
// triad.
//   build/release/bench/bench_diffusion_rows
// Reported: bytes a second by the paper's count (216 a row) and `of_P`, the fraction of P = 33/216 x triad of one
// thread.
#include <benchmark/benchmark.h>

#include <map>

#include "tutti/device/threads.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/models/diffusion/diffusion_rate.hpp"
#include "tutti/models/diffusion/rows/operator_rows.hpp"

namespace tutti::diffusion {
namespace {

const DiffusionRows& rows_of(Gid cubes) {
  static std::map<Gid, DiffusionRows> made;
  const auto at = made.find(cubes);
  return at != made.end() ? at->second : made.emplace(cubes, sample_rows(cubes)).first->second;
}

double one_thread_triad() {
  static Threads one(1, {0});
  static const double triad = measure_triad(one);
  return triad;
}

template <RowFormat format, Precision precision, bool tuned>
void apply(benchmark::State& state) {
  Threads threads(1, {0});
  const auto device = make_host_device(threads, Size{1} << 40);
  const auto stream = device->make_stream("bench");
  const DiffusionRows& rows = rows_of(state.range(0));
  const RowOperator op(*stream, rows, format, precision);
  std::vector<double> u(rows.counts.size(), 1.0), next(u.size());
  const Range all{0, op.rows()};
  for (auto _ : state) {
    if constexpr (tuned)
      op.apply(*stream, all, u.data(), nullptr, EulerUpdate{next.data(), 0.1});
    else
      op.apply_portably(*stream, all, u.data(), nullptr, EulerUpdate{next.data(), 0.1});
    benchmark::ClobberMemory();
  }
  const double bytes = 216.0 * static_cast<double>(u.size()) * static_cast<double>(state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["of_P"] = benchmark::Counter(bytes / one_thread_triad(), benchmark::Counter::kIsRate);
}

#define TUTTI_BENCH(format, precision)                             \
  BENCHMARK(apply<RowFormat::format, Precision::precision, false>) \
      ->Name(#format "/" #precision "/portable")                   \
      ->Arg(12)                                                    \
      ->Arg(70);                                                   \
  BENCHMARK(apply<RowFormat::format, Precision::precision, true>)  \
      ->Name(#format "/" #precision "/tuned")                      \
      ->Arg(12)                                                    \
      ->Arg(70)
TUTTI_BENCH(rows, full);
TUTTI_BENCH(blocks, full);
TUTTI_BENCH(sliced, full);
TUTTI_BENCH(rows, compact);
TUTTI_BENCH(sliced, compact);

}  // namespace
}  // namespace tutti::diffusion

BENCHMARK_MAIN();
