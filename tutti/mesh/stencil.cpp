#include "tutti/mesh/stencil.hpp"

#include <algorithm>

namespace tutti {
namespace {

/// Inserts `value` into the ascending list of `n` entries unless it is there; returns the new length.
template <class Index>
int insert_once(Index* list, int n, Index value) {
  int at = 0;
  for (int i = 0; i < n; ++i) at += list[i] < value;
  if (at < n && list[at] == value) return n;
  for (int i = n; i > at; --i) list[i] = list[i - 1];
  list[at] = value;
  return n + 1;
}

/// Writes row i of the stencil, and returns its length.
template <class Index>
int gather_stencil(std::span<const std::array<Index, 4>> neighbours, std::size_t i, Index* row) {
  // In a mesh without a good order every neighbour's entry is a cache miss: ask for it some rows before it is needed.
  constexpr std::size_t ahead = 12;
  if (i + ahead < neighbours.size())
    for (const Index near : neighbours[i + ahead])
      if (near >= 0) __builtin_prefetch(&neighbours[near]);
  int n = 0;
  for (const Index near : neighbours[i]) {
    if (near < 0) continue;
    n = insert_once(row, n, near);
    for (const Index far : neighbours[near])
      if (far >= 0 && far != static_cast<Index>(i)) n = insert_once(row, n, far);
  }
  return n;
}

/// The same of the face graph.
template <class Index>
int gather_faces(std::span<const std::array<Index, 4>> neighbours, std::size_t i, Index* row) {
  int n = 0;
  for (const Index near : neighbours[i])
    if (near >= 0) n = insert_once(row, n, near);
  return n;
}

/// Collects rows of at most `width` entries; gather(row, out) returns how many it wrote.
template <class Index, class Gather>
Csr<Index> collect_rows(Index rows, std::size_t width, Gather&& gather) {
  const auto n = static_cast<std::size_t>(rows);
  Csr<Index> result;
  result.offsets.resize(n + 1);
  // Reserved, not filled: what the rows do not use is never touched and so takes no memory.
  result.columns.reserve(n * width);
  std::array<Index, 16> row;
  for (std::size_t i = 0; i < n; ++i) {
    const int length = gather(i, row.data());
    result.columns.insert(result.columns.end(), row.begin(), row.begin() + length);
    result.offsets[i + 1] = static_cast<Size>(result.columns.size());
  }
  return result;
}

}  // namespace

template <class Index>
Csr<Index> tet_stencil(std::span<const std::array<Index, 4>> neighbours, Index rows) {
  return collect_rows<Index>(rows, 16,
                             [&](std::size_t i, Index* row) { return gather_stencil<Index>(neighbours, i, row); });
}

std::vector<std::uint8_t> stencil_lengths(std::span<const std::array<Lid, 4>> neighbours, Lid rows, int layers,
                                          const ParallelFor& parallel) {
  std::vector<std::uint8_t> lengths(rows);
  for_ranges(parallel, rows, [&](Size begin, Size end) {
    std::array<Lid, 16> row;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      lengths[i] = static_cast<std::uint8_t>(layers == 2 ? gather_stencil<Lid>(neighbours, i, row.data())
                                                         : gather_faces<Lid>(neighbours, i, row.data()));
  });
  return lengths;
}

template <class Index>
Csr<Index> face_graph(std::span<const std::array<Index, 4>> neighbours, Index rows) {
  return collect_rows<Index>(rows, 4,
                             [&](std::size_t i, Index* row) { return gather_faces<Index>(neighbours, i, row); });
}

template Csr<Lid> tet_stencil(std::span<const std::array<Lid, 4>>, Lid);
template Csr<Gid> tet_stencil(std::span<const std::array<Gid, 4>>, Gid);
template Csr<Lid> face_graph(std::span<const std::array<Lid, 4>>, Lid);
template Csr<Gid> face_graph(std::span<const std::array<Gid, 4>>, Gid);

Adjacency tet_stencil(const FaceNeighbours& neighbours) {
  return tet_stencil(std::span<const std::array<Gid, 4>>(neighbours), static_cast<Gid>(neighbours.size()));
}

Adjacency face_graph(const FaceNeighbours& neighbours) {
  return face_graph(std::span<const std::array<Gid, 4>>(neighbours), static_cast<Gid>(neighbours.size()));
}

std::vector<Vec3> cell_centroids(const TetMesh& mesh) {
  std::vector<Vec3> result(mesh.cells.size());
  for (std::size_t c = 0; c < result.size(); ++c) {
    const auto at = [&](std::size_t i) { return mesh.vertices[mesh.cells[c][i]]; };
    result[c] = 0.25 * (at(0) + at(1) + at(2) + at(3));
  }
  return result;
}

}  // namespace tutti
