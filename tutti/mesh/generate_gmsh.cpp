// Meshes made by the gmsh program: geometry scripts go in, a mesh file comes back, and what the file lacks is added.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/files/gmsh/gmsh_program.hpp"
#include "tutti/mesh/generate.hpp"

namespace tutti {
namespace {

/// `cells`: about as many as there are for h = 1. Millimetres taken for metres would keep gmsh busy for ever.
void check_edge_length(double h, double cells) {
  if (!(h > 0) || !std::isfinite(h))
    fail_spec("h", "gmsh: edge length {} is not positive; a number above 0 is expected", h);
  require_room(cells / (h * h * h), 200, "gmsh", fmt::format("cells of edge length {}", h), "use longer edges");
}

std::string mesh_size(double h) {
  return fmt::format("Mesh.CharacteristicLengthMin = {0};\nMesh.CharacteristicLengthMax = {0};\n", h);
}

Vec3 vertex(const TetMesh& mesh, Gid v) {
  return mesh.vertices[v];
}

// ---- heart ----

struct Ellipsoid {
  double shift, a, b, c;
  /// Distance from the surface to first order, in mm.
  double distance(Vec3 p) const {
    const Vec3 q{p.x - shift, p.y, p.z};
    const double f = std::sqrt(q.x * q.x / (a * a) + q.y * q.y / (b * b) + q.z * q.z / (c * c));
    const Vec3 gradient{q.x / (a * a), q.y / (b * b), q.z / (c * c)};
    return f == 0 ? -std::min({a, b, c}) : (f - 1) * f / norm(gradient);
  }
};

constexpr double base_plane = 15;
constexpr Ellipsoid lv_outer{0, 30, 30, 75}, lv_inner{0, 19, 19, 65};
constexpr Ellipsoid rv_outer{18, 42, 30, 62}, rv_inner{18, 37.5, 25.5, 57.5};

GmshScripts heart_scripts(double h) {
  std::string s = "// A bi-ventricular heart, lengths in mm.\nSetFactory(\"OpenCASCADE\");\n";
  const auto ellipsoid = [&](int number, const Ellipsoid& e) {
    s += fmt::format("Sphere({0}) = {{0, 0, 0, 1}}; Dilate {{{{0, 0, 0}}, {{{1}, {2}, {3}}}}} {{ Volume{{{0}}}; }}\n",
                     number, e.a, e.b, e.c);
    if (e.shift != 0) s += fmt::format("Translate {{{}, 0, 0}} {{ Volume{{{}}}; }}\n", e.shift, number);
  };
  ellipsoid(1, lv_outer);
  ellipsoid(2, lv_inner);
  ellipsoid(3, rv_outer);
  ellipsoid(4, rv_inner);
  ellipsoid(5, lv_outer);
  s += "BooleanDifference(10) = { Volume{1}; Delete; }{ Volume{2}; Delete; };     // left ventricle\n";
  s += "BooleanDifference(11) = { Volume{3}; Delete; }{ Volume{4, 5}; Delete; };  // right ventricle, minus the left "
       "one\n";
  s += "BooleanUnion(12) = { Volume{10}; Delete; }{ Volume{11}; Delete; };\n";
  s += fmt::format("Box(20) = {{-200, -200, {}, 400, 400, 400}};\n", base_plane);
  s += "BooleanDifference(30) = { Volume{12}; Delete; }{ Volume{20}; Delete; };\n";
  s += "Physical Surface(\"wall\", 1) = CombinedBoundary{ Volume{30}; };\n";
  const std::string volume =
      "Surface Loop(1) = {Surface{:}};\nVolume(1) = {1};\nPhysical Volume(\"myocardium\", 1) = {1};\n";
  return {"heart", s + mesh_size(h), volume + mesh_size(h)};
}

/// Which surface a triangle lies on: the one its vertices are nearest to. The outer surface of the left ventricle is
/// the septum where it looks into the right cavity.
std::int32_t heart_surface(const std::array<Vec3, 3>& corners) {
  const auto farthest = [&](auto&& distance) {
    return std::max({std::abs(distance(corners[0])), std::abs(distance(corners[1])), std::abs(distance(corners[2]))});
  };
  const auto from = [&](const Ellipsoid& e) { return farthest([&](Vec3 p) { return e.distance(p); }); };
  if (farthest([](Vec3 p) { return p.z - base_plane; }) < 1e-6) return HeartTags::base;
  const std::array<double, 4> d = {from(lv_outer), from(lv_inner), from(rv_outer), from(rv_inner)};
  const auto nearest = std::min_element(d.begin(), d.end()) - d.begin();
  if (nearest == 1) return HeartTags::endocardium_lv;
  if (nearest == 2) return HeartTags::epicardium;
  if (nearest == 3) return HeartTags::endocardium_rv;
  const Vec3 centre = (1.0 / 3.0) * (corners[0] + corners[1] + corners[2]);
  // No wall of the right ventricle touches this surface between its two ellipsoids, so either is a sharp limit.
  return rv_inner.distance(centre) + rv_outer.distance(centre) < 0 ? HeartTags::endocardium_rv : HeartTags::epicardium;
}

// ---- box ----

GmshScripts box_scripts(double h, std::optional<double> split) {
  std::string s = "SetFactory(\"OpenCASCADE\");\n", volume;
  if (split) {
    s += fmt::format("Box(1) = {{0, 0, 0, {0}, 1, 1}};\nBox(2) = {{{0}, 0, 0, {1}, 1, 1}};\n", *split, 1 - *split);
    s += "BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }\n";
    volume = fmt::format(
        "left[] = Surface In BoundingBox{{-1e-6, -1e-6, -1e-6, {0} + 1e-6, 1 + 1e-6, 1 + 1e-6}};\n"
        "right[] = Surface In BoundingBox{{{0} - 1e-6, -1e-6, -1e-6, 1 + 1e-6, 1 + 1e-6, 1 + 1e-6}};\n"
        "Surface Loop(1) = {{left[]}};\nSurface Loop(2) = {{right[]}};\nVolume(1) = {{1}};\nVolume(2) = {{2}};\n",
        *split);
  } else {
    s += "Box(1) = {0, 0, 0, 1, 1, 1};\n";
    volume = "Surface Loop(1) = {Surface{:}};\nVolume(1) = {1};\n";
  }
  s += "Physical Surface(\"wall\", 1) = {Surface{:}};\n";
  volume += "Physical Volume(\"box\", 1) = Volume{:};\n";
  return {"box", s + mesh_size(h), volume + mesh_size(h)};
}

std::int32_t box_side(const std::array<Vec3, 3>& corners) {
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side) {
      const auto on = [&](Vec3 p) { return std::abs(p[d] - side) < 1e-9; };
      if (std::all_of(corners.begin(), corners.end(), on)) return 2 * d + side + 1;
    }
  return 0;
}

// ---- what every mesh of gmsh needs ----

/// Piece of every cell, numbered by first cell; pieces are connected through faces.
std::vector<std::int32_t> find_pieces(const FaceNeighbours& neighbours) {
  std::vector<std::int32_t> piece(neighbours.size(), -1);
  std::vector<Gid> open;
  std::int32_t count = 0;
  for (std::size_t start = 0; start < piece.size(); ++start) {
    if (piece[start] >= 0) continue;
    piece[start] = count;
    open.push_back(static_cast<Gid>(start));
    while (!open.empty()) {
      const auto cell = static_cast<std::size_t>(open.back());
      open.pop_back();
      for (const Gid n : neighbours[cell]) {
        if (n < 0 || piece[n] >= 0) continue;
        piece[n] = count;
        open.push_back(n);
      }
    }
    ++count;
  }
  return piece;
}

/// Drops the vertices that no cell has.
void drop_lone_vertices(TetMesh& mesh) {
  std::vector<Gid> number(mesh.vertices.size(), 0);
  for (const auto& cell : mesh.cells)
    for (const Gid v : cell) number[v] = 1;
  Gid count = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] == 0) continue;
    mesh.vertices[count] = mesh.vertices[v];
    number[v] = count++;
  }
  mesh.vertices.resize(count);
  for (auto& cell : mesh.cells)
    for (Gid& v : cell) v = number[v];
}

/// gmsh 4.8 sometimes leaves a tetrahedron that shares no face with any other: heat would stay in it for ever. Keeps
/// the piece with the most cells (the first of equals).
FaceNeighbours keep_largest_piece(TetMesh& mesh) {
  mesh.boundary.clear();
  mesh.boundary_tags.clear();
  FaceNeighbours neighbours = find_face_neighbours(mesh);
  const auto piece = find_pieces(neighbours);
  std::vector<Size> size;
  for (const std::int32_t p : piece) {
    if (p == static_cast<std::int32_t>(size.size())) size.push_back(0);
    ++size[p];
  }
  if (size.size() < 2) return neighbours;
  const auto largest = std::max_element(size.begin(), size.end());
  info("gmsh left {} of {} cells that share no face with the rest; they are dropped",
       format_count(mesh.cell_count() - *largest), format_count(mesh.cell_count()));
  std::size_t kept = 0;
  for (std::size_t c = 0; c < piece.size(); ++c) {
    if (piece[c] != largest - size.begin()) continue;
    mesh.cells[kept] = mesh.cells[c];
    mesh.regions[kept++] = mesh.regions[c];
  }
  mesh.cells.resize(kept);
  mesh.regions.resize(kept);
  drop_lone_vertices(mesh);
  return find_face_neighbours(mesh);
}

/// Gives every boundary face the tag that `classify` says for its corners (0: none, an error).
template <class Classify>
void tag_boundary(TetMesh& mesh, const FaceNeighbours& neighbours, const std::map<std::int32_t, std::string>& names,
                  Classify&& classify) {
  std::map<std::int32_t, Size> found;
  for (std::size_t cell = 0; cell < neighbours.size(); ++cell)
    for (std::size_t f = 0; f < 4; ++f) {
      if (neighbours[cell][f] >= 0) continue;
      std::array<Gid, 3> triangle{};
      std::array<Vec3, 3> corners{};
      for (std::size_t k = 0; k < 3; ++k) {
        triangle[k] = mesh.cells[cell][tet_faces[f][k]];
        corners[k] = vertex(mesh, triangle[k]);
      }
      const std::int32_t tag = classify(corners);
      if (tag == 0)
        fail(ErrorKind::input,
             "gmsh: a boundary triangle at ({}, {}, {}) lies on no surface of the geometry; try another edge length",
             corners[0].x, corners[0].y, corners[0].z);
      mesh.boundary.push_back(triangle);
      mesh.boundary_tags.push_back(tag);
      ++found[tag];
    }
  for (const auto& [tag, name] : names)
    if (found[tag] == 0)
      fail(ErrorKind::input, "gmsh: the mesh has no triangle on {}; try a smaller edge length", name);
  mesh.boundary_names = names;
}

}  // namespace

TetMesh generate_biventricle(double h, const std::filesystem::path& work_dir, int threads) {
  check_edge_length(h, 6e5);
  TetMesh mesh = run_gmsh(work_dir, heart_scripts(h), threads);
  const FaceNeighbours neighbours = keep_largest_piece(mesh);
  tag_boundary(mesh, neighbours,
               {{HeartTags::base, "base"},
                {HeartTags::epicardium, "epicardium"},
                {HeartTags::endocardium_lv, "endocardium-lv"},
                {HeartTags::endocardium_rv, "endocardium-rv"}},
               heart_surface);
  return mesh;
}

TetMesh generate_unstructured_box(double h, const std::filesystem::path& work_dir, std::optional<double> split_x,
                                  int threads) {
  check_edge_length(h, 8);
  if (split_x && !(*split_x > 0 && *split_x < 1)) fail_spec("split", "box: split at x = {} is not in (0, 1)", *split_x);
  TetMesh mesh = run_gmsh(work_dir, box_scripts(h, split_x), threads);
  const FaceNeighbours neighbours = keep_largest_piece(mesh);
  // The classified corners are exact, so that faces and the interface are planes to the last bit.
  const auto snap = [](double& x, double plane) {
    if (std::abs(x - plane) < 1e-9) x = plane;
  };
  for (Vec3& v : mesh.vertices) {
    for (int d = 0; d < 3; ++d) snap(v[d], 0), snap(v[d], 1);
    if (split_x) snap(v.x, *split_x);
  }
  tag_boundary(mesh, neighbours, {{1, "x-min"}, {2, "x-max"}, {3, "y-min"}, {4, "y-max"}, {5, "z-min"}, {6, "z-max"}},
               box_side);
  if (!split_x) return mesh;
  mesh.region_names = {{1, "left"}, {2, "right"}};
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    double x = 0;
    for (const Gid v : mesh.cells[c]) x += 0.25 * vertex(mesh, v).x;
    mesh.regions[c] = x < *split_x ? 1 : 2;
  }
  return mesh;
}

}  // namespace tutti
