#include "tutti/partition/voronoi/voronoi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/partition/spatial_order.hpp"
#include "tutti/partition/voronoi/cloud.hpp"
#include "tutti/partition/voronoi/device_pass.hpp"

namespace tutti {
namespace {

using voronoi::block_points;
using voronoi::Box;
using voronoi::Centre;
using voronoi::Cloud;
using voronoi::DevicePass;
using voronoi::IntegerSums;

std::size_t at(Gid i) {
  return static_cast<std::size_t>(i);
}

/// Sums over a part's points.
struct Sums {
  double x = 0, y = 0, z = 0, points = 0;
};

/// Every stride-th point of the order.
Cloud make_cloud(std::span<const Vec3> points, const std::vector<KeyedRow>& order, std::size_t stride) {
  Cloud c;
  const std::size_t n = (order.size() + stride - 1) / stride;
  c.x.resize(n), c.y.resize(n), c.z.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3 p = points[at(order[i * stride].row)];
    c.x[i] = p.x, c.y[i] = p.y, c.z[i] = p.z;
  }
  for (std::size_t begin = 0; begin < n; begin += block_points) {
    Box box{{c.x[begin], c.y[begin], c.z[begin]}, {c.x[begin], c.y[begin], c.z[begin]}};
    for (std::size_t i = begin; i < std::min(n, begin + block_points); ++i) {
      box.low = {std::min(box.low.x, c.x[i]), std::min(box.low.y, c.y[i]), std::min(box.low.z, c.z[i])};
      box.high = {std::max(box.high.x, c.x[i]), std::max(box.high.y, c.y[i]), std::max(box.high.z, c.z[i])};
    }
    c.boxes.push_back(box);
  }
  Vec3 high = c.boxes[0].high;
  c.low = c.boxes[0].low;
  for (const Box& b : c.boxes)
    for (int d = 0; d < 3; ++d) {
      c.low[d] = std::min(c.low[d], b.low[d]);
      high[d] = std::max(high[d], b.high[d]);
    }
  const double longest = std::max({high.x - c.low.x, high.y - c.low.y, high.z - c.low.z});
  c.unit = longest / 2147483647.0;
  const double scale = longest > 0 ? 2147483647.0 / longest : 0;
  const auto counted = [&](const std::vector<double>& values, double low) {
    std::vector<std::int32_t> whole(n);
    for (std::size_t i = 0; i < n; ++i)
      whole[i] = static_cast<std::int32_t>(std::min(2147483647.0, (values[i] - low) * scale + 0.5));
    return whole;
  };
  c.ix = counted(c.x, c.low.x), c.iy = counted(c.y, c.low.y), c.iz = counted(c.z, c.low.z);
  return c;
}

/// One pass: the part of every point, and the sums of every part.
class Pass {
 public:
  Pass(const Cloud& cloud, std::size_t parts, Stream* stream, const ParallelFor& parallel)
      : cloud_(cloud),
        parallel_(parallel),
        pieces_(static_cast<Size>(cloud.boxes.size()), 16),
        sums_(static_cast<std::size_t>(pieces_.number) * parts),
        label_(cloud.size()),
        total(parts) {
    if (stream != nullptr) device_ = std::make_unique<DevicePass>(*stream, cloud, parts);
  }

  void run(const std::vector<Centre>& centres) {
    const std::size_t k = centres.size();
    std::vector<IntegerSums> all(k);
    if (device_) {
      device_->run(centres, all);
      fetched_ = false;
    } else {
      run_here(centres, all);
    }
    for (std::size_t p = 0; p < k; ++p) {
      const auto n = static_cast<double>(all[p].points);
      const auto sum = [&](std::int64_t count, double low) {
        return low * n + static_cast<double>(count) * cloud_.unit;
      };
      total[p] = {sum(all[p].x, cloud_.low.x), sum(all[p].y, cloud_.low.y), sum(all[p].z, cloud_.low.z), n};
    }
  }

 private:
  void run_here(const std::vector<Centre>& centres, std::vector<IntegerSums>& all) {
    const std::size_t k = centres.size();
    pieces_.run(parallel_, [&](Size piece, Size begin, Size end) {
      IntegerSums* sums = sums_.data() + static_cast<std::size_t>(piece) * k;
      std::fill_n(sums, k, IntegerSums{});
      std::vector<std::int32_t> near;
      for (Size b = begin; b < end; ++b) {
        find_near(cloud_.boxes[at(b)], centres, near);
        assign(at(b) * block_points, std::min(cloud_.size(), (at(b) + 1) * block_points), centres, near, sums);
      }
    });
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      IntegerSums& s = all[i % k];
      s.x += sums_[i].x, s.y += sums_[i].y, s.z += sums_[i].z, s.points += sums_[i].points;
    }
  }

  /// Centres that are nearest to some point of the box, maybe: those no farther than the nearest one is at most.
  static void find_near(const Box& box, const std::vector<Centre>& centres, std::vector<std::int32_t>& near) {
    double least = std::numeric_limits<double>::infinity();
    for (const Centre& c : centres) least = std::min(least, farthest(box, c));
    near.clear();
    for (std::size_t p = 0; p < centres.size(); ++p)
      if (nearest(box, centres[p]) <= least * (1 + 1e-12)) near.push_back(static_cast<std::int32_t>(p));
  }

  void assign(std::size_t begin, std::size_t end, const std::vector<Centre>& centres,
              const std::vector<std::int32_t>& near, IntegerSums* sums) {
    double best[block_points];
    std::int32_t* mine = label_.data() + begin;
    const double *x = cloud_.x.data() + begin, *y = cloud_.y.data() + begin, *z = cloud_.z.data() + begin;
    const std::size_t n = end - begin;
    for (std::size_t i = 0; i < n; ++i) best[i] = std::numeric_limits<double>::infinity();
    for (const std::int32_t p : near) {
      const Centre c = centres[at(p)];
      for (std::size_t i = 0; i < n; ++i) {
        const double dx = x[i] - c.at.x, dy = y[i] - c.at.y, dz = z[i] - c.at.z;
        const double d = (dx * dx + dy * dy + dz * dz) * c.influence;
        mine[i] = d < best[i] ? p : mine[i];
        best[i] = d < best[i] ? d : best[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      IntegerSums& s = sums[mine[i]];
      s.x += cloud_.ix[begin + i], s.y += cloud_.iy[begin + i], s.z += cloud_.iz[begin + i], s.points += 1;
    }
  }

  const Cloud& cloud_;
  const ParallelFor& parallel_;
  Blocks pieces_;
  std::vector<IntegerSums> sums_;
  std::unique_ptr<DevicePass> device_;
  bool fetched_ = true;
  std::vector<std::int32_t> label_;

 public:
  /// Of the last run; few runs are asked for theirs.
  const std::vector<std::int32_t>& labels() {
    if (!fetched_) device_->labels(label_);
    fetched_ = true;
    return label_;
  }
  std::vector<Sums> total;
};

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

/// The largest way of a centre to the middle of its points, in sizes of a part. A part without points starts again at a
/// point of the part that has most too many.
double move_centres(std::vector<Centre>& centres, Pass& pass, const Cloud& cloud, std::span<const double> share,
                    double size) {
  double farthest = 0;
  std::size_t donor = 0;
  for (std::size_t p = 1; p < share.size(); ++p)
    if (pass.total[p].points / share[p] > pass.total[donor].points / share[donor]) donor = p;
  std::size_t next = 0;
  for (std::size_t p = 0; p < centres.size(); ++p) {
    const Sums& s = pass.total[p];
    if (s.points > 0) {
      const Vec3 middle = (1 / s.points) * Vec3{s.x, s.y, s.z};
      farthest = std::max(farthest, norm(middle - centres[p].at) / size);
      centres[p].at = middle;
      continue;
    }
    farthest = 1;
    while (next < cloud.size() && pass.labels()[next] != static_cast<std::int32_t>(donor)) ++next;
    if (next >= cloud.size()) continue;
    centres[p] = {{cloud.x[next], cloud.y[next], cloud.z[next]}, centres[donor].influence};
    next += std::max<std::size_t>(1, static_cast<std::size_t>(share[p]));
  }
  return farthest;
}

/// Side of a cube that holds a part, on average.
double part_size(const Cloud& cloud, std::size_t parts) {
  Vec3 low = cloud.boxes[0].low, high = cloud.boxes[0].high;
  for (const Box& b : cloud.boxes)
    for (int d = 0; d < 3; ++d) {
      low[d] = std::min(low[d], b.low[d]);
      high[d] = std::max(high[d], b.high[d]);
    }
  const double longest = std::max({high.x - low.x, high.y - low.y, high.z - low.z});
  return longest > 0 ? longest / std::cbrt(static_cast<double>(parts)) : 1;
}

struct State {
  std::vector<Centre> centres;
  int passes = 0;
};

/// Balances, moves the centres, and so on until they stay; then balances once more and keeps the best.
std::vector<std::int32_t> settle(State& state, const Cloud& cloud, std::span<const double> share,
                                 const VoronoiOptions& options, bool last, const ParallelFor& parallel) {
  Pass pass(cloud, share.size(), options.stream, parallel);
  const double size = part_size(cloud, share.size());
  const auto run = [&] {
    pass.run(state.centres);
    ++state.passes;
    return imbalance_of(pass.total, share);
  };
  for (int l = 0; l < options.lloyd_steps; ++l) {
    double imbalance = run();
    for (int q = 1; q < options.balance_passes && imbalance > options.imbalance; ++q) {
      adjust(state.centres, pass.total, share);
      imbalance = run();
    }
    const double moved = move_centres(state.centres, pass, cloud, share, size);
    if (imbalance <= options.imbalance && moved < (last ? 2e-3 : 1e-2)) break;
  }
  if (!last) return {};
  std::vector<std::int32_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (int q = 0; q < options.last_passes; ++q) {
    const double imbalance = run();
    if (imbalance < least) {
      least = imbalance;
      best = pass.labels();
    }
    if (least <= options.imbalance) break;
    adjust(state.centres, pass.total, share);
  }
  return best;
}

/// Moves points from parts that have too many to those that lack some: those first for which it makes least difference.
void level(const Cloud& cloud, const std::vector<Centre>& centres, std::span<const Gid> quotas, double imbalance,
           std::vector<std::int32_t>& label) {
  const std::size_t k = quotas.size();
  std::vector<Gid> size(k, 0);
  for (const std::int32_t p : label) ++size[at(p)];
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
      const auto distance = [&](std::size_t p) {
        const Vec3 d = Vec3{cloud.x[i], cloud.y[i], cloud.z[i]} - centres[p].at;
        return dot(d, d) * centres[p].influence;
      };
      const double here = distance(from);
      for (std::size_t p = 0; p < k; ++p) {
        if (p == from || (under ? size[p] >= fewest(p) : size[p] >= most(p))) continue;
        const double cost = distance(p) - here;
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

}  // namespace

VoronoiResult voronoi_parts(std::span<const Vec3> points, std::span<const Gid> quotas, const VoronoiOptions& options,
                            const ParallelFor& parallel) {
  const std::size_t k = quotas.size();
  require(options.seeds.empty() || options.seeds.size() == k, "{} seeds for {} parts", options.seeds.size(), k);
  VoronoiResult result;
  result.part.assign(points.size(), 0);
  const auto order = hilbert_order(points, parallel);
  if (points.empty() || k <= 1) return result;

  State state;
  Gid before = 0;
  std::vector<std::int32_t> along(points.size());  // pieces of the curve: what few points get
  for (std::size_t p = 0; p < k; ++p) {
    const Gid middle = std::min<Gid>(before + quotas[p] / 2, static_cast<Gid>(points.size()) - 1);
    for (Gid i = before; i < before + quotas[p]; ++i) along[at(i)] = static_cast<std::int32_t>(p);
    before += quotas[p];
    // Where two cells meet, |x - a|^2 w_a = |x - b|^2 w_b: radii go as the cube roots of volumes.
    const double share = static_cast<double>(quotas[p]) * static_cast<double>(k) / static_cast<double>(points.size());
    state.centres.push_back(
        {options.seeds.empty() ? points[at(order[at(middle)].row)] : options.seeds[p], std::pow(share, -2.0 / 3)});
  }
  if (points.size() < 8 * k) {
    for (std::size_t i = 0; i < order.size(); ++i) result.part[at(order[i].row)] = along[i];
    return result;
  }

  std::size_t stride = 1;
  while (points.size() / (4 * stride) >= 200 * k) stride *= 4;
  for (;; stride /= 4) {
    const Cloud cloud = make_cloud(points, order, stride);
    std::vector<double> share;
    for (const Gid q : quotas)
      share.push_back(static_cast<double>(q) * static_cast<double>(cloud.size()) / static_cast<double>(points.size()));
    std::vector<std::int32_t> label = settle(state, cloud, share, options, stride == 1, parallel);
    if (stride > 1) continue;
    level(cloud, state.centres, quotas, options.imbalance, label);
    for (std::size_t i = 0; i < order.size(); ++i) result.part[at(order[i].row)] = label[i];
    result.passes = state.passes;
    return result;
  }
}

}  // namespace tutti
