#include "tutti/models/smoothing/boundary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "tutti/base/csr.hpp"
#include "tutti/base/error.hpp"
#include "tutti/mesh/quality/mesh_quality.hpp"
#include "tutti/models/smoothing/at.hpp"
#include "tutti/models/smoothing/plane.hpp"

namespace tutti::smoothing {
namespace {

struct Triangle {
  std::array<Gid, 3> v;
  std::array<std::int32_t, 3> label;  ///< tag, and the regions on both sides: an edge lies where it changes
  Gid patch = 0;
};

/// Triangles that share an edge, and whether the surface has a feature there.
struct Edge {
  Gid a, b;                ///< a < b
  std::vector<Gid> faces;  ///< triangles
  bool feature = false;
  Gid chain = 0;
};

using Corners = std::array<Gid, 3>;

Corners sorted(Corners v) {
  std::sort(v.begin(), v.end());
  return v;
}

std::vector<Triangle> find_triangles(const TetMesh& mesh, const FaceNeighbours& neighbours) {
  if (mesh.is_surface()) {
    std::vector<Triangle> all;
    for (std::size_t t = 0; t < mesh.boundary.size(); ++t)
      all.push_back({mesh.boundary[t], {mesh.boundary_tags[t], 0, 0}});
    return all;
  }
  std::map<Corners, std::int32_t> tags;
  for (std::size_t t = 0; t < mesh.boundary.size(); ++t) tags.emplace(sorted(mesh.boundary[t]), mesh.boundary_tags[t]);
  std::vector<Triangle> triangles;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c)
    for (std::size_t f = 0; f < 4; ++f) {
      const Gid behind = neighbours[c][f];
      if (behind >= 0 && static_cast<Gid>(c) > behind) continue;
      const std::int32_t here = mesh.regions[c], there = behind < 0 ? -1 : mesh.regions[at(behind)];
      Corners v;
      for (std::size_t k = 0; k < 3; ++k) v[k] = mesh.cells[c][at(tet_faces[f][k])];
      const auto tag = tags.find(sorted(v));
      if (behind >= 0 && here == there && tag == tags.end()) continue;
      triangles.push_back({v, {tag == tags.end() ? 0 : tag->second, std::min(here, there), std::max(here, there)}});
    }
  return triangles;
}

Vec3 unit(Vec3 v) {
  const double length = norm(v);
  return length > 0 ? (1 / length) * v : v;
}

/// A direction that is an axis but for rounding becomes that axis, so that what moves across it stays bit for bit.
Vec3 snapped(Vec3 v) {
  v = unit(v);
  for (int d = 0; d < 3; ++d)
    if (std::abs(v[d]) > 1 - 1e-12) {
      Vec3 axis;
      axis[d] = 1;
      return axis;
    }
  return v;
}

class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), Gid{0}); }
  Gid find(Gid i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  }
  void join(Gid a, Gid b) {
    a = find(a), b = find(b);
    parent_[at(std::max(a, b))] = std::min(a, b);
  }

 private:
  std::vector<Gid> parent_;
};

/// The constrained surface of a mesh, cut into patches by its edges, and these into chains by its corners.
class SurfaceGraph {
 public:
  SurfaceGraph(const TetMesh& mesh, const FaceNeighbours& neighbours, double feature_angle)
      : mesh_(mesh),
        bend_(std::cos(feature_angle * std::numbers::pi / 180)),
        plane_mesh_(plane_normal(mesh) != Vec3{}) {
    triangles_ = find_triangles(mesh, neighbours);
    find_edges();
    faces_of_ = by_node(triangles_, [](const Triangle& t) { return t.v; });
    std::vector<Edge> features;
    for (const Edge& e : edges_)
      if (e.feature) features.push_back(e);
    edges_ = std::move(features);
    edges_of_ = by_node(edges_, [](const Edge& e) { return std::array<Gid, 2>{e.a, e.b}; });
    find_patches();
    find_chains();
  }

  /// `keep_edges`: nodes of edges and of the surface's own boundary stay.
  NodeFreedom freedom(bool keep_edges = false) {
    NodeFreedom f;
    f.of_node.assign(mesh_.vertices.size(), NodeFreedom::free);
    find_planes();
    find_lines();
    add_pieces(f);
    for (Gid v = 0; v < mesh_.vertex_count(); ++v)
      if (!faces_of_.row(v).empty()) f.of_node[at(v)] = place(f, v, keep_edges);
    return f;
  }

 private:
  Vec3 point(Gid v) const { return mesh_.vertices[at(v)]; }

  template <class Item, class Nodes>
  Csr<Gid> by_node(const std::vector<Item>& items, const Nodes& nodes) const {
    Csr<Gid> rows;
    rows.offsets.assign(mesh_.vertices.size() + 1, 0);
    for (const Item& item : items)
      for (const Gid v : nodes(item)) ++rows.offsets[at(v) + 1];
    for (std::size_t v = 1; v < rows.offsets.size(); ++v) rows.offsets[v] += rows.offsets[v - 1];
    rows.columns.resize(at(rows.offsets.back()));
    std::vector<Size> next(rows.offsets.begin(), rows.offsets.end() - 1);
    for (std::size_t i = 0; i < items.size(); ++i)
      for (const Gid v : nodes(items[i])) rows.columns[at(next[at(v)]++)] = static_cast<Gid>(i);
    return rows;
  }

  Gid third(const Triangle& t, Gid a, Gid b) const { return t.v[0] + t.v[1] + t.v[2] - a - b; }

  void find_edges() {
    struct Side {
      Gid a, b, face;
    };
    std::vector<Side> sides;
    for (std::size_t t = 0; t < triangles_.size(); ++t)
      for (std::size_t k = 0; k < 3; ++k) {
        const Gid a = triangles_[t].v[k], b = triangles_[t].v[(k + 1) % 3];
        sides.push_back({std::min(a, b), std::max(a, b), static_cast<Gid>(t)});
      }
    std::sort(sides.begin(), sides.end(),
              [](const Side& l, const Side& r) { return std::tie(l.a, l.b, l.face) < std::tie(r.a, r.b, r.face); });
    for (const Side& s : sides) {
      if (edges_.empty() || edges_.back().a != s.a || edges_.back().b != s.b) edges_.push_back({s.a, s.b, {}});
      edges_.back().faces.push_back(s.face);
    }
    for (Edge& e : edges_) e.feature = is_feature(e);
    joints_ = edges_;
  }

  bool is_feature(const Edge& e) const {
    if (e.faces.size() != 2) return true;
    const Triangle &s = triangles_[at(e.faces[0])], &t = triangles_[at(e.faces[1])];
    if (s.label != t.label) return true;
    if (plane_mesh_) return false;  // where triangles are folded over each other, there is no edge
    const Vec3 p = point(e.a), along = point(e.b) - p;
    const Vec3 n = unit(cross(along, point(third(s, e.a, e.b)) - p));
    const Vec3 m = unit(cross(point(third(t, e.a, e.b)) - p, along));
    return dot(n, m) < bend_;
  }

  void find_patches() {
    Sets sets(triangles_.size());
    for (const Edge& e : joints_)
      if (!e.feature) sets.join(e.faces[0], e.faces[1]);
    for (std::size_t t = 0; t < triangles_.size(); ++t) triangles_[t].patch = sets.find(static_cast<Gid>(t));
  }

  /// Does an edge run on through this node?
  bool runs_on(Gid v) const {
    const auto row = edges_of_.row(v);
    if (row.size() != 2) return false;
    const Edge &e = edges_[at(row[0])], &g = edges_[at(row[1])];
    const Vec3 in = unit(point(v) - point(e.a + e.b - v)), out = unit(point(g.a + g.b - v) - point(v));
    return dot(in, out) >= bend_;
  }

  void find_chains() {
    Sets sets(edges_.size());
    for (Gid v = 0; v < mesh_.vertex_count(); ++v)
      if (runs_on(v)) sets.join(edges_of_.row(v)[0], edges_of_.row(v)[1]);
    for (std::size_t e = 0; e < edges_.size(); ++e) edges_[e].chain = sets.find(static_cast<Gid>(e));
  }

  /// The normal of every patch that is plane; else zero.
  void find_planes() {
    std::vector<Vec3> sum(triangles_.size()), low(triangles_.size()), high(triangles_.size());
    const auto area = [&](const Triangle& t) {
      return cross(point(t.v[1]) - point(t.v[0]), point(t.v[2]) - point(t.v[0]));
    };
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
      const auto p = at(triangles_[t].patch);
      const Vec3 n = area(triangles_[t]);
      const bool first = p == t;
      sum[p] = sum[p] + (dot(sum[p], n) < 0 ? -1.0 : 1.0) * n;
      if (first) low[p] = high[p] = point(triangles_[t].v[0]);
      for (const Gid v : triangles_[t].v)
        for (int d = 0; d < 3; ++d) {
          low[p][d] = std::min(low[p][d], point(v)[d]);
          high[p][d] = std::max(high[p][d], point(v)[d]);
        }
    }
    plane_.assign(triangles_.size(), {});
    for (std::size_t p = 0; p < triangles_.size(); ++p) plane_[p] = snapped(sum[p]);
    std::vector<bool> bent(triangles_.size(), false);
    for (const Triangle& t : triangles_) {
      const auto p = at(t.patch);
      const Vec3 origin = point(triangles_[p].v[0]);
      for (const Gid v : t.v)
        if (std::abs(dot(plane_[p], point(v) - origin)) > 1e-9 * norm(high[p] - low[p])) bent[p] = true;
    }
    for (std::size_t p = 0; p < triangles_.size(); ++p)
      if (bent[p]) plane_[p] = {};
  }

  /// The direction of every chain that is straight; else zero.
  void find_lines() {
    line_.assign(edges_.size(), {});
    std::vector<double> longest(edges_.size(), 0), reach(edges_.size(), 0);
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      const auto c = at(edges_[e].chain);
      const Vec3 d = point(edges_[e].b) - point(edges_[e].a);
      if (norm(d) > longest[c]) {
        longest[c] = norm(d);
        line_[c] = snapped(d);
      }
    }
    for (const Edge& e : edges_) {
      const auto c = at(e.chain);
      reach[c] = std::max({reach[c], norm(point(e.a) - point(edges_[c].a)), norm(point(e.b) - point(edges_[c].a))});
    }
    std::vector<bool> bent(edges_.size(), false);
    for (const Edge& e : edges_) {
      const auto c = at(e.chain);
      for (const Gid v : {e.a, e.b})
        if (norm(cross(line_[c], point(v) - point(edges_[c].a))) > 1e-9 * reach[c]) bent[c] = true;
    }
    for (std::size_t c = 0; c < edges_.size(); ++c)
      if (bent[c]) line_[c] = {};
  }

  /// Triangles of bent patches, then segments of bent chains.
  void add_pieces(NodeFreedom& f) {
    piece_of_face_.assign(triangles_.size(), -1);
    piece_of_edge_.assign(edges_.size(), -1);
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
      const auto& v = triangles_[t].v;
      if (plane_[at(triangles_[t].patch)] != Vec3{}) continue;
      piece_of_face_[t] = static_cast<Lid>(f.pieces.size());
      f.pieces.push_back({point(v[0]), point(v[1]), point(v[2])});
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (line_[at(edges_[e].chain)] != Vec3{}) continue;
      piece_of_edge_[e] = static_cast<Lid>(f.pieces.size());
      f.pieces.push_back({point(edges_[e].a), point(edges_[e].b), point(edges_[e].b)});
    }
  }

  /// What lies within two rings of a node and belongs to `group`.
  template <class Item, class Nodes, class Group>
  std::vector<Gid> near(Gid v, const Csr<Gid>& of, const std::vector<Item>& items, const Nodes& nodes,
                        const Group& in) const {
    std::vector<Gid> found, ring{v};
    for (int k = 0; k < 2; ++k) {
      std::vector<Gid> next;
      for (const Gid u : ring)
        for (const Gid i : of.row(u))
          if (in(items[at(i)])) {
            found.push_back(i);
            for (const Gid w : nodes(items[at(i)])) next.push_back(w);
          }
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      ring = std::move(next);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  Lid place(NodeFreedom& f, Gid v, bool keep_edges) const {
    const auto faces = faces_of_.row(v), edges = edges_of_.row(v);
    const Gid patch = triangles_[at(faces[0])].patch;
    const bool one_patch =
        std::all_of(faces.begin(), faces.end(), [&](Gid t) { return triangles_[at(t)].patch == patch; });
    if (edges.empty() && one_patch) return slide_over(f, v, patch);
    if (runs_on(v) && !keep_edges) return slide_along(f, v, edges_[at(edges[0])].chain);
    ++f.kept;
    return NodeFreedom::fixed;
  }

  Lid slide_over(NodeFreedom& f, Gid v, Gid patch) const {
    if (plane_mesh_) {
      ++f.on_planes;
      return NodeFreedom::free;
    }
    Slide slide;
    Vec3 normal = plane_[at(patch)];
    if (normal != Vec3{}) {
      ++f.on_planes;
    } else {
      ++f.on_surfaces;
      slide.kind = Slide::Kind::surface;
      for (const Gid t : faces_of_.row(v)) {
        const auto& c = triangles_[at(t)].v;
        const Vec3 n = cross(point(c[1]) - point(c[0]), point(c[2]) - point(c[0]));
        normal = normal + (dot(normal, n) < 0 ? -1.0 : 1.0) * n;
      }
      slide.begin = static_cast<Size>(f.near_pieces.size());
      for (const Gid t : near(
               v, faces_of_, triangles_, [](const Triangle& i) { return i.v; },
               [&](const Triangle& i) { return i.patch == patch; }))
        f.near_pieces.push_back(piece_of_face_[at(t)]);
      slide.end = static_cast<Size>(f.near_pieces.size());
    }
    const auto [first, second] = tangents(unit(normal));
    slide.first = first;
    slide.second = second;
    f.slides.push_back(slide);
    return static_cast<Lid>(f.slides.size()) - 1;
  }

  Lid slide_along(NodeFreedom& f, Gid v, Gid chain) const {
    Slide slide;
    slide.kind = Slide::Kind::line;
    slide.first = line_[at(chain)];
    if (slide.first != Vec3{}) {
      ++f.on_lines;
    } else {
      ++f.on_edges;
      slide.kind = Slide::Kind::edge;
      const Edge &e = edges_[at(edges_of_.row(v)[0])], &g = edges_[at(edges_of_.row(v)[1])];
      slide.first = unit(point(g.a + g.b - v) - point(e.a + e.b - v));
      slide.begin = static_cast<Size>(f.near_pieces.size());
      for (const Gid i : near(
               v, edges_of_, edges_,
               [](const Edge& item) {
                 return std::array<Gid, 2>{item.a, item.b};
               },
               [&](const Edge& item) { return item.chain == chain; }))
        f.near_pieces.push_back(piece_of_edge_[at(i)]);
      slide.end = static_cast<Size>(f.near_pieces.size());
    }
    f.slides.push_back(slide);
    return static_cast<Lid>(f.slides.size()) - 1;
  }

  const TetMesh& mesh_;
  double bend_;  ///< cosine of the feature angle
  bool plane_mesh_;
  std::vector<Triangle> triangles_;
  std::vector<Edge> joints_, edges_;  ///< all edges of triangles; those that are features
  Csr<Gid> faces_of_, edges_of_;
  std::vector<Vec3> plane_, line_;  ///< by patch, by chain
  std::vector<Lid> piece_of_face_, piece_of_edge_;
};

}  // namespace

NodeFreedom find_freedom(const TetMesh& mesh, const FaceNeighbours& neighbours, BoundaryRule rule,
                         double feature_angle) {
  NodeFreedom f;
  if (mesh.is_surface()) {
    if (rule == BoundaryRule::free)
      fail(ErrorKind::usage, "nodes of a mesh of triangles cannot leave it; choose --boundary slide or fixed");
    return SurfaceGraph(mesh, neighbours, feature_angle).freedom(rule == BoundaryRule::fixed);
  }
  if (rule == BoundaryRule::free) {
    f.of_node.assign(mesh.vertices.size(), NodeFreedom::free);
  } else {
    f = SurfaceGraph(mesh, neighbours, feature_angle).freedom();
    if (rule == BoundaryRule::fixed) {
      f.kept += f.on_planes + f.on_lines + f.on_surfaces + f.on_edges;
      f.on_planes = f.on_lines = f.on_surfaces = f.on_edges = 0;
      for (Lid& node : f.of_node)
        if (node >= 0) node = NodeFreedom::fixed;
      f.slides.clear();
      f.pieces.clear();
      f.near_pieces.clear();
    }
  }
  return f;
}

}  // namespace tutti::smoothing
