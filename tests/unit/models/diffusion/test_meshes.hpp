// Meshes for the tests of the scheme: jittered Kuhn boxes, their parts with two ghost layers.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/mesh/local_tet_mesh.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti::test {

inline std::size_t at(Lid i) {
  return static_cast<std::size_t>(i);
}

/// Boundary tags of a box: 1 x-, 2 x+, 3 y-, 4 y+, 5 z-, 6 z+.
inline std::int32_t side_of_box(Vec3 x, Vec3 lo, Vec3 hi) {
  std::int32_t side = 1;
  double nearest = 1e300;
  for (int a = 0; a < 3; ++a)
    for (int s = 0; s < 2; ++s)
      if (const double distance = std::abs(x[a] - (s ? hi[a] : lo[a])); distance < nearest) {
        nearest = distance;
        side = 1 + 2 * a + s;
      }
  return side;
}

/// A random order of 0..n-1, the same for the same seed.
inline std::vector<Lid> random_order(Lid n, std::uint64_t seed) {
  std::vector<Lid> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (Lid i = n - 1; i > 0; --i)
    std::swap(order[i], order[random_bits(seed, static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(i + 1)]);
  return order;
}

/// How a cube is cut: in Kuhn's six tetrahedra, or in five (a regular one and four corners, mirrored from cube to
/// cube). With an odd n, five leave cells with three boundary faces in corners of the box.
enum class Cut { kuhn, five };

inline void cut_cube(Cut cut, int i, int j, int k, int n, std::vector<std::array<Gid, 4>>& cells) {
  const auto id = [&](std::array<int, 3> a) {
    return static_cast<Gid>(((k + a[2]) * (n + 1) + j + a[1]) * (n + 1) + i + a[0]);
  };
  if (cut == Cut::kuhn) {
    constexpr std::array<std::array<std::size_t, 3>, 6> paths = {
        {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}}};
    for (const auto& path : paths) {
      std::array<int, 3> a = {0, 0, 0};
      std::array<Gid, 4> cell = {id(a)};
      for (std::size_t s = 0; s < 3; ++s) {
        a[path[s]] = 1;
        cell[s + 1] = id(a);
      }
      cells.push_back(cell);
    }
    return;
  }
  const int odd = (i + j + k) % 2;
  const auto corner = [&](int x, int y, int z) { return id({x ^ odd, y, z}); };
  cells.push_back({corner(0, 0, 0), corner(1, 1, 0), corner(1, 0, 1), corner(0, 1, 1)});
  cells.push_back({corner(1, 0, 0), corner(0, 0, 0), corner(1, 1, 0), corner(1, 0, 1)});
  cells.push_back({corner(0, 1, 0), corner(0, 0, 0), corner(1, 1, 0), corner(0, 1, 1)});
  cells.push_back({corner(0, 0, 1), corner(0, 0, 0), corner(1, 0, 1), corner(0, 1, 1)});
  cells.push_back({corner(1, 1, 1), corner(1, 1, 0), corner(1, 0, 1), corner(0, 1, 1)});
}

/// The unit cube in n^3 cubes of tetrahedra; inner vertices move by up to `jitter` of a cube in each direction. With
/// `plane`, n is even, vertices at x = 0.5 keep that x, and the regions are 1 left and 2 right of it.
inline TetMesh jittered_box(Cut cut, int n, double jitter, std::uint64_t seed, bool plane = false) {
  TetMesh mesh;
  for (int k = 0; k <= n; ++k)
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i) {
        Vec3 x;
        for (int a = 0; a < 3; ++a) {
          const int at = a == 0 ? i : a == 1 ? j : k;
          const bool fixed = at == 0 || at == n || (plane && a == 0 && 2 * at == n);
          const double r = random_unit(seed, 3 * mesh.vertices.size() + static_cast<std::uint64_t>(a));
          x[a] = (at + (fixed ? 0.0 : jitter * (2 * r - 1))) / n;
        }
        mesh.vertices.push_back(x);
      }
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        cut_cube(cut, i, j, k, n, mesh.cells);
        mesh.regions.resize(mesh.cells.size(), plane && 2 * i >= n ? 2 : 1);
      }
  for (auto& cell : mesh.cells) {
    const auto x = [&](std::size_t v) { return mesh.vertices[cell[v]]; };
    if (tet_volume(x(0), x(1), x(2), x(3)) < 0) std::swap(cell[0], cell[1]);
  }
  return mesh;
}

/// The whole mesh as one part without ghosts; boundary tags by the side of the mesh's bounding box. The cells get
/// random global numbers, so that "lower global number" means nothing geometric.
inline LocalTetMesh whole(const TetMesh& mesh, std::uint64_t seed = 1) {
  LocalTetMesh out;
  out.vertices = mesh.vertices;
  const Lid n = static_cast<Lid>(mesh.cell_count());
  out.owned = n;
  out.cells.resize(mesh.cells.size());
  Vec3 lo{1e300, 1e300, 1e300}, hi{-1e300, -1e300, -1e300};
  for (const Vec3 x : mesh.vertices)
    for (int a = 0; a < 3; ++a) lo[a] = std::min(lo[a], x[a]), hi[a] = std::max(hi[a], x[a]);
  std::map<std::array<Lid, 3>, std::pair<Lid, int>> open;
  out.neighbours.assign(mesh.cells.size(), {});
  for (Lid c = 0; c < n; ++c) {
    auto& cell = out.cells[c];
    for (std::size_t v = 0; v < 4; ++v) cell[v] = static_cast<Lid>(mesh.cells[c][v]);
    for (std::size_t f = 0; f < 4; ++f) {
      std::array<Lid, 3> key;
      for (std::size_t v = 0; v < 3; ++v) key[v] = cell[tet_faces[f][v]];
      const Vec3 sum = out.vertices[key[0]] + out.vertices[key[1]] + out.vertices[key[2]];
      std::sort(key.begin(), key.end());
      const auto found = open.find(key);
      if (found == open.end()) {
        open.emplace(key, std::pair(c, static_cast<int>(f)));
        out.neighbours[c][f] = static_cast<Lid>(boundary_face(side_of_box((1.0 / 3.0) * sum, lo, hi)));
      } else {
        const auto [other, face] = found->second;
        out.neighbours[c][f] = other;
        out.neighbours[other][face] = c;
        open.erase(found);
      }
    }
  }
  for (const Lid g : random_order(n, seed)) out.global.push_back(g);
  out.regions.assign(mesh.cells.size(), 0);
  for (std::size_t c = 0; c < mesh.regions.size(); ++c) out.regions[c] = mesh.regions[c];
  return out;
}

/// 6 sqrt(2) volume / (root mean square of the edges)^3: 1 for a regular tetrahedron; negative if turned over.
inline double shape_quality(Vec3 a, Vec3 b, Vec3 c, Vec3 d) {
  const double squares = dot(b - a, b - a) + dot(c - a, c - a) + dot(d - a, d - a) + dot(c - b, c - b) +
                         dot(d - b, d - b) + dot(d - c, d - c);
  return 6 * std::sqrt(2.0) * tet_volume(a, b, c, d) / std::pow(squares / 6, 1.5);
}

/// Makes a mesh irregular: random pairs of tetrahedra that share a face become three around a new edge, where all
/// three keep a quality of 0.25. Regions are kept apart.
inline TetMesh flip_faces(TetMesh mesh, int sweeps, std::uint64_t seed) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const LocalTetMesh local = whole(mesh);
    const auto at = [](auto i) { return static_cast<std::size_t>(i); };
    std::vector<bool> used(mesh.cells.size(), false);
    for (const Lid c : random_order(local.owned, seed + at(sweep)))
      for (std::size_t f = 0; f < 4; ++f) {
        const Lid n = local.neighbours[at(c)][f];
        if (n < 0 || used[at(c)] || used[at(n)] || mesh.regions[at(c)] != mesh.regions[at(n)]) continue;
        const auto& behind = local.neighbours[at(n)];
        const auto back = at(std::find(behind.begin(), behind.end(), c) - behind.begin());
        const Gid d = mesh.cells[at(c)][f], e = mesh.cells[at(n)][back];
        std::array<std::array<Gid, 4>, 3> fresh;
        bool good = true;
        for (std::size_t k = 0; k < 3; ++k) {
          const Gid p = mesh.cells[at(c)][at(tet_faces[f][k])], q = mesh.cells[at(c)][at(tet_faces[f][(k + 1) % 3])];
          fresh[k] = {d, e, p, q};
          const auto x = [&](std::size_t v) { return mesh.vertices[at(fresh[k][v])]; };
          if (shape_quality(x(0), x(1), x(2), x(3)) < 0.25) good = false;
        }
        if (!good) continue;
        used[at(c)] = used[at(n)] = true;
        mesh.cells[at(c)] = fresh[0];
        mesh.cells[at(n)] = fresh[1];
        mesh.cells.push_back(fresh[2]);
        mesh.regions.push_back(mesh.regions[at(c)]);
      }
  }
  return mesh;
}

/// The unit cube as an irregular mesh; with `plane`, no cell crosses x = 0.5 and the regions are 1 and 2.
inline TetMesh irregular_box(int n, std::uint64_t seed, bool plane = false) {
  return flip_faces(jittered_box(Cut::five, n, 0.2, seed, plane), 2, seed);
}

/// The part that owns the given cells of a whole mesh, in the given order, with two layers of ghosts in a random
/// order and vertices in a new order. `from` receives the cell of the whole mesh for each cell of the part.
inline LocalTetMesh part_of(const LocalTetMesh& mesh, std::span<const Lid> owned, std::uint64_t seed,
                            std::vector<Lid>& from) {
  const auto at = [](Lid i) { return static_cast<std::size_t>(i); };
  std::vector<Lid> to(mesh.cells.size(), no_lid);
  from.assign(owned.begin(), owned.end());
  for (std::size_t i = 0; i < from.size(); ++i) to[at(from[i])] = static_cast<Lid>(i);
  const std::size_t first_ghost = from.size();
  for (int layer = 0; layer < 2; ++layer) {
    const std::size_t reached = from.size();
    for (std::size_t i = 0; i < reached; ++i)
      for (const Lid n : mesh.neighbours[at(from[i])])
        if (n >= 0 && to[at(n)] == no_lid) {
          to[at(n)] = 0;
          from.push_back(n);
        }
  }
  const auto shuffle = random_order(static_cast<Lid>(from.size() - first_ghost), seed);
  const std::vector<Lid> ghosts(from.begin() + static_cast<std::ptrdiff_t>(first_ghost), from.end());
  for (std::size_t i = 0; i < ghosts.size(); ++i) from[first_ghost + i] = ghosts[at(shuffle[i])];
  for (std::size_t i = 0; i < from.size(); ++i) to[at(from[i])] = static_cast<Lid>(i);

  LocalTetMesh out;
  out.owned = static_cast<Lid>(first_ghost);
  std::map<Lid, Lid> vertex;
  for (const Lid c : from) {
    std::array<Lid, 4> corners, behind;
    for (std::size_t v = 0; v < 4; ++v) {
      const Lid old = mesh.cells[at(c)][v];
      const auto [place, fresh] = vertex.emplace(old, static_cast<Lid>(out.vertices.size()));
      if (fresh) out.vertices.push_back(mesh.vertices[at(old)]);
      corners[v] = place->second;
      const Lid n = mesh.neighbours[at(c)][v];
      behind[v] = n < 0 ? n : to[at(n)] != no_lid ? to[at(n)] : LocalTetMesh::outside_halo;
    }
    out.cells.push_back(corners);
    out.neighbours.push_back(behind);
    out.global.push_back(mesh.global[at(c)]);
    out.regions.push_back(mesh.regions[at(c)]);
  }
  return out;
}

}  // namespace tutti::test
