// The Voronoi partitioner on the points of a cube, phase by phase, on threads and on a device.
// bench_voronoi [POINTS] [PARTS] [DEVICE] [THREADS], default 1000000 16 cpu 2.
// One GPU: bench_voronoi 1400000 16 cuda:0 16; bench_voronoi 10000000 1024 cuda:0 16.
// With nodes:N for POINTS the nodes of N^3 cubes of Kuhn's tetrahedra, moved a little, and the refinement of their
// parts; then beside METIS with their graph: taskset -c 0,1 bench_voronoi nodes:112 16 cpu 2.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>

#include "tutti/base/random.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/partition/partition.hpp"
#include "tutti/partition/quotas.hpp"
#include "tutti/partition/voronoi/voronoi.hpp"

namespace tutti {
namespace {

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Cubes of Kuhn's tetrahedra: a node is tied to those that are 1 away in one, two or three directions of one sign.
Adjacency kuhn_graph(Gid n) {
  Adjacency graph;
  for (Gid z = 0; z < n; ++z)
    for (Gid y = 0; y < n; ++y)
      for (Gid x = 0; x < n; ++x) {
        for (const Gid step : {-1, 1})
          for (int way = 1; way < 8; ++way) {
            const Gid i = x + (way & 1 ? step : 0), j = y + (way & 2 ? step : 0), k = z + (way & 4 ? step : 0);
            if (std::min({i, j, k}) >= 0 && std::max({i, j, k}) < n) graph.columns.push_back((k * n + j) * n + i);
          }
        graph.close_row();
      }
  return graph;
}

std::vector<Vec3> kuhn_points(Gid n) {
  std::vector<Vec3> points;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n * n * n); ++i) {
    const auto at = static_cast<Gid>(i);
    const auto moved = [&](std::uint64_t k) { return 0.5 * (random_unit(2, 3 * i + k) - 0.5); };
    points.push_back({static_cast<double>(at % n) + moved(0), static_cast<double>(at / n % n) + moved(1),
                      static_cast<double>(at / (n * n)) + moved(2)});
  }
  return points;
}

/// What each partitioner of the nodes costs and cuts.
void run_nodes(const Adjacency& graph, std::span<const Vec3> points, std::size_t parts, DeviceSet& devices) {
  fmt::print("{} nodes, {} parts, {} threads\n", points.size(), parts, devices.threads->count());
  for (const bool equal : {true, false}) {
    std::vector<double> targets(parts, 1.0);
    for (std::size_t p = 1; p < parts && !equal; p += 2) targets[p] = 3;
    const auto line = [&](const char* name, Partitioner method, bool with_graph) {
      const PartitionInput input{with_graph ? &graph : nullptr, points, static_cast<Gid>(points.size()),
                                 parallel_for(*devices.threads), first_gpu(devices)};
      const auto begin = std::chrono::steady_clock::now();
      const std::clock_t cores = std::clock();
      const auto owner = partition_rows(input, targets, method);
      const double seconds = since(begin), core_seconds = static_cast<double>(std::clock() - cores) / CLOCKS_PER_SEC;
      const PartitionQuality q = assess_partition(graph, owner, targets);
      Gid ghosts = 0;
      int pieces = 0;
      for (std::size_t p = 0; p < parts; ++p) ghosts += q.ghosts[p], pieces += q.components[p];
      fmt::print(
          "{:<6} {:<22} {:>8.1f} ms, of cores {:>8.1f} ms  imbalance {:.4f}  cut {:>9}  ghosts {:>9}  pieces {}\n",
          equal ? "equal" : "1:3", name, 1e3 * seconds, 1e3 * core_seconds, q.imbalance, q.cut / 2, ghosts, pieces);
    };
    line("METIS", Partitioner::metis, true);
    line("Hilbert's curve", Partitioner::hilbert, false);
    line("Voronoi", Partitioner::voronoi, false);
    line("Voronoi, refined", Partitioner::voronoi, true);
  }
}

/// The phases of the best of five runs, or of fewer that take three seconds; of the refinement, too, where there is a
/// graph.
void run_phases(std::span<const Vec3> points, const SymmetricGraph& graph, std::size_t parts, const std::string& name,
                const VoronoiOptions& options, const ParallelFor& parallel) {
  const auto quotas = row_quotas(static_cast<Gid>(points.size()), std::vector<double>(parts, 1.0));
  const std::vector<std::int32_t> wanted(quotas.begin(), quotas.end());
  const auto best_of_some = [](const auto& call) {
    const auto start = std::chrono::steady_clock::now();
    auto kept = call();
    double least = since(start);
    for (int k = 0; k < 5 && since(start) < 3; ++k) {
      const auto begin = std::chrono::steady_clock::now();
      auto result = call();
      const double seconds = since(begin);
      if (seconds < least) least = seconds, kept = std::move(result);
    }
    return std::pair(least, std::move(kept));
  };
  const auto [seconds, result] = best_of_some([&] { return voronoi_parts(points, quotas, options, parallel); });
  std::vector<Gid> rows(parts, 0);
  for (const std::int32_t p : result.part) ++rows[static_cast<std::size_t>(p)];
  double worst = 0;
  for (std::size_t p = 0; p < parts; ++p)
    worst = std::max(worst, std::abs(static_cast<double>(rows[p]) / static_cast<double>(quotas[p]) - 1));
  const VoronoiTimes& t = result.times;
  fmt::print(
      "{:<16} {:>9} points {:>5} parts {:>9.2f} ms without the upload: allocation {:.2f}, order {:.2f}, {} passes "
      "{:.2f}, "
      "result {:.2f}; upload {:.2f}; imbalance {:.2f} %\n",
      name, points.size(), parts, 1e3 * (seconds - t.upload), 1e3 * t.allocation, 1e3 * t.order, result.passes,
      1e3 * t.passes, 1e3 * t.result, 1e3 * t.upload, 100 * worst);
  if (graph.rows() == 0) return;
  const auto [refining, times] = best_of_some([&] {
    auto part = result.part;
    return refine_parts(graph, wanted, options.imbalance, part, options.stream, parallel);
  });
  fmt::print(
      "{:<16} refinement {:>9.2f} ms without the upload: allocation {:.2f}, sweeps {:.2f}, result {:.2f}; upload "
      "{:.2f}\n",
      name, 1e3 * (refining - times.upload), 1e3 * times.allocation, 1e3 * times.sweeps, 1e3 * times.result,
      1e3 * times.upload);
}

void run(int count, char** words) {
  const std::string first = count > 1 ? words[1] : "";
  const bool nodes = first.starts_with("nodes:");
  const Gid n = nodes ? std::atoll(first.c_str() + 6) : count > 1 ? std::atoll(words[1]) : 1'000'000;
  const auto parts = static_cast<std::size_t>(count > 2 ? std::atoi(words[2]) : 16);
  const std::string name = count > 3 ? words[3] : "cpu";
  DeviceOptions device_options;
  device_options.threads = count > 4 ? std::atoi(words[4]) : 2;
  const Comm comm;
  DeviceSet devices = open_devices(name, comm, device_options);
  const ParallelFor parallel = parallel_for(*devices.threads);
  std::vector<Vec3> points;
  for (std::uint64_t i = 0; !nodes && i < static_cast<std::uint64_t>(n); ++i)
    points.push_back({random_unit(1, 3 * i), random_unit(1, 3 * i + 1), random_unit(1, 3 * i + 2)});
  if (nodes) points = kuhn_points(n);
  const Adjacency directed = nodes ? kuhn_graph(n) : Adjacency{};
  const SymmetricGraph graph = nodes ? symmetrise(directed) : SymmetricGraph{};

  VoronoiOptions options;
  run_phases(points, graph, parts, "threads", options, parallel);
  if (const auto device = first_gpu(devices)) {
    const auto stream = device->make_stream("voronoi");
    options.stream = stream.get();
    run_phases(points, graph, parts, name, options, parallel);
    options.by_groups = false;
    run_phases(points, graph, parts, name + ", portable", options, parallel);
  }
  if (nodes) run_nodes(directed, points, parts, devices);
}

}  // namespace
}  // namespace tutti

int main(int count, char** words) {
  int provided = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  try {
    tutti::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_voronoi: {}\n", error.what());
    return 1;
  }
  MPI_Finalize();
  return 0;
}
