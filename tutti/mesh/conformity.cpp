#include "tutti/mesh/conformity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/mesh/sphere/nearest.hpp"
#include "tutti/mesh/tet_checks.hpp"

namespace tutti {
namespace {

constexpr double tolerance = 1e-6;  ///< of an edge's length: files in text have six digits or more

/// Faces without a neighbour, and their vertices.
struct Surface {
  struct Face {
    Gid cell;
    std::array<std::uint32_t, 3> corners;  ///< numbers of `vertices`
  };
  std::vector<Face> faces;
  std::vector<Gid> vertices;  ///< ascending
  std::vector<Vec3> points;
  std::vector<double> edge;           ///< the shortest at each vertex
  std::vector<std::uint32_t> lowest;  ///< the lowest vertex at the same place

  Surface(const TetMesh& mesh, const FaceNeighbours& neighbours);
  void find_same_places();
};

Surface::Surface(const TetMesh& mesh, const FaceNeighbours& neighbours) {
  std::vector<std::array<Gid, 3>> corners;
  for (std::size_t c = 0; c < neighbours.size(); ++c)
    for (std::size_t f = 0; f < 4; ++f) {
      if (neighbours[c][f] >= 0) continue;
      std::array<Gid, 3> of;
      for (std::size_t k = 0; k < 3; ++k) vertices.push_back(of[k] = mesh.cells[c][tet_faces[f][k]]);
      faces.push_back({static_cast<Gid>(c), {}});
      corners.push_back(of);
    }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  for (const Gid v : vertices) points.push_back(mesh.vertices[v]);
  edge.assign(vertices.size(), std::numeric_limits<double>::max());
  for (std::size_t i = 0; i < faces.size(); ++i) {
    auto& of = faces[i].corners;
    for (std::size_t k = 0; k < 3; ++k)
      of[k] = static_cast<std::uint32_t>(std::lower_bound(vertices.begin(), vertices.end(), corners[i][k]) -
                                         vertices.begin());
    for (std::size_t k = 0; k < 3; ++k) {
      const auto a = of[k], b = of[(k + 1) % 3];
      const double length = norm(points[a] - points[b]);
      edge[a] = std::min(edge[a], length);
      edge[b] = std::min(edge[b], length);
    }
  }
}

void Surface::find_same_places() {
  const NearestNodes near(points);
  constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  std::vector<Gid> found;
  lowest.assign(points.size(), none);
  // A place is searched once, however many vertices lie there.
  for (std::uint32_t v = 0; v < points.size(); ++v) {
    if (lowest[v] != none) continue;
    lowest[v] = v;
    near.find_within(points[v], tolerance * edge[v], found);
    for (const Gid other : found)
      if (lowest[other] == none) lowest[other] = v;
  }
}

Vec3 centroid(const Surface& s, const Surface::Face& face) {
  return (1.0 / 3) * (s.points[face.corners[0]] + s.points[face.corners[1]] + s.points[face.corners[2]]);
}

void find_cracks(const Surface& s, Misfits& misfits) {
  struct Place {
    std::array<std::uint32_t, 3> corners;
    std::size_t face;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < s.faces.size(); ++i) {
    Place place{{}, i};
    for (std::size_t k = 0; k < 3; ++k) place.corners[k] = s.lowest[s.faces[i].corners[k]];
    std::sort(place.corners.begin(), place.corners.end());
    places.push_back(place);
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.corners < b.corners; });
  std::size_t first = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i].corners != places[i - 1].corners) continue;
    ++misfits.cracks;
    if (places[i - 1].face >= first) continue;
    first = places[i - 1].face;
    misfits.crack_cells = {s.faces[first].cell, s.faces[places[i].face].cell};
    misfits.crack_place = centroid(s, s.faces[first]);
  }
}

/// Whether p lies in the face or on one of its edges, at most `far` beside.
bool lies_in(const Vec3& p, const std::array<Vec3, 3>& corner, double far) {
  const Vec3 u = corner[1] - corner[0], v = corner[2] - corner[0], w = p - corner[0], n = cross(u, v);
  const double area = norm(n);  // twice the face's
  // Distances from the plane, and inwards from each edge.
  return std::abs(dot(w, n)) <= far * area && dot(cross(w, v), n) >= -far * area * norm(v) &&
         dot(cross(u, w), n) >= -far * area * norm(u) &&
         dot(cross(corner[2] - corner[1], p - corner[1]), n) >= -far * area * norm(corner[2] - corner[1]);
}

void find_hanging(const TetMesh& mesh, const Surface& s, Misfits& misfits) {
  // One vertex of each place.
  std::vector<std::uint32_t> vertex;
  std::vector<Vec3> places;
  for (std::uint32_t v = 0; v < s.points.size(); ++v) {
    if (s.lowest[v] != v) continue;
    vertex.push_back(v);
    places.push_back(s.points[v]);
  }
  const NearestNodes near(places);
  std::vector<Gid> found;
  std::vector<std::uint8_t> hangs(s.points.size(), 0);
  for (const Surface::Face& face : s.faces) {
    const std::array<Vec3, 3> corner = {s.points[face.corners[0]], s.points[face.corners[1]],
                                        s.points[face.corners[2]]};
    const Vec3 middle = centroid(s, face);
    double radius = 0;
    for (const Vec3& p : corner) radius = std::max(radius, norm(p - middle));
    near.find_within(middle, radius * (1 + tolerance), found);
    const auto& own = mesh.cells[face.cell];  // of a flat cell all four lie in each of its faces
    for (const Gid place : found) {
      const std::uint32_t v = vertex[place];
      const bool corner_of =
          std::any_of(face.corners.begin(), face.corners.end(), [&](std::uint32_t k) { return s.lowest[k] == v; });
      if (corner_of || hangs[v] || std::find(own.begin(), own.end(), s.vertices[v]) != own.end() ||
          !lies_in(s.points[v], corner, tolerance * s.edge[v]))
        continue;
      hangs[v] = 1;
      ++misfits.hanging;
      if (misfits.hanging > 1 && s.vertices[v] > misfits.hanging_vertex) continue;
      misfits.hanging_vertex = s.vertices[v];
      misfits.hanging_cell = face.cell;
      misfits.hanging_place = s.points[v];
    }
  }
}

}  // namespace

Misfits find_misfits(const TetMesh& mesh, const FaceNeighbours& neighbours) {
  Misfits misfits;
  Surface surface(mesh, neighbours);
  if (surface.faces.empty()) return misfits;
  surface.find_same_places();
  find_cracks(surface, misfits);
  find_hanging(mesh, surface, misfits);
  return misfits;
}

Size merge_vertices(TetMesh& mesh, const FaceNeighbours& neighbours) {
  Surface surface(mesh, neighbours);
  if (surface.faces.empty()) return 0;
  surface.find_same_places();
  std::vector<Gid> now(mesh.vertices.size());
  for (std::size_t v = 0; v < now.size(); ++v) now[v] = static_cast<Gid>(v);
  for (std::size_t k = 0; k < surface.vertices.size(); ++k)
    now[surface.vertices[k]] = surface.vertices[surface.lowest[k]];
  for (auto& cell : mesh.cells)
    for (Gid& v : cell) v = now[v];
  for (auto& triangle : mesh.boundary)
    for (Gid& v : triangle) v = now[v];
  return drop_unused_vertices(mesh);
}

}  // namespace tutti
