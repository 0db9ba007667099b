// Graphs in files of which each rank reads a piece.
#pragma once

#include <filesystem>
#include <string>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/parallel.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

/// Ranks can read pieces of such a file: of an edge list or GAP's, not compressed.
bool has_pieces(const std::filesystem::path& path);

/// About the bytes that it takes to read the graph of a file and to build its rows, by the size of the file. Error(io).
Size bytes_to_measure(const std::filesystem::path& path);

/// This rank's piece of the arcs that read_graph reads, in equal pieces of the file; vertices and names are those of
/// the whole graph. Collective. Errors as read_graph; usage: no pieces of such a file.
ArcList read_graph_piece(const Comm& comm, const std::filesystem::path& path, const ParallelFor& parallel = {});

// The formats, for read_graph_piece.
ArcList read_edge_list_piece(const Comm& comm, const InputFile& file, const std::string& name,
                             const ParallelFor& parallel);
ArcList read_gap_piece(const Comm& comm, const InputFile& file, const std::string& name, bool weighted);

}  // namespace tutti::graph
