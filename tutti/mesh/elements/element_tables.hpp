// The reference elements: their corners, faces and nodes. Numbering as in VTK (vtkTetra, vtkHexahedron, vtkWedge,
// vtkPyramid; second order: vtkQuadraticTetra, vtkTriQuadraticHexahedron, vtkBiQuadraticQuadraticWedge, the first 14 of
// vtkTriQuadraticPyramid), with every element of positive volume (a prism's triangle 0 1 2 looks towards 3 4 5).
//
// Reference coordinates r, s, t from 0 to 1. Tetrahedron: r + s + t <= 1. Hexahedron: the cube. Prism: r + s <= 1.
// Pyramid: r <= 1 - t, s <= 1 - t, its apex is (0, 0, 1).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tutti/base/vec3.hpp"
#include "tutti/mesh/elements/element_mesh.hpp"

namespace tutti {

inline constexpr int max_element_nodes = 27;
inline constexpr int max_element_faces = 6;

constexpr int corner_count(ElementType type) {
  constexpr std::array<int, 4> n = {4, 8, 6, 5};
  return n[static_cast<std::size_t>(type)];
}
/// Nodes of the element of second order.
constexpr int quadratic_node_count(ElementType type) {
  constexpr std::array<int, 4> n = {10, 27, 18, 14};
  return n[static_cast<std::size_t>(type)];
}
/// Nodes of the element of second order that files may have without points in quadrangles and hexahedra.
constexpr int serendipity_node_count(ElementType type) {
  constexpr std::array<int, 4> n = {10, 20, 15, 13};
  return n[static_cast<std::size_t>(type)];
}
/// Order of the geometry of an element with that many nodes: 1 or 2; 0 if there is none.
constexpr int geometry_order(ElementType type, std::size_t nodes) {
  const auto n = static_cast<int>(nodes);
  return n == corner_count(type) ? 1 : n == quadratic_node_count(type) ? 2 : 0;
}
constexpr int face_count(ElementType type) {
  constexpr std::array<int, 4> n = {4, 6, 5, 5};
  return n[static_cast<std::size_t>(type)];
}
constexpr const char* element_name(ElementType type) {
  constexpr std::array<const char*, 4> names = {"tetrahedron", "hexahedron", "prism", "pyramid"};
  return names[static_cast<std::size_t>(type)];
}
/// Volume of the reference element.
constexpr double reference_volume(ElementType type) {
  constexpr std::array<double, 4> v = {1.0 / 6, 1.0, 0.5, 1.0 / 3};
  return v[static_cast<std::size_t>(type)];
}

namespace element_tables {

/// A face's corners, anticlockwise as seen from outside.
struct Face {
  int corners;
  std::array<std::int8_t, 4> at;
};
inline constexpr std::array<std::array<Face, max_element_faces>, 4> faces = {{
    // As tet_faces: face f is opposite to corner f.
    {{{3, {1, 2, 3, -1}}, {3, {0, 3, 2, -1}}, {3, {0, 1, 3, -1}}, {3, {0, 2, 1, -1}}, {}, {}}},
    {{{4, {0, 4, 7, 3}},
      {4, {1, 2, 6, 5}},
      {4, {0, 1, 5, 4}},
      {4, {3, 7, 6, 2}},
      {4, {0, 3, 2, 1}},
      {4, {4, 5, 6, 7}}}},
    {{{4, {0, 1, 4, 3}}, {4, {1, 2, 5, 4}}, {4, {2, 0, 3, 5}}, {3, {0, 2, 1, -1}}, {3, {3, 4, 5, -1}}, {}}},
    {{{4, {0, 3, 2, 1}}, {3, {0, 1, 4, -1}}, {3, {1, 2, 4, -1}}, {3, {2, 3, 4, -1}}, {3, {3, 0, 4, -1}}, {}}},
}};

/// Twice the reference coordinates of every node.
using Lattice = std::array<std::int8_t, 3>;
inline constexpr std::array<Lattice, 10> tetrahedron = {
    {{0, 0, 0}, {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}}};
inline constexpr std::array<Lattice, 27> hexahedron = {
    {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2}, {0, 2, 2}, {1, 0, 0},
     {2, 1, 0}, {1, 2, 0}, {0, 1, 0}, {1, 0, 2}, {2, 1, 2}, {1, 2, 2}, {0, 1, 2}, {0, 0, 1}, {2, 0, 1},
     {2, 2, 1}, {0, 2, 1}, {0, 1, 1}, {2, 1, 1}, {1, 0, 1}, {1, 2, 1}, {1, 1, 0}, {1, 1, 2}, {1, 1, 1}}};
inline constexpr std::array<Lattice, 18> prism = {{{0, 0, 0},
                                                   {2, 0, 0},
                                                   {0, 2, 0},
                                                   {0, 0, 2},
                                                   {2, 0, 2},
                                                   {0, 2, 2},
                                                   {1, 0, 0},
                                                   {1, 1, 0},
                                                   {0, 1, 0},
                                                   {1, 0, 2},
                                                   {1, 1, 2},
                                                   {0, 1, 2},
                                                   {0, 0, 1},
                                                   {2, 0, 1},
                                                   {0, 2, 1},
                                                   {1, 0, 1},
                                                   {1, 1, 1},
                                                   {0, 1, 1}}};
inline constexpr std::array<Lattice, 14> pyramid = {{{0, 0, 0},
                                                     {2, 0, 0},
                                                     {2, 2, 0},
                                                     {0, 2, 0},
                                                     {0, 0, 2},
                                                     {1, 0, 0},
                                                     {2, 1, 0},
                                                     {1, 2, 0},
                                                     {0, 1, 0},
                                                     {0, 0, 1},
                                                     {1, 0, 1},
                                                     {1, 1, 1},
                                                     {0, 1, 1},
                                                     {1, 1, 0}}};

}  // namespace element_tables

/// Twice the reference coordinates of the nodes of second order; the first corner_count() are the corners.
constexpr std::span<const element_tables::Lattice> node_lattice(ElementType type) {
  switch (type) {
    case ElementType::tetrahedron:
      return element_tables::tetrahedron;
    case ElementType::hexahedron:
      return element_tables::hexahedron;
    case ElementType::prism:
      return element_tables::prism;
    case ElementType::pyramid:
      break;
  }
  return element_tables::pyramid;
}
/// Reference coordinates of a node.
constexpr Vec3 node_reference(ElementType type, int node) {
  const auto& l = node_lattice(type)[node];
  return {0.5 * l[0], 0.5 * l[1], 0.5 * l[2]};
}

/// Corners of a face: 3 or 4.
constexpr int face_corner_count(ElementType type, int face) {
  return element_tables::faces[static_cast<std::size_t>(type)][face].corners;
}
/// Local number of a face's corner; anticlockwise as seen from outside.
constexpr int face_corner(ElementType type, int face, int corner) {
  return element_tables::faces[static_cast<std::size_t>(type)][face].at[corner];
}

/// The reference point of face coordinates u, v in [0, 1] (triangles: u + v <= 1): corner 0 is (0, 0), u runs towards
/// corner 1, v towards the last corner.
constexpr Vec3 face_reference(ElementType type, int face, double u, double v) {
  const Vec3 a = node_reference(type, face_corner(type, face, 0)), b = node_reference(type, face_corner(type, face, 1)),
             c = node_reference(type, face_corner(type, face, face_corner_count(type, face) - 1));
  return {a.x + u * (b.x - a.x) + v * (c.x - a.x), a.y + u * (b.y - a.y) + v * (c.y - a.y),
          a.z + u * (b.z - a.z) + v * (c.z - a.z)};
}

}  // namespace tutti
