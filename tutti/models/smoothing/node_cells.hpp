// Which cells are around a node, and nodes in groups that do not share a cell.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/mesh/tet_mesh.hpp"
#include "tutti/models/smoothing/star.hpp"

namespace tutti::smoothing {

/// Meshes of triangles become cells of their three corners and a fourth node, the same for all, which never moves: all
/// that is numbered, coloured and exchanged is then that of tetrahedra. Other meshes stay as they are.
TetMesh with_apex(const TetMesh& mesh);

/// Row v: the cells of node v, ascending.
Adjacency cells_of_nodes(const TetMesh& mesh, const ParallelFor& parallel = {});

/// The length of the edges of a regular cell as large as those around each node are on average, made smoother twice.
std::vector<double> edge_lengths(const TetMesh& mesh, const Adjacency& cells_of, const ParallelFor& parallel = {});

/// Puts the triangles of a node one beside the other: each begins where the one before ends. The first is the one that
/// begins where none ends, of a closed ring that given first. Left as they are where they are not one such ring.
void ring_order(std::span<StarCell> triangles);

/// Colour of every node that `moves`, from 0: the smallest that no node of its cells has, nodes in the order of their
/// numbers; -1 for others. Independent of parts and ranks.
std::vector<std::int32_t> colour_nodes(const TetMesh& mesh, const Adjacency& cells_of, const std::vector<bool>& moves);

}  // namespace tutti::smoothing
