// Parts as weighted Voronoi cells: balanced k-means.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/partition/symmetric_graph.hpp"

namespace tutti {

class Stream;

struct VoronoiOptions {
  double imbalance = 0.02;  ///< parts may miss their quota by this part of it, or one row
  int lloyd_steps = 50;     ///< centres move to the middle of their points, at most so often
  int balance_passes = 20;  ///< between two such steps
  int last_passes = 200;    ///< with the centres where they are
  /// Passes run on this stream's device, with the same result; null: on the threads of the host.
  Stream* stream = nullptr;
  bool by_groups = true;    ///< on a GPU: kernels made for it; else the portable ones
  std::vector<Vec3> seeds;  ///< first centres, one a part; empty: along the Hilbert curve
};

/// Seconds.
struct VoronoiTimes {
  double upload = 0;      ///< of the points, to the device
  double allocation = 0;  ///< for all arrays on the device
  double order = 0;       ///< along the curve
  double passes = 0;
  double result = 0;  ///< to the host, and the last rows levelled
};

struct VoronoiResult {
  std::vector<std::int32_t> part;
  int passes = 0;  ///< over samples and over all points; each needs the sums of 4 values a part
  VoronoiTimes times;
};

/// Every point goes to the part p with the smallest |x - c_p|^2 w_p. Influences w_p grow with the part's size over its
/// quota, w *= clamp(sqrt(size / quota), .9, 1.1), and centres c_p move to the middles of their points (von Looz,
/// Tzovas, Meyerhenke, "Balanced k-means for Parallel Geometric Partitioning", ICPP 2018; McGuinness 2011,
/// section 2.2). First on samples of the points, four times as many each time. Boxes of 256 points along the Hilbert
/// curve skip the centres that cannot be the nearest of any of them. What the passes leave out of balance is moved
/// point by point. `quotas` > 0, sum up to the points; no part stays empty. Deterministic, for any number of threads.
/// Errors: input (a coordinate is not finite).
VoronoiResult voronoi_parts(std::span<const Vec3> points, std::span<const Gid> quotas,
                            const VoronoiOptions& options = {}, const ParallelFor& parallel = {});

/// Seconds.
struct RefineTimes {
  double upload = 0;      ///< of graph and parts, to the device
  double allocation = 0;  ///< for all arrays on the device
  double sweeps = 0;
  double result = 0;  ///< to the host
};

/// Boundary refinement: rows go to the neighbouring part that most of their neighbours are in, as long as the quotas
/// allow it (give or take `imbalance`); a part's smaller pieces go to the parts around them. All rows at a time: a row
/// that would go looks at what its neighbours would do, and stays for a sweep when it has gone. With `stream` on its
/// device: the same parts. Deterministic, for any number of threads. Error(resource): no room on the device.
RefineTimes refine_parts(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, double imbalance,
                         std::span<std::int32_t> part, Stream* stream = nullptr, const ParallelFor& parallel = {});

}  // namespace tutti
