// Files of mixed elements, as Gmsh 4.8 and VTK 9.1 wrote them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <set>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_checks.hpp"
#include "tutti/mesh/elements/element_collector.hpp"
#include "tutti/mesh/elements/element_geometry.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/mesh/elements/read_elements.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

std::string data(const std::string& name) {
  return std::string(TUTTI_TEST_DATA) + "/elements/" + name;
}
std::string bytes_of(const std::string& name) {
  std::ifstream in(data(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
template <class Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::input);
    return e.what();
  }
  return "no error";
}

double volume_of(const ElementMesh& mesh) {
  double sum = 0;
  for (const double v : element_measures(mesh).volumes) sum += v;
  return sum;
}

/// Distance of the faces of tag `tag` from the cylinder of radius `radius` around z, at points between the nodes.
double distance_from_cylinder(const ElementMesh& mesh, std::int32_t tag, double radius) {
  double largest = 0;
  for (const ElementFace& f : match_faces(mesh)) {
    if (f.tag != tag) continue;
    const ElementPoints nodes = gather_points(mesh, f.left);
    const ElementType type = mesh.type(f.left);
    for (const double u : {0.1, 0.25, 0.5}) {
      const Vec3 x = map_point(type, nodes.view(), face_reference(type, f.left_face, u, 0.3)).x;
      largest = std::max(largest, std::abs(std::hypot(x.x, x.y) - radius));
    }
  }
  return largest;
}

class GmshTube : public testing::TestWithParam<const char*> {};

TEST_P(GmshTube, IsRead) {
  const std::string name = GetParam();
  MeshReport report;
  const ElementMesh mesh = read_elements(data("gmsh/" + name), &report);
  const bool linear = name == "tube_linear.msh";
  EXPECT_EQ(report.inverted_cells, 0);
  std::array<int, 4> types{};
  for (Gid e = 0; e < mesh.element_count(); ++e) {
    ++types[static_cast<std::size_t>(mesh.type(e))];
    EXPECT_EQ(geometry_order(mesh.type(e), mesh.element_nodes(e).size()), linear ? 1 : 2);
  }
  EXPECT_THAT(types, testing::ElementsAre(39, 2, 4, 2));
  EXPECT_EQ(std::set<std::int32_t>(mesh.regions.begin(), mesh.regions.end()), (std::set<std::int32_t>{7, 9, 11}));
  EXPECT_EQ(mesh.region_names.at(9), "outer");
  EXPECT_EQ(mesh.boundary_names.at(3), "wall");
  const auto faces = match_faces_checked(mesh, name);
  for (const ElementFace& f : faces) EXPECT_TRUE(f.right >= 0 || f.tag > 0) << f.left;
  // Parabolas through three points of each eighth of a circle, or its chords.
  EXPECT_NEAR(volume_of(mesh), 2.75 * std::numbers::pi, linear ? 0.9 : 0.02);
  EXPECT_LT(distance_from_cylinder(mesh, 3, 1), linear ? 0.08 : 2e-3);
  EXPECT_LT(distance_from_cylinder(mesh, 4, 3), linear ? 0.24 : 6e-3);
}

INSTANTIATE_TEST_SUITE_P(All, GmshTube,
                         testing::Values("tube.msh", "tube_v22.msh", "tube_incomplete.msh", "tube_linear.msh"));

TEST(GmshElements, BinaryAndTextGiveTheSameElements) {
  const ElementMesh text = read_elements(data("gmsh/tube.msh")), binary = read_elements(data("gmsh/tube_v22.msh"));
  ASSERT_EQ(text.element_count(), binary.element_count());
  // The formats order elements differently.
  for (Gid e = 0; e < text.element_count(); ++e) {
    const ElementPoints a = gather_points(text, e);
    int same = 0;
    for (Gid other = 0; other < binary.element_count(); ++other) {
      const ElementPoints b = gather_points(binary, other);
      double distance = a.count == b.count ? 0 : 1;
      for (std::size_t n = 0; n < a.view().size() && distance == 0; ++n)
        if (norm(a.at[n] - b.at[n]) > 1e-12) distance = 1;
      same += distance == 0 && text.regions[e] == binary.regions[other];
    }
    EXPECT_EQ(same, 1) << e;
  }
}

TEST(GmshElements, NodesLieWhereTheTablesSay) {
  // In flat parts of Gmsh's mesh, every node of second order is in the middle of its corners.
  const ElementMesh mesh = read_elements(data("gmsh/tube.msh"));
  std::array<int, 4> seen{};
  for (Gid e = 0; e < mesh.element_count(); ++e) {
    const ElementPoints p = gather_points(mesh, e);
    const ElementType type = mesh.type(e);
    const std::span<const Vec3> corners = p.view().first(corner_count(type));
    const double size = std::cbrt(map_point(type, corners, {0.25, 0.25, 0.25}).determinant());
    for (std::size_t n = 0; n < p.view().size(); ++n) {
      const Vec3 straight = map_point(type, corners, node_reference(type, static_cast<int>(n))).x;
      // Arcs of 45 degrees leave their chords by less than a fifth of the element's size; another node is further.
      EXPECT_LT(norm(p.at[n] - straight), 0.25 * size) << element_name(type) << " " << n;
    }
    ++seen[static_cast<std::size_t>(type)];
  }
  for (const int count : seen) EXPECT_GT(count, 0);
}

class VtuFile : public testing::TestWithParam<const char*> {};

TEST_P(VtuFile, IsRead) {
  const std::string name = GetParam();
  const ElementMesh mesh = read_elements(data("vtu/" + name));
  const auto faces = match_faces_checked(mesh, name);
  int inner = 0, tagged = 0;
  for (const ElementFace& f : faces) inner += f.right >= 0, tagged += f.tag == 5;
  EXPECT_EQ(tagged, 1);
  const bool linear = name == "mixed_linear.vtu";
  EXPECT_EQ(inner, linear ? 4 : 3);
  EXPECT_EQ(mesh.regions.front(), 1);
  EXPECT_EQ(mesh.regions.back(), 3);
  // Hexahedron, prism, pyramid, tetrahedron; of the linear file a voxel, too. The map of the others is
  // (x + 0.1 z^2, y, z + 0.05 x^2), whose Jacobian is 1 - 0.02 x z.
  const auto volumes = element_measures(mesh).volumes;
  EXPECT_NEAR(volumes[0], linear ? 1 : 1 - 0.02 / 4, 1e-12);
  EXPECT_NEAR(volumes[linear ? 2 : 1], linear ? 0.5 : 0.5 - 0.02 / 12, 1e-12);
  EXPECT_NEAR(volumes[linear ? 3 : 2], 0.7 / 3, linear ? 1e-14 : 0.01);
}

INSTANTIATE_TEST_SUITE_P(All, VtuFile,
                         testing::Values("mixed_linear.vtu", "mixed_quadratic.vtu", "mixed_lagrange.vtu",
                                         "mixed_serendipity.vtu"));

TEST(VtuElements, LagrangeHexahedraOfOldFilesHaveTwoEdgesSwapped) {
  const auto file = [](const char* version, int n18, int n19) {
    std::string points, numbers;
    for (const auto& l : node_lattice(ElementType::hexahedron)) points += fmt::format("{} {} {}\n", l[0], l[1], l[2]);
    for (int n = 0; n < 27; ++n) numbers += fmt::format("{} ", n == 18 ? n18 : n == 19 ? n19 : n);
    return fmt::format(
        "<VTKFile type=\"UnstructuredGrid\" version=\"{}\"><UnstructuredGrid><Piece NumberOfPoints=\"27\" "
        "NumberOfCells=\"1\"><Points><DataArray type=\"Float64\" "
        "NumberOfComponents=\"3\">{}</DataArray></Points><Cells>"
        "<DataArray type=\"Int32\" Name=\"connectivity\">{}</DataArray><DataArray type=\"Int32\" Name=\"offsets\">27"
        "</DataArray><DataArray type=\"UInt8\" "
        "Name=\"types\">72</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>",
        version, points, numbers);
  };
  for (const char* version : {"0.1", "1.0", "2.0"})
    EXPECT_EQ(parse_vtu_elements(file(version, 19, 18), "a.vtu").nodes[18], 18) << version;
  for (const char* version : {"2.1", "2.2", "10.0"})
    EXPECT_EQ(parse_vtu_elements(file(version, 18, 19), "a.vtu").nodes[18], 18) << version;
}

/// MSH 4.1 of a linear mesh in text, its periodic pairs as one $Periodic surface for each shift.
std::string msh_text(const ElementMesh& mesh, const std::string& periodic = "") {
  std::string text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n";
  const auto n = mesh.points.size();
  text += fmt::format("1 {} 1 {}\n3 1 0 {}\n", n, n, n);
  for (std::size_t i = 1; i <= n; ++i) text += fmt::format("{}\n", i);
  for (const Vec3& p : mesh.points) text += fmt::format("{} {} {}\n", p.x, p.y, p.z);
  text += fmt::format("$EndNodes\n$Elements\n{} {} 1 {}\n", mesh.types.size(), mesh.types.size(), mesh.types.size());
  constexpr std::array<int, 4> codes = {4, 5, 6, 7};
  for (Gid e = 0; e < mesh.element_count(); ++e) {
    text += fmt::format("3 1 {} 1\n{}", codes[static_cast<std::size_t>(mesh.type(e))], e + 1);
    for (const Gid v : mesh.element_nodes(e)) text += fmt::format(" {}", v + 1);
    text += "\n";
  }
  return text + "$EndElements\n" + periodic;
}

/// Pairs of the points of two sides of a box, "own partner" a line.
std::string pairs_along(const ElementMesh& mesh, int axis, Vec3 length) {
  std::string lines;
  int count = 0;
  for (std::size_t a = 0; a < mesh.points.size(); ++a)
    for (std::size_t b = 0; b < mesh.points.size(); ++b) {
      if (mesh.points[a][axis] != length[axis] || mesh.points[b][axis] != 0) continue;
      Vec3 moved = mesh.points[b];
      moved[axis] = length[axis];
      if (norm(moved - mesh.points[a]) > 1e-12) continue;
      lines += fmt::format("{} {}\n", a + 1, b + 1);
      ++count;
    }
  return fmt::format("{}\n{}", count, lines);
}

TEST(GmshElements, PeriodicSurfacesBecomePairs) {
  ElementBoxSpec s;
  s.elements = BoxElements::mixed;
  s.cubes = {4, 2, 2};
  s.upper = {2, 1, 1.5};
  s.periodic = {true, false, true};
  const ElementMesh box = generate_element_box(s);
  const std::string section = "$Periodic\n3\n0 1 2\n0\n1\n1 2\n2 1 2\n16 1 0 0 2 0 1 0 0 0 0 1 0 0 0 0 1\n" +
                              pairs_along(box, 0, s.upper) + "2 3 4\n0\n" + pairs_along(box, 2, s.upper) +
                              "$EndPeriodic\n";
  const ElementMesh mesh = parse_gmsh_elements(msh_text(box, section), "a.msh");
  const auto faces = match_faces_checked(mesh, "a.msh");
  const auto expected = match_faces(box);
  ASSERT_EQ(mesh.periodic.size(), box.periodic.size());
  ASSERT_EQ(faces.size(), expected.size());
  for (std::size_t f = 0; f < faces.size(); ++f) {
    EXPECT_EQ(faces[f].right, expected[f].right);
    EXPECT_EQ(faces[f].orientation, expected[f].orientation);
    EXPECT_LT(norm(faces[f].shift - expected[f].shift), 1e-14);
  }
}

TEST(GmshElements, PeriodicSectionsOfBothFormatsAreRead) {
  for (const char* name : {"gmsh/periodic_v41.msh", "gmsh/periodic_v22.msh"}) {
    const ElementMesh mesh = read_elements(data(name));
    std::array<int, 3> along{};
    int boundary = 0;
    for (const ElementFace& f : match_faces_checked(mesh, name)) {
      boundary += f.right < 0;
      for (int d = 0; d < 3; ++d) along[d] += std::abs(std::abs(f.shift[d]) - 1) < 1e-12;
    }
    // Each side of the box has as many triangles as its opposite; those across z are left.
    EXPECT_GT(along[0], 0) << name;
    EXPECT_EQ(along[0], along[1]) << name;
    EXPECT_EQ(along[2], 0) << name;
    EXPECT_EQ(boundary, 2 * along[0]) << name;
  }
}

TEST(GmshElements, TurnsElementsOfNegativeVolume) {
  for (const BoxElements kind :
       {BoxElements::hexahedra, BoxElements::tetrahedra, BoxElements::prisms, BoxElements::pyramids}) {
    ElementBoxSpec s;
    s.elements = kind;
    s.cubes = {2, 1, 1};
    ElementMesh box = generate_element_box(s);
    for (Vec3& p : box.points) p.x = -p.x;
    MeshReport report;
    const ElementMesh mesh = parse_gmsh_elements(msh_text(box), "a.msh", &report);
    EXPECT_EQ(report.inverted_cells, box.element_count());
    EXPECT_NEAR(volume_of(mesh), 1, 1e-14);
    EXPECT_EQ(match_faces_checked(mesh, "a.msh").size(), match_faces(box).size());
  }
}

TEST(ElementDefects, AreToldWithElementAndFile) {
  ElementBoxSpec s;
  s.elements = BoxElements::mixed;
  s.cubes = {4, 1, 1};
  const ElementMesh good = generate_element_box(s);
  const auto read = [](const ElementMesh& m) {
    return match_faces_checked(parse_gmsh_elements(msh_text(m), "bad.msh"), "bad.msh");
  };
  EXPECT_NO_THROW(read(good));

  ElementMesh bad = good;  // a hexahedron with a corner pushed through
  bad.points[bad.element_nodes(0)[6]] = {-0.2, -0.3, -0.2};
  EXPECT_THAT(error_of([&] { read(bad); }), testing::AllOf(HasSubstr("bad.msh: element 0 (hexahedron) is inverted")));

  bad = good;  // determinants that are positive, but too small to be added up
  for (Vec3& p : bad.points) p = 1e-105 * p;
  EXPECT_THAT(error_of([&] { read(bad); }), HasSubstr("bad.msh: element 0 (hexahedron) at (0, 0, 0) has no volume"));

  bad = good;
  const auto first = good.element_nodes(0);
  bad.add_element(good.type(0), std::vector<Gid>(first.begin(), first.end()), 1);
  EXPECT_THAT(error_of([&] { read(bad); }), HasSubstr("bad.msh: mesh: three elements"));

  ElementMesh twice;
  twice.points = good.points;
  for (int i = 0; i < 2; ++i) twice.add_element(good.type(0), std::vector<Gid>(first.begin(), first.end()), 1);
  EXPECT_THAT(error_of([&] { read(twice); }), HasSubstr("elements 0 and 1 have the same corners"));

  // A hexahedron against tetrahedra, without pyramids.
  ElementMesh cut;
  s.cubes = {2, 1, 1};
  s.elements = BoxElements::tetrahedra;
  const ElementMesh tets = generate_element_box(s);
  s.elements = BoxElements::hexahedra;
  const ElementMesh hexes = generate_element_box(s);
  cut.points = hexes.points;
  cut.add_element(hexes.type(0), hexes.element_nodes(0), 1);
  for (Gid e = 6; e < 12; ++e) cut.add_element(tets.type(e), tets.element_nodes(e), 1);
  EXPECT_THAT(error_of([&] { read(cut); }),
              HasSubstr("a quadrangle of element 0 (hexahedron) meets a triangle of element"));

  // Two small hexahedra beside a large one.
  ElementMesh hanging;
  for (const double x : {0.0, 1.0, 2.0})
    for (const double y : {0.0, 1.0, 2.0})
      for (const double z : {0.0, 2.0}) hanging.points.push_back({x, y, z});
  const auto at = [](Gid x, Gid y, Gid z) { return 6 * x + 2 * y + z; };
  const auto hex = [&](Gid x0, Gid x1, Gid y0, Gid y1) {
    hanging.add_element(ElementType::hexahedron,
                        std::array<Gid, 8>{at(x0, y0, 0), at(x1, y0, 0), at(x1, y1, 0), at(x0, y1, 0), at(x0, y0, 1),
                                           at(x1, y0, 1), at(x1, y1, 1), at(x0, y1, 1)},
                        1);
  };
  hex(0, 1, 0, 2), hex(1, 2, 0, 1), hex(1, 2, 1, 2);
  EXPECT_THAT(error_of([&] { read(hanging); }), HasSubstr("hangs in the middle of an edge or face of element 0"));

  ElementMesh far = good;
  far.boundary.push_back({0, 1, far.point_count() - 1, -1});
  far.boundary_tags.push_back(9);
  EXPECT_THAT(error_of([&] { match_faces_checked(far, "far.msh"); }), HasSubstr("is not a face of any element"));
}

TEST(ElementDefects, OfPeriodicSidesAreTold) {
  ElementBoxSpec s;
  s.cubes = {2, 2, 2};
  ElementMesh box = generate_element_box(s);
  EXPECT_THAT(error_of([&] { add_periodic(box, 1, 1); }), HasSubstr("periodic with itself"));
  EXPECT_THAT(error_of([&] { add_periodic(box, 1, 9); }), HasSubstr("no face at the boundary has the tag 9"));
  const Vec3 wrong{1, 0.1, 0};
  EXPECT_THAT(error_of([&] { add_periodic(box, 1, 2, &wrong); }), HasSubstr("meets no face of tag 2"));
  EXPECT_THAT(error_of([&] { add_periodic(box, 1, 4); }), HasSubstr("meets no face of tag 4"));
  add_periodic(box, 1, 2);
  EXPECT_THAT(error_of([&] { add_periodic(box, 1, 2); }), HasSubstr("no face at the boundary has the tag 1"));
  box.periodic.push_back(box.periodic.front());
  EXPECT_THAT(error_of([&] { match_faces(box); }), HasSubstr("only faces at the boundary can be paired"));
}

TEST(ElementDefects, OfFilesAreTold) {
  EXPECT_THAT(error_of([] {
                parse_gmsh_elements(
                    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n0 0 0 0\n$EndNodes\n"
                    "$Elements\n0 0 0 0\n$EndElements\n",
                    "a.msh");
              }),
              HasSubstr("there are no tetrahedra, hexahedra, prisms or pyramids"));
  std::string text = bytes_of("gmsh/tube.msh");
  const auto at = text.find("3 1 12 ");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 7, "3 1 92 ");
  EXPECT_THAT(error_of([&] { parse_gmsh_elements(text, "a.msh"); }),
              HasSubstr("element type 92 is unknown or of higher order"));
  std::string vtu = bytes_of("vtu/mixed_linear.vtu");
  vtu.replace(vtu.find("12 11 13 14 10"), 14, "12 11 13 42 10");
  EXPECT_THAT(error_of([&] { parse_vtu_elements(vtu, "a.vtu"); }), HasSubstr("cell 3 is of VTK type 42 with 5 points"));
}

}  // namespace
}  // namespace tutti
