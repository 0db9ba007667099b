// Passes on the threads of the host.
#include <algorithm>
#include <limits>

#include "tutti/partition/voronoi/cells.hpp"

namespace tutti::voronoi {
namespace {

std::size_t at(Gid i) {
  return static_cast<std::size_t>(i);
}

class HostCells final : public Cells {
 public:
  HostCells(std::span<const Vec3> all, std::size_t parts, const ParallelFor& parallel)
      : all_(all), parts_(parts), parallel_(parallel) {
    set_lattice(lattice_of(all));
    order_ = hilbert_order(all, lattice, parallel);
  }

  void sample(Gid stride) override {
    points = (static_cast<Gid>(order_.size()) + stride - 1) / stride;
    for (auto* values : {&x_, &y_, &z_}) values->resize(at(points));
    for (auto* values : {&ix_, &iy_, &iz_}) values->resize(at(points));
    boxes_.resize(at((points + block_points - 1) / block_points));
    sums_of_boxes_.resize(boxes_.size());
    boxes_of_boxes_.resize((boxes_.size() + block_boxes - 1) / block_boxes);
    label_.resize(at(points));
    for_ranges(parallel_, static_cast<Size>(boxes_.size()), [&](Size begin, Size end) {
      for (Size b = begin; b < end; ++b) fill_box(at(b), at(stride));
    });
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      Box& box = boxes_of_boxes_[b / block_boxes];
      if (b % block_boxes == 0) box = boxes_[b];
      widen(box, boxes_[b].low, boxes_[b].high);
    }
  }

  void pass(std::span<const Centre> centres, std::span<IntegerSums> sums) override {
    const Blocks pieces(static_cast<Size>(boxes_of_boxes_.size()), 1);
    sums_.resize(at(pieces.number) * parts_);
    pieces.run(parallel_, [&](Size piece, Size begin, Size end) {
      IntegerSums* mine = sums_.data() + at(piece) * parts_;
      std::fill_n(mine, parts_, IntegerSums{});
      Near all, outer, near;
      for (std::size_t p = 0; p < parts_; ++p) all.push_back(static_cast<std::int32_t>(p));
      const bool two_steps = parts_ >= many_centres;
      for (Size o = begin; o < end; ++o) {
        if (two_steps) find_near(boxes_of_boxes_[at(o)], centres, all, outer);
        for (std::size_t b = at(o) * block_boxes; b < std::min(boxes_.size(), (at(o) + 1) * block_boxes); ++b) {
          find_near(boxes_[b], centres, two_steps ? outer : all, near);
          assign(b, centres, near, mine);
        }
      }
    });
    std::fill(sums.begin(), sums.end(), IntegerSums{});
    for (std::size_t i = 0; i < sums_.size(); ++i) add(sums[i % parts_], sums_[i]);
  }

  std::span<const std::int32_t> labels() override { return label_; }
  void keep() override { kept_ = label_; }
  void owners(std::span<std::int32_t> by_row) override {
    for_ranges(parallel_, static_cast<Size>(order_.size()), [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) by_row[at(order_[at(i)].row)] = kept_[at(i)];
    });
  }
  void rows_at(std::span<const Gid> places, std::span<Gid> rows) override {
    for (std::size_t i = 0; i < places.size(); ++i) rows[i] = order_[at(places[i])].row;
  }

 private:
  using Near = std::vector<std::int32_t>;  ///< ascending

  void fill_box(std::size_t b, std::size_t stride) {
    const std::size_t begin = b * block_points, end = std::min(at(points), begin + block_points);
    Box box;
    IntegerSums sums;
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3 p = all_[at(order_[i * stride].row)];
      if (i == begin) box = {p, p};
      widen(box, p, p);
      const IntegerSums counted = counter.of(p);
      add(sums, counted);
      x_[i] = p.x, y_[i] = p.y, z_[i] = p.z;
      ix_[i] = static_cast<std::int32_t>(counted.x);
      iy_[i] = static_cast<std::int32_t>(counted.y);
      iz_[i] = static_cast<std::int32_t>(counted.z);
    }
    boxes_[b] = box;
    sums_of_boxes_[b] = sums;
  }

  static void find_near(const Box& box, std::span<const Centre> centres, const Near& among, Near& near) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::int32_t p : among) least = std::min(least, farthest(box, centres[at(p)]));
    near.clear();
    for (const std::int32_t p : among)
      if (is_near(box, centres[at(p)], least)) near.push_back(p);
  }

  void assign(std::size_t b, std::span<const Centre> centres, const Near& near, IntegerSums* sums) {
    const std::size_t begin = b * block_points, n = std::min(at(points), begin + block_points) - begin;
    std::int32_t* mine = label_.data() + begin;
    if (near.size() == 1) {
      std::fill_n(mine, n, near[0]);
      add(sums[near[0]], sums_of_boxes_[b]);
      return;
    }
    double best[block_points];
    const double *x = x_.data() + begin, *y = y_.data() + begin, *z = z_.data() + begin;
    for (std::size_t i = 0; i < n; ++i) best[i] = std::numeric_limits<double>::infinity();
    std::fill_n(mine, n, 0);
    for (const std::int32_t p : near) {
      const Centre c = centres[at(p)];
      for (std::size_t i = 0; i < n; ++i) {
        const double d = distance({x[i], y[i], z[i]}, c);
        mine[i] = d < best[i] ? p : mine[i];
        best[i] = d < best[i] ? d : best[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) add(sums[mine[i]], {ix_[begin + i], iy_[begin + i], iz_[begin + i], 1});
  }

  std::span<const Vec3> all_;
  std::size_t parts_;
  const ParallelFor& parallel_;
  std::vector<KeyedRow> order_;
  std::vector<double> x_, y_, z_;
  std::vector<std::int32_t> ix_, iy_, iz_;  ///< the same, counted
  std::vector<Box> boxes_, boxes_of_boxes_;
  std::vector<IntegerSums> sums_of_boxes_, sums_;
  std::vector<std::int32_t> label_, kept_;
};

}  // namespace

void Cells::set_lattice(const Lattice& found) {
  lattice = found;
  const Vec3 sides = found.high - found.low;
  const double longest = larger(larger(sides.x, sides.y), sides.z);
  counter = {found.low, longest / 2147483647.0, longest > 0 ? 2147483647.0 / longest : 0};
}

std::unique_ptr<Cells> make_host_cells(std::span<const Vec3> points, std::size_t parts, const ParallelFor& parallel) {
  return std::make_unique<HostCells>(points, parts, parallel);
}

}  // namespace tutti::voronoi
