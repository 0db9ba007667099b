// Meshes to be smoothed, and smoothing on some devices.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/quality/mesh_quality.hpp"
#include "tutti/models/smoothing/smoother.hpp"

namespace tutti::smoothing::test {

/// How many random meshes a test takes: as many as TUTTI_SMOOTHING_SEEDS says, else `usual`.
inline std::uint64_t seeds(std::uint64_t usual) {
  const char* asked = std::getenv("TUTTI_SMOOTHING_SEEDS");
  return asked != nullptr ? static_cast<std::uint64_t>(std::atoi(asked)) : usual;
}

/// The six sides of a box, and noise on its inner nodes that turns no cell over: where it would, it is made smaller.
inline TetMesh noisy_box(std::array<Gid, 3> cubes, double noise, std::uint64_t seed, double least = 0.01) {
  BoxSpec spec;
  spec.cubes = cubes;
  spec.upper = {static_cast<double>(cubes[0]), static_cast<double>(cubes[1]), static_cast<double>(cubes[2])};
  TetMesh mesh = generate_box(spec);
  const auto first = mesh.vertices;
  std::vector<Vec3> move(first.size());
  for (std::size_t v = 0; v < first.size(); ++v) {
    bool inside = true;
    for (int d = 0; d < 3; ++d) inside = inside && first[v][d] > 0 && first[v][d] < spec.upper[d];
    for (int d = 0; d < 3 && inside; ++d)
      move[v][d] = noise * (2 * random_unit(seed, 3 * v + static_cast<std::size_t>(d)) - 1);
  }
  for (bool bad = true; bad;) {
    for (std::size_t v = 0; v < first.size(); ++v) mesh.vertices[v] = first[v] + move[v];
    if (least < 0) break;
    bad = false;
    std::vector<bool> smaller(first.size(), false);
    for (const auto& c : mesh.cells) {
      const auto at = [&](std::size_t k) { return mesh.vertices[c[k]]; };
      if (tet_volume(at(0), at(1), at(2), at(3)) > least / 6) continue;
      bad = true;
      for (const Gid v : c) smaller[v] = true;
    }
    for (std::size_t v = 0; v < first.size(); ++v)
      if (smaller[v]) move[v] = 0.8 * move[v];
  }
  return mesh;
}

/// The same with cells turned over.
inline TetMesh tangled_box(std::array<Gid, 3> cubes, double noise, std::uint64_t seed) {
  return noisy_box(cubes, noise, seed, -1);
}

/// Devices of one process, a part each.
struct Team {
  explicit Team(int fakes = 0, bool cpu = true, int count = 1) : threads(count) {
    for (int i = 0; i < fakes; ++i) {
      FakeOptions options;
      options.seed = static_cast<std::uint64_t>(i) + 7;
      options.max_delay_us = 2;
      devices.push_back(make_fake_device(i, options));
    }
    if (cpu) devices.push_back(make_host_device(threads, Size{4} << 30));
    for (const auto& d : devices) streams.emplace_back(*d);
    rank_of_part.assign(devices.size(), 0);
  }
  Threads threads;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<PartStreams> streams;
  std::vector<int> rank_of_part;
};

struct Smoothed {
  SmoothReport report;
  TetMesh mesh;
};

inline Smoothed smooth(TetMesh mesh, const SmoothOptions& options, Team& team, std::vector<std::int32_t> owner = {}) {
  const Comm comm;
  if (owner.empty())
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
      owner.push_back(static_cast<std::int32_t>(random_bits(5, v / 7) % team.streams.size()));
  const FaceNeighbours neighbours = mesh.is_surface() ? FaceNeighbours{} : find_face_neighbours(mesh);
  const NodeFreedom freedom = find_freedom(mesh, neighbours, options.boundary, options.feature_angle);
  Smoother smoother(comm, team.threads, mesh, freedom, options, owner, team.rank_of_part, team.streams);
  Smoothed result;
  result.report = smoother.run();
  result.mesh = std::move(mesh);
  result.mesh.vertices = smoother.points();
  return result;
}

inline Smoothed smooth(const TetMesh& mesh, const SmoothOptions& options) {
  Team team;
  return smooth(mesh, options, team);
}

}  // namespace tutti::smoothing::test
