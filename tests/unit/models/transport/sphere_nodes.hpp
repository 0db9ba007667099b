// Nodes on the sphere and their stencils, found the slow and obvious way.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti::test {

/// Fibonacci's lattice: nearly uniform, no symmetry.
inline std::vector<Vec3> fibonacci_sphere(int count) {
  std::vector<Vec3> nodes;
  const double turn = 3.14159265358979323846 * (3 - std::sqrt(5.0));
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2.0 * i + 1) / count, r = std::sqrt(1 - z * z), angle = turn * i;
    nodes.push_back({r * std::cos(angle), r * std::sin(angle), z});
  }
  return nodes;
}

/// Each is moved by up to `size` in each direction, and back to the sphere.
inline std::vector<Vec3> shaken(std::vector<Vec3> nodes, double size) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto random = [&](int axis) { return size * (2 * random_unit(5, 3 * i + static_cast<unsigned>(axis)) - 1); };
    const Vec3 moved = nodes[i] + Vec3{random(0), random(1), random(2)};
    nodes[i] = (1 / norm(moved)) * moved;
  }
  return nodes;
}

/// The n nodes nearest to node `centre`, by distance and number.
inline std::vector<Lid> nearest(const std::vector<Vec3>& nodes, Lid centre, int n) {
  std::vector<std::pair<double, Lid>> order;
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const Vec3 d = nodes[j] - nodes[centre];
    order.emplace_back(dot(d, d), static_cast<Lid>(j));
  }
  std::partial_sort(order.begin(), order.begin() + n, order.end());
  std::vector<Lid> numbers;
  for (int j = 0; j < n; ++j) numbers.push_back(order[j].second);
  return numbers;
}

/// The stencils of nodes 0, step, 2 step, ...
inline std::vector<Lid> stencils(const std::vector<Vec3>& nodes, int n, Lid step = 1) {
  std::vector<Lid> columns;
  for (Lid i = 0; i < static_cast<Lid>(nodes.size()); i += step) {
    const std::vector<Lid> row = nearest(nodes, i, n);
    columns.insert(columns.end(), row.begin(), row.end());
  }
  return columns;
}

}  // namespace tutti::test
