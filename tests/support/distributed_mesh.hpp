// What a distributed part must be, judged by the whole mesh.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/random_parts.hpp"
#include "tutti/io/distribute.hpp"
#include "tutti/mesh/generate.hpp"

namespace tutti::test {

/// A small box with everything a mesh can carry: two regions, tags, and data of one and three components.
inline WholeMesh box_with_data(std::array<Gid, 3> cubes) {
  BoxSpec spec;
  spec.cubes = cubes;
  spec.jitter = 0.2;
  spec.split_x = 0.5;
  WholeMesh whole;
  whole.mesh = generate_box(spec);
  CellData number{"number", 1, {}}, fibre{"fibre", 3, {}};
  for (Gid c = 0; c < whole.mesh.cell_count(); ++c) {
    number.values.push_back(static_cast<double>(c) + 0.5);
    for (int k = 0; k < 3; ++k) fibre.values.push_back(static_cast<double>(10 * c + k));
  }
  whole.mesh.cell_data = {number, fibre};
  whole.neighbours = find_face_neighbours(whole.mesh);
  return whole;
}

/// Random owners of the cells: scattered, in runs, or nearly all with one part; parts may be empty.
inline std::vector<std::int32_t> random_cell_owners(std::uint64_t seed, Gid cells, std::int32_t parts) {
  Dice dice(seed);
  return detail::random_owner(dice, cells, parts);
}

/// The cells within `layers` faces of those in `core`, ascending, without them.
inline std::set<Gid> layers_around(const WholeMesh& whole, const std::set<Gid>& core, int layers) {
  std::set<Gid> all = core, edge = core;
  for (; layers > 0; --layers) {
    std::set<Gid> next;
    for (const Gid c : edge)
      for (const Gid n : whole.neighbours[c])
        if (n >= 0 && all.insert(n).second) next.insert(n);
    edge = next;
  }
  for (const Gid c : core) all.erase(c);
  return all;
}

/// Expects that the local mesh says of each of its cells what the whole mesh says, in any order of the cells. All but
/// the outermost layer must know all of their neighbours.
inline void expect_same_cells(const WholeMesh& whole, const LocalTetMesh& mesh, int layers = 2) {
  ASSERT_EQ(mesh.neighbours.size(), mesh.cells.size());
  ASSERT_EQ(mesh.global.size(), mesh.cells.size());
  ASSERT_EQ(mesh.regions.size(), mesh.cells.size());
  const std::set<Gid> here(mesh.global.begin(), mesh.global.end());
  EXPECT_EQ(here.size(), mesh.global.size()) << "a cell is there twice";
  const std::set<Gid> own(mesh.global.begin(), mesh.global.begin() + mesh.owned);
  std::set<Gid> complete = layers_around(whole, own, layers - 1);  // all their neighbours must be here
  complete.insert(own.begin(), own.end());
  std::set<Lid> used;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    const auto g = static_cast<std::size_t>(mesh.global[c]);
    EXPECT_EQ(mesh.regions[c], whole.mesh.regions[g]);
    for (std::size_t k = 0; k < 4; ++k) {
      const Vec3 here_at = mesh.vertices.at(static_cast<std::size_t>(mesh.cells[c][k]));
      const Vec3 there_at = whole.mesh.vertices[whole.mesh.cells[g][k]];
      EXPECT_TRUE(here_at.x == there_at.x && here_at.y == there_at.y && here_at.z == there_at.z) << "cell " << g;
      used.insert(mesh.cells[c][k]);

      const Gid behind = whole.neighbours[g][k];
      const Lid found = mesh.neighbours[c][k];
      if (behind < 0) {
        EXPECT_EQ(found, static_cast<Lid>(behind)) << "the tag of a boundary face of cell " << g;
      } else if (here.contains(behind)) {
        ASSERT_GE(found, 0) << "cell " << g << " does not see its neighbour " << behind;
        EXPECT_EQ(mesh.global.at(static_cast<std::size_t>(found)), behind);
      } else {
        EXPECT_EQ(found, LocalTetMesh::outside_halo);
        EXPECT_FALSE(complete.contains(static_cast<Gid>(g))) << "cell " << g << " needs all its neighbours";
      }
    }
  }
  EXPECT_EQ(used.size(), mesh.vertices.size()) << "a vertex that no cell has, or one that is there twice";
  ASSERT_EQ(mesh.cell_data.size(), whole.mesh.cell_data.size());
  for (std::size_t d = 0; d < mesh.cell_data.size(); ++d) {
    const CellData &mine = mesh.cell_data[d], &all = whole.mesh.cell_data[d];
    EXPECT_EQ(mine.name, all.name);
    ASSERT_EQ(mine.components, all.components);
    const auto n = static_cast<std::size_t>(all.components);
    ASSERT_EQ(mine.values.size(), n * mesh.cells.size());
    for (std::size_t c = 0; c < mesh.cells.size(); ++c)
      for (std::size_t k = 0; k < n; ++k)
        EXPECT_EQ(mine.values[c * n + k], all.values[static_cast<std::size_t>(mesh.global[c]) * n + k]);
  }
}

/// Expects what distribute.hpp promises of one part.
inline void expect_good_part(const WholeMesh& whole, const std::vector<std::int32_t>& owner,
                             const DistributedPart& part, int layers = 2) {
  SCOPED_TRACE("part " + std::to_string(part.part));
  std::vector<Gid> own;
  for (std::size_t c = 0; c < owner.size(); ++c)
    if (owner[c] == part.part) own.push_back(static_cast<Gid>(c));
  ASSERT_EQ(part.mesh.owned, static_cast<Lid>(own.size()));
  const auto begin = part.mesh.global.begin();
  EXPECT_EQ(std::vector<Gid>(begin, begin + part.mesh.owned), own);
  const std::set<Gid> ghosts = layers_around(whole, std::set<Gid>(own.begin(), own.end()), layers);
  EXPECT_EQ(std::vector<Gid>(begin + part.mesh.owned, part.mesh.global.end()),
            std::vector<Gid>(ghosts.begin(), ghosts.end()));
  ASSERT_EQ(part.ghost_owners.size(), part.mesh.global.size() - own.size());
  for (std::size_t g = 0; g < part.ghost_owners.size(); ++g)
    EXPECT_EQ(part.ghost_owners[g], owner[part.mesh.global[own.size() + g]]);
  expect_same_cells(whole, part.mesh, layers);
}

}  // namespace tutti::test
