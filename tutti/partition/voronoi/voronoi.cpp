#include "tutti/partition/voronoi/voronoi.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tutti/base/error.hpp"
#include "tutti/partition/spatial_order.hpp"
#include "tutti/partition/voronoi/cells.hpp"

namespace tutti {
namespace {

using voronoi::Cells;
using voronoi::Centre;
using voronoi::IntegerSums;

std::size_t at(Gid i) {
  return static_cast<std::size_t>(i);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Sums over a part's points.
struct Sums {
  double x = 0, y = 0, z = 0, points = 0;
};

/// The sums of every part, after a pass.
std::vector<Sums> pass(Cells& cells, std::span<const Centre> centres) {
  std::vector<IntegerSums> counted(centres.size());
  cells.pass(centres, counted);
  std::vector<Sums> sums;
  for (const IntegerSums& s : counted) {
    const auto n = static_cast<double>(s.points);
    const auto sum = [&](std::int64_t count, double low) {
      return low * n + static_cast<double>(count) * cells.counter.unit;
    };
    const Vec3 low = cells.counter.low;
    sums.push_back({sum(s.x, low.x), sum(s.y, low.y), sum(s.z, low.z), n});
  }
  return sums;
}

/// How far the parts are from their shares, in their shares; one row is always allowed.
double imbalance_of(const std::vector<Sums>& total, std::span<const double> share) {
  double worst = 0;
  for (std::size_t p = 0; p < share.size(); ++p) {
    const double off = std::abs(total[p].points - share[p]);
    if (off > 1) worst = std::max(worst, off / share[p]);
  }
  return worst;
}

void adjust(std::vector<Centre>& centres, const std::vector<Sums>& total, std::span<const double> share) {
  for (std::size_t p = 0; p < centres.size(); ++p)
    centres[p].influence *= std::clamp(std::sqrt(total[p].points / share[p]), 0.9, 1.1);
}

/// Points of the sample for the parts that have none: of the part that has most too many, as far apart as shares of
/// such parts. Fewer where that part has not as many.
std::vector<Vec3> new_places(Cells& cells, std::span<const Vec3> points, Gid stride, std::int32_t donor,
                             std::span<const double> shares_of_empty) {
  const auto label = cells.labels();
  std::vector<Gid> places, rows(shares_of_empty.size());
  std::size_t next = 0;
  for (const double share : shares_of_empty) {
    while (next < label.size() && label[next] != donor) ++next;
    if (next >= label.size()) break;
    places.push_back(static_cast<Gid>(next) * stride);
    next += std::max<std::size_t>(1, static_cast<std::size_t>(share));
  }
  rows.resize(places.size());
  cells.rows_at(places, rows);
  std::vector<Vec3> found;
  for (const Gid row : rows) found.push_back(points[at(row)]);
  return found;
}

/// The largest way of a centre to the middle of its points, in sizes of a part. A part without points starts again at a
/// point of the part that has most too many.
double move_centres(std::vector<Centre>& centres, Cells& cells, const std::vector<Sums>& total,
                    std::span<const Vec3> points, Gid stride, std::span<const double> share, double size) {
  double farthest = 0;
  std::size_t donor = 0;
  std::vector<std::size_t> empty;
  std::vector<double> shares_of_empty;
  for (std::size_t p = 1; p < share.size(); ++p)
    if (total[p].points / share[p] > total[donor].points / share[donor]) donor = p;
  for (std::size_t p = 0; p < centres.size(); ++p) {
    const Sums& s = total[p];
    if (s.points == 0) {
      empty.push_back(p);
      shares_of_empty.push_back(share[p]);
      continue;
    }
    const Vec3 middle = (1 / s.points) * Vec3{s.x, s.y, s.z};
    farthest = std::max(farthest, norm(middle - centres[p].at) / size);
    centres[p].at = middle;
  }
  if (empty.empty()) return farthest;
  const auto found = new_places(cells, points, stride, static_cast<std::int32_t>(donor), shares_of_empty);
  for (std::size_t e = 0; e < found.size(); ++e) centres[empty[e]] = {found[e], centres[donor].influence};
  return std::max(farthest, 1.0);
}

struct State {
  std::vector<Centre> centres;
  int passes = 0;
  std::vector<Gid> kept_points = {};  ///< of every part, by the pass that was kept
};

/// Balances, moves the centres, and so on until they stay; where all points are looked at (stride 1) balances once more
/// and keeps the best.
void settle(State& state, Cells& cells, std::span<const Vec3> points, Gid stride, std::span<const double> share,
            const VoronoiOptions& options) {
  cells.sample(stride);
  const Vec3 sides = cells.lattice.high - cells.lattice.low;
  const double longest = std::max({sides.x, sides.y, sides.z});
  // Side of a cube that holds a part, on average.
  const double size = longest > 0 ? longest / std::cbrt(static_cast<double>(share.size())) : 1;
  std::vector<Sums> total;
  const auto run = [&] {
    total = pass(cells, state.centres);
    ++state.passes;
    return imbalance_of(total, share);
  };
  for (int l = 0; l < options.lloyd_steps; ++l) {
    double imbalance = run();
    for (int q = 1; q < options.balance_passes && imbalance > options.imbalance; ++q) {
      adjust(state.centres, total, share);
      imbalance = run();
    }
    const double moved = move_centres(state.centres, cells, total, points, stride, share, size);
    if (imbalance <= options.imbalance && moved < (stride == 1 ? 2e-3 : 1e-2)) break;
  }
  if (stride > 1) return;
  double least = std::numeric_limits<double>::infinity();
  for (int q = 0; q < options.last_passes; ++q) {
    const double imbalance = run();
    if (imbalance < least) {
      least = imbalance;
      cells.keep();
      state.kept_points.clear();
      for (const Sums& s : total) state.kept_points.push_back(static_cast<Gid>(s.points));
    }
    if (least <= options.imbalance) break;
    adjust(state.centres, total, share);
  }
}

/// Moves points from parts that have too many to those that lack some: those first for which it makes least difference.
/// `size`: of every part.
void level(std::span<const Vec3> points, const std::vector<Centre>& centres, std::span<const Gid> quotas,
           double imbalance, std::vector<Gid> size, std::vector<std::int32_t>& label) {
  const std::size_t k = quotas.size();
  const auto slack = [&](std::size_t p) {
    return std::max<Gid>(1, static_cast<Gid>(imbalance * static_cast<double>(quotas[p])));
  };
  const auto most = [&](std::size_t p) { return quotas[p] + slack(p); };
  const auto fewest = [&](std::size_t p) { return std::max<Gid>(1, quotas[p] - slack(p)); };
  for (std::size_t round = 0; round < 4 * k + 16; ++round) {
    bool over = false, under = false;
    for (std::size_t p = 0; p < k; ++p) {
      over = over || size[p] > most(p);
      under = under || size[p] < fewest(p);
    }
    if (!over && !under) return;
    struct Offer {
      double cost;
      std::size_t point;
      std::int32_t to;
    };
    std::vector<Offer> offers;
    for (std::size_t i = 0; i < label.size(); ++i) {
      const auto from = at(label[i]);
      if (under ? size[from] <= std::max<Gid>(1, fewest(from)) : size[from] <= most(from)) continue;
      Offer best{std::numeric_limits<double>::infinity(), i, -1};
      const double here = distance(points[i], centres[from]);
      for (std::size_t p = 0; p < k; ++p) {
        if (p == from || (under ? size[p] >= fewest(p) : size[p] >= most(p))) continue;
        const double cost = distance(points[i], centres[p]) - here;
        if (cost < best.cost) best = {cost, i, static_cast<std::int32_t>(p)};
      }
      if (best.to >= 0) offers.push_back(best);
    }
    std::sort(offers.begin(), offers.end(),
              [](const Offer& a, const Offer& b) { return a.cost != b.cost ? a.cost < b.cost : a.point < b.point; });
    for (const Offer& o : offers) {
      const auto from = at(label[o.point]), to = at(o.to);
      const bool wanted = under ? size[to] < fewest(to) && size[from] > std::max<Gid>(1, fewest(from))
                                : size[from] > most(from) && size[to] < most(to);
      if (!wanted) continue;
      label[o.point] = o.to;
      --size[from];
      ++size[to];
    }
  }
}

/// Pieces of the curve: what few points get.
void cut_curve(std::span<const Vec3> points, std::span<const Gid> quotas, const ParallelFor& parallel,
               std::span<std::int32_t> part) {
  const auto order = hilbert_order(points, parallel);
  std::size_t i = 0;
  for (std::size_t p = 0; p < quotas.size(); ++p)
    for (Gid q = 0; q < quotas[p]; ++q) part[at(order[i++].row)] = static_cast<std::int32_t>(p);
}

/// The middles of pieces of the curve.
std::vector<Centre> first_centres(Cells& cells, std::span<const Vec3> points, std::span<const Gid> quotas,
                                  std::span<const Vec3> seeds) {
  const auto n = static_cast<Gid>(points.size());
  std::vector<Gid> middles, rows(quotas.size());
  Gid before = 0;
  for (const Gid q : quotas) {
    middles.push_back(std::min(before + q / 2, n - 1));
    before += q;
  }
  if (seeds.empty()) cells.rows_at(middles, rows);
  std::vector<Centre> centres;
  for (std::size_t p = 0; p < quotas.size(); ++p) {
    // Where two cells meet, |x - a|^2 w_a = |x - b|^2 w_b: radii go as the cube roots of volumes.
    const double share = static_cast<double>(quotas[p]) * static_cast<double>(quotas.size()) / static_cast<double>(n);
    centres.push_back({seeds.empty() ? points[at(rows[p])] : seeds[p], std::pow(share, -2.0 / 3)});
  }
  return centres;
}

}  // namespace

VoronoiResult voronoi_parts(std::span<const Vec3> points, std::span<const Gid> quotas, const VoronoiOptions& options,
                            const ParallelFor& parallel) {
  const std::size_t k = quotas.size();
  const auto n = static_cast<Gid>(points.size());
  require(options.seeds.empty() || options.seeds.size() == k, "{} seeds for {} parts", options.seeds.size(), k);
  VoronoiResult result;
  if (points.empty() || k <= 1) {
    lattice_of(points);  // an error where one is not finite
    result.part.assign(points.size(), 0);
    return result;
  }
  if (points.size() < 8 * k) {
    result.part.assign(points.size(), 0);
    cut_curve(points, quotas, parallel, result.part);
    return result;
  }

  auto begin = std::chrono::steady_clock::now();
  const auto cells = options.stream == nullptr ? voronoi::make_host_cells(points, k, parallel)
                                               : voronoi::make_device_cells(*options.stream, points, k,
                                                                            options.by_groups, parallel, result.times);
  result.part.assign(points.size(), 0);  // while a device sorts
  State state{first_centres(*cells, points, quotas, options.seeds)};
  result.times.order = seconds_since(begin) - result.times.upload - result.times.allocation;

  begin = std::chrono::steady_clock::now();
  Gid stride = 1;
  while (n / (4 * stride) >= 200 * static_cast<Gid>(k)) stride *= 4;
  for (; stride >= 1; stride /= 4) {
    const Gid sampled = (n + stride - 1) / stride;
    std::vector<double> share;
    for (const Gid q : quotas)
      share.push_back(static_cast<double>(q) * static_cast<double>(sampled) / static_cast<double>(n));
    settle(state, *cells, points, stride, share, options);
  }
  result.passes = state.passes;
  result.times.passes = seconds_since(begin);

  begin = std::chrono::steady_clock::now();
  cells->owners(result.part);
  level(points, state.centres, quotas, options.imbalance, state.kept_points, result.part);
  result.times.result = seconds_since(begin);
  return result;
}

}  // namespace tutti
