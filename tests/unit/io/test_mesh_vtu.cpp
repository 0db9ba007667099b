// A whole mesh through a VTU file and back.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "tutti/base/error.hpp"
#include "tutti/io/vtk/mesh_vtu.hpp"
#include "tutti/io/vtk/vtu.hpp"
#include "tutti/mesh/files/vtu_read.hpp"
#include "tutti/mesh/generate.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class MeshVtu : public ::testing::TestWithParam<MeshVtuEncoding> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tutti_mesh_vtu_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  fs::path folder_;
};

/// All that TetMesh has, in bits that are easily lost.
TetMesh rich_mesh(Gid n) {
  BoxSpec spec;
  spec.cubes = {n, n, n};
  spec.upper = {1.1, 1e-3, 3e7};
  spec.jitter = 0.14;
  spec.split_x = 0.5;
  TetMesh m = generate_box(spec);
  m.regions[0] = 0;
  CellData fibre{"fibre <&\"'>", 3, {}}, scalar{"scar (%)", 1, {}}, tensor{"K", 9, {}};
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

TEST_P(MeshVtu, RoundTripKeepsEveryBit) {
  // 3 has all arrays in one zlib block, 20 in several.
  for (const Gid n : {Gid{3}, Gid{20}}) {
    const TetMesh m = rich_mesh(n);
    write_mesh_vtu(m, folder_ / "m.vtu", GetParam(), 2);
    MeshReport report;
    const TetMesh back = read_vtu(folder_ / "m.vtu", &report);
    EXPECT_EQ(back.vertices, m.vertices);
    EXPECT_EQ(back.cells, m.cells);
    EXPECT_EQ(back.regions, m.regions);
    EXPECT_EQ(back.boundary, m.boundary);
    EXPECT_EQ(back.boundary_tags, m.boundary_tags);
    ASSERT_EQ(back.cell_data.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(back.cell_data[i].name, m.cell_data[i].name);
      EXPECT_EQ(back.cell_data[i].components, m.cell_data[i].components);
      EXPECT_EQ(back.cell_data[i].values, m.cell_data[i].values);
    }
    EXPECT_TRUE(std::signbit(back.cell_data[0].values[0]));
    EXPECT_TRUE(back.region_names.empty() && back.boundary_names.empty());
    EXPECT_EQ(report.inverted_cells + report.unused_vertices, 0);
    EXPECT_TRUE(report.skipped_data.empty());
  }
}

TEST_P(MeshVtu, OneCellWithoutTags) {
  TetMesh m;
  m.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  m.cells = {{0, 1, 2, 3}};
  m.regions = {0};
  write_mesh_vtu(m, folder_ / "m.vtu", GetParam());
  const TetMesh back = read_vtu(folder_ / "m.vtu");
  EXPECT_EQ(back.vertices, m.vertices);
  EXPECT_EQ(back.cells, m.cells);
  EXPECT_EQ(back.regions, m.regions);
  EXPECT_TRUE(back.boundary.empty() && back.cell_data.empty());
}

TEST_P(MeshVtu, RefusesWhatCannotBeReadBack) {
  const auto refused = [&](const std::string& words, auto&& change) {
    TetMesh m = rich_mesh(1);
    change(m);
    try {
      write_mesh_vtu(m, folder_ / "bad.vtu", GetParam());
      ADD_FAILURE() << "no error: " << words;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input);
      EXPECT_NE(std::string(e.what()).find("bad.vtu: the mesh cannot be written: "), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
    EXPECT_FALSE(fs::exists(folder_ / "bad.vtu"));
  };
  refused("one region per cell", [](TetMesh& m) { m.regions.pop_back(); });
  refused("region -1", [](TetMesh& m) { m.regions[3] = -1; });
  refused("one boundary tag", [](TetMesh& m) { m.boundary_tags.pop_back(); });
  refused("boundary tag 0", [](TetMesh& m) { m.boundary_tags[0] = 0; });
  refused("has 2 components", [](TetMesh& m) { m.cell_data[0].components = 2; });
  refused("values for", [](TetMesh& m) { m.cell_data[1].values.pop_back(); });
  refused("'region'", [](TetMesh& m) { m.cell_data[1].name = "region"; });
  refused("control character", [](TetMesh& m) { m.cell_data[1].name = "a\nb"; });
  refused("no name", [](TetMesh& m) { m.cell_data[1].name = ""; });
}

TEST_P(MeshVtu, AFullDiskKeepsTheOldFile) {
  std::ofstream(folder_ / "m.vtu") << "old";
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  try {
    write_mesh_vtu(rich_mesh(4), folder_ / "m.vtu", GetParam());
  } catch (const Error& e) {
    message = e.what();
    EXPECT_EQ(e.kind(), ErrorKind::io);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("m.vtu: 4096 of "), std::string::npos) << message;
  EXPECT_EQ(content("m.vtu"), "old");
}

INSTANTIATE_TEST_SUITE_P(Encodings, MeshVtu, ::testing::Values(MeshVtuEncoding::zlib, MeshVtuEncoding::ascii),
                         [](const auto& encoding) {
                           return encoding.param == MeshVtuEncoding::zlib ? "zlib" : "ascii";
                         });

TEST(ResultVtu, TheFilesOfARunAreMeshes) {
  const TetMesh m = rich_mesh(3);
  std::vector<std::array<Lid, 4>> tets;
  for (const auto& cell : m.cells)
    tets.push_back(
        {static_cast<Lid>(cell[0]), static_cast<Lid>(cell[1]), static_cast<Lid>(cell[2]), static_cast<Lid>(cell[3])});
  std::vector<std::int64_t> numbers(tets.size());
  for (std::size_t c = 0; c < numbers.size(); ++c) numbers[c] = static_cast<std::int64_t>(c);
  const fs::path file = fs::path(testing::TempDir()) / ("tutti_result_" + std::to_string(::getpid()) + ".vtu");
  write_vtu(
      file,
      {m.vertices,
       tets,
       {{"u", 1, std::span<const double>(m.cell_data[1].values)}, {"cell", 1, std::span<const std::int64_t>(numbers)}}},
      {.time = 0.5});
  const TetMesh back = read_vtu(file);
  fs::remove(file);
  EXPECT_EQ(back.vertices, m.vertices);
  EXPECT_EQ(back.cells, m.cells);
  EXPECT_EQ(back.regions, std::vector<std::int32_t>(tets.size(), 0));
  ASSERT_EQ(back.cell_data.size(), 2u);
  EXPECT_EQ(back.cell_data[0].values, m.cell_data[1].values);
  EXPECT_EQ(back.cell_data[1].values.back(), static_cast<double>(tets.size() - 1));
}

}  // namespace
}  // namespace tutti
