// The tables of the tuned kernels hold what those of the portable ones do, and their tiles all faces.
#include <fmt/core.h>
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
  Operators operators(int order, bool stored = false, bool viscous = false) const {
    return make_operators(mesh, map, {order, stored, viscous});
  }
};

/// What fragments from `first` on say of row `row` and column `column` of a tile.
double entry(const std::vector<double>& fragments, int first, int tiles, int row, int tile, int column) {
  return fragments[fragment_size * (first + row / 4 * tiles + tile) + 4 * column + row % 4];
}

/// Thread j of the sums has points 4 step + j.
int column_of(int q) {
  return 2 * (q % 4) + q / 4 % 2;
}

/// The derivatives of an element.
template <int P>
void check_derivatives(const Operators& made, const TetTables& tets) {
  using Sizes = TetSizes<P>;
  for (int m = 0; m < Sizes::bases; ++m)
    for (int d = 0; d < 3; ++d)
      for (int l = 0; l < Sizes::bases; ++l)
        ASSERT_EQ(entry(tets.element_fragments, Sizes::of_derivative + (3 * (m / 4) + d) * Sizes::base_tiles,
                        Sizes::base_tiles, m % 4, l / 8, column_of(l)),
                  made.tables[made.elements[0].derivative + Size{3 * m + d} * padded(Sizes::bases) + l]);
}

/// The trace beside the slopes of a side, and its spread.
template <int P>
void check_slopes(const Operators& made, const TetTables& tets, const FaceRecord& face, int side, int table) {
  using Sizes = TetSizes<P>;
  constexpr int n = Sizes::face_points;
  const int first = Sizes::viscous_trace_fragments * table;
  const auto number = [&](Size at) { return made.tables[at]; };
  for (int q = 0; q < n; ++q) {
    const int slopes = first + Sizes::of_slopes + 2 * (q / 4) * Sizes::base_steps, column = 2 * (q % 4);
    for (int l = 0; l < Sizes::bases; ++l) {
      const auto at = [&](int tile, int half) {
        return entry(tets.trace_fragments, slopes, 2, l, tile, column + half);
      };
      ASSERT_EQ(at(0, 0), number(face.trace[side] + Size{l} * n + q));
      ASSERT_EQ(at(0, 1), number(face.slope[side] + Size{3 * l} * n + q));
      ASSERT_EQ(at(1, 0), number(face.slope[side] + Size{3 * l + 1} * n + q));
      ASSERT_EQ(at(1, 1), number(face.slope[side] + Size{3 * l + 2} * n + q));
    }
    const int spread = first + Sizes::of_spread + q / 4 * Sizes::face_steps;
    for (int k = 0; k < n; ++k)
      ASSERT_EQ(entry(tets.trace_fragments, spread, 1, k, 0, column),
                number(face.slope[side] + Size{3 * n} * Sizes::bases + k * n + q));
  }
}

template <int P>
void check_order(bool viscous) {
  SCOPED_TRACE(fmt::format("order {}{}", P, viscous ? ", viscous" : ""));
  using Sizes = TetSizes<P>;
  const Part part(BoxElements::tetrahedra);
  const Operators made = part.operators(P, false, viscous);
  const TetTables tets = make_tet_tables(made, part.map, P, part.mesh.interior_faces, viscous);
  ASSERT_TRUE(tets.view.tuned());
  EXPECT_EQ(tets.view.viscous, viscous);
  const int of_trace = viscous ? Sizes::viscous_trace_fragments : Sizes::trace_fragments;
  EXPECT_EQ(tets.element_fragments.size(),
            static_cast<std::size_t>(fragment_size *
                                     (viscous ? Sizes::viscous_element_fragments : Sizes::element_fragments)));
  if (viscous) check_derivatives<P>(made, tets);
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
      for (int side = 0; side < 2; ++side) {
        const int table = side == 0 ? tets.tables[tile] % max_traces : tets.tables[tile] / max_traces;
        for (int l = 0; l < Sizes::bases; ++l)
          for (int q = 0; q < Sizes::face_points; ++q)
            ASSERT_EQ(entry(tets.trace_fragments, of_trace * table, Sizes::face_tiles, l, q / 8, column_of(q)),
                      made.tables[face.trace[side] + Size{l} * Sizes::face_points + q]);
        if (viscous) check_slopes<P>(made, tets, face, side, table);
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
                          Sizes::base_tiles, q, l / 8, viscous ? column_of(l) : l % 8),
                    made.tables[face.lift[code & 1] + Size{q} * padded(Sizes::bases) + l]);
      }
    }
}

TEST(TetTables, HoldThePortableTables) {
  for (const bool viscous : {false, true}) {
    check_order<1>(viscous);
    check_order<2>(viscous);
    check_order<3>(viscous);
  }
}

TEST(TetTables, AreForStraightTetrahedraOfTheseOrders) {
  const Part tetrahedra(BoxElements::tetrahedra), prisms(BoxElements::prisms), mixed(BoxElements::mixed);
  const auto tuned = [](const Part& part, const Operators& made, int order) {
    return make_tet_tables(made, part.map, order, part.mesh.interior_faces, false).view.tuned();
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
