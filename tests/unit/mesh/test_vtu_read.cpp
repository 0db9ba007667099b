// VTU files that VTK wrote (tests/data/vtu/make.py), and small ones by hand, each with one peculiarity.
#include "mesh_helpers.hpp"
#include "tutti/base/log.hpp"
#include "tutti/mesh/files/vtu_read.hpp"
#include "vtu_helpers.hpp"

namespace tutti {
namespace {

using test::error_of;
using test::expect_same;
using test::TemporaryFolder;
using test::vtu_sample;
using test::vtu_samples;
using test::vtu_text;

class VtuRead : public ::testing::Test {
 protected:
  void SetUp() override { set_log(LogLevel::quiet, false); }
  void TearDown() override { set_log(LogLevel::normal, true); }
};

TEST_F(VtuRead, WhatVtkWroteInAscii) {
  MeshReport report;
  const TetMesh m = read_vtu(vtu_sample("ascii"), &report);
  ASSERT_EQ(m.cells.size(), 12u);
  ASSERT_EQ(m.vertices.size(), 12u);
  EXPECT_EQ(m.vertices[11], (Vec3{2.5 / 3, 0.7, 1.0 / 7}));
  EXPECT_EQ(m.regions, (std::vector<std::int32_t>{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(m.boundary_tags, (std::vector<std::int32_t>{4, 4, 5, 5}));
  EXPECT_EQ(m.boundary[0], (std::array<Gid, 3>{0, 3, 9}));
  double volume = 0;
  for (const auto& c : m.cells) {
    const auto at = [&](std::size_t i) { return m.vertices[c[i]]; };
    volume += tet_volume(at(0), at(1), at(2), at(3));
  }
  EXPECT_NEAR(volume, 2.5 / 3 * 0.7 / 7, 1e-15);
  std::map<std::int32_t, int> outer;
  for (const auto& row : find_face_neighbours(m))
    for (const Gid n : row) ++outer[n < 0 ? boundary_tag(n) : -1];
  EXPECT_EQ(outer[4], 2);
  EXPECT_EQ(outer[5], 2);
  EXPECT_EQ(report.skipped_data, (std::vector<std::string>{"pair", "words"}));
  EXPECT_EQ(report.inverted_cells + report.unused_vertices, 0);
}

TEST_F(VtuRead, CellDataOfEveryType) {
  const TetMesh m = read_vtu(vtu_sample("raw"));
  ASSERT_EQ(m.cell_data.size(), 11u);
  EXPECT_EQ(m.cell_data[0].name, "fibre");
  ASSERT_EQ(m.cell_data[0].components, 3);
  // The first tetrahedron is cell 5 of the file.
  for (std::size_t c = 0; c < 12; ++c) {
    const auto number = static_cast<double>(c + 5);
    EXPECT_EQ(m.cell_data[0].values[3 * c], number / 3);
    EXPECT_EQ(m.cell_data[0].values[3 * c + 1], -number);
    EXPECT_EQ(m.cell_data[0].values[3 * c + 2], 1 / (number + 1));
    for (std::size_t a = 1; a < m.cell_data.size(); ++a) {
      const CellData& data = m.cell_data[a];
      EXPECT_EQ(data.values[c], data.name[0] == 'U' ? 5 * number : -5 * number) << data.name;
    }
  }
}

TEST_F(VtuRead, EveryEncodingHoldsTheSameMesh) {
  const TetMesh expected = read_vtu(vtu_sample("ascii"));
  for (const std::string& name : vtu_samples()) {
    SCOPED_TRACE(name);
    expect_same(read_vtu(vtu_sample(name)), expected);
  }
}

TEST_F(VtuRead, ByHand) {
  const TetMesh m = parse_vtu(vtu_text(), "m.vtu");
  EXPECT_EQ(m.vertices.size(), 5u);
  EXPECT_EQ(m.cells, (std::vector<std::array<Gid, 4>>{{0, 1, 2, 3}, {1, 4, 2, 3}}));
  EXPECT_EQ(m.regions, (std::vector<std::int32_t>{7, 0}));
  EXPECT_EQ(m.boundary, (std::vector<std::array<Gid, 3>>{{0, 1, 2}}));
  EXPECT_EQ(m.boundary_tags, std::vector<std::int32_t>{9});
  ASSERT_EQ(m.cell_data.size(), 1u);
  EXPECT_EQ(m.cell_data[0].name, "u & v");
  EXPECT_EQ(m.cell_data[0].values, (std::vector<double>{0.5, -2}));
}

TEST_F(VtuRead, WhatIsAllowed) {
  const TetMesh expected = parse_vtu(vtu_text(), "m.vtu");
  const auto same = [&](const std::string& from, const std::string& to) {
    SCOPED_TRACE(to);
    expect_same(parse_vtu(vtu_text({{from, to}}), "m.vtu"), expected);
  };
  std::string windows;
  for (const char c : vtu_text()) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_same(parse_vtu(windows, "m.vtu"), expected);
  expect_same(parse_vtu("\xEF\xBB\xBF" + vtu_text(), "m.vtu"), expected);
  same("<VTKFile", "<?xml version=\"1.0\"?>\n<!-- a comment -->\n<VTKFile");
  same(" byte_order=\"LittleEndian\"", "");
  same("Name=\"region\"", "Name=\"medit:ref\"");
  same("Name=\"region\"", "Name=\"gmsh:physical\"");
  same("Name=\"region\"", "Name=\"CellEntityIds\"");
  same("7 9 0", "7\n\n\t9 0 ");
  same("type=\"Int32\" Name=\"region\"", "type=\"UInt8\" Name=\"region\"");
  same("0 0 0 1 0 0", "0 0 -0 +1.0 0e5 0");
  same("0 1 2 3 0 1 2 1 4 2 3", "0 1 3 2 0 1 2 1 4 2 3");  // turned
  same("<CellData>", "<PointData><DataArray type=\"Bit\" format=\"odd\"/></PointData><CellData>");
  same("</CellData>", "<DataArray type=\"UInt8\" Name=\"vtkGhostType\" format=\"ascii\">0 0 0</DataArray></CellData>");
}

TEST_F(VtuRead, TheBestNameOfTagsCounts) {
  // Both are there: `region` counts, the other one is data.
  const TetMesh m = parse_vtu(
      vtu_text({{"<CellData>",
                 "<CellData><DataArray type=\"Int64\" Name=\"medit:ref\" format=\"ascii\">3 4 5</DataArray>"}}),
      "m.vtu");
  EXPECT_EQ(m.regions, (std::vector<std::int32_t>{7, 0}));
  ASSERT_EQ(m.cell_data.size(), 2u);
  EXPECT_EQ(m.cell_data[0].values, (std::vector<double>{3, 5}));
  // Real numbers are no tags.
  const TetMesh real =
      parse_vtu(vtu_text({{"type=\"Int32\" Name=\"region\"", "type=\"Float32\" Name=\"region\""}}), "m.vtu");
  EXPECT_EQ(real.regions, (std::vector<std::int32_t>{0, 0}));
  EXPECT_TRUE(real.boundary.empty());
  EXPECT_EQ(real.cell_data.at(0).name, "region");
}

TEST_F(VtuRead, SeveralPiecesBecomeOneMesh) {
  const std::string text = vtu_text();
  const std::size_t begin = text.find("<Piece"), end = text.find("</Piece>") + 8;
  const std::string piece = text.substr(begin, end - begin);
  const std::string empty = "<Piece NumberOfPoints=\"0\" NumberOfCells=\"0\"/>";
  const TetMesh m = parse_vtu(text.substr(0, begin) + empty + piece + empty + piece + text.substr(end), "m.vtu");
  EXPECT_EQ(m.vertices.size(), 10u);
  EXPECT_EQ(m.cells, (std::vector<std::array<Gid, 4>>{{0, 1, 2, 3}, {1, 4, 2, 3}, {5, 6, 7, 8}, {6, 9, 7, 8}}));
  EXPECT_EQ(m.boundary, (std::vector<std::array<Gid, 3>>{{0, 1, 2}, {5, 6, 7}}));
  EXPECT_EQ(m.regions, (std::vector<std::int32_t>{7, 0, 7, 0}));
  EXPECT_EQ(m.cell_data.at(0).values, (std::vector<double>{0.5, -2, 0.5, -2}));
}

TEST_F(VtuRead, MissingFileIsAnIoError) {
  const TemporaryFolder folder;
  EXPECT_NE(error_of(ErrorKind::io, [&] { read_vtu(folder / "none.vtu"); }).find("none.vtu: cannot open"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti
