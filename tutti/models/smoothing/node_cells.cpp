#include "tutti/models/smoothing/node_cells.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/mesh/vertex_groups.hpp"

namespace tutti::smoothing {

TetMesh with_apex(const TetMesh& mesh) {
  if (!mesh.is_surface()) return mesh;
  TetMesh cells;
  cells.vertices = mesh.vertices;
  cells.vertices.push_back(mesh.vertices[0]);
  for (const auto& [a, b, c] : mesh.boundary) cells.cells.push_back({a, b, c, mesh.vertex_count()});
  cells.regions = mesh.boundary_tags;
  return cells;
}

Adjacency cells_of_nodes(const TetMesh& mesh, const ParallelFor& parallel) {
  Adjacency rows;
  rows.offsets.assign(mesh.vertices.size() + 1, 0);
  for (const auto& cell : mesh.cells)
    for (const Gid v : cell) ++rows.offsets[v + 1];
  for (std::size_t v = 1; v < rows.offsets.size(); ++v) rows.offsets[v] += rows.offsets[v - 1];
  rows.columns.resize(4 * mesh.cells.size());
  group_by_vertex<Gid, Gid>(
      mesh.cell_count(), mesh.vertex_count(), parallel,
      [&](Size begin, Size end, const auto& put) {
        for (Size c = begin; c < end; ++c)
          for (const Gid v : mesh.cells[c]) put(v, c);
      },
      [&](Gid v, Gid* first, Gid* last, std::size_t) {
        std::sort(first, last);
        std::copy(first, last, rows.columns.begin() + rows.offsets[v]);
      });
  return rows;
}

std::vector<double> edge_lengths(const TetMesh& mesh, const Adjacency& cells_of, const ParallelFor& parallel) {
  std::vector<double> of_cell(mesh.cells.size()), of_node(mesh.vertices.size());
  for (int round = 0; round < 3; ++round) {
    for_ranges(parallel, mesh.cell_count(), [&](Size begin, Size end) {
      for (Size c = begin; c < end; ++c) {
        const auto& [i, j, k, l] = mesh.cells[c];
        of_cell[c] = round == 0
                         ? std::abs(tet_volume(mesh.vertices[i], mesh.vertices[j], mesh.vertices[k], mesh.vertices[l]))
                         : 0.25 * ((of_node[i] + of_node[j]) + (of_node[k] + of_node[l]));
      }
    });
    for_ranges(parallel, mesh.vertex_count(), [&](Size begin, Size end) {
      for (Size v = begin; v < end; ++v) {
        const auto cells = cells_of.row(v);
        double sum = 0;
        for (const Gid c : cells) sum += of_cell[c];
        of_node[v] = cells.empty() ? 0 : sum / static_cast<double>(cells.size());
      }
    });
  }
  for (double& volume : of_node) volume = std::cbrt(6 * std::sqrt(2.0) * volume);
  return of_node;
}

void ring_order(std::span<StarCell> triangles) {
  const auto behind = [&](Lid end) {
    return std::find_if(triangles.begin(), triangles.end(), [&](const StarCell& t) { return t.a == end; });
  };
  std::size_t first = 0, begins = 0;
  for (std::size_t k = 0; k < triangles.size(); ++k) {
    const Lid begin = triangles[k].a;
    if (std::any_of(triangles.begin(), triangles.end(), [&](const StarCell& t) { return t.b == begin; })) continue;
    first = k;
    ++begins;
  }
  if (begins > 1) return;
  std::vector<StarCell> ring;
  for (auto next = triangles.begin() + static_cast<std::ptrdiff_t>(first); next != triangles.end();
       next = behind(ring.back().b)) {
    if (!ring.empty() && next->a == ring[0].a) break;
    // Some ring that the first triangle is not part of.
    if (ring.size() == triangles.size()) return;
    ring.push_back(*next);
  }
  if (ring.size() == triangles.size()) std::copy(ring.begin(), ring.end(), triangles.begin());
}

std::vector<std::int32_t> colour_nodes(const TetMesh& mesh, const Adjacency& cells_of, const std::vector<bool>& moves) {
  std::vector<std::int32_t> colour(mesh.vertices.size(), -1);
  std::vector<Gid> taken_by;  // by colour: the last node that may not have it
  for (Gid v = 0; v < mesh.vertex_count(); ++v) {
    if (!moves[v]) continue;
    for (const Gid c : cells_of.row(v))
      for (const Gid u : mesh.cells[c]) {
        const std::int32_t used = colour[u];
        if (used >= 0) taken_by[used] = v;
      }
    const auto free = std::find_if(taken_by.begin(), taken_by.end(), [&](Gid by) { return by != v; });
    colour[v] = static_cast<std::int32_t>(free - taken_by.begin());
    if (free == taken_by.end()) taken_by.push_back(-1);
  }
  return colour;
}

}  // namespace tutti::smoothing
