// Small files by hand, each with one defect or one peculiarity.
#include "mesh_helpers.hpp"
#include "tutti/base/log.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"

namespace tutti {
namespace {

using namespace test;

const std::string good_22 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"                                    // 1-3
    "$PhysicalNames\n2\n2 5 \"wall\"\n3 2 \"tissue\"\n$EndPhysicalNames\n"      // 4-8
    "$Nodes\n5\n10 0 0 0\n20 1 0 0\n30 0 1 0\n40 0 0 1\n50 1 1 1\n$EndNodes\n"  // 9-16
    "$Elements\n5\n"                                                            // 17-18
    "1 15 2 0 1 10\n2 1 2 0 1 10 20\n"                                          // 19-20
    "3 2 2 5 1 10 20 30\n4 4 2 2 1 10 20 30 40\n5 4 2 2 1 20 50 30 40\n"        // 21-23
    "$EndElements\n";                                                           // 24

const std::string good_41 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"                                                           // 1-3
    "$PhysicalNames\n2\n2 5 \"wall\"\n3 2 \"tissue\"\n$EndPhysicalNames\n"                             // 4-8
    "$Entities\n0 0 1 1\n1 0 0 0 1 1 1 1 5 0\n9 0 0 0 1 1 1 1 2 1 1\n$EndEntities\n"                   // 9-13
    "$Nodes\n2 5 10 50\n2 1 1 3\n10\n20\n30\n0 0 0 .5 .5\n1 0 0 .5 .5\n0 1 0 .5 .5\n"                  // 14-22
    "3 9 0 2\n40\n50\n0 0 1\n1 1 1\n$EndNodes\n"                                                       // 23-28
    "$Elements\n2 3 1 3\n2 1 2 1\n1 10 20 30\n3 9 4 2\n2 10 20 30 40\n3 20 50 30 40\n$EndElements\n";  // 29-36

const std::string data_section =
    "$ElementData\n1\n\"fibre\"\n1\n0.0\n3\n0\n3\n2\n4 1 0 0\n5 0 1 0\n$EndElementData\n";  // 25-36 behind good_22

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class GmshDefects : public ::testing::Test {
 protected:
  void SetUp() override { set_log(LogLevel::quiet, false); }
  void TearDown() override { set_log(LogLevel::normal, true); }

  TetMesh read(const std::string& text, MeshReport* report = nullptr) {
    write_file(file_, text);
    return read_gmsh(file_, report);
  }
  /// The file must fail at `line` (0: any place) with a message that has `words`.
  void expect_error(const std::string& text, int line, const std::string& words) {
    const std::string message = error_of(ErrorKind::input, [&] { read(text); });
    const std::string place = file_.string() + (line > 0 ? ":" + std::to_string(line) + ": " : ":");
    EXPECT_EQ(message.find(place), 0u) << message << "\nexpected at line " << line;
    EXPECT_NE(message.find(words), std::string::npos) << message << "\nexpected words: " << words;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "m.msh";
};

TEST_F(GmshDefects, GoodFilesAreGood) {
  for (const std::string& text : {good_22, good_41}) {
    MeshReport report;
    const TetMesh m = read(text, &report);
    EXPECT_EQ(m.vertices.size(), 5u);
    EXPECT_EQ(m.cells, (std::vector<std::array<Gid, 4>>{{0, 1, 2, 3}, {1, 4, 2, 3}}));
    EXPECT_EQ(m.regions, (std::vector<std::int32_t>{2, 2}));
    EXPECT_EQ(m.boundary_tags, std::vector<std::int32_t>{5});
    EXPECT_EQ(m.region_names.at(2), "tissue");
    EXPECT_EQ(m.boundary_names.at(5), "wall");
    EXPECT_EQ(report.inverted_cells + report.unused_vertices, 0);
  }
}

TEST_F(GmshDefects, WhatIsAllowed) {
  const TetMesh expected = read(good_22);
  std::string windows;
  for (const char c : good_22) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect_same(read(windows), expected);
  expect_same(read(replaced(good_22, "20 1 0 0", "20   +1.0\t0e0  -0")), expected);
  expect_same(read(replaced(good_22, "$Nodes\n", "\n$Comments\nhello $Nodes\n$EndComments\n$Nodes\n")), expected);
  expect_same(read(replaced(good_41, "$Elements", "$Periodic\n0\n$EndPeriodic\n$Elements")), expected);
  // Tags with huge gaps and out of order.
  expect_same(read("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                   "$PhysicalNames\n2\n2 5 \"wall\"\n3 2 \"tissue\"\n$EndPhysicalNames\n"
                   "$Nodes\n5\n9000000000000010 0 0 0\n20 1 0 0\n7 0 1 0\n40 0 0 1\n800 1 1 1\n$EndNodes\n"
                   "$Elements\n3\n33 2 2 5 1 9000000000000010 20 7\n5 4 2 2 1 9000000000000010 20 7 40\n"
                   "12 4 2 2 1 20 800 7 40\n$EndElements\n"),
              expected);
  // No entities: no groups. A minus sign says that the surface is reversed.
  EXPECT_EQ(
      read(replaced(good_41,
                    good_41.substr(good_41.find("$Entities"), good_41.find("$Nodes") - good_41.find("$Entities")), ""))
          .regions,
      (std::vector<std::int32_t>{0, 0}));
  expect_same(read(replaced(good_41, "1 1 1 1 5 0", "1 1 1 1 -5 0")), expected);
}

TEST_F(GmshDefects, InvertedUnusedAndDoubledAreReported) {
  MeshReport report;
  TetMesh m = read(replaced(good_22, "10 20 30 40", "10 30 20 40"), &report);
  EXPECT_EQ(report.inverted_cells, 1);
  EXPECT_EQ(m.cells[0], (std::array<Gid, 4>{0, 2, 3, 1}));
  m = read(replaced(good_22, "5\n10 0 0 0\n20", "7\n99 8 8 8\n10 0 0 0\n77 9 9 9\n20"), &report);
  EXPECT_EQ(report.unused_vertices, 2);
  expect_same(m, read(good_22));
  m = read(replaced(good_41, "1 1 1 1 2 1 1", "1 1 1 2 6 2 1 1"), &report);
  EXPECT_EQ(report.extra_groups, 1);
  EXPECT_EQ(m.regions[0], 6);
}

TEST_F(GmshDefects, MissingFileAndFolderAreIoErrors) {
  EXPECT_NE(error_of(ErrorKind::io, [&] { read_gmsh(folder_ / "none.msh"); }).find("none.msh"), std::string::npos);
  error_of(ErrorKind::io, [&] { read_gmsh(folder_ / ""); });
}

TEST_F(GmshDefects, Headers) {
  expect_error("", 1, "does not begin with $MeshFormat");
  expect_error("solid cube\n", 1, "does not begin with $MeshFormat");
  expect_error(replaced(good_22, "2.2 0 8", "4 0 8"), 2, "format 4 is not supported; save as 4.1 or 2.2");
  expect_error(replaced(good_22, "2.2 0 8", "2.2 3 8"), 2, "file type 3");
  expect_error(replaced(good_22, "2.2 0 8", "2.2 0 4"), 2, "data size 4; 8 is expected");
  expect_error(replaced(good_22, "2.2 0 8", "2.2 0"), 2, "the line ends here, but the data size was expected");
  expect_error(good_22 + good_22, 25, "second $MeshFormat");
  expect_error(good_22 + "$Nodes\n0\n$EndNodes\n", 25, "second $Nodes");
  expect_error(good_22 + "hello\n", 25, "found 'hello'");
  expect_error(replaced(good_41, "$Nodes", "$PartitionedEntities\n$EndPartitionedEntities\n$Nodes"), 14, "partitioned");
}

TEST_F(GmshDefects, OtherByteOrder) {
  const std::string swapped = std::string("$MeshFormat\n2.2 1 8\n") + std::string("\0\0\0\1", 4) + "\n$EndMeshFormat\n";
  const std::string message = error_of(ErrorKind::input, [&] { read(swapped); });
  EXPECT_NE(message.find("byte 20: "), std::string::npos) << message;
  EXPECT_NE(message.find("other byte order"), std::string::npos) << message;
}

TEST_F(GmshDefects, Names) {
  expect_error(replaced(good_22, "\"wall\"", "wall"), 6, "found 'wall', but a group's name in quotes was expected");
  expect_error(replaced(good_22, "\"wall\"", "\"wall"), 6, "is not closed");
  expect_error(replaced(good_22, "3 2 \"tissue\"", "7 2 \"tissue\""), 7, "dimension 7");
  expect_error(replaced(good_22, "2 5 \"wall\"\n3 2", "3 2 \"wall\"\n3 2"), 7, "two names, 'wall' and 'tissue'");
  expect_error(replaced(good_22, "$PhysicalNames\n2", "$PhysicalNames\n3"), 8, "found '$EndPhysicalNames'");
  expect_error(replaced(good_22, "$PhysicalNames\n2", "$PhysicalNames\n999999999999"), 5, "are announced");
  expect_error(replaced(good_22, "3 2 \"tissue\"", "3 2147483647 \"tissue\""), 7, "does not fit 32 bits");
}

TEST_F(GmshDefects, Nodes) {
  expect_error(replaced(good_22, "30 0 1 0", "30 0 nan 0"), 13, "finite");
  expect_error(replaced(good_22, "30 0 1 0", "30 0 1e999 0"), 13, "finite");
  expect_error(replaced(good_22, "30 0 1 0", "30 0 x 0"), 13, "found 'x', but a node's y was expected");
  expect_error(replaced(good_22, "30 0 1 0", "30 0 1"), 13, "the line ends here, but a node's z was expected");
  expect_error(replaced(good_22, "30 0 1 0", "30 0 1 0 7"), 13, "found '7' after a node's coordinates");
  expect_error(replaced(good_22, "30 0 1 0", "20 0 1 0"), 10, "node 20 is listed twice");
  expect_error(replaced(good_22, "30 0 1 0", "0 0 1 0"), 13, "node tag 0 is not positive");
  expect_error(replaced(good_22, "$Nodes\n5", "$Nodes\n4"), 15, "found '50', but $EndNodes was expected");
  expect_error(replaced(good_22, "$Nodes\n5", "$Nodes\n6"), 16, "found '$EndNodes', but a node's tag was expected");
  expect_error(replaced(good_22, "$Nodes\n5", "$Nodes\n99999999999999999"), 10, "only");
  expect_error(replaced(good_22, "$Nodes\n5", "$Nodes\n-5"), 10, "-5");
  expect_error(replaced(good_41, "2 5 10 50", "2 6 10 50"), 15, "6 nodes are announced, but the blocks hold 5");
  expect_error(replaced(good_41, "2 5 10 50", "1 5 10 50"), 15, "5 nodes are announced, but the blocks hold 3");
  expect_error(replaced(good_41, "2 1 1 3", "4 1 1 3"), 16, "dimension 4");
  expect_error(replaced(good_41, "0 0 0 .5 .5", "0 0 0"), 20, "a node's parameter");
  expect_error(replaced(good_41, "3 9 0 2\n40", "3 9 0 999999999999\n40"), 23, "only");
}

TEST_F(GmshDefects, Elements) {
  expect_error(replaced(good_22, "10 20 30 40", "10 20 30 41"), 22, "element 4 names node 41, which is not in $Nodes");
  expect_error(replaced(good_22, "10 20 30 40", "10 20 30 30"), 22, "tetrahedron 4 has a node twice");
  expect_error(replaced(good_22, "1 10 20 30\n", "1 10 20 20\n"), 21, "triangle 3 has a node twice");
  expect_error(replaced(good_22, "10 20 30 40", "10 20 30"), 22, "the line ends here");
  expect_error(replaced(good_22, "40 0 0 1", "40 .5 .5 0"), 22, "tetrahedron 4 (nodes 10 20 30 40) has no volume");
  expect_error(replaced(good_22, "40 0 0 1", "40 0 0 1e-320"), 22, "tetrahedron 4 (nodes 10 20 30 40) has no volume");
  expect_error(replaced(good_22, "4 4 2 2 1", "4 5 2 2 1"), 22, "hexahedron");
  expect_error(replaced(good_22, "4 4 2 2 1", "4 6 2 2 1"), 22, "prism");
  expect_error(replaced(good_22, "4 4 2 2 1", "4 7 2 2 1"), 22, "pyramid");
  expect_error(replaced(good_22, "4 4 2 2 1", "4 11 2 2 1"), 22, "tetrahedron of higher order");
  expect_error(replaced(good_22, "3 2 2 5 1", "3 9 2 5 1"), 21, "triangle of higher order");
  expect_error(replaced(good_22, "3 2 2 5 1", "3 3 2 5 1"), 21, "quadrangle");
  expect_error(replaced(good_22, "3 2 2 5 1", "3 1234 2 5 1"), 21, "element type 1234 (unknown)");
  expect_error(replaced(good_22, "3 2 2 5 1", "3 2 -2 5 1"), 21, "-2 tags");
  expect_error(replaced(good_22, "$Elements\n5", "$Elements\n4"), 23, "found '5', but $EndElements was expected");
  expect_error(replaced(good_22, "$Elements\n5", "$Elements\n6"), 24, "found '$EndElements'");
  expect_error(replaced(good_22, "$Elements\n5", "$Elements\n888888888888"), 18, "only");
  expect_error(replaced(good_41, "$Elements\n2 3", "$Elements\n2 4"), 30,
               "4 elements are announced, but the blocks hold 3");
  expect_error(replaced(good_41, "3 9 4 2\n2 10", "3 8 4 2\n2 10"), 33, "entity 8 of dimension 3 is not in $Entities");
  expect_error(replaced(good_41, "3 9 4 2\n2 10", "2 1 4 2\n2 10"), 33, "in a block of dimension 2; 3 is expected");
  expect_error(replaced(good_41, "3 20 50 30 40", "3 20 50 30 4x"), 35, "found '4x'");
  expect_error(replaced(good_41, "2 1 2 1\n1 10 20 30\n3 9 4 2\n2 10 20 30 40\n3 20 50 30 40\n",
                        "2 1 2 3\n1 10 20 30\n2 10 20 40\n3 10 20 50\n"),
               0, "");
  const std::string no_tets =
      replaced(replaced(good_22, "4 4 2 2 1 10 20 30 40\n5 4 2 2 1 20 50 30 40\n", ""), "$Elements\n5", "$Elements\n3");
  expect_error(no_tets, 18, "no tetrahedra");
}

TEST_F(GmshDefects, OrderAndEndOfSections) {
  const auto nodes_at = good_22.find("$Nodes"), elements_at = good_22.find("$Elements");
  const std::string head = good_22.substr(0, nodes_at), nodes = good_22.substr(nodes_at, elements_at - nodes_at);
  const std::string elements = good_22.substr(elements_at);
  expect_error(head + elements + nodes, 9, "comes before $Nodes");
  expect_error(head + nodes, 17, "there is no $Elements section");
  expect_error(head, 9, "there is no $Nodes section");
  expect_error(head + data_section + nodes + elements, 9, "comes before $Elements");
  expect_error(good_22.substr(0, good_22.size() - 13), 24, "$EndElements was expected; the file is truncated");
  expect_error(good_22.substr(0, good_22.find("20 50 30") + 5), 23, "truncated");
  expect_error(good_22 + "$Periodic\n1\n", 26, "no $EndPeriodic; the file is truncated");
  const auto entities_at = good_41.find("$Entities"), v41_nodes_at = good_41.find("$Nodes");
  const std::string entities = good_41.substr(entities_at, v41_nodes_at - entities_at);
  expect_error(replaced(good_41, entities, "") + entities, 32, "after $Elements");
}

TEST_F(GmshDefects, Entities) {
  expect_error(replaced(good_41, "0 0 1 1", "0 0 1 999999999999"), 10, "only");
  expect_error(replaced(good_41, "0 0 1 1", "0 0 2 0"), 33, "entity 9 of dimension 3 is not in $Entities");
  expect_error(replaced(good_41, "1 1 1 1 2 1 1\n", "1 1 1 99999999999 2 1 1\n"), 12, "only");
  expect_error(replaced(good_41, "0 0 1 1\n", "0 0 2 1\n1 0 0 0 1 1 1 0 0\n"), 12,
               "entity 1 of dimension 2 is listed twice");
}

TEST_F(GmshDefects, ElementData) {
  const TetMesh m = read(good_22 + data_section);
  ASSERT_EQ(m.cell_data.size(), 1u);
  EXPECT_EQ(m.cell_data[0].values, (std::vector<double>{1, 0, 0, 0, 1, 0}));
  const auto with = [&](const std::string& from, const std::string& to) {
    return good_22 + replaced(data_section, from, to);
  };
  expect_error(with("5 0 1 0", "6 0 1 0"), 35, "element 6 is not in $Elements");
  expect_error(with("5 0 1 0", "4 0 1 0"), 35, "element 4 has two values");
  expect_error(with("5 0 1 0", "3 0 1 0"), 26, "'fibre' has values for 1 of 2 tetrahedra");
  expect_error(with("5 0 1 0", "5 0 inf 0"), 35, "not a finite number");
  expect_error(with("5 0 1 0", "5 0 1"), 35, "the line ends here, but a value was expected");
  expect_error(with("\n3\n2\n4", "\n2\n2\n4"), 32, "2 components");
  expect_error(with("\n3\n2\n4", "\n3\n777777777777\n4"), 33, "only");
  expect_error(with("0.0\n3\n0", "0.0\n1\n0"), 30, "1 integer tags; 3 are expected");
  expect_error(replaced(good_22, "5 4 2 2 1 20", "4 4 2 2 1 20") + data_section, 18, "element 4 is listed twice");
  MeshReport report;
  EXPECT_TRUE(read(good_22 + replaced(replaced(data_section, "2\n4 1 0 0\n", "1\n"), "5 0 1 0", "3 0 1 0"), &report)
                  .cell_data.empty());
  EXPECT_EQ(report.skipped_data, std::vector<std::string>{"fibre"});
  EXPECT_EQ(read(good_22 + data_section + replaced(data_section, "4 1 0 0", "4 7 0 0")).cell_data.at(0).values[0], 7);
}

}  // namespace
}  // namespace tutti
