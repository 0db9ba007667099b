#include "mesh_helpers.hpp"
#include "tests/support/thread_hook.hpp"
#include "tutti/mesh/stencil.hpp"

namespace tutti {
namespace {

using namespace test;
using ::testing::Test;

/// The obvious way: a map from sorted faces to who has them.
FaceNeighbours brute_force(const TetMesh& mesh) {
  std::map<std::array<Gid, 3>, std::vector<std::pair<std::size_t, std::size_t>>> faces;
  std::map<std::array<Gid, 3>, std::int32_t> tags;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c)
    for (std::size_t f = 0; f < 4; ++f) {
      std::array<Gid, 3> key{};
      std::size_t k = 0;
      for (std::size_t i = 0; i < 4; ++i)
        if (i != f) key[k++] = mesh.cells[c][i];
      std::sort(key.begin(), key.end());
      faces[key].push_back({c, f});
    }
  for (std::size_t t = 0; t < mesh.boundary.size(); ++t) {
    auto key = mesh.boundary[t];
    std::sort(key.begin(), key.end());
    tags[key] = mesh.boundary_tags[t];
  }
  FaceNeighbours result(mesh.cells.size());
  for (const auto& [key, sides] : faces) {
    for (const auto& [c, f] : sides) result[c][f] = boundary_face(tags.count(key) ? tags[key] : 0);
    if (sides.size() == 2) {
      result[sides[0].first][sides[0].second] = static_cast<Gid>(sides[1].first);
      result[sides[1].first][sides[1].second] = static_cast<Gid>(sides[0].first);
    }
  }
  return result;
}

TetMesh box(Gid nx, Gid ny, Gid nz) {
  BoxSpec s;
  s.cubes = {nx, ny, nz};
  return generate_box(s);
}

TEST(Topology, EmptyMesh) {
  EXPECT_TRUE(find_face_neighbours(TetMesh{}).empty());
  EXPECT_EQ(tet_stencil(FaceNeighbours{}).rows(), 0);
}

TEST(Topology, OneCell) {
  TetMesh m;
  m.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  m.cells = {{0, 1, 2, 3}};
  m.regions = {1};
  m.boundary = {{2, 1, 0}};  // opposite to vertex 3
  m.boundary_tags = {42};
  const auto n = find_face_neighbours(m);
  EXPECT_EQ(n[0], (std::array<Gid, 4>{-1, -1, -1, boundary_face(42)}));
  EXPECT_EQ(boundary_tag(n[0][3]), 42);
  EXPECT_EQ(tet_stencil(n).entries(), 0);
  EXPECT_EQ(tet_stencil(n).rows(), 1);
}

TEST(Topology, BoxAgainstBruteForce) {
  for (const auto& m : {box(1, 1, 1), box(2, 3, 4), box(5, 1, 2)}) {
    EXPECT_EQ(find_face_neighbours(m), brute_force(m));
    const TetMesh mixed = shuffled(m, 7);
    EXPECT_EQ(find_face_neighbours(mixed), brute_force(mixed));
  }
}

TEST(Topology, ManyCellsAtAVertex) {
  for (int n : {3, 31, 32, 33, 500}) {
    const TetMesh m = shuffled(fan(n), 3);
    EXPECT_EQ(find_face_neighbours(m), brute_force(m)) << n;
  }
}

TEST(Topology, CornerCellsHaveThreeBoundaryFaces) {
  const TetMesh m = five_tets();
  const auto n = find_face_neighbours(m);
  EXPECT_EQ(n, brute_force(m));
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(std::count(n[c].begin(), n[c].end(), boundary_face(0)), 3);
  EXPECT_EQ(std::count(n[4].begin(), n[4].end(), boundary_face(0)), 0);
}

TEST(Topology, FaceNumbersPointOutwards) {
  const TetMesh m = box(2, 2, 2);
  const auto n = find_face_neighbours(m);
  const auto centres = cell_centroids(m);
  for (std::size_t c = 0; c < m.cells.size(); ++c)
    for (std::size_t f = 0; f < 4; ++f) {
      const auto at = [&](int i) { return m.vertices[m.cells[c][i]]; };
      const auto [i, j, k] = tet_faces[f];
      const Vec3 normal = cross(at(j) - at(i), at(k) - at(i));
      EXPECT_GT(dot(normal, at(i) - centres[c]), 0);
      if (n[c][f] < 0) continue;
      EXPECT_GT(dot(normal, centres[n[c][f]] - centres[c]), 0);
    }
}

TEST(Topology, InteriorTriangleIsIgnored) {
  TetMesh m = five_tets();
  m.boundary = {{1, 2, 4}, {0, 1, 2}, {0, 1, 2}};
  m.boundary_tags = {5, 6, 6};
  const auto n = find_face_neighbours(m);
  EXPECT_EQ(n, brute_force(m));
  EXPECT_EQ(n[4][3], 0);
}

TEST(Topology, ThreadsChangeNothing) {
  for (const TetMesh& m : {shuffled(box(9, 11, 13), 7), fan(300)})
    EXPECT_EQ(find_face_neighbours(m), find_face_neighbours(m, five_threads));
  // Of several faults, the one that a single thread meets first is named.
  TetMesh m = box(20, 20, 20);
  for (const std::size_t c : {40000U, 30000U, 47000U}) m.cells[c][2] = m.cells[c][1];
  const auto first = error_of(ErrorKind::input, [&] { find_face_neighbours(m); });
  EXPECT_NE(first.find("cell 30000 has a vertex twice"), std::string::npos) << first;
  EXPECT_EQ(error_of(ErrorKind::input, [&] { find_face_neighbours(m, five_threads); }), first);
}

TEST(Topology, Defects) {
  TetMesh three = five_tets();
  three.vertices.push_back({0.1, 0.1, 0.1});
  three.cells.push_back({1, 2, 4, 8});
  three.regions.push_back(1);
  std::string message = error_of(ErrorKind::input, [&] { find_face_neighbours(three); });
  EXPECT_NE(message.find("three cells (0, 4 and 5) share the face of vertices 1 2 4"), std::string::npos) << message;

  TetMesh many = fan(200);
  many.cells.push_back(many.cells[17]);
  many.regions.push_back(1);
  error_of(ErrorKind::input, [&] { find_face_neighbours(many); });

  TetMesh same;
  same.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
  same.cells = {{4, 5, 6, 7}, {0, 1, 2, 3}, {1, 2, 0, 3}};
  same.regions = {1, 1, 1};
  for (const ParallelFor& parallel : {ParallelFor{}, ParallelFor{five_threads}})
    EXPECT_EQ(error_of(ErrorKind::input, [&] { find_face_neighbours(same, parallel); }),
              "mesh: cells 1 and 2 have the same four vertices; leave one of them out");

  TetMesh orphan = five_tets();
  orphan.boundary = {{0, 3, 7}};
  orphan.boundary_tags = {9};
  message = error_of(ErrorKind::input, [&] { find_face_neighbours(orphan); });
  EXPECT_NE(message.find("boundary triangle 0 (vertices 0 3 7, tag 9) is not a face"), std::string::npos) << message;

  TetMesh two_tags = five_tets();
  two_tags.boundary = {{0, 1, 2}, {2, 1, 0}};
  two_tags.boundary_tags = {1, 2};
  message = error_of(ErrorKind::input, [&] { find_face_neighbours(two_tags); });
  EXPECT_NE(message.find("two boundary tags, 1 and 2"), std::string::npos) << message;

  for (Gid wrong : {Gid{-1}, Gid{8}, Gid{1} << 62}) {
    TetMesh m = five_tets();
    m.cells[2][1] = wrong;
    error_of(ErrorKind::input, [&] { find_face_neighbours(m); });
    m = five_tets();
    m.boundary = {{0, 1, wrong}};
    m.boundary_tags = {1};
    error_of(ErrorKind::input, [&] { find_face_neighbours(m); });
  }
  TetMesh twice = five_tets();
  twice.cells[1][1] = twice.cells[1][0];
  error_of(ErrorKind::input, [&] { find_face_neighbours(twice); });
  TetMesh lengths = five_tets();
  lengths.boundary = {{0, 1, 2}};
  error_of(ErrorKind::input, [&] { find_face_neighbours(lengths); });
}

std::vector<Gid> obvious_row(const FaceNeighbours& n, Gid row, int depth) {
  std::vector<Gid> found;
  for (const Gid a : n[row]) {
    if (a < 0) continue;
    found.push_back(a);
    if (depth == 2)
      for (const Gid b : n[a])
        if (b >= 0 && b != row) found.push_back(b);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

TEST(Stencil, AgainstTheObviousWay) {
  for (const auto& m : {shuffled(box(3, 4, 2), 1), five_tets(), fan(3), fan(40)}) {
    const auto n = find_face_neighbours(m);
    const Adjacency stencil = tet_stencil(n), graph = face_graph(n);
    ASSERT_EQ(stencil.rows(), m.cell_count());
    ASSERT_EQ(graph.rows(), m.cell_count());
    for (Gid i = 0; i < m.cell_count(); ++i) {
      const auto row = stencil.row(i), faces = graph.row(i);
      EXPECT_EQ(std::vector<Gid>(row.begin(), row.end()), obvious_row(n, i, 2));
      EXPECT_EQ(std::vector<Gid>(faces.begin(), faces.end()), obvious_row(n, i, 1));
      EXPECT_LE(row.size(), 16u);
    }
    std::vector<std::array<Lid, 4>> local;
    for (const auto& faces : n) {
      auto& to = local.emplace_back();
      for (std::size_t f = 0; f < 4; ++f) to[f] = static_cast<Lid>(faces[f]);
    }
    for (const int layers : {1, 2}) {
      const auto lengths = stencil_lengths(local, static_cast<Lid>(local.size()), layers, five_threads);
      for (Gid i = 0; i < m.cell_count(); ++i) EXPECT_EQ(lengths[i], (layers == 2 ? stencil : graph).row(i).size());
    }
  }
}

TEST(Stencil, LocalNumbersSkipWhatIsOutsideTheHalo) {
  // A chain 0 - 1 - 2 - 3; cell 3's other neighbour lies outside the halo.
  const Lid outside = std::numeric_limits<Lid>::min();
  const std::vector<std::array<Lid, 4>> n = {{1, -1, -1, -1}, {0, 2, -1, -5}, {1, 3, -1, -1}, {2, outside, -1, -1}};
  const auto s = tet_stencil(std::span<const std::array<Lid, 4>>(n), Lid{2});
  ASSERT_EQ(s.rows(), 2);
  EXPECT_EQ(s.columns, (std::vector<Lid>{1, 2, 0, 2, 3}));
  EXPECT_EQ(s.offsets, (std::vector<Size>{0, 2, 5}));
  EXPECT_EQ(face_graph(std::span<const std::array<Lid, 4>>(n), Lid{4}).columns, (std::vector<Lid>{1, 0, 2, 1, 3, 2}));
}

}  // namespace
}  // namespace tutti
