#include "tutti/partition/voronoi/voronoi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/partition/spatial_order.hpp"

namespace tutti {
namespace {

constexpr std::size_t block_points = 256;

std::size_t at(Gid i) {
  return static_cast<std::size_t>(i);
}

struct Centre {
  Vec3 at;
  double influence = 1;
};

/// Sums over a part's points.
struct Sums {
  double x = 0, y = 0, z = 0, points = 0;
};

/// Points along the Hilbert curve, coordinate by coordinate, in blocks with a box around each.
struct Cloud {
  std::vector<double> x, y, z;
  struct Box {
    Vec3 low, high;
  };
  std::vector<Box> boxes;

  std::size_t size() const { return x.size(); }

  /// Every stride-th point of the order.
  Cloud(std::span<const Vec3> points, const std::vector<KeyedRow>& order, std::size_t stride) {
    const std::size_t n = (order.size() + stride - 1) / stride;
    x.resize(n), y.resize(n), z.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3 p = points[at(order[i * stride].row)];
      x[i] = p.x, y[i] = p.y, z[i] = p.z;
    }
    for (std::size_t begin = 0; begin < n; begin += block_points) {
      Box box{{x[begin], y[begin], z[begin]}, {x[begin], y[begin], z[begin]}};
      for (std::size_t i = begin; i < std::min(n, begin + block_points); ++i) {
        box.low = {std::min(box.low.x, x[i]), std::min(box.low.y, y[i]), std::min(box.low.z, z[i])};
        box.high = {std::max(box.high.x, x[i]), std::max(box.high.y, y[i]), std::max(box.high.z, z[i])};
      }
      boxes.push_back(box);
    }
  }
};

/// One pass: the part of every point, and the sums of every part.
class Pass {
 public:
  Pass(const Cloud& cloud, std::size_t parts, const ParallelFor& parallel)
      : cloud_(cloud),
        parallel_(parallel),
        pieces_(static_cast<Size>(cloud.boxes.size()), 16),
        sums_(static_cast<std::size_t>(pieces_.number) * parts),
        label(cloud.size()),
        total(parts) {}

  void run(const std::vector<Centre>& centres) {
    const std::size_t k = centres.size();
    pieces_.run(parallel_, [&](Size piece, Size begin, Size end) {
      Sums* sums = sums_.data() + static_cast<std::size_t>(piece) * k;
      std::fill_n(sums, k, Sums{});
      std::vector<std::int32_t> near;
      for (Size b = begin; b < end; ++b) {
        find_near(cloud_.boxes[at(b)], centres, near);
        assign(at(b) * block_points, std::min(cloud_.size(), (at(b) + 1) * block_points), centres, near, sums);
      }
    });
    for (std::size_t p = 0; p < k; ++p) {
      total[p] = {};
      for (std::size_t piece = 0; piece < at(pieces_.number); ++piece) {
        const Sums& s = sums_[piece * k + p];
        total[p].x += s.x, total[p].y += s.y, total[p].z += s.z, total[p].points += s.points;
      }
    }
  }

 private:
  /// Centres that are nearest to some point of the box, maybe: those no farther than the nearest one is at most.
  static void find_near(const Cloud::Box& box, const std::vector<Centre>& centres, std::vector<std::int32_t>& near) {
    const auto gap = [](double low, double high, double c) { return std::max({low - c, 0.0, c - high}); };
    const auto reach = [](double low, double high, double c) {
      return std::max(std::abs(c - low), std::abs(c - high));
    };
    double least = std::numeric_limits<double>::infinity();
    for (const Centre& c : centres) {
      const Vec3 d{reach(box.low.x, box.high.x, c.at.x), reach(box.low.y, box.high.y, c.at.y),
                   reach(box.low.z, box.high.z, c.at.z)};
      least = std::min(least, dot(d, d) * c.influence);
    }
    near.clear();
    for (std::size_t p = 0; p < centres.size(); ++p) {
      const Centre& c = centres[p];
      const Vec3 d{gap(box.low.x, box.high.x, c.at.x), gap(box.low.y, box.high.y, c.at.y),
                   gap(box.low.z, box.high.z, c.at.z)};
      if (dot(d, d) * c.influence <= least * (1 + 1e-12)) near.push_back(static_cast<std::int32_t>(p));
    }
  }

  void assign(std::size_t begin, std::size_t end, const std::vector<Centre>& centres,
              const std::vector<std::int32_t>& near, Sums* sums) {
    double best[block_points];
    std::int32_t* mine = label.data() + begin;
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
      Sums& s = sums[mine[i]];
      s.x += x[i], s.y += y[i], s.z += z[i], s.points += 1;
    }
  }

  const Cloud& cloud_;
  const ParallelFor& parallel_;
  Blocks pieces_;
  std::vector<Sums> sums_;

 public:
  std::vector<std::int32_t> label;
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
double move_centres(std::vector<Centre>& centres, const Pass& pass, const Cloud& cloud, std::span<const double> share,
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
    while (next < cloud.size() && pass.label[next] != static_cast<std::int32_t>(donor)) ++next;
    if (next >= cloud.size()) continue;
    centres[p] = {{cloud.x[next], cloud.y[next], cloud.z[next]}, centres[donor].influence};
    next += std::max<std::size_t>(1, static_cast<std::size_t>(share[p]));
  }
  return farthest;
}

/// Side of a cube that holds a part, on average.
double part_size(const Cloud& cloud, std::size_t parts) {
  Vec3 low = cloud.boxes[0].low, high = cloud.boxes[0].high;
  for (const Cloud::Box& b : cloud.boxes)
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
  Pass pass(cloud, share.size(), parallel);
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
      best = pass.label;
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
    const Cloud cloud(points, order, stride);
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
