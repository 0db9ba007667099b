// What only shows between elements: second-order faces with different points, and hanging nodes.
#include <algorithm>
#include <tuple>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_checks.hpp"
#include "tutti/mesh/elements/face_slots.hpp"

namespace tutti {
namespace {

/// All points of a face, ascending.
std::vector<Gid> points_of_face(const ElementMesh& mesh, Gid element, int face) {
  const ElementType type = mesh.type(element);
  const auto nodes = mesh.element_nodes(element);
  const auto lattice = node_lattice(type);
  // A node lies in the face's plane if its lattice point does; planes of reference faces are n . x = c.
  const auto at = [&](int corner) { return node_reference(type, face_corner(type, face, corner)); };
  const Vec3 normal = cross(at(1) - at(0), at(2) - at(0));
  std::vector<Gid> points;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Vec3 r{0.5 * lattice[n][0], 0.5 * lattice[n][1], 0.5 * lattice[n][2]};
    if (dot(normal, r - at(0)) == 0) points.push_back(nodes[n]);
  }
  std::sort(points.begin(), points.end());
  return points;
}

void check_shared_points(const ElementMesh& mesh, const std::vector<ElementFace>& faces, const std::string& name) {
  const auto order = [&](Gid e) { return geometry_order(mesh.type(e), mesh.element_nodes(e).size()); };
  for (const ElementFace& f : faces) {
    if (f.right < 0 || f.shift != Vec3{}) continue;
    const int left = order(f.left), right = order(f.right);
    if (left == 1 && right == 1) continue;
    if (left != right || points_of_face(mesh, f.left, f.left_face) != points_of_face(mesh, f.right, f.right_face))
      fail(ErrorKind::input,
           "{}: elements {} ({} of order {}) and {} ({} of order {}) share the corners of a face, but not its other "
           "points; save the whole mesh with one order",
           name, f.left, element_name(mesh.type(f.left)), left, f.right, element_name(mesh.type(f.right)), right);
  }
}

/// A corner of a face at the boundary, or the middle of one of its edges or the centre of a quadrangle, where another
/// element's corner would hang.
struct Place {
  Vec3 at;
  Gid element = 0, point = -1;  ///< point: of a corner
  double size = 0;              ///< of a middle: the length of the edge
  double key = 0;
};

std::vector<Place> boundary_places(const ElementMesh& mesh, const std::vector<ElementFace>& faces) {
  std::vector<Place> places;
  for (const ElementFace& f : faces) {
    if (f.right >= 0) continue;
    const auto corners = face_points(mesh, f.left, f.left_face);
    const int n = face_corner_count(mesh.type(f.left), f.left_face);
    const auto at = [&](int k) { return mesh.points[corners[k % n]]; };
    for (int k = 0; k < n; ++k) {
      places.push_back({at(k), f.left, corners[k], 0, 0});
      places.push_back({0.5 * (at(k) + at(k + 1)), f.left, -1, norm(at(k + 1) - at(k)), 0});
    }
    if (n == 4) places.push_back({0.25 * (at(0) + at(1) + at(2) + at(3)), f.left, -1, norm(at(2) - at(0)), 0});
  }
  // A direction in which hardly any two places of a mesh agree.
  for (Place& p : places) p.key = dot(Vec3{0.5698402909980532, 0.7548776662466927, 0.3247179572447460}, p.at);
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return std::tie(a.key, a.element, a.point) < std::tie(b.key, b.element, b.point);
  });
  return places;
}

void check_hanging_nodes(const ElementMesh& mesh, const std::vector<ElementFace>& faces, const std::string& name) {
  const std::vector<Place> places = boundary_places(mesh, faces);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& middle = places[i];
    if (middle.point >= 0) continue;
    const double reach = 1e-7 * middle.size;
    const auto compare = [&](const Place& corner) {
      if (corner.point < 0 || corner.element == middle.element || norm(corner.at - middle.at) > reach) return;
      fail(ErrorKind::input,
           "{}: point {} of element {} ({}) hangs in the middle of an edge or face of element {} ({}), at ({:.6g}, "
           "{:.6g}, {:.6g}); elements must share whole faces",
           name, corner.point, corner.element, element_name(mesh.type(corner.element)), middle.element,
           element_name(mesh.type(middle.element)), middle.at.x, middle.at.y, middle.at.z);
    };
    // Of many places in one, a few are enough: a middle meets its element's neighbours' middles there.
    constexpr std::size_t enough = 64;
    for (std::size_t k = i; k-- > 0 && i - k < enough && middle.key - places[k].key <= reach;) compare(places[k]);
    for (std::size_t k = i + 1; k < places.size() && k - i < enough && places[k].key - middle.key <= reach; ++k)
      compare(places[k]);
  }
}

}  // namespace

std::vector<ElementFace> match_faces_checked(const ElementMesh& mesh, const std::string& name,
                                             const ParallelFor& parallel) {
  std::vector<ElementFace> faces;
  try {
    faces = match_faces(mesh, parallel);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", name, error.what());
  }
  check_shared_points(mesh, faces, name);
  check_hanging_nodes(mesh, faces, name);
  return faces;
}

}  // namespace tutti
