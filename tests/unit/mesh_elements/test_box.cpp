// Boxes of every kind of element, and how their faces match.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/thread_hook.hpp"
#include "tutti/mesh/elements/element_checks.hpp"
#include "tutti/mesh/elements/element_geometry.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/mesh/elements/quadratic.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/spec_error.hpp"

namespace tutti {
namespace {

double total(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum;
}

/// Every point of a face, from its left element and through the orientation from its right one.
void expect_faces_meet(const ElementMesh& mesh, const std::vector<ElementFace>& faces, double tolerance = 1e-14) {
  for (const ElementFace& f : faces) {
    if (f.right < 0) continue;
    const int corners = face_corner_count(mesh.type(f.left), f.left_face);
    ASSERT_EQ(face_corner_count(mesh.type(f.right), f.right_face), corners);
    const ElementPoints left = gather_points(mesh, f.left), right = gather_points(mesh, f.right);
    for (const auto& [u, v] : {std::pair{0.2, 0.1}, std::pair{0.3, 0.6}, std::pair{0.0, 1.0}}) {
      const FacePoint other = right_face_point(corners, f.orientation, u, v);
      const MappedPoint a = map_point(mesh.type(f.left), left.view(),
                                      face_reference(mesh.type(f.left), f.left_face, u, v)),
                        b = map_point(mesh.type(f.right), right.view(),
                                      face_reference(mesh.type(f.right), f.right_face, other.u, other.v));
      ASSERT_LT(norm(a.x + f.shift - b.x), tolerance) << f.left << " " << f.right << " " << f.orientation;
      if (v == 1.0) continue;  // the apex of a pyramid has no normal of its own
      const Vec3 n =
          FaceAreas(mesh.type(f.left), f.left_face).at(a) + FaceAreas(mesh.type(f.right), f.right_face).at(b);
      ASSERT_LT(norm(n), 10 * tolerance);
    }
  }
}

class EveryBox : public testing::TestWithParam<BoxElements> {
 protected:
  ElementBoxSpec spec(std::array<Gid, 3> cubes) const {
    ElementBoxSpec s;
    s.elements = GetParam();
    s.cubes = cubes;
    s.jitter = 0.14;
    return s;
  }
};

TEST_P(EveryBox, FillsTheBoxAndTagsItsSides) {
  ElementBoxSpec s = spec({6, 3, 4});
  s.upper = {2, 1, 0.5};
  const ElementMesh mesh = generate_element_box(s);
  check_elements(mesh, "box");
  const auto faces = match_faces_checked(mesh, "box");
  expect_faces_meet(mesh, faces);
  EXPECT_NEAR(total(element_measures(mesh).volumes), 1, 1e-13);
  std::array<double, 7> areas{};
  for (const ElementFace& f : faces) {
    if (f.right >= 0) continue;
    const ElementPoints p = gather_points(mesh, f.left);
    const double half = face_corner_count(mesh.type(f.left), f.left_face) == 3 ? 0.5 : 1;
    areas[f.tag] +=
        half *
        norm(FaceAreas(mesh.type(f.left), f.left_face)
                 .at(map_point(mesh.type(f.left), p.view(), face_reference(mesh.type(f.left), f.left_face, 0.3, 0.3))));
  }
  const std::array<double, 7> expected = {0, 0.5, 0.5, 1, 1, 2, 2};
  for (std::size_t tag = 0; tag < 7; ++tag) EXPECT_NEAR(areas[tag], expected[tag], 1e-13) << tag;
}

TEST_P(EveryBox, PeriodicBoxHasNoBoundary) {
  for (const std::array<Gid, 3> cubes : {std::array<Gid, 3>{1, 1, 1}, {2, 1, 3}, {5, 2, 2}, {4, 3, 2}}) {
    ElementBoxSpec s = spec(cubes);
    s.periodic = {true, true, true};
    s.upper = {1, 2, 3};
    const ElementMesh mesh = generate_element_box(s);
    const auto faces = match_faces_checked(mesh, "box");
    expect_faces_meet(mesh, faces);
    std::size_t sides = 0;
    for (Gid e = 0; e < mesh.element_count(); ++e) sides += static_cast<std::size_t>(face_count(mesh.type(e)));
    EXPECT_EQ(2 * faces.size(), sides);
    for (const ElementFace& f : faces) {
      EXPECT_GE(f.right, f.left);
      EXPECT_EQ(f.tag, 0);
    }
  }
}

TEST_P(EveryBox, BecomesCurved) {
  ElementBoxSpec s = spec({5, 3, 3});
  s.order = 2;
  s.periodic = {false, false, true};
  s.map = [](Vec3 p) {
    return Vec3{(1 + p.x) * std::cos(p.y), (1 + p.x) * std::sin(p.y), p.z + 0.05 * std::sin(3 * p.x)};
  };
  const ElementMesh mesh = generate_element_box(s);
  check_elements(mesh, "box");
  for (Gid e = 0; e < mesh.element_count(); ++e)
    ASSERT_EQ(geometry_order(mesh.type(e), mesh.element_nodes(e).size()), 2);
  expect_faces_meet(mesh, match_faces_checked(mesh, "box"), 1e-13);
  EXPECT_NEAR(total(element_measures(mesh).volumes), 1.5, 1e-4);  // a sector of a ring, to the fourth order of 1/5
}

TEST_P(EveryBox, IsTheSameOnThreads) {
  ElementBoxSpec s = spec({6, 5, 4});
  s.periodic = {true, false, true};
  const ElementMesh a = generate_element_box(s), b = generate_element_box(s, test::five_threads);
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.nodes, b.nodes);
  const auto one = match_faces(a), three = match_faces(b, test::five_threads);
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].right, three[i].right);
    EXPECT_EQ(one[i].orientation, three[i].orientation);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryBox,
                         testing::Values(BoxElements::hexahedra, BoxElements::tetrahedra, BoxElements::prisms,
                                         BoxElements::pyramids, BoxElements::mixed));

TEST(ElementBox, MixedHasEveryElement) {
  ElementBoxSpec s;
  s.elements = BoxElements::mixed;
  s.cubes = {4, 1, 1};
  const ElementMesh mesh = generate_element_box(s);
  EXPECT_EQ(std::set<ElementType>(mesh.types.begin(), mesh.types.end()).size(), 4u);
}

TEST(ElementBox, TetrahedraAreThoseOfTheTetBox) {
  BoxSpec tets;
  tets.cubes = {3, 4, 2};
  tets.upper = {1, 2, 1};
  tets.jitter = 0.1;
  tets.seed = 7;
  ElementBoxSpec s;
  s.elements = BoxElements::tetrahedra;
  s.cubes = tets.cubes;
  s.upper = tets.upper;
  s.jitter = tets.jitter;
  s.seed = tets.seed;
  const TetMesh a = generate_box(tets);
  const ElementMesh b = generate_element_box(s);
  for (std::size_t v = 0; v < a.vertices.size(); ++v) EXPECT_LT(norm(a.vertices[v] - b.points[v]), 1e-15);
  for (Gid e = 0; e < a.cell_count(); ++e) {
    const auto nodes = b.element_nodes(e);
    EXPECT_TRUE(std::equal(nodes.begin(), nodes.end(), a.cells[e].begin()));
  }
}

TEST(ElementBox, RefusesWhatItCannotMake) {
  const auto word_of = [](const auto& change) {
    ElementBoxSpec s;
    s.cubes = {2, 2, 2};
    change(s);
    try {
      generate_element_box(s);
    } catch (const SpecError& e) {
      return e.word();
    }
    return std::string();
  };
  EXPECT_EQ(word_of([](ElementBoxSpec& s) { s.cubes[1] = 0; }), "cubes");
  EXPECT_EQ(word_of([](ElementBoxSpec& s) { s.upper.z = 0; }), "upper");
  EXPECT_EQ(word_of([](ElementBoxSpec& s) { s.jitter = 0.5; }), "jitter");
  EXPECT_EQ(word_of([](ElementBoxSpec& s) { s.order = 3; }), "order");
  EXPECT_EQ(word_of([](ElementBoxSpec& s) { s.map = [](Vec3 p) { return Vec3{-p.x, p.y, p.z}; }; }), "map");
  EXPECT_EQ(word_of([](ElementBoxSpec& s) {
              s.periodic = {true, false, false};
              s.map = [](Vec3 p) { return Vec3{p.x, p.y * (1 + p.x), p.z}; };
            }),
            "map");
  EXPECT_EQ(word_of([](ElementBoxSpec& s) { s.upper.x = 1; }), "");
  EXPECT_THROW(parse_box_elements("cube"), SpecError);
  EXPECT_EQ(parse_box_elements("prism"), BoxElements::prisms);
}

TEST(ElementAdjacency, ListsNeighboursOnce) {
  ElementBoxSpec s;
  s.cubes = {3, 2, 1};
  s.periodic = {true, true, true};
  const ElementMesh mesh = generate_element_box(s);
  const Adjacency graph = element_adjacency(mesh.element_count(), match_faces(mesh));
  ASSERT_EQ(graph.rows(), 6);
  // Along x two different ones, along y the same one twice, along z itself.
  const auto row = graph.row(0);
  EXPECT_EQ(std::vector<Gid>(row.begin(), row.end()), (std::vector<Gid>{1, 2, 3}));
}

}  // namespace
}  // namespace tutti
