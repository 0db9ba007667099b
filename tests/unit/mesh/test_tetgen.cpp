// TetGen's files: its own, and small ones by hand, each with one defect or one peculiarity.
#include "mesh_helpers.hpp"
#include "tutti/base/log.hpp"
#include "tutti/mesh/files/read_mesh.hpp"
#include "tutti/mesh/files/tetgen.hpp"
#include "tutti/mesh/info.hpp"

namespace tutti {
namespace {

using test::error_of;
using test::expect_same;
using test::TemporaryFolder;
using test::write_file;

const std::string good_node =
    "# five nodes\n5 3 1 1\n\n"                                                     // 1-3
    "1 0 0 0 .5 0\n2 1 0 0 .5 0\n# comment\n"                                       // 4-6
    "3 0 1 0 .5 0 # behind a record\n4 0 0 1 .5 -1\n5 1 1 1 .5 0\n";                // 7-9
const std::string good_ele = "2 4 1\n1 1 2 3 4 7\n2 2 5 3 4 3\n# end of the file";  // 1-4
const std::string good_face = "3 1\n1 1 2 3 11\n2 1 2 4 0\n3 2 5 3 12 -1 2\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class TetgenDefects : public ::testing::Test {
 protected:
  void SetUp() override { set_log(LogLevel::quiet, false); }
  void TearDown() override { set_log(LogLevel::normal, true); }

  static void expect_error(const std::string& node, const std::string& ele, const std::string& face,
                           const std::string& place, const std::string& words) {
    const std::string message = error_of(ErrorKind::input, [&] { parse_tetgen(node, ele, face, "m"); });
    EXPECT_EQ(message.find(place + ": "), 0u) << message << "\nexpected at " << place;
    EXPECT_NE(message.find(words), std::string::npos) << message << "\nexpected words: " << words;
  }
  static void bad_node(const std::string& from, const std::string& to, int line, const std::string& words) {
    expect_error(replaced(good_node, from, to), good_ele, good_face, "m.node:" + std::to_string(line), words);
  }
  static void bad_ele(const std::string& from, const std::string& to, int line, const std::string& words) {
    expect_error(good_node, replaced(good_ele, from, to), good_face, "m.ele:" + std::to_string(line), words);
  }
  static void bad_face(const std::string& from, const std::string& to, int line, const std::string& words) {
    expect_error(good_node, good_ele, replaced(good_face, from, to), "m.face:" + std::to_string(line), words);
  }
};

TEST_F(TetgenDefects, GoodFilesAreGood) {
  MeshReport report;
  const TetMesh m = parse_tetgen(good_node, good_ele, good_face, "m", &report);
  EXPECT_EQ(m.vertices.size(), 5u);
  EXPECT_EQ(m.vertices[4], (Vec3{1, 1, 1}));
  EXPECT_EQ(m.cells, (std::vector<std::array<Gid, 4>>{{0, 1, 2, 3}, {1, 4, 2, 3}}));
  EXPECT_EQ(m.regions, (std::vector<std::int32_t>{7, 3}));
  EXPECT_EQ(m.boundary, (std::vector<std::array<Gid, 3>>{{0, 1, 2}, {1, 4, 2}}));
  EXPECT_EQ(m.boundary_tags, (std::vector<std::int32_t>{11, 12}));
  EXPECT_EQ(report.inverted_cells + report.unused_vertices + report.negative_markers, 0);
}

TEST_F(TetgenDefects, WhatIsAllowed) {
  const TetMesh expected = parse_tetgen(good_node, good_ele, good_face, "m");
  // Numbers from 0, short first lines, Windows line ends, no end of line at the end.
  expect_same(parse_tetgen("5\r\n0 0 0 0\r\n1 1 0 0\r\n2 0 1 0\r\n3 0 0 1\r\n4 1 1 1",
                           "2 4 2\n0 0 1 2 3 9.5 7\n1 1 4 2 3 -2 3", "2 1\n0 0 1 2 11\n9 1 4 2 12", "m"),
              expected);
  // No attributes, no faces.
  const TetMesh bare = parse_tetgen(good_node, "2\n1 1 2 3 4\n2 2 5 3 4\n", {}, "m");
  EXPECT_EQ(bare.cells, expected.cells);
  EXPECT_EQ(bare.regions, (std::vector<std::int32_t>{0, 0}));
  EXPECT_TRUE(bare.boundary.empty());
  EXPECT_TRUE(parse_tetgen(good_node, good_ele, "1 0\n1 1 2 3\n", "m").boundary.empty());
  EXPECT_TRUE(parse_tetgen(good_node, good_ele, "0 1\n", "m").boundary.empty());
  MeshReport report;
  TetMesh m =
      parse_tetgen(good_node, replaced(good_ele, "1 2 3 4", "1 3 2 4"), replaced(good_face, "11", "-1"), "m", &report);
  EXPECT_EQ(report.inverted_cells, 1);
  EXPECT_EQ(report.negative_markers, 1);
  EXPECT_EQ(m.boundary_tags, std::vector<std::int32_t>{12});
  m = parse_tetgen(good_node, "1 4\n1 1 2 3 4\n", {}, "m", &report);
  EXPECT_EQ(report.unused_vertices, 1);
  EXPECT_EQ(m.vertices.size(), 4u);
}

TEST_F(TetgenDefects, Nodes) {
  expect_error("", good_ele, good_face, "m.node:1", "the file ends here, but the number of nodes was expected");
  expect_error("# nothing\n", good_ele, good_face, "m.node:2", "the file ends here");
  bad_node("5 3 1 1", "x 3 1 1", 2, "found 'x', but the number of nodes was expected");
  bad_node("5 3 1 1", "5 2 1 1", 2, "the dimension is 2; 3 is expected");
  bad_node("5 3 1 1", "5 3 1 2", 2, "2 boundary markers");
  bad_node("5 3 1 1", "5 3 -1 1", 2, "-1 attributes per node; 0 to");
  bad_node("5 3 1 1", "5 3 1 1 8", 2, "found '8' after the first line's numbers; the end of the line was expected");
  bad_node("5 3 1 1", "0 3 1 1", 2, "0 nodes; at least 4 are needed");
  bad_node("5 3 1 1", "99999999999 3 1 1", 2, "are announced, at least 9 bytes each, but only");
  bad_node("5 3 1 1", "6 3 1 1", 10, "the file ends here, but a node's number was expected");
  bad_node("5 3 1 1", "4 3 1 1", 9, "found '5' after the 4 nodes that the first line announces");
  bad_node("\n1 0 0 0", "\n2 0 0 0", 4, "the first node has the number 2; 0 or 1 is expected");
  bad_node("\n3 0 1 0", "\n4 0 1 0", 7, "found node 4, but 3 was expected");
  bad_node("3 0 1 0", "3 0 nan 0", 7, "node 3 has the coordinates 0 nan 0; finite numbers are expected");
  bad_node("3 0 1 0", "3 0 1e999 0", 7, "finite numbers are expected");
  bad_node("3 0 1 0", "3 0 y 0", 7, "found 'y', but a node's coordinate was expected");
  bad_node("1 0 0 .5 0\n#", "1 0 0 .5\n#", 5, "the line ends here, but a node's marker was expected");
  bad_node("1 0 0 .5 0\n#", "1 0 0 .5 0 1\n#", 5, "found '1' after a node");
}

TEST_F(TetgenDefects, Tetrahedra) {
  expect_error(good_node, "", good_face, "m.ele:1", "the file ends here, but the number of tetrahedra was expected");
  bad_ele("2 4 1", "2 10 1", 1, "second order (10 nodes); tutti needs 4 nodes: run tetgen without -o2");
  bad_ele("2 4 1", "2 5 1", 1, "5 nodes per tetrahedron; 4 are expected");
  bad_ele("2 4 1", "0 4 1", 1, "0 tetrahedra; at least one is needed");
  bad_ele("2 4 1", "-2 4 1", 1, "-2 tetrahedra");
  bad_ele("2 4 1", "2 4 99999", 1, "99999 attributes per tetrahedron; 0 to");
  bad_ele("2 4 1", "1 4 1", 3, "found '2' after the 1 tetrahedra");
  bad_ele("2 4 1", "3 4 1", 4, "a tetrahedron's number was expected");
  bad_ele("2 4 1", "777777777777 4 1", 1, "are announced, at least 11 bytes each");
  bad_ele("1 2 3 4", "1 2 3 6", 2, "names node 6, but m.node has only the nodes 1 to 5");
  bad_ele("1 2 3 4", "1 2 3 0", 2, "names node 0");
  bad_ele("1 2 3 4", "1 2 3 3", 2, "tetrahedron 1 (nodes 1 2 3 3) has a node twice");
  bad_ele("2 5 3 4", "2 5 3", 3, "the line ends here, but a tetrahedron's attribute was expected");
  bad_ele("3 4 7", "3 4 7.5", 2, "tetrahedron 1 has the region attribute 7.5; a whole number from 0");
  bad_ele("3 4 7", "3 4 -7", 2, "the region attribute -7;");
  bad_ele("3 4 7", "3 4 3e9", 2, "the region attribute 3000000000;");
  bad_ele("3 4 7", "3 4 nan", 2, "the region attribute nan;");
  expect_error(replaced(good_node, "4 0 0 1", "4 .5 .5 0"), good_ele, good_face, "m.ele:2",
               "tetrahedron 1 (nodes 1 2 3 4) has no volume, its nodes lie in a plane");
}

TEST_F(TetgenDefects, Faces) {
  expect_error(good_node, good_ele, "", "m.face:1", "the file ends here, but the number of faces was expected");
  bad_face("3 1\n", "3 2\n", 1, "2 boundary markers per face");
  bad_face("3 1\n", "-3 1\n", 1, "must not be negative");
  bad_face("3 1\n", "2 1\n", 4, "found '3' after the 2 faces");
  bad_face("3 1\n", "4 1\n", 5, "a face's number was expected");
  bad_face("3 1\n", "123456789 1\n", 1, "are announced");
  bad_face("1 2 3 11", "1 2 2 11", 2, "face 1 has a node twice: 1 2 2");
  bad_face("1 2 3 11", "1 2 8 11", 2, "names node 8");
  bad_face("1 2 3 11", "1 2 3 2147483647", 2, "does not fit 32 bits");
  bad_face("1 2 3 11", "1 2 3", 2, "the line ends here, but a face's marker was expected");
  bad_face("12 -1 2", "12 -1 2 7", 4, "found '7' after a face");
}

/// Files that TetGen 1.5.0 itself wrote; see two_boxes.poly.
class TetgenFiles : public ::testing::Test {
 protected:
  std::filesystem::path stem_ = std::filesystem::path(TUTTI_TEST_DATA) / "tetgen/two_boxes.1";
};

TEST_F(TetgenFiles, TwoBoxes) {
  const TetMesh m = read_tetgen(stem_);
  EXPECT_EQ(m.cells.size(), 12u);
  EXPECT_EQ(m.vertices.size(), 12u);
  std::map<std::int32_t, double> volume;
  for (std::size_t c = 0; c < m.cells.size(); ++c) {
    const auto at = [&](std::size_t i) { return m.vertices[m.cells[c][i]]; };
    volume[m.regions[c]] += tet_volume(at(0), at(1), at(2), at(3));
  }
  EXPECT_EQ(volume.size(), 2u);
  EXPECT_NEAR(volume[7], 1, 1e-12);
  EXPECT_NEAR(volume[3], 1, 1e-12);
  std::map<std::int32_t, int> outer;
  for (const auto& row : find_face_neighbours(m))
    for (const Gid n : row) ++outer[n < 0 ? boundary_tag(n) : -1];
  EXPECT_EQ(outer[11], 2);
  EXPECT_EQ(outer[12], 2);
  EXPECT_EQ(outer[13], 0);  // the face between the boxes is no boundary
  EXPECT_EQ(outer[0], 16);
  EXPECT_EQ(std::count(m.boundary_tags.begin(), m.boundary_tags.end(), 13), 2);
}

TEST_F(TetgenFiles, AnyNameLeadsToAllThree) {
  const TetMesh expected = read_tetgen(stem_);
  for (const char* end : {"", ".node", ".ele", ".face"}) {
    EXPECT_TRUE(is_tetgen(stem_.string() + end)) << end;
    expect_same(read_mesh(stem_.string() + end), expected);
  }
  EXPECT_FALSE(is_tetgen(stem_.string() + ".msh"));
}

TEST_F(TetgenFiles, MissingFiles) {
  const TemporaryFolder folder;
  EXPECT_NE(error_of(ErrorKind::io, [&] { read_mesh(folder / "m.ele"); }).find("m.node: cannot open"),
            std::string::npos);
  write_file(folder / "m.node", good_node);
  EXPECT_NE(error_of(ErrorKind::io, [&] { read_mesh(folder / "m.node"); }).find("m.ele: cannot open"),
            std::string::npos);
  write_file(folder / "m.ele", good_ele);
  EXPECT_EQ(read_mesh(folder / "m").cells.size(), 2u);
}

TEST(ReadMesh, AnUnknownNameListsWhatIsKnown) {
  const TemporaryFolder folder;
  for (const char* name : {"mesh.stl", "mesh", "mesh.pvtu"}) {
    EXPECT_NE(error_of(ErrorKind::io, [&] { read_mesh(folder / name); }).find("cannot open"), std::string::npos);
    write_file(folder / name, "solid");
    const std::string message = error_of(ErrorKind::input, [&] { read_mesh(folder / name); });
    EXPECT_EQ(message.find((folder / name).string() + ": "), 0u) << message;
    for (const char* word : {".msh", ".vtu", ".node", ".ele", ".face"})
      EXPECT_NE(message.find(word), std::string::npos) << message;
  }
}

TEST(ReadMesh, TheExtensionChooses) {
  const TemporaryFolder folder;
  write_file(folder / "m.vtu", "$MeshFormat\n");
  EXPECT_NE(error_of(ErrorKind::input, [&] { read_mesh(folder / "m.vtu"); }).find("not a VTK file"), std::string::npos);
  write_file(folder / "m.msh", "<VTKFile>\n");
  EXPECT_NE(error_of(ErrorKind::input, [&] { read_mesh(folder / "m.msh"); }).find("$MeshFormat"), std::string::npos);
}

}  // namespace
}  // namespace tutti
