// Periodic pairs: faces that a translation lays onto each other.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_faces.hpp"
#include "tutti/mesh/elements/face_slots.hpp"

namespace tutti {
namespace {

constexpr double default_tolerance = 1e-6;

struct FaceCorners {
  int count = 0;
  std::array<Vec3, 4> at;
  Vec3 centre;
  double size = 0;  ///< the longest distance of a corner from the centre
};

FaceCorners corners_of(const ElementMesh& mesh, Gid element, int face) {
  FaceCorners c;
  for (const Gid p : face_points(mesh, element, face))
    if (p >= 0) c.at[c.count++] = mesh.points[p];
  for (int k = 0; k < c.count; ++k) c.centre = c.centre + (1.0 / c.count) * c.at[k];
  for (int k = 0; k < c.count; ++k) c.size = std::max(c.size, norm(c.at[k] - c.centre));
  return c;
}

struct Fit {
  int orientation = 0;
  double distance = std::numeric_limits<double>::infinity();  ///< largest of a corner of `a` + shift from its partner
};

/// How the corners of `b` follow those of `a`, moved by `shift`.
Fit fit_corners(const FaceCorners& a, const FaceCorners& b, Vec3 shift) {
  Fit best;
  if (a.count != b.count) return best;
  for (int o = 0; o < a.count; ++o) {
    double distance = 0;
    for (int k = 0; k < a.count; ++k) {
      const auto partner = static_cast<std::size_t>((o - k + a.count) % a.count);
      distance = std::max(distance, norm(a.at[k] + shift - b.at[partner]));
    }
    if (distance < best.distance) best = {o, distance};
  }
  return best;
}

std::string describe(const ElementMesh& mesh, Gid element, int face) {
  const Vec3 c = corners_of(mesh, element, face).centre;
  return fmt::format("face {} of element {} ({}) at ({:.6g}, {:.6g}, {:.6g})", face, element,
                     element_name(mesh.type(element)), c.x, c.y, c.z);
}

bool is_face(const ElementMesh& mesh, Gid element, int face) {
  return element >= 0 && element < mesh.element_count() && face >= 0 && face < face_count(mesh.type(element));
}

struct TaggedFace {
  Gid element;
  int face;
  FaceCorners corners;
  double key = 0;  ///< projection onto a direction in which hardly any two faces of a mesh agree
};

std::vector<TaggedFace> faces_of_tag(const ElementMesh& mesh, const std::vector<Gid>& behind, std::int32_t tag) {
  std::vector<TaggedFace> faces;
  for (Gid e = 0; e < mesh.element_count(); ++e)
    for (int f = 0; f < face_count(mesh.type(e)); ++f)
      if (behind[face_slot(e, f)] == boundary_slot(tag)) faces.push_back({e, f, corners_of(mesh, e, f)});
  if (faces.empty())
    fail(ErrorKind::input, "mesh: no face at the boundary has the tag {}, which is to be periodic; other tags are {}",
         tag, [&] {
           std::string known;
           for (const auto& [number, name] : mesh.boundary_names)
             known += fmt::format("{}{} '{}'", known.empty() ? "" : ", ", number, name);
           return known.empty() ? std::string("not named") : known;
         }());
  return faces;
}

Vec3 mean_centre(const std::vector<TaggedFace>& faces) {
  Vec3 sum;
  for (const TaggedFace& f : faces) sum = sum + f.corners.centre;
  return (1.0 / static_cast<double>(faces.size())) * sum;
}

constexpr Vec3 search_direction{0.5698402909980532, 0.7548776662466927, 0.3247179572447460};

/// The face of `targets`, ascending by key, that lies closest to `face` moved by `shift`.
std::pair<const TaggedFace*, Fit> find_partner(const TaggedFace& face, const std::vector<TaggedFace>& targets,
                                               Vec3 shift, double tolerance) {
  const double reach = tolerance * face.corners.size, key = dot(search_direction, face.corners.centre + shift);
  auto t = std::lower_bound(targets.begin(), targets.end(), key - reach,
                            [](const TaggedFace& a, double k) { return a.key < k; });
  std::pair<const TaggedFace*, Fit> best{nullptr, {}};
  for (; t != targets.end() && t->key <= key + reach; ++t) {
    const Fit fit = fit_corners(face.corners, t->corners, shift);
    if (fit.distance <= reach && fit.distance < best.second.distance) best = {&*t, fit};
  }
  return best;
}

}  // namespace

const PeriodicSlots::Entry* PeriodicSlots::find(Gid slot) const {
  const auto hit =
      std::lower_bound(entries.begin(), entries.end(), slot, [](const Entry& a, Gid s) { return a.slot < s; });
  return hit != entries.end() && hit->slot == slot ? &*hit : nullptr;
}

PeriodicSlots join_periodic(const ElementMesh& mesh, std::vector<Gid>& behind) {
  PeriodicSlots slots;
  for (PeriodicPair pair : mesh.periodic) {
    if (!is_face(mesh, pair.element, pair.face) || !is_face(mesh, pair.other, pair.other_face))
      fail(
          ErrorKind::input,
          "mesh: a periodic pair names face {} of element {} and face {} of {}; there are {} elements, numbered from 0",
          pair.face, pair.element, pair.other_face, pair.other, mesh.element_count());
    if (face_slot(pair.other, pair.other_face) < face_slot(pair.element, pair.face)) {
      std::swap(pair.element, pair.other);
      std::swap(pair.face, pair.other_face);
      pair.shift = -1.0 * pair.shift;
    }
    const std::size_t a = face_slot(pair.element, pair.face), b = face_slot(pair.other, pair.other_face);
    for (const auto& [slot, element, face] :
         {std::tuple{a, pair.element, pair.face}, std::tuple{b, pair.other, pair.other_face}})
      if (a == b || behind[slot] >= 0)
        fail(ErrorKind::input,
             "mesh: {} is in a periodic pair, but has an element behind it; only faces at the boundary "
             "can be paired, each once",
             describe(mesh, element, face));
    const FaceCorners here = corners_of(mesh, pair.element, pair.face),
                      there = corners_of(mesh, pair.other, pair.other_face);
    const Fit fit = fit_corners(here, there, pair.shift);
    if (!(fit.distance <= 1e-3 * here.size))
      fail(ErrorKind::input,
           "mesh: {} and {} are a periodic pair, but not translations of each other; both must have the same shape",
           describe(mesh, pair.element, pair.face), describe(mesh, pair.other, pair.other_face));
    behind[a] = static_cast<Gid>(b);
    behind[b] = static_cast<Gid>(a);
    slots.entries.push_back({static_cast<Gid>(a), fit.orientation, pair.shift});
  }
  std::sort(slots.entries.begin(), slots.entries.end(),
            [](const PeriodicSlots::Entry& x, const PeriodicSlots::Entry& y) { return x.slot < y.slot; });
  return slots;
}

void add_periodic(ElementMesh& mesh, std::int32_t a, std::int32_t b, const Vec3* shift, double tolerance) {
  if (a == b) fail(ErrorKind::input, "mesh: tag {} is to be periodic with itself; two different tags are expected", a);
  std::vector<Gid> behind = find_face_slots(mesh, {});
  join_periodic(mesh, behind);
  const std::vector<TaggedFace> from = faces_of_tag(mesh, behind, a);
  std::vector<TaggedFace> to = faces_of_tag(mesh, behind, b);
  if (from.size() != to.size())
    fail(ErrorKind::input, "mesh: tag {} has {} faces, but tag {}, its periodic partner, {}; both must be meshed alike",
         a, from.size(), b, to.size());
  const Vec3 move = shift != nullptr ? *shift : mean_centre(to) - mean_centre(from);
  for (TaggedFace& f : to) f.key = dot(search_direction, f.corners.centre);
  std::sort(to.begin(), to.end(), [](const TaggedFace& x, const TaggedFace& y) {
    return std::tie(x.key, x.element, x.face) < std::tie(y.key, y.element, y.face);
  });
  std::vector<std::uint8_t> taken(to.size(), 0);
  for (const TaggedFace& f : from) {
    const auto [partner, fit] = find_partner(f, to, move, tolerance);
    if (partner == nullptr)
      fail(ErrorKind::input,
           "mesh: {}, moved by ({:.6g}, {:.6g}, {:.6g}), meets no face of tag {}; periodic sides must be meshed alike",
           describe(mesh, f.element, f.face), move.x, move.y, move.z, b);
    auto& used = taken[partner - to.data()];
    if (used)
      fail(ErrorKind::input,
           "mesh: {} is the periodic partner of two faces of tag {}; the mesh must have each face once",
           describe(mesh, partner->element, partner->face), a);
    used = 1;
    mesh.periodic.push_back({f.element, partner->element, f.face, partner->face, move});
  }
}

void refresh_periodic(ElementMesh& mesh) {
  for (PeriodicPair& pair : mesh.periodic) {
    const FaceCorners here = corners_of(mesh, pair.element, pair.face),
                      there = corners_of(mesh, pair.other, pair.other_face);
    pair.shift = there.centre - here.centre;
    if (!(fit_corners(here, there, pair.shift).distance <= default_tolerance * here.size))
      fail(ErrorKind::input,
           "mesh: {} and {} are a periodic pair, but not translations of each other; both must have the same shape",
           describe(mesh, pair.element, pair.face), describe(mesh, pair.other, pair.other_face));
  }
}

}  // namespace tutti
