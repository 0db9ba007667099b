// The tables of the tuned kernels hold what those of the portable ones do, and their tiles all faces.
#include <gtest/gtest.h>

#include <numeric>

#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/elements/tet_tables.hpp"

namespace tutti::compressible {
namespace {

/// A part of a box.
struct Part {
  LocalElementMesh mesh;
  IndexMap map;
  explicit Part(BoxElements elements) {
    ElementBoxSpec spec;
    spec.elements = elements;
    spec.cubes = {4, 3, 3};
    spec.jitter = 0.1;
    spec.periodic = {true, false, false};
    const ElementMesh whole = generate_element_box(spec);
    map.global.resize(whole.element_count());
    std::iota(map.global.begin(), map.global.end(), Gid{0});
    map.owned = map.local() - 5;
    map.interior = map.owned - 40;
    mesh = local_elements(map, whole, match_faces(whole));
  }
  Operators operators(int order, bool stored = false) const {
    return make_operators(mesh, map, {order, stored, false});
  }
};

/// What fragments from `first` on say of row `row` and column `column` of a tile.
double entry(const std::vector<double>& fragments, int first, int tiles, int row, int tile, int column) {
  return fragments[fragment_size * (first + row / 4 * tiles + tile) + 4 * column + row % 4];
}

template <int P>
void check_order() {
  using Sizes = TetSizes<P>;
  const Part part(BoxElements::tetrahedra);
  const Operators made = part.operators(P);
  const TetTables tets = make_tet_tables(made, part.map, P, part.mesh.interior_faces);
  ASSERT_TRUE(tets.view.tuned());
  EXPECT_EQ(tets.element_fragments.size(), static_cast<std::size_t>(fragment_size * Sizes::element_fragments));
  std::vector<int> met(made.faces.size(), 0);
  for (const Lid i : tets.at_boundary) {
    EXPECT_LT(made.faces[i].right, 0);
    ++met[i];
  }
  for (std::size_t tile = 0; tile < tets.tables.size(); ++tile)
    for (std::size_t k = tile_rows * tile; k < tile_rows * (tile + 1); ++k) {
      const TetFace& f = tets.faces[k];
      const FaceRecord& face = made.faces[f.face];
      EXPECT_EQ(f.left, face.left);
      EXPECT_EQ(f.right, face.right);
      EXPECT_EQ(f.face < part.mesh.interior_faces, static_cast<Lid>(tile) < tets.view.tiles[1]);
      if (k == tile_rows * tile || f.face != tets.faces[k - 1].face) ++met[f.face];
      for (int side = 0; side < 2; ++side)
        for (int l = 0; l < Sizes::bases; ++l)
          for (int q = 0; q < Sizes::face_points; ++q) {
            // Thread j of the sums has points 4 step + j.
            const int step = q / 4, column = 2 * (q % 4) + step % 2;
            const int table = side == 0 ? tets.tables[tile] % max_traces : tets.tables[tile] / max_traces;
            ASSERT_EQ(
                entry(tets.trace_fragments, Sizes::trace_fragments * table, Sizes::face_tiles, l, step / 2, column),
                made.tables[face.trace[side] + Size{l} * Sizes::face_points + q]);
          }
    }
  for (const int count : met) EXPECT_EQ(count, 1);
  for (Lid e = 0; e < part.map.owned; ++e)
    for (int k = 0; k < 4; ++k) {
      const std::int32_t code = made.face_of[max_faces * e + k], side = tets.sides[4 * e + k];
      const FaceRecord& face = made.faces[code >> 1];
      EXPECT_EQ(side >> 2, code >> 1);
      EXPECT_EQ(tets.scales[4 * e + k], (code & 1) == 0 ? -face.scale[0] : face.scale[1]);
      for (int q = 0; q < Sizes::face_points; ++q) {
        EXPECT_EQ(tets.view.turns[tile_rows * (side & 3) + q], made.turns[((code & 1) == 0 ? 0 : face.turn) + q]);
        for (int l = 0; l < Sizes::bases; ++l)
          ASSERT_EQ(entry(tets.element_fragments, Sizes::of_lift + k * Sizes::face_steps * Sizes::base_tiles,
                          Sizes::base_tiles, q, l / 8, l % 8),
                    made.tables[face.lift[code & 1] + Size{q} * padded(Sizes::bases) + l]);
      }
    }
}

TEST(TetTables, HoldThePortableTables) {
  check_order<1>();
  check_order<2>();
  check_order<3>();
}

TEST(TetTables, AreForStraightTetrahedraOfTheseOrders) {
  const Part tetrahedra(BoxElements::tetrahedra), prisms(BoxElements::prisms), mixed(BoxElements::mixed);
  const auto tuned = [](const Part& part, const Operators& made, int order) {
    return make_tet_tables(made, part.map, order, part.mesh.interior_faces).view.tuned();
  };
  EXPECT_TRUE(tuned(tetrahedra, tetrahedra.operators(2), 2));
  EXPECT_FALSE(tuned(tetrahedra, tetrahedra.operators(4), 4));
  EXPECT_FALSE(tuned(tetrahedra, tetrahedra.operators(0), 0));
  EXPECT_FALSE(tuned(tetrahedra, tetrahedra.operators(2, true), 2));
  EXPECT_FALSE(tuned(prisms, prisms.operators(1), 1));
  EXPECT_FALSE(tuned(mixed, mixed.operators(3), 3));
}

}  // namespace
}  // namespace tutti::compressible
