#include "tutti/models/transport/transport_rate.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "tutti/mesh/sphere/nearest.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"
#include "tutti/models/transport/stencils/sliced_stencils.hpp"
#include "tutti/partition/partition.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {
namespace {

/// Stencils of Fibonacci's nodes along a Hilbert curve, as often as need be, behind each other.
std::vector<Lid> sample_stencils(Gid nodes, int copies, int size) {
  const NodeCloud cloud = fibonacci_nodes(nodes);
  const auto order = order_rows(Ordering::hilbert, cloud.points, {});
  std::vector<Vec3> points;
  for (const Lid i : order) points.push_back(cloud.points[i]);
  const NearestNodes nearest(points);
  std::vector<Lid> stencils;
  std::vector<Gid> found(size);
  for (const Vec3& point : points) {
    nearest.find(point, size, found);
    stencils.insert(stencils.end(), found.begin(), found.end());
  }
  const std::size_t one = stencils.size();
  stencils.reserve(one * static_cast<std::size_t>(copies));
  for (std::size_t i = one; i < one * static_cast<std::size_t>(copies); ++i)
    stencils.push_back(stencils[i - one] + static_cast<Lid>(nodes));
  return stencils;
}

double measure_rate(Device& device, Threads& threads, const TransportCase& transport, std::span<const Lid> stencils) {
  const int size = transport.basis.size, tracers = static_cast<int>(transport.tracers.size());
  const bool steady = transport.steady();
  std::vector<PartStreams> parts;
  parts.emplace_back(device);
  Stream& stream = *parts[0].compute;
  const SlicedStencils rows(
      stream, stencils, {size, transport.operators(), steady ? Joined::summed : Joined::velocity, transport.kernel},
      [](std::size_t, int, std::size_t) { return 1e-3; }, parallel_for(threads));
  const auto n = static_cast<Lid>(stencils.size() / static_cast<std::size_t>(size));
  const std::vector<double> values(static_cast<std::size_t>(n) * static_cast<std::size_t>(std::max(tracers, 2)), 1.0);
  const auto make = [&](const char* name) { return make_buffer(stream, std::span<const double>(values), name); };
  auto q = make("tracers of the sample"), next = make("stage of the sample"), total = make("sum of the sample");
  auto along = make("velocity of the sample");
  // As in a run: through the team on a CPU, ahead of a GPU.
  Step step(threads, parts, transport.row_cost());
  step.compute("sample", 0, Step::Role::interior, {0, n}, [&](Stream& on, Range range) {
    rows.apply(on, range, tracers, q.data(), steady ? nullptr : along.data(),
               RungeKuttaMiddle{q.data(), next.data(), total.data(), 1e-3, 1e-3});
  });
  step.finish(Overlap::full);
  return static_cast<double>(n) / sample_seconds(step);
}

}  // namespace

MeasureRate stencil_rate(const TransportCase& transport, Threads& threads) {
  // The last sample is kept for the next device.
  struct Sample {
    Gid nodes = 0;
    int copies = 0;
    std::vector<Lid> stencils;
  };
  return [transport, &threads, sample = std::make_shared<Sample>()](Device& device, Gid rows) {
    constexpr Gid large = 50'000;
    const int size = transport.basis.size;
    const Gid most = std::numeric_limits<Lid>::max() / (8 * size);
    const Gid nodes = std::clamp<Gid>(rows, size, large);
    const int copies = static_cast<int>(std::max<Gid>(1, std::min(rows, most) / nodes));
    if (sample->nodes != nodes || sample->copies != copies)
      *sample = {nodes, copies, sample_stencils(nodes, copies, size)};
    return measure_rate(device, threads, transport, sample->stencils);
  };
}

}  // namespace tutti
