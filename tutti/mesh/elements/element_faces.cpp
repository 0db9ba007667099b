#include "tutti/mesh/elements/element_faces.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "tutti/base/error.hpp"
#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/mesh/elements/face_slots.hpp"
#include "tutti/mesh/vertex_groups.hpp"

namespace tutti {
namespace {

/// A face's corners but for its smallest, ascending (`none` behind those of a triangle), and whose it is: slots of
/// elements, then the boundary faces.
template <class Index>
struct FaceRecord {
  Index second, third, fourth, slot;
  auto key() const { return std::tie(second, third, fourth); }
};

template <class Index>
class FaceMatcher {
 public:
  using Record = FaceRecord<Index>;

  explicit FaceMatcher(const ElementMesh& mesh) : mesh_(mesh), element_slots_(max_element_faces * mesh.types.size()) {}

  std::vector<Gid> run(const ParallelFor& parallel) {
    behind_.assign(element_slots_, boundary_slot(0));
    group_by_vertex<Index, Record>(
        mesh_.element_count() + static_cast<Size>(mesh_.boundary.size()), mesh_.point_count(), parallel,
        [&](Size begin, Size end, const auto& put) { put_faces(begin, end, put); },
        [&](Index vertex, Record* begin, Record* end, std::size_t) { match(static_cast<Gid>(vertex), begin, end); });
    find_identical_elements(parallel);
    return std::move(behind_);
  }

 private:
  static constexpr Index none = std::numeric_limits<Index>::max();

  template <class Put>
  void put_face(std::array<Gid, 4> v, int corners, std::size_t slot, const Put& put) const {
    const auto n = static_cast<std::size_t>(corners);
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t k = i; k > 0 && v[k] < v[k - 1]; --k) std::swap(v[k], v[k - 1]);
    for (std::size_t i = 0; i < n; ++i) {
      if (v[i] < 0 || v[i] >= mesh_.point_count())
        fail(ErrorKind::input, "mesh: {} names point {}, but there are {} points, numbered from 0", who(slot), v[i],
             mesh_.point_count());
      if (i > 0 && v[i] == v[i - 1])
        fail(ErrorKind::input, "mesh: {} has point {} twice in a face; different ones are expected", who(slot), v[i]);
    }
    const auto at = [&](std::size_t i) { return i < n ? static_cast<Index>(v[i]) : none; };
    put(at(0), Record{at(1), at(2), at(3), static_cast<Index>(slot)});
  }

  template <class Put>
  void put_faces(Size begin, Size end, const Put& put) const {
    for (Size item = begin; item < end; ++item) {
      if (item >= mesh_.element_count()) {
        const auto t = static_cast<std::size_t>(item - mesh_.element_count());
        put_face(mesh_.boundary[t], mesh_.boundary[t][3] < 0 ? 3 : 4, element_slots_ + t, put);
        continue;
      }
      const ElementType type = mesh_.type(item);
      for (int f = 0; f < face_count(type); ++f)
        put_face(face_points(mesh_, item, f), face_corner_count(type, f), face_slot(item, f), put);
    }
  }

  void match(Gid vertex, Record* begin, Record* end) {
    std::sort(begin, end, [](const Record& a, const Record& b) {
      return std::tie(a.second, a.third, a.fourth, a.slot) < std::tie(b.second, b.third, b.fourth, b.slot);
    });
    Record* singles = begin;  // faces of one element are collected at the front
    bool quadrangles = false, triangles = false;
    for (Record* r = begin; r != end;) {
      const Record* first = r;
      while (r != end && r->key() == first->key()) ++r;
      const Record face = *first;
      if (!close(vertex, first, r)) continue;
      (face.fourth == none ? triangles : quadrangles) = true;
      *singles++ = face;
    }
    if (quadrangles && triangles) find_cut_quadrangles(begin, singles);
  }

  /// The elements and tags of one face, elements first. True if it has one element only.
  bool close(Gid vertex, const Record* first, const Record* last) {
    const Record* tags = first;
    while (tags != last && tags->slot < element_slots_) ++tags;
    for (const Record* t = tags; t != last; ++t)
      if (tag_of(*t) != tag_of(*tags))
        fail(ErrorKind::input, "mesh: the face of points {} has two boundary tags, {} and {}; give it one",
             points_of(vertex, *first), tag_of(*tags), tag_of(*t));
    const auto elements = tags - first;
    if (elements == 0)
      fail(
          ErrorKind::input,
          "mesh: boundary face {} (points {}, tag {}) is not a face of any element; mesh its surface together with the "
          "volume",
          tags->slot - element_slots_, points_of(vertex, *first), tag_of(*tags));
    if (elements > 2)
      fail(ErrorKind::input, "mesh: three elements ({}, {} and {}) share the face of points {}; is one listed twice?",
           element_of(first[0].slot), element_of(first[1].slot), element_of(first[2].slot), points_of(vertex, *first));
    if (elements == 2) {
      behind_[first[0].slot] = static_cast<Gid>(first[1].slot);
      behind_[first[1].slot] = static_cast<Gid>(first[0].slot);
      return false;
    }
    if (tags != last) behind_[first->slot] = boundary_slot(tag_of(*tags));
    return true;
  }

  /// Of the two triangles that a quadrangle may be cut into, one at least has its smallest corner.
  void find_cut_quadrangles(const Record* begin, const Record* end) const {
    const auto find = [&](Index second, Index third) {
      const Record wanted{second, third, none, 0};
      const Record* hit =
          std::lower_bound(begin, end, wanted, [](const Record& a, const Record& b) { return a.key() < b.key(); });
      return hit != end && hit->key() == wanted.key() ? hit : nullptr;
    };
    for (const Record* r = begin; r != end; ++r) {
      if (r->fourth == none) continue;
      for (const Record* hit : {find(r->second, r->third), find(r->second, r->fourth), find(r->third, r->fourth)})
        if (hit != nullptr)
          fail(ErrorKind::input,
               "mesh: a quadrangle of element {} ({}) meets a triangle of element {} ({}); put pyramids between them",
               element_of(r->slot), name_of(r->slot), element_of(hit->slot), name_of(hit->slot));
    }
  }

  /// Of two elements with the same corners each has the other behind all its faces.
  void find_identical_elements(const ParallelFor& parallel) const {
    for_ranges(parallel, mesh_.element_count(), [&](Size begin, Size end) {
      for (Gid e = begin; e < end; ++e) {
        const Gid other = behind_[face_slot(e, 0)];
        bool same = other >= 0;
        for (int f = 1; same && f < face_count(mesh_.type(e)); ++f) {
          const Gid next = behind_[face_slot(e, f)];
          same = next >= 0 && element_of(next) == element_of(other);
        }
        if (same)
          fail(ErrorKind::input, "mesh: elements {} and {} have the same corners; leave one of them out", e,
               element_of(other));
      }
    });
  }

  template <class Slot>
  static Gid element_of(Slot slot) {
    return static_cast<Gid>(slot) / max_element_faces;
  }
  const char* name_of(Index slot) const { return element_name(mesh_.type(element_of(slot))); }
  std::int32_t tag_of(const Record& r) const { return mesh_.boundary_tags[r.slot - element_slots_]; }
  static std::string points_of(Gid smallest, const Record& r) {
    if (r.fourth == none) return fmt::format("{} {} {}", smallest, r.second, r.third);
    return fmt::format("{} {} {} {}", smallest, r.second, r.third, r.fourth);
  }
  std::string who(std::size_t slot) const {
    if (slot >= element_slots_) return fmt::format("boundary face {}", slot - element_slots_);
    return fmt::format("element {} ({})", element_of(slot), name_of(static_cast<Index>(slot)));
  }

  const ElementMesh& mesh_;
  std::size_t element_slots_;
  std::vector<Gid> behind_;
};

std::vector<Gid> run_matcher(const ElementMesh& mesh, const ParallelFor& parallel) {
  const std::size_t largest =
      std::max(max_element_faces * mesh.types.size() + mesh.boundary.size(), mesh.points.size());
  if (largest < std::numeric_limits<std::uint32_t>::max()) return FaceMatcher<std::uint32_t>(mesh).run(parallel);
  return FaceMatcher<std::uint64_t>(mesh).run(parallel);
}

/// Number of the right's corner that is the left's corner 0. The other corners must follow in the other direction.
int orientation_of(const ElementMesh& mesh, const ElementFace& face) {
  const int n = face_corner_count(mesh.type(face.left), face.left_face);
  const auto a = face_points(mesh, face.left, face.left_face), b = face_points(mesh, face.right, face.right_face);
  const auto at = [](const std::array<Gid, 4>& v, int i) { return v[i]; };
  int o = 0;
  while (at(b, o) != at(a, 0)) ++o;
  for (int k = 1; k < n; ++k)
    if (at(b, (o - k + n) % n) != at(a, k))
      fail(ErrorKind::input,
           "mesh: elements {} ({}) and {} ({}) lie on the same side of their common face, or name its corners in "
           "another order; the numbering of one of them is wrong",
           face.left, element_name(mesh.type(face.left)), face.right, element_name(mesh.type(face.right)));
  return o;
}

}  // namespace

std::vector<Gid> find_face_slots(const ElementMesh& mesh, const ParallelFor& parallel) {
  if (mesh.boundary.size() != mesh.boundary_tags.size())
    fail(ErrorKind::input, "mesh: {} boundary faces, but {} boundary tags; one per face is expected",
         mesh.boundary.size(), mesh.boundary_tags.size());
  try {
    return run_matcher(mesh, parallel);
  } catch (const Error&) {
    // Several threads find several faults in any order: on one, the first of the mesh is named.
    if (parallel) run_matcher(mesh, {});
    throw;
  }
}

std::vector<ElementFace> match_faces(const ElementMesh& mesh, const ParallelFor& parallel) {
  std::vector<Gid> behind = find_face_slots(mesh, parallel);
  const PeriodicSlots periodic = join_periodic(mesh, behind);
  std::vector<ElementFace> faces;
  faces.reserve(behind.size() / 2);
  for (Gid e = 0; e < mesh.element_count(); ++e) {
    for (int f = 0; f < face_count(mesh.type(e)); ++f) {
      const auto slot = static_cast<Gid>(face_slot(e, f));
      const Gid other = behind[slot];
      if (other >= 0 && other < slot) continue;  // listed there
      ElementFace face;
      face.left = e;
      face.left_face = f;
      if (other < 0) {
        face.tag = static_cast<std::int32_t>(-1 - other);
      } else {
        face.right = other / max_element_faces;
        face.right_face = static_cast<int>(other % max_element_faces);
        if (const PeriodicSlots::Entry* entry = periodic.find(slot)) {
          face.shift = entry->shift;
          face.orientation = entry->orientation;
        } else {
          face.orientation = orientation_of(mesh, face);
        }
      }
      faces.push_back(face);
    }
  }
  return faces;
}

Adjacency element_adjacency(Gid elements, const std::vector<ElementFace>& faces) {
  Adjacency graph;
  graph.offsets.assign(static_cast<std::size_t>(elements) + 1, 0);
  const auto joins = [](const ElementFace& f) { return f.right >= 0 && f.right != f.left; };
  for (const ElementFace& f : faces) {
    if (!joins(f)) continue;
    ++graph.offsets[f.left + 1];
    ++graph.offsets[f.right + 1];
  }
  for (std::size_t e = 1; e < graph.offsets.size(); ++e) graph.offsets[e] += graph.offsets[e - 1];
  std::vector<Size> next(graph.offsets.begin(), graph.offsets.end() - 1);
  std::vector<Gid> columns(graph.offsets.back());
  const auto add = [&](Gid row, Gid column) { columns[next[row]++] = column; };
  for (const ElementFace& f : faces)
    if (joins(f)) add(f.left, f.right), add(f.right, f.left);
  // Two elements of a small periodic mesh may share several faces.
  Size begin = 0;
  for (Gid e = 0; e < elements; ++e) {
    const auto first = columns.begin() + begin, last = columns.begin() + graph.offsets[e + 1];
    begin = graph.offsets[e + 1];
    std::sort(first, last);
    graph.columns.insert(graph.columns.end(), first, std::unique(first, last));
    graph.offsets[e + 1] = static_cast<Size>(graph.columns.size());
  }
  return graph;
}

}  // namespace tutti
