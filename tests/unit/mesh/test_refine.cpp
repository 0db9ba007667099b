#include <cstring>
#include <set>

#include "mesh_helpers.hpp"
#include "tests/support/thread_hook.hpp"
#include "tutti/mesh/info.hpp"
#include "tutti/mesh/refine.hpp"

namespace tutti {
namespace {

using namespace test;

/// Two regions, all sides tagged, bent, with a fibre a cell.
TetMesh body(Gid n) {
  BoxSpec s;
  s.cubes = {n, n + 1, n};
  s.jitter = 0.2;
  s.split_x = 0.5;
  s.map = [](Vec3 p) { return Vec3{p.x + 0.2 * p.y * p.z, 2 * p.y, p.z + 0.1 * p.x * p.x}; };
  TetMesh mesh = generate_box(s);
  mesh.cell_data = {{"fibre", 3, {}}, {"number", 1, {}}};
  for (Gid c = 0; c < mesh.cell_count(); ++c) {
    const auto x = static_cast<double>(c);
    mesh.cell_data[0].values.insert(mesh.cell_data[0].values.end(), {x, x + 0.25, x + 0.5});
    mesh.cell_data[1].values.push_back(x);
  }
  return mesh;
}

double volume(const TetMesh& mesh, std::size_t c) {
  const auto at = [&](std::size_t i) { return mesh.vertices[mesh.cells[c][i]]; };
  return tet_volume(at(0), at(1), at(2), at(3));
}

Gid edge_count(const TetMesh& mesh) {
  std::set<std::pair<Gid, Gid>> edges;
  for (const auto& cell : mesh.cells)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < i; ++j) edges.insert(std::minmax({cell[i], cell[j]}));
  return static_cast<Gid>(edges.size());
}

TEST(Refine, NothingToDo) {
  EXPECT_EQ(refine(TetMesh{}, 3).cell_count(), 0);
  const TetMesh mesh = body(2);
  EXPECT_EQ(refine(mesh, 0).cells, mesh.cells);
  EXPECT_THROW(refine(mesh, -1), std::logic_error);
  EXPECT_THROW(refine(mesh, max_refinements + 1), std::logic_error);
}

TEST(Refine, OneCellByHand) {
  TetMesh mesh;
  mesh.vertices = {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 6}};
  mesh.cells = {{0, 1, 2, 3}};
  mesh.regions = {7};
  mesh.boundary = {{2, 1, 0}};
  mesh.boundary_tags = {42};
  const TetMesh fine = refine(mesh, 1);
  ASSERT_EQ(fine.vertex_count(), 10);
  // The edges by (lower, higher): 01 02 03 12 13 23.
  EXPECT_EQ(fine.vertices[4].x, 1);
  EXPECT_EQ(fine.vertices[5].y, 1);
  EXPECT_EQ(fine.vertices[9].z, 3);
  ASSERT_EQ(fine.cell_count(), 8);
  for (std::size_t c = 0; c < 8; ++c) EXPECT_DOUBLE_EQ(volume(fine, c), 0.5);
  EXPECT_EQ(fine.cells[1], (std::array<Gid, 4>{4, 1, 7, 8}));
  // All three diagonals are sqrt(11): the first one stays.
  for (std::size_t c = 4; c < 8; ++c)
    EXPECT_EQ(std::minmax({fine.cells[c][0], fine.cells[c][1]}), std::minmax({4L, 9L}));
  EXPECT_EQ(fine.regions, std::vector<std::int32_t>(8, 7));
  EXPECT_EQ(fine.boundary, (std::vector<std::array<Gid, 3>>{{2, 7, 5}, {7, 1, 4}, {5, 4, 0}, {7, 4, 5}}));
  EXPECT_EQ(fine.boundary_tags, std::vector<std::int32_t>(4, 42));
}

TEST(Refine, TheShortestDiagonal) {
  TetMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0.2, 0.3, 1}};
  mesh.cells = {{0, 1, 2, 3}};
  mesh.regions = {0};
  std::array<std::size_t, 4> p = {0, 1, 2, 3};
  do {  // whichever corner comes first
    TetMesh turned = mesh;
    for (std::size_t i = 0; i < 4; ++i) turned.cells[0][i] = static_cast<Gid>(p[i]);
    if (volume(turned, 0) < 0) continue;
    const TetMesh fine = refine(turned, 1);
    std::array<double, 3> lengths{};
    const auto middle = [&](std::size_t a, std::size_t b) { return 0.5 * (mesh.vertices[a] + mesh.vertices[b]); };
    lengths = {norm(middle(0, 1) - middle(2, 3)), norm(middle(0, 2) - middle(1, 3)), norm(middle(0, 3) - middle(1, 2))};
    for (std::size_t c = 4; c < 8; ++c) {
      const auto at = [&](std::size_t i) { return fine.vertices[fine.cells[c][i]]; };
      EXPECT_NEAR(norm(at(1) - at(0)), *std::min_element(lengths.begin(), lengths.end()), 1e-15);
      EXPECT_GT(volume(fine, c), 0);
    }
  } while (std::next_permutation(p.begin(), p.end()));
}

TEST(Refine, InheritsAndConforms) {
  const TetMesh mesh = body(3);
  const auto coarse = inspect(mesh, find_face_neighbours(mesh));
  const TetMesh fine = refine(mesh, 1);
  const auto info = inspect(fine, find_face_neighbours(fine));
  EXPECT_EQ(fine.cell_count(), 8 * mesh.cell_count());
  EXPECT_EQ(fine.vertex_count(), mesh.vertex_count() + edge_count(mesh));
  EXPECT_EQ(info.components, 1);
  // A face that does not conform would be a boundary without a tag.
  EXPECT_EQ(info.untagged.count, 0);
  EXPECT_EQ(info.boundary_faces, 4 * coarse.boundary_faces);
  EXPECT_NEAR(info.volume, coarse.volume, 1e-12 * coarse.volume);
  for (const auto& [tag, side] : coarse.boundary) {
    EXPECT_EQ(info.boundary.at(tag).count, 4 * side.count);
    EXPECT_NEAR(info.boundary.at(tag).measure, side.measure, 1e-12 * side.measure);
  }
  for (const auto& [tag, region] : coarse.regions)
    EXPECT_NEAR(info.regions.at(tag).measure, region.measure, 1e-12 * coarse.volume);
  EXPECT_EQ(fine.region_names, mesh.region_names);
  EXPECT_EQ(fine.boundary_names, mesh.boundary_names);
  ASSERT_EQ(fine.cell_data.size(), 2U);
  for (std::size_t c = 0; c < fine.cells.size(); ++c) {
    EXPECT_NEAR(volume(fine, c), volume(mesh, c / 8) / 8, 1e-13 * coarse.max_volume);
    EXPECT_EQ(fine.regions[c], mesh.regions[c / 8]);
    EXPECT_EQ(fine.cell_data[0].values[3 * c + 2], static_cast<double>(c / 8) + 0.5);
    EXPECT_EQ(fine.cell_data[1].values[c], static_cast<double>(c / 8));
  }
}

TEST(Refine, CellsKeepTheirShape) {
  const TetMesh mesh = body(2);
  const double before = inspect(mesh, find_face_neighbours(mesh)).max_aspect;
  const TetMesh fine = refine(mesh, 4);
  const auto info = inspect(fine, find_face_neighbours(fine));
  EXPECT_EQ(info.cells, 4096 * mesh.cell_count());
  EXPECT_GT(info.min_volume, 0);
  EXPECT_LT(info.max_aspect, 2 * before);
}

TEST(Refine, ThreadsChangeNothing) {
  // Large enough for several pieces.
  const TetMesh mesh = body(14);
  const TetMesh a = refine(mesh, 1), b = refine(mesh, 1, five_threads);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.boundary, b.boundary);
  EXPECT_EQ(a.cell_data[0].values, b.cell_data[0].values);
  ASSERT_EQ(a.vertices.size(), b.vertices.size());
  EXPECT_EQ(std::memcmp(a.vertices.data(), b.vertices.data(), a.vertices.size() * sizeof(Vec3)), 0);
}

TEST(Refine, InteriorTriangles) {
  TetMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  mesh.cells = {{0, 1, 2, 3}, {1, 2, 3, 4}};
  mesh.regions = {1, 2};
  mesh.boundary = {{1, 2, 3}};
  mesh.boundary_tags = {5};
  const TetMesh fine = refine(mesh, 2);
  EXPECT_EQ(inspect(fine, find_face_neighbours(fine)).interior_triangles, 16);
}

TEST(Refine, ATriangleThatIsNowhere) {
  TetMesh mesh = body(1);
  mesh.boundary.push_back({0, 1, mesh.vertex_count() + 5});
  mesh.boundary_tags.push_back(3);
  const auto message = error_of(ErrorKind::input, [&] { refine(mesh, 1); });
  EXPECT_NE(message.find("boundary triangle"), std::string::npos) << message;
  EXPECT_NE(message.find("tag 3"), std::string::npos) << message;
}

TEST(Refine, TooLarge) {
  // 5e13 cells: nothing is tried.
  TetMesh mesh = body(20);
  const auto message = error_of(ErrorKind::resource, [&] { refine(mesh, max_refinements); });
  EXPECT_NE(message.find("lower the number of times"), std::string::npos) << message;
  // 1e10 cells: what the system would promise and not have.
  const auto promised = error_of(ErrorKind::resource, [&] { refine(mesh, 6); });
  EXPECT_NE(promised.find("1.32e+10 cells of the refined mesh take about 2.40 TiB of memory"), std::string::npos)
      << promised;
}

}  // namespace
}  // namespace tutti
