#include "tutti/models/smoothing/node_cells.hpp"

#include <algorithm>

#include "tutti/mesh/vertex_groups.hpp"

namespace tutti::smoothing {

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
