// The kernels of stencils on one GPU, as a stage of RK4 launches them, each beside the STREAM triad of the same run:
// the portable one, threads a row cut in several ways, a warp a row as the paper has, and cuSPARSE, which applies one
// operator of one tracer and updates nothing.
//
// bench_stencil_kernels [NODES] [SECONDS] [n ...], default 2000000 0.05 31 101: about 20 s. Each way is compared with
// the portable one: in all bits, but for a warp's, which sums in another order. Exit code 1: one of them differs.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

#include "bench/cusparse_peer.hpp"
#include "bench/gpu_timing.hpp"
#include "tutti/base/random.hpp"
#include "tutti/base/raw_vector.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/mesh/sphere/nearest.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"
#include "tutti/models/transport/stencils/stencil_rows_cuda.cuh"
#include "tutti/partition/spatial_order.hpp"

namespace tutti::transport {
namespace {

/// Fibonacci nodes along Hilbert's curve, and the nearest of each: [row * most + j], itself first.
struct Nodes {
  Lid rows;
  int most;
  RawVector<Lid> nearest;

  Nodes(Gid count, int most_, Threads& threads) : rows(static_cast<Lid>(count)), most(most_) {
    const ParallelFor parallel = parallel_for(threads);
    const NodeCloud cloud = fibonacci_nodes(count, parallel);
    std::vector<Vec3> points;
    for (const KeyedRow& row : hilbert_order(cloud.points, parallel)) points.push_back(cloud.points[row.row]);
    const NearestNodes tree(points);
    nearest.resize(count * most);
    threads.for_range(count, [&](Size begin, Size end) {
      std::vector<Gid> found(most);
      for (Size i = begin; i < end; ++i) {
        tree.find(points[i], most, found);
        for (int j = 0; j < most; ++j) nearest[i * most + j] = static_cast<Lid>(found[j]);
      }
    });
  }
  Lid column(Size row, Size j) const { return nearest[row * most + j]; }
};

double weight(Size row, int d, Size j) {
  return 1e-3 * (random_unit(static_cast<std::uint64_t>(d), static_cast<std::uint64_t>(row * 128 + j)) - 0.5);
}

/// Stencils in slices of 2^shift rows.
struct Rows {
  Buffer<double> weights;
  Buffer<Lid> columns;
  StencilView view;

  Rows(Stream& stream, Threads& threads, const Nodes& nodes, int n, int operators, int tracers, int shift) {
    const Size lanes = Size{1} << shift, slices = (nodes.rows + lanes - 1) / lanes, entries = n - 1;
    RawVector<double> w(static_cast<std::size_t>(slices * entries * lanes * operators));
    RawVector<Lid> c(static_cast<std::size_t>(slices * entries * lanes));
    threads.for_range(slices, [&](Size begin, Size end) {
      for (Size s = begin; s < end; ++s)
        for (Size j = 0; j < entries; ++j)
          for (Size lane = 0; lane < lanes; ++lane) {
            const Size at = (s * entries + j) * lanes, row = std::min<Size>(s * lanes + lane, nodes.rows - 1);
            c[at + lane] = nodes.column(row, j + 1);
            for (int d = 0; d < operators; ++d) w[at * operators + d * lanes + lane] = weight(row, d, j);
          }
    });
    weights = make_buffer(stream, std::span<const double>(w), "weights");
    columns = make_buffer(stream, std::span<const Lid>(c), "columns");
    view = {weights.data(), columns.data(), nullptr, n - 1, shift, tracers, 0};
  }
};

template <int operators, int tracers>
struct Portable {
  StencilView view;
  const double* u;
  RungeKuttaMiddle update;
  TUTTI_HD void operator()(Lid row) const { apply_stencil<operators, joined, tracers>(view, u, update, row); }
  static constexpr Joined joined = operators == 3 ? Joined::velocity : Joined::summed;
};

struct Bench {
  Stream& stream;
  Threads& threads;
  const Nodes& nodes;
  double seconds, triad;
  bool failed = false;

  void line(int n, int operators, int tracers, const std::string& name, double time, double bytes) const {
    fmt::print("{:>4} {:>9} {:>7}  {:<36} {:>9.4f} ms {:>8.3f} of the triad\n", n, operators, tracers, name, 1e3 * time,
               nodes.rows * bytes / time / triad);
    std::fflush(stdout);
  }

  template <int operators, int tracers>
  void measure(int n);
  void measure_cusparse(int n);
};

template <int operators, int tracers>
void Bench::measure(int n) {
  constexpr Joined joined = operators == 3 ? Joined::velocity : Joined::summed;
  const Range all{0, nodes.rows};
  const Size values = Size{nodes.rows} * tracers;
  std::vector<double> host(values);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = random_unit(9, i);
  const auto u = make_buffer(stream, std::span<const double>(host), "u");
  const auto start = make_buffer(stream, std::span<const double>(host), "start");
  std::vector<double> speeds(2 * static_cast<std::size_t>(nodes.rows), 0.25);
  const auto along = make_buffer(stream, std::span<const double>(speeds), "along");
  Buffer<double> next(stream.device(), values, "next"), total(stream.device(), values, "total");
  const RungeKuttaMiddle update{start.data(), next.data(), total.data(), 1e-3, 0.0};
  const double bytes = n * (8.0 * operators + 4) + 40.0 * tracers + (operators == 3 ? 16 : 0);
  std::vector<double> expected(host.size()), got(host.size());
  const auto run = [&](const std::string& name, double allowed, const auto& call) {
    upload(stream, next, std::span<const double>(host));
    upload(stream, total, std::span<const double>(host));
    call();
    const bool first = name == "portable";
    download(stream, std::span<double>(first ? expected : got), next);
    if (!first) {
      double worst = 0;
      for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - expected[i]));
      if (!(worst <= allowed)) {
        fmt::print("{}: differs by {}\n", name, worst);
        failed = true;
      }
    }
    line(n, operators, tracers, name, time_of(stream, seconds, call), bytes);
  };
  {
    Rows rows(stream, threads, nodes, n, operators, tracers, 5);
    if (operators == 3) rows.view.along = along.data();
    run("portable", 0, [&] { for_each(stream, all, Portable<operators, tracers>{rows.view, u.data(), update}); });
    const auto way = [&]<int a_row, int mine, bool pairs, int block, int entries>() {
      using Tuning = StencilTuning<block, entries>;
      run(fmt::format("{} thread{} per row, {} of {}", a_row, a_row == 1 ? "" : "s", entries, block), 0, [&] {
        stencils_cuda::launch_threads<operators, joined, a_row, mine, pairs, Tuning>(stream, rows.view, u.data(),
                                                                                     update, all);
      });
    };
    const auto ahead = [&]<int a_row, int mine, int block, int entries>() {
      using Tuning = StencilTuning<block, entries>;
      run(fmt::format("slices ahead, {} thread{} per row, {} of {}", a_row, a_row == 1 ? "" : "s", entries, block), 0,
          [&] {
            stencils_cuda::launch_ahead<operators, joined, a_row, mine, mine == 2, Tuning>(stream, rows.view, u.data(),
                                                                                           update, all, tracers);
          });
    };
    if constexpr (tracers == 1) {
      way.template operator()<1, 1, false, 128, 2>();
      way.template operator()<1, 1, false, 128, 8>();
      way.template operator()<1, 1, false, 32, 10>();
      way.template operator()<1, 1, false, 32, 15>();
      way.template operator()<1, 1, false, 64, 15>();
      ahead.template operator()<1, 1, 128, 4>();
      ahead.template operator()<1, 1, 64, 8>();
    } else if constexpr (tracers % 2 == 1) {
      constexpr int a_row = tracers <= 4 ? 4 : 8;
      way.template operator()<1, tracers, false, 128, 4>();
      way.template operator()<1, tracers, false, 32, 15>();
      way.template operator()<tracers, 1, false, 128, 4>();
      ahead.template operator()<a_row, 1, 128, 2>();
      ahead.template operator()<a_row, 1, 128, 4>();
    } else {
      constexpr int a_row = tracers == 2 ? 1 : tracers == 4 ? 2 : 4;
      way.template operator()<1, tracers, true, 128, 4>();
      way.template operator()<1, tracers, true, 32, 15>();
      way.template operator()<tracers / 2, 2, true, 128, 4>();
      ahead.template operator()<a_row, 2, 128, 2>();
      ahead.template operator()<a_row, 2, 128, 4>();
      ahead.template operator()<a_row, 2, 64, 4>();
    }
  }
  if (tracers > 1) return;
  Rows rows(stream, threads, nodes, n, operators, tracers, 0);
  if (operators == 3) rows.view.along = along.data();
  run("a warp per row", 1e-15,
      [&] { stencils_cuda::launch_warps<operators, joined>(stream, rows.view, u.data(), update, all); });
}

/// One operator; its bytes are its own.
void Bench::measure_cusparse(int n) {
  CsrMatrix matrix;
  std::vector<std::pair<Lid, double>> row;
  for (Lid i = 0; i < nodes.rows; ++i) {
    row.clear();
    for (Size j = 0; j < n; ++j) row.emplace_back(nodes.column(i, j), weight(i, 0, j));
    matrix.add_row(row);
  }
  Buffer<double> u(stream.device(), nodes.rows, "u"), next(stream.device(), nodes.rows, "next");
  CusparsePeer(stream, matrix, 0).measure(u, next, seconds, [&](const std::string& name, double time, double bytes) {
    line(n, 1, 1, name, time, bytes);
  });
}

int bench(int argc, char** argv) {
  const Gid count = argc > 1 ? std::atoll(argv[1]) : 2'000'000;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.05;
  std::vector<int> sizes;
  for (int k = 3; k < argc; ++k) sizes.push_back(std::atoi(argv[k]));
  if (sizes.empty()) sizes = {31, 101};
  Threads threads(static_cast<int>(allowed_cores().size()));
  const Nodes nodes(count, *std::max_element(sizes.begin(), sizes.end()), threads);
  const auto device = make_cuda_device(0);
  const auto stream = device->make_stream("bench");
  Bench b{*stream, threads, nodes, seconds, measure_bandwidth(*device, MeasureLimits::quick()).triad};
  fmt::print("{}, triad {:.0f} GB/s; {} nodes; a stage of RK4, n (8 D + 4) + 40 T bytes per node\n",
             device->description(), b.triad * 1e-9, nodes.rows);
  fmt::print("{:>4} {:>9} {:>7}\n", "n", "operators", "tracers");
  for (const int n : sizes) {
    b.measure<1, 1>(n);
    b.measure<2, 1>(n);
    b.measure<3, 1>(n);
    b.measure<1, 2>(n);
    b.measure<1, 3>(n);
    b.measure<1, 4>(n);
    b.measure<1, 6>(n);
    b.measure<1, 8>(n);
    b.measure<3, 8>(n);
    b.measure_cusparse(n);
  }
  return b.failed ? 1 : 0;
}

}  // namespace
}  // namespace tutti::transport

int main(int argc, char** argv) try {
  return tutti::transport::bench(argc, argv);
} catch (const std::exception& error) {
  fmt::print(stderr, "bench_stencil_kernels: {}\n", error.what());
  return 1;
}
