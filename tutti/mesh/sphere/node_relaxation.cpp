// Nodes spread by the Riesz energy sum |x_i - x_j|^-s over each node's nearest neighbours (Hardin, Saff 2004: minimal
// ones are even for s >= 2; the sum over all pairs is cut off, as Vlasiuk, Michaels, Flyer, Fornberg 2018 do).
#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/mesh/spec_error.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"
#include "tutti/mesh/sphere/node_generators_internal.hpp"
#include "tutti/mesh/sphere/sphere_cells_internal.hpp"

namespace tutti {
namespace {

constexpr std::size_t max_neighbours = 12;  ///< two rings of a hexagonal lattice would be 18
constexpr int exponent = 4;                 ///< s
constexpr double damping = 0.8;      ///< of a step: at 1, some of 10,000 nodes swing (separation 0.93 h, not 0.96)
constexpr int sweeps_a_search = 10;  ///< nodes move little: neighbours are looked for that often
constexpr double reach = 2.6;        ///< and so far, in h

struct Neighbour {
  double distance = 0;  ///< squared
  std::int32_t number = -1;
  friend bool operator<(const Neighbour& a, const Neighbour& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.number < b.number);
  }
};

class Relaxation {
 public:
  Relaxation(std::vector<Vec3>& points, const ParallelFor& parallel)
      : points_(points),
        moved_(points.size()),
        neighbours_(points.size()),
        spacing_(node_spacing(static_cast<Gid>(points.size()))),
        cells_(reach * spacing_),
        parallel_(parallel) {}

  void find_neighbours();
  /// Moves every node from where all were before.
  void sweep();

 private:
  Size count() const { return static_cast<Size>(points_.size()); }
  void sort_by_cell();

  std::vector<Vec3>& points_;
  std::vector<Vec3> moved_;
  std::vector<std::array<std::int32_t, max_neighbours>> neighbours_;  ///< -1: none
  double spacing_;
  SphereCells cells_;
  std::vector<std::int32_t> order_;  ///< nodes, cell by cell
  std::vector<std::int32_t> first_;  ///< of a cell in order_
  const ParallelFor& parallel_;
};

void Relaxation::sort_by_cell() {
  std::vector<std::int32_t> cell(points_.size());
  for_ranges(parallel_, count(), [&](Size begin, Size end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      cell[i] = static_cast<std::int32_t>(cells_.cell(points_[i]));
  });
  first_.assign(static_cast<std::size_t>(cells_.size()) + 1, 0);
  for (const std::int32_t c : cell) ++first_[c + 1];
  for (std::size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
  order_.resize(points_.size());
  std::vector<std::int32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t i = 0; i < cell.size(); ++i) order_[next[cell[i]]++] = static_cast<std::int32_t>(i);
}

void Relaxation::find_neighbours() {
  sort_by_cell();
  for_ranges(parallel_, count(), [&](Size begin, Size end) {
    std::vector<Neighbour> near;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      near.clear();
      cells_.around(points_[i], [&](Size from, Size to) {
        for (auto k = static_cast<std::size_t>(first_[from]); k < static_cast<std::size_t>(first_[to]); ++k) {
          const std::int32_t j = order_[k];
          const Vec3 d = points_[i] - points_[j];
          const double distance = dot(d, d);
          if (j != static_cast<std::int32_t>(i) && distance <= reach * reach * spacing_ * spacing_)
            near.push_back({distance, j});
        }
      });
      const std::size_t kept = std::min(near.size(), max_neighbours);
      std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept), near.end());
      neighbours_[i].fill(-1);
      for (std::size_t k = 0; k < kept; ++k) neighbours_[i][k] = near[k].number;
    }
  });
}

void Relaxation::sweep() {
  for_ranges(parallel_, count(), [&](Size begin, Size end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const Vec3 p = points_[i];
      Vec3 force;
      double total = 0;
      for (const std::int32_t j : neighbours_[i]) {
        if (j < 0) break;
        const Vec3 d = (1 / spacing_) * (p - points_[j]);
        // |d|^-(s + 2), bounded where nodes meet.
        const double inverse = 1 / std::max(dot(d, d), 1e-3);
        const double weight = inverse * inverse * inverse;
        static_assert(exponent == 4);
        force = force + weight * d;
        total += weight;
      }
      // A ring of equal distances resists with s / 2 of its weights: half of Newton's step in the diagonal.
      const double step = total > 0 ? damping * spacing_ / (exponent * total) : 0;
      const Vec3 q = p + step * (force - dot(force, p) * p);
      moved_[i] = (1 / norm(q)) * q;
    }
  });
  points_.swap(moved_);
}

}  // namespace

NodeCloud relaxed_nodes(Gid count, int sweeps, const ParallelFor& parallel) {
  check_node_count(count);
  if (sweeps < 0) fail_spec("sweeps", "nodes: {} sweeps; 0 or more are expected", sweeps);
  NodeCloud cloud =
      is_icosahedral(count) ? icosahedral_nodes(icosahedral_parts(count), parallel) : fibonacci_nodes(count, parallel);
  Relaxation relaxation(cloud.points, parallel);
  for (int i = 0; i < sweeps; ++i) {
    if (i % sweeps_a_search == 0) relaxation.find_neighbours();
    relaxation.sweep();
  }
  return cloud;
}

}  // namespace tutti
