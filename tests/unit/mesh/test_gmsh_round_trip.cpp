#include <sys/resource.h>

#include <csignal>

#include "mesh_helpers.hpp"
#include "tutti/mesh/files/gmsh.hpp"

namespace tutti {
namespace {

using namespace test;

constexpr GmshFormat all_formats[] = {GmshFormat::v41_binary, GmshFormat::v41_ascii, GmshFormat::v22_binary,
                                      GmshFormat::v22_ascii};

TetMesh rich_mesh() {
  BoxSpec s;
  s.cubes = {4, 3, 3};
  s.upper = {1.1, 1e-3, 3e7};
  s.jitter = 0.14;
  s.split_x = 0.5;
  TetMesh m = shuffled(generate_box(s), 5);
  m.regions[0] = 0;  // a cell in no group
  m.region_names[9] = "empty, with a space";
  m.boundary_names.erase(3);  // a tag without a name
  CellData fibre{"fibre", 3, {}}, scalar{"scar (%)", 1, {}}, tensor{"K", 9, {}};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (CellData* d : {&fibre, &scalar, &tensor}) {
    d->values.resize(m.cells.size() * static_cast<std::size_t>(d->components));
    for (double& v : d->values) v = normal(random) * std::exp(20 * normal(random));
  }
  fibre.values[0] = -0.0;
  fibre.values[1] = 5e-324;
  m.cell_data = {fibre, scalar, tensor};
  return m;
}

TEST(GmshRoundTrip, AllFormatsKeepEveryBit) {
  const TemporaryFolder folder;
  const TetMesh m = rich_mesh();
  for (const GmshFormat format : all_formats) {
    SCOPED_TRACE(static_cast<int>(format));
    write_gmsh(m, folder / "m.msh", format);
    MeshReport report;
    const TetMesh back = read_gmsh(folder / "m.msh", &report);
    expect_same(m, back);
    EXPECT_TRUE(std::signbit(back.cell_data[0].values[0]));
    EXPECT_EQ(report.inverted_cells, 0);
    EXPECT_EQ(report.unused_vertices, 0);
    EXPECT_EQ(report.extra_groups, 0);
  }
}

TEST(GmshRoundTrip, OneCellWithoutAnyGroup) {
  const TemporaryFolder folder;
  TetMesh m;
  m.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  m.cells = {{0, 1, 2, 3}};
  m.regions = {0};
  for (const GmshFormat format : all_formats) {
    write_gmsh(m, folder / "m.msh", format);
    expect_same(m, read_gmsh(folder / "m.msh"));
  }
}

TEST(GmshRoundTrip, WriterLeavesNoPartialFile) {
  const TemporaryFolder folder;
  write_file(folder / "m.msh", "old");
  TetMesh bad = five_tets();
  bad.region_names[1] = "a \"quote\"";
  EXPECT_NE(error_of(ErrorKind::input, [&] { write_gmsh(bad, folder / "m.msh"); }).find("quote"), std::string::npos);
  EXPECT_EQ(read_file(folder / "m.msh"), "old");
  EXPECT_NE(error_of(ErrorKind::io, [&] { write_gmsh(five_tets(), folder / "no/such/folder.msh"); })
                .find("no/such/folder.msh"),
            std::string::npos);
}

TEST(GmshRoundTrip, FullDiskIsAnErrorAndKeepsTheOldFile) {
  const TemporaryFolder folder;
  write_file(folder / "m.msh", "old");
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  try {
    write_gmsh(rich_mesh(), folder / "m.msh");
  } catch (const Error& e) {
    message = e.what();
    EXPECT_EQ(e.kind(), ErrorKind::io);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("m.msh: 4096 of "), std::string::npos) << message;
  EXPECT_EQ(read_file(folder / "m.msh"), "old");
  const auto begin = std::filesystem::directory_iterator((folder / "m.msh").parent_path());
  EXPECT_EQ(std::distance(begin, std::filesystem::directory_iterator()), 1);
  if (!std::filesystem::exists("/dev/full")) return;
  EXPECT_NE(error_of(ErrorKind::io, [&] { write_gmsh(rich_mesh(), "/dev/full"); }).find("/dev/full"),
            std::string::npos);
}

TEST(GmshRoundTrip, WriterRefusesBadArrays) {
  const TemporaryFolder folder;
  const auto refused = [&](auto&& change) {
    TetMesh m = rich_mesh();
    change(m);
    error_of(ErrorKind::input, [&] { write_gmsh(m, folder / "m.msh"); });
  };
  refused([](TetMesh& m) { m.regions.pop_back(); });
  refused([](TetMesh& m) { m.regions[3] = -1; });
  refused([](TetMesh& m) { m.boundary_tags.pop_back(); });
  refused([](TetMesh& m) { m.boundary_tags[0] = 0; });
  refused([](TetMesh& m) { m.cell_data[0].components = 2; });
  refused([](TetMesh& m) { m.cell_data[1].values.pop_back(); });
  refused([](TetMesh& m) { m.cell_data[1].name = "a\nb"; });
}

/// Files that Gmsh 4.8.4 itself wrote; see two_boxes.geo.
TEST(GmshFiles, GmshsOwnFilesAgreeInAllFormats) {
  const std::filesystem::path data = std::filesystem::path(TUTTI_TEST_DATA) / "mesh";
  const TetMesh first = read_gmsh(data / "two_boxes_v41_binary.msh");
  EXPECT_EQ(first.region_names, (std::map<std::int32_t, std::string>{{3, "right"}, {7, "left side"}}));
  EXPECT_EQ(first.boundary_names,
            (std::map<std::int32_t, std::string>{{11, "inlet"}, {12, "outlet"}, {13, "interface"}}));
  std::map<std::int32_t, double> volume;
  for (std::size_t c = 0; c < first.cells.size(); ++c) {
    const auto at = [&](std::size_t i) { return first.vertices[first.cells[c][i]]; };
    volume[first.regions[c]] += tet_volume(at(0), at(1), at(2), at(3));
  }
  EXPECT_NEAR(volume[7], 1, 1e-12);
  EXPECT_NEAR(volume[3], 2, 1e-12);
  EXPECT_EQ(volume.size(), 2u);
  std::map<std::int32_t, int> outer;
  for (const auto& row : find_face_neighbours(first))
    for (const Gid n : row) outer[n < 0 ? boundary_tag(n) : -1]++;
  EXPECT_GT(outer[11], 0);
  EXPECT_GT(outer[12], 0);
  EXPECT_EQ(outer[13], 0);  // the interface is no boundary
  for (const char* name : {"two_boxes_v41_ascii.msh", "two_boxes_v22_ascii.msh", "two_boxes_v22_binary.msh"}) {
    SCOPED_TRACE(name);
    const TetMesh other = read_gmsh(data / name);
    EXPECT_EQ(first.cells, other.cells);
    EXPECT_EQ(first.regions, other.regions);
    EXPECT_EQ(first.boundary, other.boundary);
    EXPECT_EQ(first.boundary_tags, other.boundary_tags);
    EXPECT_EQ(first.region_names, other.region_names);
    ASSERT_EQ(first.vertices.size(), other.vertices.size());
    for (std::size_t v = 0; v < first.vertices.size(); ++v)
      EXPECT_LT(norm(first.vertices[v] - other.vertices[v]), 1e-14);
  }
}

TEST(GmshFiles, GmshsOwnBinaryElementData) {
  const TetMesh m = read_gmsh(std::filesystem::path(TUTTI_TEST_DATA) / "mesh/quality_v41_binary.msh");
  ASSERT_EQ(m.cell_data.size(), 1u);
  EXPECT_EQ(m.cell_data[0].name, "minJ/maxJ 3D");
  EXPECT_EQ(m.cell_data[0].components, 1);
  EXPECT_EQ(m.cell_data[0].values, std::vector<double>(m.cells.size(), 1.0));  // straight tetrahedra
}

}  // namespace
}  // namespace tutti
