#include "mesh_helpers.hpp"
#include "tutti/mesh/face_shape.hpp"

namespace tutti {
namespace {

LocalTetMesh jittered_box() {
  BoxSpec spec;
  spec.cubes = {3, 4, 2};
  spec.jitter = 0.4;
  const TetMesh whole = generate_box(spec);
  const FaceNeighbours neighbours = find_face_neighbours(whole);
  LocalTetMesh mesh;
  mesh.owned = static_cast<Lid>(whole.cell_count());
  mesh.vertices = whole.vertices;
  for (Gid c = 0; c < whole.cell_count(); ++c) {
    const auto i = static_cast<std::size_t>(c);
    std::array<Lid, 4> corners{}, behind{};
    for (std::size_t k = 0; k < 4; ++k) {
      corners[k] = static_cast<Lid>(whole.cells[i][k]);
      behind[k] = static_cast<Lid>(neighbours[i][k]);
    }
    mesh.cells.push_back(corners);
    mesh.neighbours.push_back(behind);
    // Numbers that go down while the cells go up: the side that counts is not simply the first.
    mesh.global.push_back(c % 2 == 0 ? c : 1000 - c);
  }
  return mesh;
}

TEST(FaceShape, AreaPointsOutOfTheCell) {
  const LocalTetMesh mesh = jittered_box();
  for (Lid c = 0; c < mesh.owned; ++c) {
    double volume = 0;
    for (int f = 0; f < 4; ++f) {
      const FaceShape face = face_shape(mesh, c, f);
      EXPECT_GT(dot(face.area, face.centroid - mesh.centroid(c)), 0);
      volume += dot(face.area, face.centroid - mesh.centroid(c)) / 3;
    }
    EXPECT_NEAR(volume, mesh.volume(c), 1e-14);
  }
}

TEST(FaceShape, BothSidesOfAFaceHaveTheSameBits) {
  const LocalTetMesh mesh = jittered_box();
  int interior = 0;
  for (Lid c = 0; c < mesh.owned; ++c)
    for (int f = 0; f < 4; ++f) {
      const Lid behind = mesh.neighbours[c][f];
      if (behind < 0) continue;
      const FaceShape mine = shared_face_shape(mesh, c, f);
      const FaceShape other = shared_face_shape(mesh, behind, face_towards(mesh, behind, c));
      EXPECT_EQ(mine.centroid, other.centroid);
      EXPECT_EQ(mine.area, -1.0 * other.area);
      EXPECT_GT(dot(mine.area, mine.centroid - mesh.centroid(c)), 0);
      ++interior;
    }
  EXPECT_GT(interior, 100);
}

TEST(FaceShape, OfTheBoundaryIsTheCellsOwn) {
  const LocalTetMesh mesh = jittered_box();
  Vec3 sum;
  for (Lid c = 0; c < mesh.owned; ++c)
    for (int f = 0; f < 4; ++f) {
      if (mesh.neighbours[c][f] >= 0) continue;
      EXPECT_EQ(shared_face_shape(mesh, c, f).area, face_shape(mesh, c, f).area);
      sum = sum + shared_face_shape(mesh, c, f).area;
    }
  EXPECT_NEAR(norm(sum), 0, 1e-14);  // the surface is closed
}

TEST(FaceShape, StrangersShareNoFace) {
  const LocalTetMesh mesh = jittered_box();
  EXPECT_THROW(face_towards(mesh, 0, mesh.owned - 1), std::logic_error);
}

}  // namespace
}  // namespace tutti
