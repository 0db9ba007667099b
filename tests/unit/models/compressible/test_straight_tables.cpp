// The tables of the tuned kernels hold what those of the portable ones do, and their tiles all faces.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tutti/base/random.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/elements/straight_tables.hpp"
#include "tutti/models/compressible/elements/tetrahedron_symmetry.hpp"

namespace tutti::compressible {
namespace {

/// A part of a box.
struct Part {
  LocalElementMesh mesh;
  IndexMap map;
  explicit Part(BoxElements elements) : Part(elements, elements == BoxElements::hexahedra ? 0 : 0.1) {}
  Part(BoxElements elements, double jitter, std::array<Gid, 3> cubes = {4, 3, 3}) {
    ElementBoxSpec spec;
    spec.elements = elements;
    spec.cubes = cubes;
    spec.jitter = jitter;
    spec.periodic = {true, false, false};
    const ElementMesh whole = generate_element_box(spec);
    map.global.resize(whole.element_count());
    std::iota(map.global.begin(), map.global.end(), Gid{0});
    map.owned = map.local() - 5;
    map.interior = map.owned / 2;
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

/// The slopes of a tetrahedron at its points.
template <class Sizes>
void check_slopes_at_points(const Operators& made, const StraightTables& tables) {
  const double* slopes = made.tables.data() + made.elements[0].slopes;
  for (int q = 0; q < Sizes::points; ++q) {
    const auto at = [&](int first, int row) {
      return entry(tables.element_fragments, first, Sizes::point_tiles, row, q / 8, column_of(q));
    };
    for (int m = 0; m < Sizes::bases; ++m)
      for (int d = 0; d < 3; ++d)
        ASSERT_EQ(at(Sizes::of_slopes_at_points + (3 * (m / 4) + d) * Sizes::point_tiles, m % 4),
                  slopes[(3 * m + d) * Sizes::points + q]);
    for (int k = 0; k < 4 * Sizes::face_points; ++k)
      ASSERT_EQ(at(Sizes::of_jumps, k), slopes[(3 * Sizes::bases + k) * Sizes::points + q]);
  }
}

/// The derivatives of an element.
template <class Sizes>
void check_derivatives(const Operators& made, const StraightTables& tables) {
  for (int m = 0; m < Sizes::bases; ++m)
    for (int d = 0; d < 3; ++d)
      for (int l = 0; l < Sizes::bases; ++l)
        ASSERT_EQ(entry(tables.element_fragments, Sizes::of_derivative + (3 * (m / 4) + d) * Sizes::base_tiles,
                        Sizes::base_tiles, m % 4, l / 8, column_of(l)),
                  made.tables[made.elements[0].derivative + Size{3 * m + d} * padded(Sizes::bases) + l]);
}

/// The trace beside the slopes of a side, and its spread. own: which points of the side the face's are.
template <class Sizes>
void check_slopes(const Operators& made, const StraightTables& tables, const FaceRecord& face, int side, int table,
                  const std::uint8_t* own) {
  constexpr int n = Sizes::face_points;
  const int first = Sizes::viscous_trace_fragments * table;
  const auto number = [&](Size at) { return made.tables[at]; };
  for (int q = 0; q < n; ++q) {
    const int there = own[q];
    const int slopes = first + Sizes::of_slopes + 2 * (there / 4) * Sizes::base_steps, column = 2 * (there % 4);
    for (int l = 0; l < Sizes::bases; ++l) {
      const auto at = [&](int tile, int half) {
        return entry(tables.trace_fragments, slopes, 2, l, tile, column + half);
      };
      ASSERT_EQ(at(0, 0), number(face.trace[side] + Size{l} * n + q));
      ASSERT_EQ(at(0, 1), number(face.slope[side] + Size{3 * l} * n + q));
      ASSERT_EQ(at(1, 0), number(face.slope[side] + Size{3 * l + 1} * n + q));
      ASSERT_EQ(at(1, 1), number(face.slope[side] + Size{3 * l + 2} * n + q));
    }
    const int spread = first + Sizes::of_spread + there / 4 * Sizes::face_steps;
    for (int k = 0; k < n; ++k)
      ASSERT_EQ(entry(tables.trace_fragments, spread, 1, k < face.actual ? own[k] : k, 0, column),
                number(face.slope[side] + Size{3 * n} * Sizes::bases + k * n + q));
  }
}

/// What fused kernels make of the tables: on both sides of each face, at the same points, the traces of a state.
template <class Sizes>
void check_fused(const Part& part, const Operators& made, const StraightTables& tables) {
  constexpr int n = Sizes::bases;
  // Threads behind the last function read any number, those without a point have any.
  for (int f = 0; f < Sizes::faces; ++f)
    for (int column = 0; column < 8; ++column)
      for (int l = n; l < 4 * Sizes::base_steps; ++l)
        ASSERT_EQ(entry(tables.element_fragments, Sizes::element_fragments + f * Sizes::base_steps, 1, l, 0, column),
                  0);
  for (int row = 3; row < 4 * Sizes::faces * Sizes::face_steps; row += 4)
    for (int l = 0; l < 8 * Sizes::base_tiles; ++l)
      ASSERT_EQ(entry(tables.element_fragments, Sizes::of_lift, Sizes::base_tiles, row, l / 8, l % 8), 0);
  ASSERT_EQ(tables.element_fragments.size(), static_cast<std::size_t>(fragment_size * fused_fragments<Sizes>));
  // Tiles have each face at the boundary once, and no other.
  std::vector<int> met(made.faces.size(), 0);
  for (std::size_t k = 0; k < tables.faces.size(); ++k)
    if (k % tile_rows == 0 || tables.faces[k].face != tables.faces[k - 1].face) ++met[tables.faces[k].face];
  for (std::size_t i = 0; i < met.size(); ++i) EXPECT_EQ(met[i], made.faces[i].right < 0 ? 1 : 0);
  const auto value = [](Lid e, int l) { return random_unit(3, static_cast<std::uint64_t>(Size{n} * e + l)) - 0.5; };
  // As tensor cores add: function after function. Point q of the sums is t = q % 3 of step q / 3.
  const auto trace = [&](int f, int q, Lid e, unsigned odd) {
    double sum = 0;
    for (int l = 0; l < n; ++l)
      sum = std::fma((odd >> l & 1U) != 0 ? -value(e, l) : value(e, l),
                     entry(tables.element_fragments, Sizes::element_fragments + f * Sizes::base_steps, 1, l, 0,
                           2 * (q % 3) + q / 3),
                     sum);
    return sum;
  };
  for (Lid e = 0; e < part.map.owned; ++e)
    for (int k = 0; k < Sizes::faces; ++k) {
      const std::int32_t code = made.face_of[max_faces * e + k], beyond_code = tables.beyond[Sizes::faces * e + k];
      const FaceRecord& face = made.faces[code >> 1];
      const int side = code & 1;
      ASSERT_EQ(beyond_code < 0, face.right < 0);
      EXPECT_EQ(tables.sides[Sizes::faces * e + k] / max_turns, code >> 1);
      EXPECT_EQ(tables.scales[Sizes::faces * e + k], side == 0 ? -face.scale[0] : face.scale[1]);
      const Beyond beyond = Beyond::of(beyond_code);
      for (int q = 0; q < face.actual; ++q) {
        const auto should = [&](int of, Lid row) {
          const int there = side == 0 ? q : made.turns[face.turn + q];
          double sum = 0;
          for (int l = 0; l < n; ++l)
            sum = std::fma(value(row, l), made.tables[face.trace[of] + Size{l} * Sizes::face_points + there], sum);
          return sum;
        };
        ASSERT_EQ(trace(k, q, e, 0), should(side, e));
        for (int l = 0; l < n; ++l)
          ASSERT_EQ(entry(tables.element_fragments, Sizes::of_lift + k * Sizes::face_steps * Sizes::base_tiles,
                          Sizes::base_tiles, 4 * (q / 3) + q % 3, l / 8, l % 8),
                    made.tables[face.lift[side] + Size{q} * padded(n) + l]);
        if (face.right < 0) continue;
        ASSERT_EQ(beyond.row, side == 0 ? face.right : face.left);
        const int c = tables.view.reflections.of(beyond.match, q / 3), t = (c - q % 3 + 3) % 3;
        ASSERT_EQ(trace(0, q / 3 * 3 + t, beyond.row, odd_under_half_turn(beyond.face)), should(1 - side, beyond.row));
      }
    }
}

template <class Sizes>
void check_sizes(BoxElements elements, bool viscous) {
  constexpr int P = Sizes::order;
  SCOPED_TRACE(fmt::format("{} faces, order {}{}", Sizes::faces, P, viscous ? ", viscous" : ""));
  const Part part(elements);
  const Operators made = part.operators(P, false, viscous);
  const StraightTables tables = make_straight_tables(made, part.mesh, part.map, P, viscous, DeviceKind::cuda);
  ASSERT_TRUE(tables.view.tuned());
  EXPECT_EQ(tables.view.viscous, viscous);
  EXPECT_EQ(tables.view.faces_each, Sizes::faces);
  EXPECT_EQ(tables.view.fused, !viscous && Sizes::slopes && P < 3);
  if (tables.view.fused) return check_fused<Sizes>(part, made, tables);
  const int of_trace = viscous ? Sizes::viscous_trace_fragments : Sizes::trace_fragments;
  EXPECT_EQ(tables.element_fragments.size(),
            static_cast<std::size_t>(fragment_size *
                                     (viscous ? Sizes::viscous_element_fragments : Sizes::element_fragments)));
  if (viscous && Sizes::slopes) check_slopes_at_points<Sizes>(made, tables);
  if (viscous && !Sizes::slopes) check_derivatives<Sizes>(made, tables);
  std::vector<int> met(made.faces.size(), 0);
  const auto in = [&](std::size_t tile, FaceSet set) {
    const Range tiles = tables.view.tiles(set);
    return static_cast<Lid>(tile) >= tiles.begin && static_cast<Lid>(tile) < tiles.end;
  };
  for (std::size_t tile = 0; tile < tables.tables.size(); ++tile)
    for (std::size_t k = tile_rows * tile; k < tile_rows * (tile + 1); ++k) {
      const StraightFace& f = tables.faces[k];
      const FaceRecord& face = made.faces[f.face];
      EXPECT_EQ(f.left, face.left);
      EXPECT_EQ(f.right, face.right);
      EXPECT_EQ(f.face < part.mesh.interior_faces, in(tile, interior_inner) || in(tile, interior_boundary));
      EXPECT_EQ(f.right < 0, in(tile, interior_boundary) || in(tile, separator_boundary));
      if (k == tile_rows * tile || f.face != tables.faces[k - 1].face) ++met[f.face];
      for (int side = 0; side < (f.right < 0 ? 0 : 2); ++side) {
        const TileSides sides = TileSides::of(tables.tables[tile]);
        const int table = side == 0 ? sides.left : sides.right;
        const std::uint8_t* own = tables.view.own + tile_rows * (side == 0 ? 0 : sides.turn);
        for (int q = 0; q < face.actual; ++q) ASSERT_EQ(made.turns[(side == 0 ? 0 : face.turn) + own[q]], q);
        for (int l = 0; l < Sizes::bases; ++l)
          for (int q = 0; q < Sizes::face_points; ++q)
            ASSERT_EQ(entry(tables.trace_fragments, of_trace * table, Sizes::face_tiles, l, own[q] / 8,
                            column_of(own[q] % 8)),
                      made.tables[face.trace[side] + Size{l} * Sizes::face_points + q]);
        if (viscous) check_slopes<Sizes>(made, tables, face, side, table, own);
      }
    }
  for (const int count : met) EXPECT_EQ(count, 1);
  for (Lid e = 0; e < part.map.owned; ++e)
    for (int k = 0; k < Sizes::faces; ++k) {
      const std::int32_t code = made.face_of[max_faces * e + k], side = tables.sides[Sizes::faces * e + k];
      const FaceRecord& face = made.faces[code >> 1];
      EXPECT_EQ(side / max_turns, code >> 1);
      EXPECT_EQ(tables.scales[Sizes::faces * e + k], (code & 1) == 0 ? -face.scale[0] : face.scale[1]);
      for (int q = 0; q < Sizes::face_points; ++q) {
        EXPECT_EQ(tables.view.turns[tile_rows * (side % max_turns) + q],
                  made.turns[((code & 1) == 0 ? 0 : face.turn) + q]);
        for (int l = 0; l < Sizes::bases; ++l)
          ASSERT_EQ(entry(tables.element_fragments, Sizes::of_lift + k * Sizes::face_steps * Sizes::base_tiles,
                          Sizes::base_tiles, q, l / 8, viscous && !Sizes::slopes ? column_of(l) : l % 8),
                    made.tables[face.lift[code & 1] + Size{q} * padded(Sizes::bases) + l]);
      }
    }
}

TEST(StraightTables, HoldThePortableTables) {
  for (const bool viscous : {false, true}) {
    check_sizes<TetSizes<1>>(BoxElements::tetrahedra, viscous);
    check_sizes<TetSizes<2>>(BoxElements::tetrahedra, viscous);
    check_sizes<TetSizes<3>>(BoxElements::tetrahedra, viscous);
    check_sizes<HexSizes<1>>(BoxElements::hexahedra, viscous);
    check_sizes<HexSizes<2>>(BoxElements::hexahedra, viscous);
    check_sizes<HexSizes<3>>(BoxElements::hexahedra, viscous);
  }
}

/// Elements meet themselves, or another one at two faces.
TEST(StraightTables, OfTetrahedraInTheNarrowestPeriodicBoxes) {
  for (const Gid length : {1, 2}) {
    const Part part(BoxElements::tetrahedra, 0, {length, 2, 1});
    const Operators made = part.operators(2);
    const StraightTables tables = make_straight_tables(made, part.mesh, part.map, 2, false, DeviceKind::cuda);
    ASSERT_TRUE(tables.view.fused);
    check_fused<TetSizes<2>>(part, made, tables);
  }
}

TEST(StraightTables, AreForStraightTetrahedraAndHexahedraOfTheseOrders) {
  const Part tetrahedra(BoxElements::tetrahedra), hexahedra(BoxElements::hexahedra), prisms(BoxElements::prisms),
      mixed(BoxElements::mixed), moved(BoxElements::hexahedra, 0.1);
  const auto tuned = [](const Part& part, const Operators& made, int order, DeviceKind device = DeviceKind::cuda) {
    return make_straight_tables(made, part.mesh, part.map, order, false, device).view.tuned();
  };
  for (const Part* part : {&tetrahedra, &hexahedra}) {
    EXPECT_TRUE(tuned(*part, part->operators(2), 2));
    EXPECT_FALSE(tuned(*part, part->operators(4), 4));
    EXPECT_FALSE(tuned(*part, part->operators(0), 0));
    EXPECT_FALSE(tuned(*part, part->operators(2, true), 2));
    if (lane_count == 1) continue;
    EXPECT_TRUE(tuned(*part, part->operators(1), 1, DeviceKind::host));
    EXPECT_FALSE(tuned(*part, part->operators(4), 4, DeviceKind::fake));
    EXPECT_FALSE(tuned(*part, part->operators(2, true), 2, DeviceKind::host));
  }
  EXPECT_FALSE(tuned(prisms, prisms.operators(1), 1));
  EXPECT_FALSE(tuned(mixed, mixed.operators(3), 3));
  EXPECT_FALSE(tuned(moved, moved.operators(2), 2));
}

}  // namespace
}  // namespace tutti::compressible
