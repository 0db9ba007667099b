#include "tutti/mesh/conformity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tutti/mesh/generate.hpp"

namespace tutti {
namespace {

BoxSpec spec_of(std::array<Gid, 3> cubes, double lower = 0, double upper = 1) {
  BoxSpec spec;
  spec.cubes = cubes;
  spec.lower = {lower, 0, 0};
  spec.upper = {upper, 1, 1};
  return spec;
}

Misfits misfits_of(const TetMesh& mesh) {
  return find_misfits(mesh, find_face_neighbours(mesh));
}

Size inner_faces(const TetMesh& mesh) {
  Size count = 0;
  for (const auto& cell : find_face_neighbours(mesh))
    for (const Gid n : cell) count += n >= 0;
  return count / 2;
}

/// Both meshes, nothing in common.
TetMesh beside(TetMesh a, const TetMesh& b) {
  const Gid first = a.vertex_count();
  a.vertices.insert(a.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (auto cell : b.cells) {
    for (Gid& v : cell) v += first;
    a.cells.push_back(cell);
  }
  a.regions.resize(a.cells.size());
  a.boundary.clear();
  a.boundary_tags.clear();
  return a;
}

TEST(Conformity, whole_meshes_fit) {
  EXPECT_FALSE(misfits_of(generate_box(spec_of({3, 2, 4}))).any());
  BoxSpec spec = spec_of({4, 4, 4});
  spec.jitter = 0.2;
  EXPECT_FALSE(misfits_of(generate_box(spec)).any());
  // Stretched, graded, and small: tolerances are those of the place.
  spec.jitter = 0;
  spec.grading = {4, 1, 1};
  spec.map = [](Vec3 p) { return Vec3{1e-5 * p.x, p.y, 1e3 + p.z}; };
  EXPECT_FALSE(misfits_of(generate_box(spec)).any());
  EXPECT_FALSE(misfits_of(generate_box(spec_of({1, 1, 1}))).any());
  TetMesh flat;
  flat.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 1e-9}};
  flat.cells = {{0, 1, 2, 3}};
  flat.regions = {0};
  EXPECT_FALSE(misfits_of(flat).any());
  // Two bodies with room between, and two that touch in a corner alone.
  EXPECT_FALSE(misfits_of(beside(generate_box(spec_of({2, 2, 2})), generate_box(spec_of({2, 2, 2}, 1.001, 2)))).any());
  BoxSpec corner = spec_of({2, 2, 2}, 1, 2);
  corner.lower = {1, 1, 1};
  corner.upper = {2, 2, 2};
  EXPECT_FALSE(misfits_of(beside(generate_box(spec_of({2, 2, 2})), generate_box(corner))).any());
}

TEST(Conformity, a_crack_is_found_and_closed) {
  const TetMesh left = generate_box(spec_of({2, 3, 2})), right = generate_box(spec_of({2, 3, 2}, 1, 2));
  TetMesh mesh = beside(left, right);
  const Misfits found = misfits_of(mesh);
  EXPECT_EQ(found.cracks, 2 * 3 * 2);
  EXPECT_EQ(found.hanging, 0);
  EXPECT_DOUBLE_EQ(found.crack_place.x, 1);
  EXPECT_LT(found.crack_cells[0], left.cell_count());
  EXPECT_GE(found.crack_cells[1], left.cell_count());
  // Digits of a text file.
  for (Vec3& v : mesh.vertices) v = {std::round(v.x * 1e7) * 1e-7, std::round(v.y * 1e7) * 1e-7, v.z * (1 + 1e-9)};
  EXPECT_EQ(misfits_of(mesh).cracks, 12);
  EXPECT_EQ(merge_vertices(mesh, find_face_neighbours(mesh)), 4 * 3);
  EXPECT_EQ(mesh.vertex_count(), 5 * 4 * 3);
  EXPECT_FALSE(misfits_of(mesh).any());
  EXPECT_EQ(inner_faces(mesh), inner_faces(generate_box(spec_of({4, 3, 2}, 0, 2))));
  EXPECT_EQ(merge_vertices(mesh, find_face_neighbours(mesh)), 0);
}

// A mesh that somebody made to keep us busy: looking at each vertex beside each would take minutes.
TEST(Conformity, many_cells_at_the_same_place) {
  TetMesh mesh;
  constexpr Gid cells = 20'000;
  for (Gid c = 0; c < cells; ++c) {
    for (const Vec3 v : {Vec3{0, 0, 0}, Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) mesh.vertices.push_back(v);
    mesh.cells.push_back({4 * c, 4 * c + 1, 4 * c + 2, 4 * c + 3});
  }
  mesh.regions.assign(mesh.cells.size(), 0);
  const Misfits found = misfits_of(mesh);
  EXPECT_EQ(found.cracks, 4 * (cells - 1));
  EXPECT_EQ(found.hanging, 0);
}

TEST(Conformity, hanging_nodes_are_found) {
  // A cube's two faces beside eight: five of nine vertices lie on them and are no corner.
  TetMesh mesh = beside(generate_box(spec_of({1, 1, 1})), generate_box(spec_of({2, 2, 2}, 1, 2)));
  for (int merged = 0; merged < 2; ++merged) {
    const Misfits found = misfits_of(mesh);
    EXPECT_EQ(found.hanging, 5);
    EXPECT_EQ(found.cracks, 0);
    EXPECT_DOUBLE_EQ(found.hanging_place.x, 1);
    EXPECT_LT(found.hanging_cell, 6);
    EXPECT_EQ(merge_vertices(mesh, find_face_neighbours(mesh)), merged == 0 ? 4 : 0) << "corners alone";
  }
}

}  // namespace
}  // namespace tutti
