// The Voronoi partitioner on the points of a cube: the Hilbert order on the host, then the passes, on threads or on a
// device. bench_voronoi [POINTS] [PARTS] [DEVICE] [THREADS], default 1000000 16 cpu 2.
// One GPU: bench_voronoi 1400000 16 cuda:0 16; bench_voronoi 10000000 1024 cuda:0 16.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tutti/base/random.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/partition/quotas.hpp"
#include "tutti/partition/spatial_order.hpp"
#include "tutti/partition/voronoi/voronoi.hpp"

namespace tutti {
namespace {

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(int count, char** words) {
  const Gid n = count > 1 ? std::atoll(words[1]) : 1'000'000;
  const auto parts = static_cast<std::size_t>(count > 2 ? std::atoi(words[2]) : 16);
  const std::string name = count > 3 ? words[3] : "cpu";
  DeviceOptions options;
  options.threads = count > 4 ? std::atoi(words[4]) : 2;
  const Comm comm;
  DeviceSet devices = open_devices(name, comm, options);
  const ParallelFor parallel = parallel_for(*devices.threads);
  std::vector<Vec3> points;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i)
    points.push_back({random_unit(1, 3 * i), random_unit(1, 3 * i + 1), random_unit(1, 3 * i + 2)});
  const auto quotas = row_quotas(n, std::vector<double>(parts, 1.0));
  auto begin = std::chrono::steady_clock::now();
  hilbert_order(points, parallel);
  const double order = since(begin);
  const auto stream = devices.devices[0]->make_stream("voronoi");
  for (const bool device : {false, true}) {
    VoronoiOptions voronoi;
    if (device) voronoi.stream = stream.get();
    double least = 1e300;
    VoronoiResult result;
    for (int k = 0; k < 3; ++k) {
      begin = std::chrono::steady_clock::now();
      result = voronoi_parts(points, quotas, voronoi, parallel);
      least = std::min(least, since(begin));
    }
    std::vector<Gid> rows(parts, 0);
    for (const std::int32_t p : result.part) ++rows[p];
    double worst = 0;
    for (std::size_t p = 0; p < parts; ++p)
      worst = std::max(worst, std::abs(static_cast<double>(rows[p]) / static_cast<double>(quotas[p]) - 1));
    fmt::print(
        "{:<12} {:>10} points {:>6} parts  {:>9.2f} ms, {:.2f} of them the order, {:>4} passes, imbalance {:.2f} %\n",
        device ? name : "threads", n, parts, 1e3 * least, 1e3 * order, result.passes, 100 * worst);
  }
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
