// What is counted of a part's tables is what is made; elements of which none can be made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/models/compressible/elements/operator_sizes.hpp"

namespace tutti::compressible {
namespace {

TEST(OperatorSizes, AreThoseOfTheOperators) {
  for (const BoxElements elements : {BoxElements::hexahedra, BoxElements::tetrahedra, BoxElements::prisms,
                                     BoxElements::pyramids, BoxElements::mixed})
    for (const double jitter : {0.0, 0.1})
      for (const bool periodic : {false, true})
        for (const OperatorOptions& options :
             {OperatorOptions{1, false, false}, OperatorOptions{2, true, true}, OperatorOptions{3, false, true},
              OperatorOptions{2, false, false, true}, OperatorOptions{1, true, true, true, true},
              OperatorOptions{2, false, true, false, false, true}}) {
          ElementBoxSpec spec;
          spec.elements = elements;
          spec.cubes = {5, 2, 2};
          spec.jitter = jitter;
          spec.periodic = {periodic, false, false};
          const ElementMesh mesh = generate_element_box(spec);
          // Some are ghosts.
          IndexMap map;
          map.global.resize(mesh.element_count());
          std::iota(map.global.begin(), map.global.end(), Gid{0});
          map.owned = map.local() - 3;
          map.interior = map.owned / 2;
          const LocalElementMesh local = local_elements(map, mesh, match_faces(mesh));
          const Operators made = make_operators(local, map, options);
          const OperatorSizes counted = count_operators(local, map, options);
          SCOPED_TRACE(fmt::format("{} {} {} {}", static_cast<int>(elements), jitter, periodic, options.order));
          EXPECT_EQ(counted.tables, static_cast<Size>(made.tables.size()));
          EXPECT_EQ(counted.normals, static_cast<Size>(made.normals.size()));
          EXPECT_EQ(counted.element_row, made.apart.element_width);
          EXPECT_EQ(counted.face_row, made.apart.face_width);
          EXPECT_EQ(counted.turns, static_cast<Size>(made.turns.size()));
          EXPECT_EQ(counted.faces, static_cast<Size>(made.faces.size()));
          EXPECT_EQ(counted.boundary_points, static_cast<Size>(made.boundary.places.size()));
          Size fluxes = 0;
          for (const FaceRecord& face : made.faces) fluxes += variables * Size{face.points};
          EXPECT_EQ(counted.flux, fluxes);
          Size points = 0;
          for (Lid e = 0; e < map.owned; ++e) points += made.elements[e].points;
          EXPECT_EQ(counted.source_points, points);
        }
}

/// Makes operators of one hexahedron whose corner at (1, 1, 1) has been moved.
void operators_with_corner_at(Vec3 corner, bool recomputed) {
  ElementBoxSpec spec;
  spec.elements = BoxElements::hexahedra;
  spec.cubes = {1, 1, 1};
  ElementMesh mesh = generate_element_box(spec);
  std::replace(mesh.points.begin(), mesh.points.end(), Vec3{1, 1, 1}, corner);
  IndexMap map;
  map.global = {0};
  map.owned = map.interior = 1;
  OperatorOptions options{2, false, true};
  options.recomputed = recomputed;
  make_operators(local_elements(map, mesh, match_faces(mesh)), map, options);
}

TEST(Operators, NameElementsThatAreFoldedOrInverted) {
  for (const bool recomputed : {false, true}) {
    EXPECT_NO_THROW(operators_with_corner_at({1.1, 1, 1.1}, recomputed));
    EXPECT_THAT(
        [&] {
          operators_with_corner_at({-0.3, -0.3, -0.3}, recomputed);
        },
        testing::ThrowsMessage<Error>(testing::HasSubstr("mesh: element 0 is folded: its Jacobian determinant is -")));
    EXPECT_THAT(
        [&] {
          operators_with_corner_at({-5, -5, -5}, recomputed);
        },
        testing::ThrowsMessage<Error>(testing::HasSubstr("mesh: element 0 is inverted or has no volume")));
  }
}

}  // namespace
}  // namespace tutti::compressible
