// Graphs in files: edge lists, Matrix Market, METIS, GAP.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tutti/base/parallel.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

/// For help texts.
inline constexpr const char* graph_formats =
    "an edge list (text), .mtx (Matrix Market), .graph or .metis (METIS), .sg or .wsg (GAP); text also as .gz";

/// The arcs of a file, in its order, by the ending of its name; an edge list is what none of the others is. Errors: io
/// (cannot be read), input (file and line, or byte), resource (no memory).
///
/// - Edge list: `FROM TO [WEIGHT]`, between them blanks, tabs or a comma; lines that begin with #, % or // are left
/// out.
///   Vertices are the numbers that occur, in ascending order; after a line `# vertices N` they are 0 to N - 1.
///   A line `# symmetric` says that every edge stands there in both directions.
/// - Matrix Market: `coordinate`, square, `real`, `integer` or `pattern`, `general` or `symmetric`. Entry (i, j) is the
///   arc from i to j. Numbered from 1.
/// - METIS: an undirected graph; weights of edges are read, those of vertices are not. Numbered from 1.
/// - GAP: serialized graphs of 32-bit numbers, without (.sg) or with (.wsg) weights.
ArcList read_graph(const std::filesystem::path& path, const ParallelFor& parallel = {});
/// The same of bytes in memory, which may be gzip's. `name` decides on the format and stands in messages.
ArcList parse_graph(std::string_view bytes, const std::string& name, const ParallelFor& parallel = {});

/// Error(usage) when no graph can be written under this name.
void check_graph_file(const std::filesystem::path& path);
/// Writes all arcs in the format of the name's ending (not .wsg). METIS and GAP files are simple graphs, of METIS
/// always undirected. Errors: io, usage as check_graph_file, and of weights that METIS has no place for.
void write_graph(const ArcList& list, const std::filesystem::path& path, const ParallelFor& parallel = {});

// The formats, for read_graph and write_graph.
ArcList parse_edge_list(std::string_view text, const std::string& name, const ParallelFor& parallel);
ArcList parse_matrix_market(std::string_view text, const std::string& name);
ArcList parse_metis(std::string_view text, const std::string& name);
ArcList parse_gap(std::string_view bytes, const std::string& name, bool weighted);

/// The content of a gzip file. Error(input): it is damaged. Error(resource): it does not fit the memory.
std::string decompress(std::string_view bytes, const std::string& name);
std::string compress(std::string_view bytes);

}  // namespace tutti::graph
