// What is counted of a part's tables is what is made.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

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

}  // namespace
}  // namespace tutti::compressible
