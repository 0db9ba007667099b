// The policies of residency on a kernel like the volume term of a discontinuous Galerkin method (volume_term.hpp),
// whose coefficients take 15.4 kB a row: formats of resident rows beside the triad, and all policies under a cap of
// memory beside the rate of copies.
//
// bench_residency [cuda|cpu|fake] [CAP in MB] [SECONDS a figure] [FILE.json], default cuda (cpu where there is none)
// 1000 0.3: two minutes, 6 GB of host memory and 3 GB of the GPU's. Arrays have 1, 1.5 and 3 times the cap. Exit code
// 1: a result is not what it must be.
#include <fmt/core.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "bench/gpu_timing.hpp"
#include "bench/volume_term.hpp"
#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/residency/choose.hpp"

namespace tutti {
namespace {

namespace vt = volume_term;
constexpr double double_row = 8.0 * vt::row_width;
constexpr double own_bytes = 16.0 * vt::values_a_row;  // state and result of a row

struct Figures {
  std::vector<std::string> json;
  bool wrong = false;
};

/// Rows of smooth functions times a metric that changes from row to row.
RowSource make_source(Lid rows, Threads& threads) {
  std::vector<double> shape(vt::row_width);
  for (int k = 0; k < vt::row_width; ++k) {
    const bool basis = k < vt::basis_values;
    const int j = basis ? k : k - vt::basis_values;
    const int q = basis ? j % vt::points : j / (vt::modes * vt::directions), i = basis ? j / vt::points : j % vt::modes;
    shape[k] = std::cos(0.37 * (q + 1) + 0.83 * i) / (1 + 0.1 * i) * (basis ? 1 : 0.02);
  }
  const auto fill = [shape, &threads](Range range, std::span<double> values) {
    threads.for_range(range.size(), [&](Size begin, Size end) {
      for (Size k = begin; k < end; ++k) {
        const auto r = static_cast<std::uint64_t>(range.begin + k);
        double metric[4];
        for (std::uint64_t d = 0; d < 4; ++d) metric[d] = 1 + 0.12 * (2 * random_unit(d, r) - 1);
        double* const row = values.data() + k * vt::row_width;
        for (int j = 0; j < vt::row_width; ++j) {
          const int d = j < vt::basis_values ? 3 : (j - vt::basis_values) / vt::modes % vt::directions;
          row[j] = shape[j] * metric[d];
        }
      }
    });
  };
  return {"coefficients", rows, vt::row_width, fill};
}

struct State {
  Buffer<double> u, out;
  Lid rows;
  State(Stream& stream, Lid count) : rows(count) {
    std::vector<double> values(static_cast<std::size_t>(count) * vt::values_a_row);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::size_t v = k % vt::values_a_row / vt::modes, i = k % vt::modes;
      const double wave = 0.1 * (random_unit(9, k) - 0.5) / static_cast<double>(1 + i);
      values[k] = i > 0 ? wave : v == 0 ? 4 : v == 4 ? 40 : wave;
    }
    u = make_buffer(stream, std::span<const double>(values), "state");
    out = Buffer<double>(stream.device(), static_cast<Size>(values.size()), "result");
  }
  static Size bytes(Lid count) { return static_cast<Size>(count) * vt::values_a_row * 16; }
};

void pass(Residency& array, State& state) {
  for_each_chunk(array, [&](Range rows, const auto& access) {
    vt::launch(array.stream(), rows, access, state.u.data(), state.out.data());
  });
}

/// Result of the first and last rows.
std::vector<double> some_results(Stream& stream, State& state) {
  const std::size_t count = static_cast<std::size_t>(std::min<Lid>(state.rows, 500)) * vt::values_a_row;
  std::vector<double> values(2 * count);
  download(stream, std::span<double>(values).first(count), state.out.data());
  download(stream, std::span<double>(values).last(count),
           state.out.data() + static_cast<Size>(state.rows) * vt::values_a_row - static_cast<Size>(count));
  return values;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double lost = 0, all = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    lost += (a[k] - b[k]) * (a[k] - b[k]);
    all += b[k] * b[k];
  }
  return std::sqrt(lost / all);
}

/// Seconds of the fastest pass.
double time_passes(Residency& array, State& state, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
  double best = 1e30;
  const auto start = Clock::now();
  for (int k = 0; k < 4 || since(start) < seconds; ++k) {
    const auto begin = Clock::now();
    pass(array, state);
    array.stream().synchronize();
    if (k > 0) best = std::min(best, since(begin));
  }
  return best;
}

struct Bench {
  Threads threads;
  std::string kind;
  double seconds;
  Bandwidth bandwidth;
  Figures figures;

  Bench(const std::string& device_kind, double figure_seconds)
      : threads(static_cast<int>(allowed_cores().size())), kind(device_kind), seconds(figure_seconds) {}

  std::unique_ptr<Device> make(Size memory) {
    if (kind == "cpu") return make_host_device(threads, memory);
    FakeOptions fake;
    fake.memory = memory;
    if (kind == "fake") return make_fake_device(0, fake);
    return make_cuda_device(0, memory);
  }

  void measure() {
    const auto device = make(Size{4} << 30);
    bandwidth = measure_bandwidth(*device, MeasureLimits::quick());
    fmt::print("{}: triad {:.0f} GB/s, copies to it {:.1f} GB/s\n", device->description(), 1e-9 * bandwidth.triad,
               1e-9 * bandwidth.copy_to_device);
    figures.json.push_back(
        fmt::format(R"({{"triad": {:.4e}, "copy_to_device": {:.4e}}})", bandwidth.triad, bandwidth.copy_to_device));
  }

  void formats(Lid rows);
  void capped(Lid rows, Size cap, double ratio);
  void one_policy(Stream& stream, State& state, const RowSource& source, const ResidencyOptions& options, double ratio,
                  const std::vector<double>& expected);
  void report(const std::string& name, const Residency& array, double ratio, double took, double lost);
};

/// The kernel for one thread a row, which a CPU runs, on the same device.
std::vector<double> reference(Stream& stream, State& state, Residency& array) {
  for_each_chunk(array, [&](Range rows, const auto& access) {
    for_each(stream, rows, vt::Kernel<std::decay_t<decltype(access)>>{access, state.u.data(), state.out.data()});
  });
  return some_results(stream, state);
}

void Bench::formats(Lid rows) {
  const auto device = make(State::bytes(rows) + static_cast<Size>(double_row * rows) + 4096);
  const auto stream = device->make_stream("bench");
  State state(*stream, rows);
  const RowSource source = make_source(rows, threads);
  std::vector<double> expected;
  fmt::print("\n{} rows of {} values, {:.2f} GB as doubles, all on the device\n", rows, vt::row_width,
             1e-9 * double_row * rows);
  for (const auto& [format, rate] : {std::pair{ValueFormat::doubles, 0},
                                     {ValueFormat::floats, 0},
                                     {ValueFormat::int32, 0},
                                     {ValueFormat::int16, 0},
                                     {ValueFormat::zfp, 32},
                                     {ValueFormat::zfp, 24},
                                     {ValueFormat::zfp, 16},
                                     {ValueFormat::zfp, 48}}) {
    ResidencyOptions options;
    options.policy = is_exact(format) ? Policy::resident : Policy::compressed;
    options.format = format;
    options.rate = rate == 0 ? 32 : rate;
    options.group = vt::scale_group;
    options.parallel = parallel_for(threads);
    Residency array(*stream, source, options);
    const std::vector<double> slow = reference(*stream, state, array);
    const double took = time_passes(array, state, seconds);
    const std::vector<double> result = some_results(*stream, state);
    if (expected.empty()) expected = result;
    if (!(difference(result, slow) < 1e-12)) {
      fmt::print("the kernel of a warp per row differs by {:.1e}\n", difference(result, slow));
      figures.wrong = true;
    }
    const double lost = difference(result, expected);
    if (!(lost <= 1e3 * array.loss() + 1e-15)) figures.wrong = true;
    report(array.layout().name(), array, 0, took, lost);
  }
}

void Bench::report(const std::string& name, const Residency& array, double ratio, double took, double lost) {
  const Placement& place = array.placement();
  const double rows = place.rows, bytes = static_cast<double>(array.layout().row_bytes) + own_bytes;
  const ResidencyCounts& counts = array.counts();
  const double brought =
      static_cast<double>(counts.bytes_brought) / static_cast<double>(std::max<Size>(counts.passes, 1));
  fmt::print(
      "{:<26} {:>9.3f} ms  {:>8.2f} ns per row  {:>6.0f} GB/s, {:>5.3f} of the triad  loss {:.1e}, of the result "
      "{:.1e}",
      name, 1e3 * took, 1e9 * took / rows, 1e-9 * bytes * rows / took, bytes * rows / took / bandwidth.triad,
      array.loss(), lost);
  if (brought > 0)
    fmt::print("  brings {:.2f} GB, {:.1f} GB/s, {:.3f} of copies", 1e-9 * brought, 1e-9 * brought / took,
               brought / took / bandwidth.copy_to_device);
  fmt::print("\n");
  std::fflush(stdout);
  figures.json.push_back(fmt::format(
      R"({{"name": "{}", "times_cap": {}, "rows": {}, "row_bytes": {}, "seconds": {:.6e}, "ns_a_row": {:.4f}, "of_triad": {:.4f}, )"
      R"("loss": {:.3e}, "result_difference": {:.3e}, "bytes_brought": {:.6e}, "of_copies": {:.4f}}})",
      name, ratio, place.rows, array.layout().row_bytes, took, 1e9 * took / rows, bytes * rows / took / bandwidth.triad,
      array.loss(), lost, brought, brought / took / bandwidth.copy_to_device));
}

void Bench::one_policy(Stream& stream, State& state, const RowSource& source, const ResidencyOptions& options,
                       double ratio, const std::vector<double>& expected) {
  try {
    const Choice choice = make_residency(stream, source, options, [&](Residency& array) { pass(array, state); });
    Residency& array = *choice.residency;
    const Trial& best = choice.trials[choice.best];
    const double took = time_passes(array, state, seconds);
    const double lost = difference(some_results(stream, state), expected);
    if (is_exact(array.layout().format) && lost != 0) figures.wrong = true;
    const bool is_auto = options.policy == Policy::automatic;
    report(is_auto ? fmt::format("auto {:.0e}: {}", options.tolerance, best.name()) : best.name(), array, ratio, took,
           lost);
  } catch (const Error& error) {
    fmt::print("{:<26} {}\n", policy_name(options.policy), error.what());
  }
}

void Bench::capped(Lid rows, Size cap, double ratio) {
  fmt::print("\n{} rows, {:.2f} GB as doubles, {} times what they may take\n", rows, 1e-9 * double_row * rows, ratio);
  const RowSource source = make_source(rows, threads);
  ResidencyOptions options;
  options.group = vt::scale_group;
  options.parallel = parallel_for(threads);
  options.chunk_bytes = std::min(options.chunk_bytes, cap / 16);
  std::vector<double> expected;
  {
    const auto device = make(State::bytes(rows) + static_cast<Size>(double_row * rows) + 4096);
    const auto stream = device->make_stream("bench");
    State state(*stream, rows);
    Residency array(*stream, source, options);
    const double took = time_passes(array, state, seconds);
    expected = some_results(*stream, state);
    report("without a cap: resident", array, ratio, took, 0);
  }
  const auto device = make(State::bytes(rows) + cap);
  const auto stream = device->make_stream("bench");
  State state(*stream, rows);
  const auto run = [&](Policy policy, ValueFormat format, double tolerance = 0) {
    options.policy = policy;
    options.format = format;
    options.tolerance = tolerance;
    one_policy(*stream, state, source, options, ratio, expected);
  };
  for (const Policy policy : {Policy::streamed, Policy::overlaid, Policy::managed}) run(policy, ValueFormat::doubles);
  for (const ValueFormat format : {ValueFormat::int32, ValueFormat::zfp}) run(Policy::streamed, format);
  options.pinned = false;
  fmt::print("rows in ordinary memory: ");
  run(Policy::streamed, ValueFormat::doubles);
  options.pinned = true;
  for (const double tolerance : {0.0, 1e-7}) run(Policy::automatic, ValueFormat::doubles, tolerance);
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  using namespace tutti;
  const std::string kind = argc > 1 ? argv[1] : cuda_device_count() > 0 ? "cuda" : "cpu";
  const double cap = 1e6 * (argc > 2 ? std::atof(argv[2]) : 1000);
  const double seconds = argc > 3 ? std::atof(argv[3]) : 0.3;
  try {
    Bench bench(kind, seconds);
    bench.measure();
    const auto rows_of_cap = [&](double ratio) { return static_cast<Lid>(ratio * cap / double_row); };
    bench.formats(rows_of_cap(1.0));
    for (const double ratio : {1.0, 1.5, 3.0}) bench.capped(rows_of_cap(ratio), static_cast<Size>(cap), ratio);
    if (argc > 4) std::ofstream(argv[4]) << fmt::format("[{}]\n", fmt::join(bench.figures.json, ",\n"));
    if (bench.figures.wrong) fmt::print("a result is wrong\n");
    return bench.figures.wrong ? 1 : 0;
  } catch (const Error& error) {
    fmt::print("bench_residency: {}\n", error.what());
    return error.exit_code();
  }
}
