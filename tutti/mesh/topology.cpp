// Which cell lies behind which face: records of all faces, grouped by their smallest vertex.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/mesh/tet_mesh.hpp"
#include "tutti/mesh/vertex_groups.hpp"

namespace tutti {
namespace {

/// One face of a cell, or one tagged triangle: its two larger vertices and who it is. Faces [0, 4 n) are those of the
/// cells (4 * cell + face), face 4 n + t is triangle t.
template <class Index>
struct FaceRecord {
  Index middle, largest, face;
};

/// Groups up to this size are searched; larger ones (a vertex with very many cells) are sorted first.
constexpr std::size_t search_limit = 96;

template <class Index>
class FaceMatcher {
 public:
  explicit FaceMatcher(const TetMesh& mesh)
      : mesh_(mesh), cell_faces_(4 * static_cast<std::uint64_t>(mesh.cell_count())) {}

  FaceNeighbours run(const ParallelFor& parallel) {
    neighbours_.resize(mesh_.cells.size());
    const auto triangles = static_cast<Size>(mesh_.boundary.size());
    group_by_vertex<Index, FaceRecord<Index>>(
        mesh_.cell_count() + triangles, mesh_.vertex_count(), parallel,
        [&](Size begin, Size end, const auto& put) { put_faces(begin, end, put); },
        [&](Index vertex, FaceRecord<Index>* begin, FaceRecord<Index>* end, std::size_t) {
          if (static_cast<std::size_t>(end - begin) > search_limit)
            match_large(static_cast<Gid>(vertex), begin, end);
          else
            match_small(static_cast<Gid>(vertex), begin, end);
        });
    find_identical_cells(parallel);
    return std::move(neighbours_);
  }

 private:
  using Key = std::pair<Index, Index>;

  /// put(smallest, record) for every face of cells [begin, end); triangles are numbered on from the cells.
  template <class Put>
  void put_faces(Size begin, Size end, const Put& put) const {
    const auto vertices = static_cast<std::uint64_t>(mesh_.vertex_count());
    const auto cells = static_cast<Size>(mesh_.cells.size());
    for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(std::min(end, cells)); ++c) {
      std::array<std::uint64_t, 4> s;  // vertex and its place in the cell, packed so that one comparison sorts both
      for (std::size_t i = 0; i < 4; ++i) {
        const auto vertex = static_cast<std::uint64_t>(mesh_.cells[c][i]);
        if (vertex >= vertices) fail_vertex("cell", c, mesh_.cells[c][i]);
        s[i] = vertex << 2 | i;
      }
      sort_pair(s[0], s[1]);
      sort_pair(s[2], s[3]);
      sort_pair(s[0], s[2]);
      sort_pair(s[1], s[3]);
      sort_pair(s[1], s[2]);
      const std::array<Index, 4> v = {index(s[0] >> 2), index(s[1] >> 2), index(s[2] >> 2), index(s[3] >> 2)};
      if (v[0] == v[1] || v[1] == v[2] || v[2] == v[3])
        fail(ErrorKind::input, "mesh: cell {} has a vertex twice: {} {} {} {}; four different ones are expected", c,
             v[0], v[1], v[2], v[3]);
      const auto face = [&](std::size_t k) { return index(4 * c + (s[k] & 3)); };
      put(v[1], FaceRecord<Index>{v[2], v[3], face(0)});
      put(v[0], FaceRecord<Index>{v[2], v[3], face(1)});
      put(v[0], FaceRecord<Index>{v[1], v[3], face(2)});
      put(v[0], FaceRecord<Index>{v[1], v[2], face(3)});
    }
    for (Size item = std::max(begin, cells); item < end; ++item) {
      const auto t = static_cast<std::size_t>(item - cells);
      std::array<std::uint64_t, 3> s;
      for (std::size_t i = 0; i < 3; ++i) {
        s[i] = static_cast<std::uint64_t>(mesh_.boundary[t][i]);
        if (s[i] >= vertices) fail_vertex("boundary triangle", t, mesh_.boundary[t][i]);
      }
      sort_pair(s[0], s[1]);
      sort_pair(s[1], s[2]);
      sort_pair(s[0], s[1]);
      put(index(s[0]), FaceRecord<Index>{index(s[1]), index(s[2]), index(cell_faces_ + t)});
    }
  }

  /// Few records: each is compared with the distinct faces seen so far.
  void match_small(Gid vertex, const FaceRecord<Index>* begin, const FaceRecord<Index>* end) {
    std::array<Key, search_limit> keys;
    std::array<Sides, search_limit> sides;
    std::size_t distinct = 0;
    for (const FaceRecord<Index>* r = begin; r != end; ++r) {
      const Key key{r->middle, r->largest};
      std::size_t k = distinct;
      while (k > 0 && keys[k - 1] != key) --k;
      if (k == 0) {
        keys[distinct] = key;
        sides[distinct] = Sides{};
        k = ++distinct;
      }
      add(sides[k - 1], *r, vertex);
    }
    for (std::size_t k = 0; k < distinct; ++k) close(sides[k], vertex, keys[k]);
  }

  void match_large(Gid vertex, FaceRecord<Index>* begin, FaceRecord<Index>* end) {
    std::sort(begin, end, [](const FaceRecord<Index>& a, const FaceRecord<Index>& b) {
      return std::tie(a.middle, a.largest, a.face) < std::tie(b.middle, b.largest, b.face);
    });
    while (begin != end) {
      const Key key{begin->middle, begin->largest};
      Sides sides;
      for (; begin != end && Key{begin->middle, begin->largest} == key; ++begin) add(sides, *begin, vertex);
      close(sides, vertex, key);
    }
  }

  static constexpr Index none = std::numeric_limits<Index>::max();
  struct Sides {
    Index first = none, second = none, triangle = none;
  };

  void add(Sides& s, const FaceRecord<Index>& r, Gid vertex) const {
    if (r.face >= cell_faces_) {
      const auto t = static_cast<std::size_t>(r.face - cell_faces_);
      if (s.triangle != none && tag_of(s.triangle) != mesh_.boundary_tags[t])
        fail(ErrorKind::input, "mesh: the triangle of vertices {} {} {} has two boundary tags, {} and {}; give it one",
             vertex, r.middle, r.largest, tag_of(s.triangle), mesh_.boundary_tags[t]);
      s.triangle = r.face;
    } else if (s.first == none) {
      s.first = r.face;
    } else if (s.second == none) {
      s.second = r.face;
    } else {
      fail(ErrorKind::input,
           "mesh: three cells ({}, {} and {}) share the face of vertices {} {} {}; is a cell listed twice?",
           s.first / 4, s.second / 4, r.face / 4, vertex, r.middle, r.largest);
    }
  }

  void close(const Sides& s, Gid vertex, const Key& key) {
    if (s.second != none) {
      at(s.first) = static_cast<Gid>(s.second / 4);
      at(s.second) = static_cast<Gid>(s.first / 4);
    } else if (s.first == none) {
      fail(ErrorKind::input,
           "mesh: boundary triangle {} (vertices {} {} {}, tag {}) is not a face of any cell; mesh its surface "
           "together with the volume",
           s.triangle - cell_faces_, vertex, key.first, key.second, tag_of(s.triangle));
    } else {
      at(s.first) = boundary_face(s.triangle == none ? 0 : tag_of(s.triangle));
    }
  }

  /// Of two cells with the same vertices each has the other behind all its faces.
  void find_identical_cells(const ParallelFor& parallel) const {
    for_ranges(parallel, static_cast<Size>(neighbours_.size()), [&](Size begin, Size end) {
      for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(end); ++c) {
        const auto& n = neighbours_[c];
        if (n[0] >= 0 && n[0] == n[1] && n[0] == n[2] && n[0] == n[3])
          fail(ErrorKind::input, "mesh: cells {} and {} have the same four vertices; leave one of them out", c, n[0]);
      }
    });
  }

  Gid& at(Index face) { return neighbours_[face / 4][face % 4]; }
  std::int32_t tag_of(Index face) const { return mesh_.boundary_tags[face - cell_faces_]; }
  static Index index(std::uint64_t value) { return static_cast<Index>(value); }
  static void sort_pair(std::uint64_t& a, std::uint64_t& b) {
    const std::uint64_t low = std::min(a, b);
    b = std::max(a, b);
    a = low;
  }
  [[noreturn]] void fail_vertex(const char* what, std::size_t number, Gid vertex) const {
    fail(ErrorKind::input, "mesh: {} {} names vertex {}, but there are {} vertices, numbered from 0", what, number,
         vertex, mesh_.vertex_count());
  }

  const TetMesh& mesh_;
  std::uint64_t cell_faces_;
  FaceNeighbours neighbours_;
};

FaceNeighbours match_faces(const TetMesh& mesh, const ParallelFor& parallel) {
  const std::uint64_t largest = std::max(4 * mesh.cells.size() + mesh.boundary.size(), mesh.vertices.size());
  if (largest < std::numeric_limits<std::uint32_t>::max()) return FaceMatcher<std::uint32_t>(mesh).run(parallel);
  return FaceMatcher<std::uint64_t>(mesh).run(parallel);
}

}  // namespace

FaceNeighbours find_face_neighbours(const TetMesh& mesh, const ParallelFor& parallel) {
  if (mesh.boundary.size() != mesh.boundary_tags.size())
    fail(ErrorKind::input, "mesh: {} boundary triangles, but {} boundary tags; one per triangle is expected",
         mesh.boundary.size(), mesh.boundary_tags.size());
  try {
    return match_faces(mesh, parallel);
  } catch (const Error&) {
    // Several threads find several faults in any order: on one, the first of the mesh is named.
    if (parallel) match_faces(mesh, {});
    throw;
  }
}

}  // namespace tutti
