#include <algorithm>
#include <array>
#include <cmath>
#include <new>
#include <numbers>

#include "tutti/base/random.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/spec_error.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"
#include "tutti/mesh/sphere/node_generators_internal.hpp"
#include "tutti/mesh/sphere/sphere_cells_internal.hpp"

namespace tutti {
namespace {

Vec3 unit(Vec3 v) {
  return (1 / norm(v)) * v;
}

Vec3 at_height(double z, double longitude) {
  const double from_axis = std::sqrt((1 - z) * (1 + z));
  return {from_axis * std::cos(longitude), from_axis * std::sin(longitude), z};
}

/// The icosahedron with corners at the poles: 0 the north pole, 1 to 5 and 6 to 10 the rings, 11 the south pole.
struct Icosahedron {
  std::array<Vec3, 12> corners;
  std::array<std::array<std::size_t, 2>, 30> edges{};
  std::array<std::array<std::size_t, 3>, 20> faces{};

  Icosahedron() {
    corners[0] = {0, 0, 1};
    corners[11] = {0, 0, -1};
    for (std::size_t i = 0; i < 5; ++i) {
      const double longitude = 0.4 * std::numbers::pi * static_cast<double>(i);
      corners[1 + i] = at_height(1 / std::sqrt(5.0), longitude);
      corners[6 + i] = at_height(-1 / std::sqrt(5.0), longitude + 0.2 * std::numbers::pi);
    }
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t north = 1 + i, east = 1 + (i + 1) % 5, south = 6 + i, west = 6 + (i + 4) % 5;
      const std::size_t next = 6 + (i + 1) % 5;
      edges[i] = {0, north};
      edges[5 + i] = {north, east};
      edges[10 + i] = {west, north};
      edges[15 + i] = {north, south};
      edges[20 + i] = {south, next};
      edges[25 + i] = {south, 11};
      faces[i] = {0, north, east};
      faces[5 + i] = {west, south, north};
      faces[10 + i] = {north, south, east};
      faces[15 + i] = {south, 11, next};
    }
  }
};

/// All nodes at the origin.
NodeCloud empty_cloud(Gid count) {
  require_room(static_cast<double>(count), 24, "nodes", "nodes", "take fewer");
  try {
    NodeCloud cloud;
    cloud.points.resize(count);
    return cloud;
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "nodes: no memory for {} nodes, 24 bytes each; take fewer", format_count(count));
  }
}

Gid icosahedral_count(Gid m) {
  return 10 * m * m + 2;
}

/// The largest m whose nodes are not more than `count`.
Gid parts_below(Gid count) {
  auto m = static_cast<Gid>(std::sqrt(static_cast<double>(count) / 10));
  while (icosahedral_count(m + 1) <= count) ++m;
  while (m > 0 && icosahedral_count(m) > count) --m;
  return m;
}

}  // namespace

void check_node_count(Gid count) {
  if (count < 1) fail_spec("count", "nodes: {} nodes; at least 1 is needed", count);
  if (count > max_nodes)
    fail_spec("count", "nodes: {} nodes are more than tutti numbers; at most {} are possible", format_count(count),
              format_count(max_nodes));
}

double node_spacing(Gid count) {
  return std::sqrt(4 * std::numbers::pi / static_cast<double>(count));
}

bool is_icosahedral(Gid count) {
  const Gid m = parts_below(count);
  return m >= 1 && icosahedral_count(m) == count;
}

int icosahedral_parts(Gid count) {
  check_node_count(count);
  const Gid m = parts_below(count);
  if (is_icosahedral(count)) return static_cast<int>(m);
  if (m < 1) fail_spec("count", "nodes: no icosahedral set has {} nodes; 12 (m = 1) are the fewest possible", count);
  fail_spec("count",
            "nodes: no icosahedral set has {} nodes; the nearest possible counts are {} (m = {}) and {} (m = {})",
            count, icosahedral_count(m), m, icosahedral_count(m + 1), m + 1);
}

NodeCloud icosahedral_nodes(int m, const ParallelFor& parallel) {
  if (m < 1) fail_spec("m", "nodes: m is {}; at least 1 is needed, for 10 m^2 + 2 nodes", m);
  if (m > parts_below(max_nodes))
    fail_spec("m", "nodes: m is {}; at most {} is possible, for {} nodes", m, parts_below(max_nodes),
              format_count(icosahedral_count(parts_below(max_nodes))));
  const Icosahedron body;
  const auto parts = static_cast<std::size_t>(m);
  // Sines of the parts of an edge's angle, whose tangent is 2.
  std::vector<double> weight(parts + 1);
  for (std::size_t i = 0; i <= parts; ++i)
    weight[i] = std::sin(std::atan(2.0) * static_cast<double>(i) / static_cast<double>(m));
  NodeCloud cloud = empty_cloud(icosahedral_count(m));
  std::copy(body.corners.begin(), body.corners.end(), cloud.points.begin());
  std::size_t next = body.corners.size();
  for (const auto& [a, b] : body.edges)
    for (std::size_t i = 1; i < parts; ++i)
      cloud.points[next++] = unit(weight[parts - i] * body.corners[a] + weight[i] * body.corners[b]);
  // Row i of a face has i - 1 points inside, and (i - 1) (i - 2) / 2 stand before them.
  const std::size_t a_face = parts < 3 ? 0 : (parts - 1) * (parts - 2) / 2;
  for_ranges(parallel, static_cast<Size>(body.faces.size() * parts), [&](Size first, Size last) {
    for (auto row = static_cast<std::size_t>(first); row < static_cast<std::size_t>(last); ++row) {
      const auto& [a, b, c] = body.faces[row / parts];
      const std::size_t i = row % parts;
      if (i < 2) continue;
      std::size_t at = next + row / parts * a_face + (i - 1) * (i - 2) / 2;
      for (std::size_t j = 1; j < i; ++j)
        cloud.points[at++] =
            unit(weight[parts - i] * body.corners[a] + weight[i - j] * body.corners[b] + weight[j] * body.corners[c]);
    }
  });
  return cloud;
}

NodeCloud fibonacci_nodes(Gid count, const ParallelFor& parallel) {
  check_node_count(count);
  NodeCloud cloud = empty_cloud(count);
  for_ranges(parallel, count, [&](Size first, Size last) {
    for (Size i = first; i < last; ++i) {
      // 2^64 / golden ratio: whole turns fall out of the product, and no digit is lost.
      const std::uint64_t turns = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ull;
      const double longitude = 2 * std::numbers::pi * 0x1p-53 * static_cast<double>(turns >> 11);
      const double z = static_cast<double>(count - 1 - 2 * i) / static_cast<double>(count);
      cloud.points[i] = unit(at_height(z, longitude));
    }
  });
  return cloud;
}

NodeCloud random_nodes(Gid count, std::uint64_t seed, double separation) {
  check_node_count(count);
  if (!(separation >= 0 && separation <= 0.7))
    fail_spec("separation", "nodes: the separation is {} h; 0 to 0.7 are possible, as the sphere is full near 0.83 h",
              separation);
  // No room is left beside few nodes: their distances are short of those on a plane.
  const double angle = std::min(separation * node_spacing(count), count < 4 ? 0.5 : 1.0);
  const double half = std::max(std::sin(angle / 2), double_node_distance);
  const double nearest = 4 * half * half;  // a chord's length, squared
  const SphereCells cells(std::max(angle, 0.5 * node_spacing(count)));
  NodeCloud cloud = empty_cloud(count);
  cloud.points.clear();
  // Nodes of a cell are chained.
  std::vector<std::int32_t> head(cells.size(), -1), next;
  next.reserve(count);
  for (std::uint64_t draw = 0; cloud.size() < count; ++draw) {
    const Vec3 p =
        unit(at_height(2 * random_unit(seed, 2 * draw) - 1, 2 * std::numbers::pi * random_unit(seed, 2 * draw + 1)));
    bool is_free = true;
    cells.around(p, [&](Size begin, Size end) {
      for (Size c = begin; c < end && is_free; ++c)
        for (std::int32_t i = head[c]; i >= 0 && is_free; i = next[i]) {
          const Vec3 d = p - cloud.points[i];
          is_free = dot(d, d) >= nearest;
        }
    });
    if (!is_free) continue;
    std::int32_t& first = head[cells.cell(p)];
    next.push_back(first);
    first = static_cast<std::int32_t>(cloud.points.size());
    cloud.points.push_back(p);
  }
  return cloud;
}

}  // namespace tutti
