#include <cmath>

#include "mesh_helpers.hpp"
#include "tutti/mesh/info.hpp"

namespace tutti {
namespace {

using namespace test;

TetMesh regular_tet() {
  TetMesh m;
  m.vertices = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  m.cells = {{0, 1, 2, 3}};
  if (tet_volume(m.vertices[0], m.vertices[1], m.vertices[2], m.vertices[3]) < 0)
    std::swap(m.cells[0][2], m.cells[0][3]);
  m.regions = {0};
  return m;
}

TEST(MeshInfo, EmptyMesh) {
  const MeshInfo i = inspect(TetMesh{}, {});
  EXPECT_EQ(i.cells, 0);
  EXPECT_EQ(i.components, 0);
  EXPECT_FALSE(describe(i).empty());
}

TEST(MeshInfo, RegularTetrahedron) {
  const TetMesh m = regular_tet();
  const MeshInfo i = inspect(m, find_face_neighbours(m));
  EXPECT_NEAR(i.volume, 8.0 / 3, 1e-14);
  EXPECT_NEAR(i.min_dihedral_degrees, std::acos(1.0 / 3) * 180 / M_PI, 1e-10);
  EXPECT_NEAR(i.min_aspect, 1, 1e-14);
  EXPECT_NEAR(i.max_aspect, 1, 1e-14);
  EXPECT_EQ(i.cells_by_boundary_faces[4], 1);
  EXPECT_EQ(i.untagged.count, 4);
  EXPECT_NEAR(i.untagged.measure, std::sqrt(3.0) * 8, 1e-12);
  EXPECT_EQ(i.regions.at(0).name, "");
}

TEST(MeshInfo, RightAngledCornerTetrahedron) {
  TetMesh m;
  m.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  m.cells = {{0, 1, 2, 3}};
  m.regions = {4};
  m.region_names[4] = "corner";
  const MeshInfo i = inspect(m, find_face_neighbours(m));
  EXPECT_NEAR(i.min_dihedral_degrees, std::acos(1 / std::sqrt(3.0)) * 180 / M_PI, 1e-10);
  const double r_in = 3 * (1.0 / 6) / (1.5 + std::sqrt(3.0) / 2);
  EXPECT_NEAR(i.max_aspect, std::sqrt(2.0) / (2 * std::sqrt(6.0) * r_in), 1e-13);
  EXPECT_EQ(i.regions.at(4).name, "corner");
}

TEST(MeshInfo, PiecesTagsAndInteriorTriangles) {
  TetMesh m = five_tets();
  const TetMesh far = regular_tet();
  for (const Vec3& v : far.vertices) m.vertices.push_back(v + Vec3{10, 0, 0});
  m.cells.push_back({far.cells[0][0] + 8, far.cells[0][1] + 8, far.cells[0][2] + 8, far.cells[0][3] + 8});
  m.regions.push_back(2);
  m.boundary = {{0, 1, 2}, {1, 2, 4}};
  m.boundary_tags = {7, 8};
  m.boundary_names[7] = "floor";
  const MeshInfo i = inspect(m, find_face_neighbours(m));
  EXPECT_EQ(i.components, 2);
  EXPECT_EQ(i.interior_triangles, 1);
  EXPECT_EQ(i.boundary.at(7).count, 1);
  EXPECT_DOUBLE_EQ(i.boundary.at(7).measure, 0.5);
  EXPECT_EQ(i.boundary.count(8), 0u);
  EXPECT_EQ(i.untagged.count, 12 - 1 + 4);
  EXPECT_EQ(i.cells_by_boundary_faces, (std::array<Size, 5>{1, 0, 0, 4, 1}));
  EXPECT_EQ(i.boundary_faces, 16);
  EXPECT_EQ(i.upper, (Vec3{11, 1, 1}));
  const std::string text = describe(i);
  for (const char* words : {"6 tetrahedra", "2 connected pieces", "\"floor\"", "untagged", "1 tagged triangles"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

}  // namespace
}  // namespace tutti
