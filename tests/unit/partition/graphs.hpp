// Small graphs whose good partitions are known or easily judged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/random.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti::test {

struct Problem {
  Adjacency graph;
  std::vector<Vec3> points;
  Gid rows() const { return graph.rows(); }
  PartitionInput input() const { return {&graph, points, rows(), {}}; }
};

/// Undirected graph of the edges given.
inline Adjacency graph_of(Gid rows, const std::vector<std::pair<Gid, Gid>>& edges) {
  std::vector<std::vector<Gid>> lists(rows);
  for (const auto& [i, j] : edges) {
    lists[i].push_back(j);
    lists[j].push_back(i);
  }
  Adjacency graph;
  for (auto& list : lists) {
    std::sort(list.begin(), list.end());
    graph.columns.insert(graph.columns.end(), list.begin(), list.end());
    graph.close_row();
  }
  return graph;
}

/// nx x ny x nz points, each tied to its six neighbours.
inline Problem lattice(Gid nx, Gid ny, Gid nz) {
  Problem problem;
  std::vector<std::pair<Gid, Gid>> edges;
  for (Gid z = 0, i = 0; z < nz; ++z) {
    for (Gid y = 0; y < ny; ++y) {
      for (Gid x = 0; x < nx; ++x, ++i) {
        if (x + 1 < nx) edges.emplace_back(i, i + 1);
        if (y + 1 < ny) edges.emplace_back(i, i + nx);
        if (z + 1 < nz) edges.emplace_back(i, i + nx * ny);
        problem.points.push_back({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)});
      }
    }
  }
  problem.graph = graph_of(nx * ny * nz, edges);
  return problem;
}

/// Random points in the unit cube; each pair nearer than `radius` is tied.
inline Problem random_geometric(Gid rows, double radius, std::uint64_t seed) {
  Problem problem;
  for (Gid i = 0; i < rows; ++i) {
    const auto c = static_cast<std::uint64_t>(i) * 3;
    problem.points.push_back({random_unit(seed, c), random_unit(seed, c + 1), random_unit(seed, c + 2)});
  }
  std::vector<std::pair<Gid, Gid>> edges;
  for (Gid i = 0; i < rows; ++i) {
    for (Gid j = i + 1; j < rows; ++j) {
      const Vec3 d = problem.points[i] - problem.points[j];
      if (dot(d, d) < radius * radius) edges.emplace_back(i, j);
    }
  }
  problem.graph = graph_of(rows, edges);
  return problem;
}

/// Row 0 tied to all others, which are not tied among each other.
inline Problem star(Gid rows) {
  Problem problem;
  std::vector<std::pair<Gid, Gid>> edges;
  for (Gid i = 0; i < rows; ++i) {
    if (i > 0) edges.emplace_back(0, i);
    problem.points.push_back({random_unit(5, static_cast<std::uint64_t>(i)), 0, 0});
  }
  problem.graph = graph_of(rows, edges);
  return problem;
}

/// Two lattices that do not touch, and `lone` rows without any neighbour.
inline Problem islands(Gid side, Gid lone) {
  const Problem one = lattice(side, side, side);
  Problem problem;
  for (Gid copy = 0; copy < 2; ++copy) {
    for (Gid i = 0; i < one.rows(); ++i) {
      for (const Gid j : one.graph.row(i)) problem.graph.columns.push_back(j + copy * one.rows());
      problem.graph.close_row();
      const Vec3 shift{static_cast<double>(copy * side * 2), 0, 0};
      problem.points.push_back(one.points[i] + shift);
    }
  }
  for (Gid i = 0; i < lone; ++i) {
    problem.graph.close_row();
    problem.points.push_back({static_cast<double>(i), -5, 0});
  }
  return problem;
}

inline std::vector<Gid> count_rows(const std::vector<std::int32_t>& owner, std::size_t parts) {
  std::vector<Gid> rows(parts, 0);
  for (const std::int32_t p : owner) ++rows.at(static_cast<std::size_t>(p));
  return rows;
}

inline std::vector<Partitioner> all_partitioners() {
  std::vector<Partitioner> methods;
  for (const std::string& name : partitioner_names()) methods.push_back(parse_partitioner(name));
  return methods;
}

}  // namespace tutti::test
