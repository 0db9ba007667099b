// Files of nodes: each format, and small ones with one defect each. The message says where, what and what to do.
#include <cstring>
#include <numbers>

#include "mesh_helpers.hpp"
#include "tutti/base/log.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"

namespace tutti {
namespace {

using test::error_of;
using test::TemporaryFolder;
using test::write_file;

constexpr double pi = std::numbers::pi;

std::string raw(std::initializer_list<double> values) {
  std::string bytes(8 * values.size(), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

std::string vtk(const std::string& type, const std::string& piece) {
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"" + type + "\" version=\"1.0\" byte_order=\"LittleEndian\">\n<" +
         type + ">\n" + piece + "</" + type + ">\n</VTKFile>\n";
}

std::string vtk_piece(int count, const std::string& points, const std::string& weights = "") {
  return "<Piece NumberOfPoints=\"" + std::to_string(count) +
         "\" NumberOfCells=\"0\">\n"
         "<PointData>\n" +
         (weights.empty()
              ? ""
              : "<DataArray type=\"Float64\" Name=\"weights\" format=\"ascii\">" + weights + "</DataArray>") +
         "</PointData>\n<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n" + points +
         "\n</DataArray>\n</Points>\n</Piece>\n";
}

void expect_error(const std::string& bytes, const std::string& name, const std::string& message) {
  const std::string found = error_of(ErrorKind::input, [&] { parse_nodes(bytes, name); });
  EXPECT_NE(found.find(message), std::string::npos) << found << "\nexpected: " << message;
  EXPECT_EQ(found.find(name), 0u) << found;
}

TEST(NodeFiles, Text) {
  const NodeCloud cloud = parse_nodes("# three nodes\n1 0 0\n\n 0\t-1 0 # the second\r\n0 0.6 0.8", "a.xyz");
  EXPECT_EQ(cloud.points, (std::vector<Vec3>{{1, 0, 0}, {0, -1, 0}, {0, 0.6, 0.8}}));
  EXPECT_TRUE(cloud.weights.empty());
  const NodeCloud weighted = parse_nodes("1 0 0 6.283185307179586\n-1 0 0 6.283185307179586\n", "a.txt");
  EXPECT_EQ(weighted.weights, (std::vector<double>{2 * pi, 2 * pi}));
}

TEST(NodeFiles, LengthsBecomeOne) {
  const NodeCloud cloud = parse_nodes("0.577350 0.577350 0.577350\n0.600001 0.8 0\n", "a.xyz");
  for (const Vec3& p : cloud.points) EXPECT_NEAR(dot(p, p), 1, 4e-16);
  EXPECT_EQ(cloud.points[0].x, cloud.points[0].z);
  // Nodes that are of length 1 but for rounding keep their bits.
  const auto nodes = fibonacci_nodes(1000).points;
  const std::string_view bytes(reinterpret_cast<const char*>(nodes.data()), nodes.size() * sizeof(Vec3));
  EXPECT_EQ(parse_nodes(bytes, "a.bin").points, nodes);
}

TEST(NodeFiles, TextDefects) {
  expect_error("", "a.xyz", "a.xyz: there are no nodes");
  expect_error("# nothing\n", "a.xyz", "a.xyz: there are no nodes");
  expect_error("1 0 0\n0 1\n", "a.xyz", "a.xyz:2: the line ends here, but a node's coordinate");
  expect_error("1 0 0\n0 one 0\n", "a.xyz", "a.xyz:2: found 'one'");
  expect_error("# x\n1 0 0\n0 0.9 0\n", "a.xyz", "a.xyz:3: node 1 lies 0.9 from the origin");
  expect_error("0 0 0\n", "a.xyz", "a.xyz:1: node 0 lies 0 from the origin");
  expect_error("nan 0 0\n", "a.xyz", "a.xyz:1: node 0 has the coordinates nan 0 0; finite");
  expect_error("1 0 1e999\n", "a.xyz", "finite numbers are expected");
  expect_error("1 0 0\n0 1 0\n1 0 0\n", "a.xyz", "a.xyz: the nodes 0 and 2 (numbered from 0) are at the same place");
  expect_error("1 0 0\n0 1 0 2\n", "a.xyz", "a.xyz:2: node 1 has a weight, the first one has none");
  expect_error("1 0 0 2\n0 1 0\n", "a.xyz", "a.xyz:2: node 1 has no weight, the first one has one");
  expect_error("1 0 0 2 3\n", "a.xyz", "a.xyz:1: found '3' after a node's numbers");
  expect_error("1 0 0 inf\n", "a.xyz", "a.xyz:1: node 0 has the weight inf");
  expect_error("1 0 0 0.5\n-1 0 0 0.5\n", "a.xyz", "a.xyz: the sum of the weights is 1; the sphere's area");
  expect_error("1,0,0\n", "a.xyz", "a.xyz:1: found '1,0,0'");
  expect_error("1 0 0\n", "a.csv", "a.csv: unsupported format of nodes; known are text (.xyz");
}

TEST(NodeFiles, Raw) {
  const std::string three = raw({1, 0, 0, 0, 0, -1}), four = raw({1, 0, 0, 2 * pi, 0, 0, -1, 2 * pi});
  for (const char* name : {"a.bin", "a.raw", "a.f64", "a.xyz.f64"}) {
    const NodeCloud cloud = parse_nodes(three, name);
    EXPECT_EQ(cloud.points, (std::vector<Vec3>{{1, 0, 0}, {0, 0, -1}}));
    EXPECT_TRUE(cloud.weights.empty());
  }
  for (const char* name : {"a.bin", "a.xyzw.f64"}) {
    const NodeCloud cloud = parse_nodes(four, name);
    EXPECT_EQ(cloud.points, (std::vector<Vec3>{{1, 0, 0}, {0, 0, -1}}));
    EXPECT_EQ(cloud.weights, (std::vector<double>{2 * pi, 2 * pi}));
  }
}

TEST(NodeFiles, RawOfASizeThatFitsBoth) {
  // Twelve doubles: four nodes of three or three nodes of four.
  const NodeCloud three = parse_nodes(raw({1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0}), "a.bin");
  EXPECT_EQ(three.size(), 4);
  const NodeCloud four = parse_nodes(raw({1, 0, 0, 4, 0, 1, 0, 4, 0, 0, 1, 4 * pi - 8}), "a.bin");
  EXPECT_EQ(four.size(), 3);
  EXPECT_EQ(four.weights.size(), 3u);
  expect_error(raw({1, 0, 0, 4, 0, 1, 0, 4, 0, 0, 3, 4}), "a.bin", "a.bin: byte 24: node 1 lies");
}

TEST(NodeFiles, RawDefects) {
  expect_error("", "a.bin", "a.bin: there are no nodes");
  expect_error(raw({1, 0}), "a.bin", "the file has 16 bytes; three or four doubles per node");
  expect_error(raw({1, 0, 0}) + "x", "a.bin", "the file has 25 bytes");
  expect_error(raw({1, 0, 0, 1}), "a.xyz.f64", "the file has 32 bytes, no multiple of 24, as its name '.xyz' needs");
  expect_error(raw({1, 0, 0}), "a.xyzw.bin", "no multiple of 32");
  expect_error(raw({1, 0, 0, 0, 2, 0}), "a.bin", "a.bin: byte 24: node 1 lies 2 from the origin");
  expect_error(raw({1, 0, std::nan("")}), "a.bin", "a.bin: byte 0: node 0 has the coordinates 1 0 nan");
  expect_error(raw({1, 0, 0, 1, 0, 0}), "a.bin", "the nodes 0 and 1 (numbered from 0) are at the same place");
}

TEST(NodeFiles, Vtk) {
  for (const char* type : {"PolyData", "UnstructuredGrid"}) {
    const NodeCloud cloud = parse_nodes(vtk(type, vtk_piece(2, "1 0 0  0 1 0") + vtk_piece(1, "0 0 1")), "a.vtp");
    EXPECT_EQ(cloud.points, (std::vector<Vec3>{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
    EXPECT_TRUE(cloud.weights.empty());
  }
  const NodeCloud cloud = parse_nodes(vtk("PolyData", vtk_piece(2, "1 0 0  0 1 0", "12 0.5663706143591725")), "a.vtu");
  EXPECT_EQ(cloud.weights, (std::vector<double>{12, 0.5663706143591725}));
}

TEST(NodeFiles, VtkDefects) {
  expect_error(vtk("ImageData", ""), "a.vtp", "a.vtp:2: the file holds 'ImageData'; PolyData or UnstructuredGrid");
  expect_error(vtk("PolyData", ""), "a.vtp", "a.vtp: there are no nodes");
  expect_error(vtk("PolyData", vtk_piece(2, "1 0 0")), "a.vtp", "6 numbers are expected");
  expect_error(vtk("PolyData", vtk_piece(1, "1 0 1")), "a.vtp", "node 0 lies 1.4142136 from the origin");
  expect_error(vtk("PolyData", vtk_piece(1, "1 0 0", "1 2")), "a.vtp", "after the 1 numbers");
  expect_error(vtk("PolyData", vtk_piece(1, "1 0 0", "6") + vtk_piece(1, "0 1 0")), "a.vtp",
               "all or none must have them");
  expect_error(vtk("PolyData", vtk_piece(1, "1 0 0") + vtk_piece(1, "0 1 0", "6")), "a.vtp",
               "all or none must have them");
}

TEST(NodeFiles, FromDisk) {
  const TemporaryFolder folder;
  write_file(folder / "a.xyz", "0 0 1\n");
  EXPECT_EQ(read_nodes(folder / "a.xyz").size(), 1);
  error_of(ErrorKind::io, [&] { read_nodes(folder / "missing.xyz"); });
  write_file(folder / "bad.xyz", "0 0 2\n");
  EXPECT_NE(error_of(ErrorKind::input, [&] { read_nodes(folder / "bad.xyz"); }).find("bad.xyz:1: "), std::string::npos);
}

}  // namespace
}  // namespace tutti
