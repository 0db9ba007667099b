// Periodic pairs from pairs of points, as Gmsh has them.
#include <algorithm>

#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/mesh/elements/element_collector.hpp"
#include "tutti/mesh/elements/face_slots.hpp"

namespace tutti {
namespace {

struct BoundaryFace {
  std::array<Gid, 4> corners;  ///< ascending; -1 comes first in triangles
  Gid element;
  int face;
};

bool by_corners(const BoundaryFace& a, const BoundaryFace& b) {
  return a.corners < b.corners;
}

/// All faces at the boundary, ascending by their corners.
std::vector<BoundaryFace> boundary_faces(const ElementMesh& mesh, const std::string& name) {
  std::vector<Gid> behind;
  try {
    behind = find_face_slots(mesh, {});
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", name, error.what());
  }
  std::vector<BoundaryFace> faces;
  for (Gid e = 0; e < mesh.element_count(); ++e)
    for (int f = 0; f < face_count(mesh.type(e)); ++f) {
      if (behind[face_slot(e, f)] >= 0) continue;
      faces.push_back({face_points(mesh, e, f), e, f});
      std::sort(faces.back().corners.begin(), faces.back().corners.end());
    }
  std::sort(faces.begin(), faces.end(), by_corners);
  return faces;
}

/// The common translation of a link's points; false if there is none.
bool translation_of(const ElementMesh& mesh, const PeriodicLink& link, Vec3& shift) {
  const auto move = [&](const std::pair<Gid, Gid>& p) { return mesh.points[p.second] - mesh.points[p.first]; };
  Vec3 sum;
  for (const auto& pair : link.points) sum = sum + move(pair);
  shift = (1.0 / static_cast<double>(link.points.size())) * sum;
  return std::all_of(link.points.begin(), link.points.end(),
                     [&](const auto& pair) { return norm(move(pair) - shift) <= 1e-5 * norm(shift); });
}

class Linker {
 public:
  Linker(ElementMesh& mesh, const std::string& name)
      : mesh_(mesh), name_(name), faces_(boundary_faces(mesh, name)), taken_(faces_.size(), 0) {
    // Faces by their largest corner, which every face has.
    for (std::size_t i = 0; i < faces_.size(); ++i) by_point_.emplace_back(faces_[i].corners[3], i);
    std::sort(by_point_.begin(), by_point_.end());
  }

  void add(PeriodicLink& link) {
    std::sort(link.points.begin(), link.points.end());
    Vec3 shift;
    if (link.points.empty()) return;
    if (!translation_of(mesh_, link, shift)) {
      warn("{}: periodic {} is not a translation; its faces were left as boundaries", name_, link.name);
      return;
    }
    for (const auto& [point, partner] : link.points) {
      auto at = std::lower_bound(by_point_.begin(), by_point_.end(), std::pair<Gid, std::size_t>{point, 0});
      for (; at != by_point_.end() && at->first == point; ++at) pair_face(link, at->second, shift);
    }
  }

 private:
  /// The partner of a point, or -1.
  static Gid partner_of(const PeriodicLink& link, Gid point) {
    const auto hit = std::lower_bound(link.points.begin(), link.points.end(), std::pair<Gid, Gid>{point, -1});
    return hit != link.points.end() && hit->first == point ? hit->second : -1;
  }

  void pair_face(const PeriodicLink& link, std::size_t number, Vec3 shift) {
    const BoundaryFace& face = faces_[number];
    BoundaryFace wanted = face;
    for (Gid& corner : wanted.corners) {
      if (corner < 0) continue;
      corner = partner_of(link, corner);
      if (corner < 0) return;  // of another surface
    }
    std::sort(wanted.corners.begin(), wanted.corners.end());
    const auto [first, last] = std::equal_range(faces_.begin(), faces_.end(), wanted, by_corners);
    if (first == last)
      fail(ErrorKind::input,
           "{}: periodic {}: face {} of element {} ({}) has no partner; both surfaces must be meshed alike", name_,
           link.name, face.face, face.element, element_name(mesh_.type(face.element)));
    const auto other = static_cast<std::size_t>(first - faces_.begin());
    if (taken_[number] || taken_[other] || number == other)
      fail(ErrorKind::input, "{}: periodic {}: face {} of element {} ({}) is in two pairs; each face must be in one",
           name_, link.name, face.face, face.element, element_name(mesh_.type(face.element)));
    taken_[number] = taken_[other] = 1;
    mesh_.periodic.push_back({face.element, first->element, face.face, first->face, shift});
  }

  ElementMesh& mesh_;
  const std::string& name_;
  std::vector<BoundaryFace> faces_;
  std::vector<std::uint8_t> taken_;
  std::vector<std::pair<Gid, std::size_t>> by_point_;
};

}  // namespace

void pair_links(ElementMesh& mesh, const std::string& name, std::vector<PeriodicLink> links) {
  Linker linker(mesh, name);
  for (PeriodicLink& link : links) linker.add(link);
}

}  // namespace tutti
