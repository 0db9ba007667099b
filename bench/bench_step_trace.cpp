// What a step costs besides its arithmetic, and what a trace adds: the graph of a box of 303,918 cells on the CPU, with
// kernels that do nothing.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <filesystem>

#include "tutti/device/threads.hpp"
#include "tutti/schedule/step_tracer.hpp"

namespace tutti {
namespace {

constexpr Lid rows = 303'918;

void run_steps(benchmark::State& state, bool traced) {
  const Comm comm;
  Threads threads(static_cast<int>(state.range(0)));
  const auto device = make_host_device(threads, Size{1} << 30);
  std::vector<PartStreams> parts;
  parts.emplace_back(*device);
  Step step(threads, parts);
  step.compute("interior", 0, Step::Role::interior, {0, rows}, [](Stream&, Range) {});
  step.finish(Overlap::full);
  const auto path = std::filesystem::temp_directory_path() / "tutti_bench_step_trace.json";
  const auto trace =
      traced ? std::make_unique<Trace>(comm, path, TraceWindow{1, 1'000'000}) : std::make_unique<Trace>();
  StepTracer tracer(comm, *trace, {&step}, 1, 1'000'000);
  Size k = 0;
  for (auto _ : state) {
    tracer.begin(++k);
    step.run();
    tracer.end(k);
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

void trace_off(benchmark::State& state) {
  run_steps(state, false);
}
void trace_on(benchmark::State& state) {
  run_steps(state, true);
}
// So many steps stay below Trace::max_slices.
BENCHMARK(trace_off)->Arg(1)->Arg(2)->Iterations(10'000)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(trace_on)->Arg(1)->Arg(2)->Iterations(10'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  MPI_Finalize();
  return 0;
}
