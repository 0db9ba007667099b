#include "tutti/models/smoothing/swap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "tutti/mesh/quality/tet_quality.hpp"
#include "tutti/models/smoothing/at.hpp"
#include "tutti/models/smoothing/node_cells.hpp"

namespace tutti::smoothing {
namespace {

using Cell = std::array<Gid, 4>;
using Face = std::array<Gid, 3>;

bool has(const Cell& cell, Gid v) {
  return std::find(cell.begin(), cell.end(), v) != cell.end();
}

Face sorted(Face f) {
  std::sort(f.begin(), f.end());
  return f;
}

class Swapper {
 public:
  Swapper(TetMesh& mesh, double below) : mesh_(mesh), below_(below), dead_(mesh.cells.size(), false) {
    const Adjacency rows = cells_of_nodes(mesh);
    for (Gid v = 0; v < mesh.vertex_count(); ++v) cells_of_.emplace_back(rows.row(v).begin(), rows.row(v).end());
    for (const Face& f : mesh.boundary) kept_.insert(sorted(f));
    for (const Cell& c : mesh.cells) quality_.push_back(quality(c));
  }

  SwapCounts run() {
    SwapCounts counts;
    for (int pass = 0; pass < 10; ++pass) {
      const SwapCounts now = sweep();
      counts.two_to_three += now.two_to_three;
      counts.three_to_two += now.three_to_two;
      counts.four_to_four += now.four_to_four;
      if (now.all() == 0) break;
    }
    compact();
    return counts;
  }

 private:
  Vec3 point(Gid v) const { return mesh_.vertices[at(v)]; }
  double volume(const Cell& c) const { return tet_volume(point(c[0]), point(c[1]), point(c[2]), point(c[3])); }
  double quality(const Cell& c) const {
    return tet_quality(point(c[0]), point(c[1]), point(c[2]), point(c[3])).mean_ratio;
  }

  SwapCounts sweep() {
    std::vector<Gid> order;
    for (Gid c = 0; c < mesh_.cell_count(); ++c)
      if (!dead_[at(c)] && quality_[at(c)] < below_) order.push_back(c);
    std::sort(order.begin(), order.end(), [&](Gid a, Gid b) {
      return quality_[at(a)] != quality_[at(b)] ? quality_[at(a)] < quality_[at(b)] : a < b;
    });
    SwapCounts counts;
    for (const Gid c : order) {
      if (dead_[at(c)] || quality_[at(c)] >= below_) continue;
      const Cell cell = mesh_.cells[at(c)];
      if (swap_edges(cell, counts)) continue;
      swap_faces(c, cell, counts);
    }
    return counts;
  }

  bool swap_edges(const Cell& cell, SwapCounts& counts) {
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = i + 1; j < 4; ++j) {
        std::vector<Gid> cells, ring;
        if (!find_ring(cell[i], cell[j], cells, ring)) continue;
        const Gid a = cell[i], b = cell[j];
        if (ring.size() == 3) {
          if (!replace(cells, std::array<Cell, 2>{{{ring[0], ring[1], ring[2], a}, {ring[0], ring[1], ring[2], b}}}))
            continue;
          ++counts.three_to_two;
          return true;
        }
        for (std::size_t k = 0; k < 2; ++k) {
          const Gid p = ring[k], q = ring[k + 2], r = ring[k + 1], s = ring[(k + 3) % 4];
          if (!replace(cells, std::array<Cell, 4>{{{p, q, a, r}, {p, q, r, b}, {p, q, b, s}, {p, q, s, a}}})) continue;
          ++counts.four_to_four;
          return true;
        }
      }
    return false;
  }

  bool swap_faces(Gid c, const Cell& cell, SwapCounts& counts) {
    for (std::size_t f = 0; f < 4; ++f) {
      const Face face{cell[at(tet_faces[f][0])], cell[at(tet_faces[f][1])], cell[at(tet_faces[f][2])]};
      if (kept_.contains(sorted(face))) continue;
      const Gid d = cell[f];
      for (const Gid other : cells_of_[at(face[0])]) {
        const Cell& o = mesh_.cells[at(other)];
        if (other == c || !has(o, face[1]) || !has(o, face[2])) continue;
        const Gid e = *std::find_if(o.begin(), o.end(),
                                    [&](Gid v) { return std::find(face.begin(), face.end(), v) == face.end(); });
        const auto& [x, y, z] = face;
        if (!replace({c, other}, std::array<Cell, 3>{{{x, y, d, e}, {y, z, d, e}, {z, x, d, e}}})) continue;
        ++counts.two_to_three;
        return true;
      }
    }
    return false;
  }

  /// Three or four cells around an edge inside the mesh, and the nodes around it in their turn. None of their faces at
  /// the edge may be kept.
  bool find_ring(Gid a, Gid b, std::vector<Gid>& cells, std::vector<Gid>& ring) const {
    std::vector<std::array<Gid, 2>> sides;
    for (const Gid c : cells_of_[at(a)]) {
      const Cell& cell = mesh_.cells[at(c)];
      if (!has(cell, b)) continue;
      if (cells.size() == 4) return false;
      cells.push_back(c);
      std::array<Gid, 2> side{-1, -1};
      for (const Gid v : cell)
        if (v != a && v != b) side[side[0] < 0 ? 0 : 1] = v;
      sides.push_back(side);
    }
    if (cells.size() < 3) return false;
    ring = {sides[0][0], sides[0][1]};
    std::vector<bool> used(sides.size(), false);
    used[0] = true;
    for (std::size_t n = 1; n < sides.size(); ++n) {
      const Gid last = ring.back();
      std::size_t next = 0;
      while (next < sides.size() && (used[next] || (sides[next][0] != last && sides[next][1] != last))) ++next;
      if (next == sides.size()) return false;
      used[next] = true;
      ring.push_back(sides[next][0] == last ? sides[next][1] : sides[next][0]);
    }
    if (ring.back() != ring.front()) return false;  // the edge lies in the boundary
    ring.pop_back();
    return std::none_of(ring.begin(), ring.end(), [&](Gid v) { return kept_.contains(sorted({a, b, v})); });
  }

  /// If the new cells fill the same room and the worst of them is better, they take the places of the old ones.
  bool replace(const std::vector<Gid>& old, std::span<const Cell> wanted) {
    double room = 0, filled = 0, worst = 1, best = 1;
    for (const Gid c : old) {
      if (mesh_.regions[at(c)] != mesh_.regions[at(old[0])]) return false;
      room += volume(mesh_.cells[at(c)]);
      worst = std::min(worst, quality_[at(c)]);
    }
    std::vector<Cell> cells(wanted.begin(), wanted.end());
    for (Cell& cell : cells) {
      if (volume(cell) < 0) std::swap(cell[2], cell[3]);
      filled += volume(cell);
      best = std::min(best, quality(cell));
    }
    // Cells that overlap, or lie outside, have a larger volume together.
    if (!(best > worst * (1 + 1e-9)) || !(std::abs(filled - room) <= 1e-12 * room)) return false;
    for (const Gid c : old)
      for (const Gid v : mesh_.cells[at(c)]) std::erase(cells_of_[at(v)], c);
    for (std::size_t k = 0; k < cells.size(); ++k) put(k < old.size() ? old[k] : add_like(old[0]), cells[k]);
    for (std::size_t k = cells.size(); k < old.size(); ++k) dead_[at(old[k])] = true;
    return true;
  }

  void put(Gid c, const Cell& cell) {
    mesh_.cells[at(c)] = cell;
    quality_[at(c)] = quality(cell);
    for (const Gid v : cell) cells_of_[at(v)].push_back(c);
  }

  Gid add_like(Gid c) {
    mesh_.cells.push_back(mesh_.cells[at(c)]);
    mesh_.regions.push_back(mesh_.regions[at(c)]);
    quality_.push_back(0);
    dead_.push_back(false);
    for (CellData& d : mesh_.cell_data)
      for (int k = 0; k < d.components; ++k) d.values.push_back(d.values[at(c * d.components + k)]);
    return mesh_.cell_count() - 1;
  }

  /// Takes the dead cells out; the others keep their order.
  void compact() {
    std::size_t kept = 0;
    for (std::size_t c = 0; c < mesh_.cells.size(); ++c) {
      if (dead_[c]) continue;
      mesh_.cells[kept] = mesh_.cells[c];
      mesh_.regions[kept] = mesh_.regions[c];
      for (CellData& d : mesh_.cell_data) {
        const auto width = at(d.components);
        for (std::size_t k = 0; k < width; ++k) d.values[kept * width + k] = d.values[c * width + k];
      }
      ++kept;
    }
    mesh_.cells.resize(kept);
    mesh_.regions.resize(kept);
    for (CellData& d : mesh_.cell_data) d.values.resize(kept * at(d.components));
  }

  TetMesh& mesh_;
  double below_;
  std::vector<bool> dead_;
  std::vector<double> quality_;
  std::vector<std::vector<Gid>> cells_of_;
  std::set<Face> kept_;
};

}  // namespace

SwapCounts swap_cells(TetMesh& mesh, double below) {
  return Swapper(mesh, below).run();
}

}  // namespace tutti::smoothing
