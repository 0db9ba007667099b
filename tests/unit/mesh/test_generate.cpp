#include <cmath>

#include "mesh_helpers.hpp"
#include "tests/support/thread_hook.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"
#include "tutti/mesh/info.hpp"

namespace tutti {
namespace {

using namespace test;

MeshInfo info_of(const TetMesh& m) {
  return inspect(m, find_face_neighbours(m));
}

TEST(GenerateBox, IsExactAndTagged) {
  BoxSpec s;
  s.cubes = {4, 2, 8};
  s.lower = {-1, 0, 2};
  s.upper = {1, 0.5, 4};
  const TetMesh m = generate_box(s);
  EXPECT_EQ(m.cell_count(), 6 * 4 * 2 * 8);
  EXPECT_EQ(m.vertex_count(), 5 * 3 * 9);
  const MeshInfo i = info_of(m);
  EXPECT_DOUBLE_EQ(i.volume, 2);
  EXPECT_DOUBLE_EQ(i.regions.at(1).measure, 2);
  EXPECT_EQ(i.untagged.count, 0);
  EXPECT_EQ(i.interior_triangles, 0);
  EXPECT_EQ(i.components, 1);
  EXPECT_EQ(i.regions.at(1).name, "box");
  ASSERT_EQ(i.boundary.size(), 6u);
  const char* names[] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
  const double areas[] = {1, 1, 4, 4, 1, 1};
  const Size faces[] = {32, 32, 64, 64, 16, 16};
  for (std::int32_t tag = 1; tag <= 6; ++tag) {
    EXPECT_EQ(i.boundary.at(tag).name, names[tag - 1]);
    EXPECT_EQ(i.boundary.at(tag).count, faces[tag - 1]);
    EXPECT_DOUBLE_EQ(i.boundary.at(tag).measure, areas[tag - 1]);
  }
  // Every triangle lies in its side's plane and looks outwards.
  for (std::size_t t = 0; t < m.boundary.size(); ++t) {
    const int d = (m.boundary_tags[t] - 1) / 2, side = (m.boundary_tags[t] - 1) % 2;
    const auto at = [&](std::size_t k) { return m.vertices[m.boundary[t][k]]; };
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(at(k)[d], side ? s.upper[d] : s.lower[d]);
    EXPECT_GT(cross(at(1) - at(0), at(2) - at(0))[d] * (side ? 1 : -1), 0);
  }
}

TEST(GenerateBox, ThreadsChangeNothing) {
  BoxSpec s;
  s.cubes = {5, 7, 4};
  s.jitter = 0.3;
  s.split_x = 0.4;
  const TetMesh a = generate_box(s), b = generate_box(s, five_threads);
  EXPECT_EQ(a.vertices, b.vertices);
  EXPECT_EQ(a.cells, b.cells);
  EXPECT_EQ(a.regions, b.regions);
}

TEST(GenerateBox, JitterMovesOnlyTheInteriorAndDependsOnTheSeed) {
  BoxSpec s;
  s.cubes = {6, 6, 6};
  const TetMesh plain = generate_box(s);
  s.jitter = 0.15;
  const TetMesh a = generate_box(s), again = generate_box(s);
  s.seed = 2;
  const TetMesh b = generate_box(s);
  EXPECT_EQ(a.vertices, again.vertices);
  EXPECT_NE(a.vertices, b.vertices);
  int moved = 0;
  for (std::size_t v = 0; v < a.vertices.size(); ++v) {
    const Vec3 p = plain.vertices[v];
    const bool interior = p.x > 0 && p.x < 1 && p.y > 0 && p.y < 1 && p.z > 0 && p.z < 1;
    const Vec3 d = a.vertices[v] - p;
    EXPECT_LE(std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)}), 0.15 / 6 * (1 + 1e-12));
    moved += !(d == Vec3{});
    EXPECT_TRUE(interior || a.vertices[v] == p);
  }
  EXPECT_EQ(moved, 5 * 5 * 5);
  EXPECT_NEAR(info_of(a).volume, 1, 1e-13);
}

TEST(GenerateBox, SplitPlaneConforms) {
  BoxSpec s;
  s.cubes = {10, 3, 3};
  s.jitter = 0.15;
  s.split_x = 0.3;  // a grid plane, but 3/10 is not a double
  const TetMesh m = generate_box(s);
  const auto n = find_face_neighbours(m);
  const MeshInfo i = inspect(m, n);
  EXPECT_EQ(i.regions.at(1).name, "left");
  EXPECT_EQ(i.regions.at(2).name, "right");
  EXPECT_NEAR(i.regions.at(1).measure, 0.3, 1e-13);
  EXPECT_NEAR(i.regions.at(2).measure, 0.7, 1e-13);
  int interface_faces = 0;
  for (std::size_t c = 0; c < n.size(); ++c)
    for (std::size_t f = 0; f < 4; ++f) {
      if (n[c][f] < 0 || m.regions[c] == m.regions[n[c][f]]) continue;
      ++interface_faces;
      for (const int k : tet_faces[f]) EXPECT_NEAR(m.vertices[m.cells[c][k]].x, 0.3, 1e-15);
    }
  EXPECT_EQ(interface_faces, 2 * 2 * 9);
}

TEST(GenerateBox, GradingAndMap) {
  BoxSpec s;
  s.cubes = {8, 2, 2};
  s.grading = {2, 1, 0.5};
  const TetMesh m = generate_box(s);
  EXPECT_EQ(m.vertices[1].x, 1.0 / 64);
  EXPECT_NEAR(info_of(m).volume, 1, 1e-13);
  s.grading = {1, 1, 1};
  s.map = [](Vec3 p) { return Vec3{2 * p.x + p.y, p.y, 3 * p.z}; };
  EXPECT_NEAR(info_of(generate_box(s)).volume, 6, 1e-12);
}

TEST(GenerateBox, Refusals) {
  const auto refused = [](auto&& change, const std::string& words) {
    BoxSpec s;
    s.cubes = {5, 5, 5};
    change(s);
    const std::string message = error_of(ErrorKind::usage, [&] { generate_box(s); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  refused([](BoxSpec& s) { s.cubes[1] = 0; }, "along y");
  refused([](BoxSpec& s) { s.upper.z = 0; }, "along z");
  refused([](BoxSpec& s) { s.upper.z = NAN; }, "along z");
  refused([](BoxSpec& s) { s.grading[0] = 0; }, "grading");
  refused([](BoxSpec& s) { s.jitter = 0.5; }, "jitter");
  refused([](BoxSpec& s) { s.jitter = NAN; }, "jitter");
  refused([](BoxSpec& s) { s.jitter = 0.49; }, "inverts");
  refused([](BoxSpec& s) { s.split_x = 1.0; }, "split");
  refused([](BoxSpec& s) { s.cubes = {1 << 20, 1 << 20, 1 << 20}; }, "more than");
  refused([](BoxSpec& s) { s.map = [](Vec3 p) { return Vec3{-p.x, p.y, p.z}; }; }, "map");
  BoxSpec large;
  large.cubes = {5000, 5000, 5000};  // 136 TiB, before any of them is filled
  EXPECT_EQ(error_of(ErrorKind::resource, [&] { generate_box(large); })
                .find("box: 7.5e+11 cells take about 136 TiB of memory, and "),
            0u);
}

bool have_gmsh() {
  const char* path = std::getenv("PATH");
  std::string list = path ? path : "";
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    if (::access((list.substr(at, end - at) + "/gmsh").c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

#define SKIP_WITHOUT_GMSH() \
  if (!have_gmsh()) GTEST_SKIP() << "the program gmsh is not installed (Debian: apt install gmsh)"

/// Area of the spheroid x^2 + y^2 = a^2 (1 - z^2/c^2) below z = top.
double spheroid_area(double a, double c, double top) {
  const int n = 20000;
  double area = 0;
  for (int i = 0; i < n; ++i) {
    const double z = -c + (i + 0.5) * (top + c) / n;
    const double w = 1 - z * z / (c * c);
    area += 2 * M_PI * a * std::sqrt(w + a * a * z * z / (c * c * c * c)) * (top + c) / n;
  }
  return area;
}

TEST(GenerateHeart, CoarseBiventricle) {
  SKIP_WITHOUT_GMSH();
  const TemporaryFolder folder;
  const TetMesh m = generate_biventricle(4, folder / "deep/er");
  const auto n = find_face_neighbours(m);
  const MeshInfo i = inspect(m, n);
  EXPECT_GT(i.cells, 8000);
  EXPECT_LT(i.cells, 30000);
  EXPECT_EQ(i.components, 1);
  EXPECT_NEAR(i.volume, 151287, 500);  // the volume that OpenCASCADE gives for the solid
  EXPECT_EQ(i.regions.size(), 1u);
  EXPECT_EQ(i.regions.at(1).name, "myocardium");
  EXPECT_EQ(i.untagged.count, 0);
  EXPECT_EQ(i.interior_triangles, 0);
  ASSERT_EQ(i.boundary.size(), 4u);
  EXPECT_EQ(i.boundary.at(HeartTags::base).name, "base");
  EXPECT_EQ(i.boundary.at(HeartTags::epicardium).name, "epicardium");
  EXPECT_EQ(i.boundary.at(HeartTags::endocardium_lv).name, "endocardium-lv");
  EXPECT_EQ(i.boundary.at(HeartTags::endocardium_rv).name, "endocardium-rv");
  EXPECT_NEAR(i.boundary.at(HeartTags::endocardium_lv).measure, spheroid_area(19, 65, 15), 150);
  EXPECT_NEAR(i.lower.z, -75, 1e-6);
  EXPECT_NEAR(i.upper.z, 15, 1e-6);
  // The four surfaces are sheets: the LV's inner wall meets only the base, the RV's only base (never the epicardium).
  std::map<std::array<Gid, 2>, std::vector<std::int32_t>> edges;
  for (std::size_t t = 0; t < m.boundary.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const Gid a = m.boundary[t][k], b = m.boundary[t][(k + 1) % 3];
      edges[{std::min(a, b), std::max(a, b)}].push_back(m.boundary_tags[t]);
    }
  for (const auto& [edge, tags] : edges) {
    ASSERT_EQ(tags.size(), 2u);
    EXPECT_TRUE(tags[0] == tags[1] || tags[0] == HeartTags::base || tags[1] == HeartTags::base);
  }
}

TEST(GenerateUnstructuredBox, TaggedAndSplit) {
  SKIP_WITHOUT_GMSH();
  const TemporaryFolder folder;
  for (const bool split : {false, true}) {
    const TetMesh m = generate_unstructured_box(0.25, folder / "w", split ? std::optional<double>(0.5) : std::nullopt);
    const auto n = find_face_neighbours(m);
    const MeshInfo i = inspect(m, n);
    EXPECT_NEAR(i.volume, 1, 1e-13);
    EXPECT_EQ(i.untagged.count, 0);
    ASSERT_EQ(i.boundary.size(), 6u);
    for (const auto& [tag, g] : i.boundary) EXPECT_NEAR(g.measure, 1, 1e-13) << tag;
    EXPECT_EQ(i.boundary.at(BoxTags::y_max).name, "y-max");
    ASSERT_EQ(i.regions.size(), split ? 2u : 1u);
    if (!split) continue;
    EXPECT_NEAR(i.regions.at(1).measure, 0.5, 1e-13);
    EXPECT_EQ(i.regions.at(1).name, "left");
    for (std::size_t c = 0; c < n.size(); ++c)
      for (std::size_t f = 0; f < 4; ++f) {
        if (n[c][f] < 0 || m.regions[c] == m.regions[n[c][f]]) continue;
        for (const int k : tet_faces[f]) EXPECT_EQ(m.vertices[m.cells[c][k]].x, 0.5);
      }
  }
}

/// The generated mesh must be the same every time, or nothing computed on it is. With an own work folder each time, of
/// another name length, since gmsh 4.8's bits depend on where its memory lies.
TEST(GenerateThroughGmsh, SameBitsEveryTime) {
  SKIP_WITHOUT_GMSH();
  const TemporaryFolder folder;
  const TetMesh heart = generate_biventricle(8, folder / "w"), box = generate_unstructured_box(0.15, folder / "w");
  for (const std::size_t length : {40u, 150u}) {
    expect_same(generate_biventricle(8, folder / std::string(length, 'w')), heart);
    expect_same(generate_unstructured_box(0.15, folder / std::string(length, 'w')), box);
  }
}

/// PATH for the time of a test.
class PathGuard {
 public:
  explicit PathGuard(const std::string& path) : before_(std::getenv("PATH")) { ::setenv("PATH", path.c_str(), 1); }
  ~PathGuard() { ::setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST(GenerateThroughGmsh, ErrorsAreClear) {
  const TemporaryFolder folder;
  error_of(ErrorKind::usage, [&] { generate_biventricle(0, folder / "w"); });
  error_of(ErrorKind::usage, [&] { generate_biventricle(NAN, folder / "w"); });
  error_of(ErrorKind::usage, [&] { generate_biventricle(5, folder / "w", 0); });
  error_of(ErrorKind::usage, [&] { generate_unstructured_box(0.5, folder / "w", 1.5); });
  for (const double h : {1e-3, 1e-200}) {  // metres that were to be millimetres; not left to gmsh
    const std::string message = error_of(ErrorKind::resource, [&] { generate_biventricle(h, folder / "w"); });
    EXPECT_NE(message.find("use longer edges"), std::string::npos) << message;
  }
  write_file(folder / "file", "");
  error_of(ErrorKind::io, [&] { generate_biventricle(5, folder / "file"); });
  {
    const PathGuard none((folder / "empty").string());
    const std::string message = error_of(ErrorKind::resource, [&] { generate_biventricle(5, folder / "w"); });
    EXPECT_NE(message.find("apt install gmsh"), std::string::npos) << message;
  }
  // Programs called gmsh that fail in three ways.
  const auto with_program = [&](const std::string& script) {
    std::filesystem::create_directories(folder / "bin");
    write_file(folder / "bin/gmsh", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder / "bin/gmsh", std::filesystem::perms::owner_all);
    const PathGuard path((folder / "bin").string() + ":/usr/bin:/bin");
    return error_of(ErrorKind::input, [&] { generate_biventricle(5, folder / "w"); });
  };
  std::string message = with_program("echo Info; echo 'Error   : no such volume'; echo 'Info : Stopped'; exit 0");
  EXPECT_NE(message.find("'Error   : no such volume'"), std::string::npos) << message;
  EXPECT_NE(message.find("heart-surface.log"), std::string::npos) << message;
  message = with_program("echo last words; exit 3");
  EXPECT_NE(message.find("(exit code 3): 'last words'"), std::string::npos) << message;
  message = with_program("echo no mesh today; exit 0");
  EXPECT_NE(message.find("no mesh today"), std::string::npos) << message;
  message = with_program("kill -9 $$");
  EXPECT_NE(message.find("exit code 137"), std::string::npos) << message;
}

/// Lets a program called gmsh deliver `mesh`, whatever it is told to make.
TetMesh box_from_gmsh(const TetMesh& mesh, const TemporaryFolder& folder) {
  write_gmsh(mesh, folder / "made.msh", GmshFormat::v41_binary);
  std::filesystem::create_directories(folder / "bin");
  write_file(folder / "bin/gmsh",
             "#!/bin/sh\nfor f in *.geo; do cp '" + (folder / "made.msh").string() + "' \"${f%.geo}.msh\"; done\n");
  std::filesystem::permissions(folder / "bin/gmsh", std::filesystem::perms::owner_all);
  const PathGuard path((folder / "bin").string() + ":/usr/bin:/bin");
  return generate_unstructured_box(0.5, folder / "w");
}

TEST(GenerateThroughGmsh, KeepsTheLargestPieceAndTagsEveryFace) {
  const TemporaryFolder folder;
  TetMesh good = five_tets();  // without boundary triangles: tags come from the geometry
  good.region_names = {{1, "box"}};
  // A vertex in use first and a lone one last, a stray cell on three vertices of the box in the middle.
  TetMesh stray = good;
  stray.vertices.insert(stray.vertices.begin(), {0.1, 0.1, -0.5});
  for (auto& c : stray.cells)
    for (Gid& v : c) ++v;
  stray.vertices.push_back({5, 5, 5});
  stray.cells.insert(stray.cells.begin() + 2, {1, 3, 4, 0});
  const auto at = [&](std::size_t i) { return stray.vertices[stray.cells[2][i]]; };
  if (tet_volume(at(0), at(1), at(2), at(3)) < 0) std::swap(stray.cells[2][0], stray.cells[2][1]);
  stray.regions.push_back(1);
  ASSERT_EQ(info_of(stray).components, 2);

  const TetMesh expected = box_from_gmsh(good, folder), repaired = box_from_gmsh(stray, folder);
  expect_same(repaired, expected);
  EXPECT_EQ(repaired.vertices, good.vertices);
  EXPECT_EQ(repaired.cells, good.cells);
  const MeshInfo i = info_of(repaired);
  EXPECT_EQ(i.components, 1);
  EXPECT_EQ(i.untagged.count, 0);
  EXPECT_EQ(i.interior_triangles, 0);
  for (std::int32_t tag = 1; tag <= 6; ++tag) EXPECT_EQ(i.boundary.at(tag).count, 2) << tag;

  // A face that lies on no side of the box is no box.
  TetMesh hollow = good;
  hollow.vertices[7] = {1, 1, 0.9};
  const std::string message = error_of(ErrorKind::input, [&] { box_from_gmsh(hollow, folder); });
  EXPECT_NE(message.find("lies on no surface"), std::string::npos) << message;
}

}  // namespace
}  // namespace tutti
