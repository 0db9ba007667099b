// What is measured of a graph: betweenness, closeness, components.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/models/graph/betweenness/betweenness.hpp"
#include "tutti/models/graph/files/write_values.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

enum class Measure : std::uint8_t { betweenness, closeness, components };
Measure parse_measure(const std::string& name);

struct MeasureRequest {
  std::string file;
  std::string sources = "all";  ///< all, a number to draw, or a file of names of vertices
  std::uint64_t seed = 1;
  bool directed = false, filter = false;
  MultiEdges multi_edges = MultiEdges::simple;
  Measure measure = Measure::betweenness;
  Placement placement = Placement::automatic;
  int top = 0;
};

struct MeasureResult {
  std::vector<double> values;  ///< one a vertex; NaN: not measured
  std::vector<Gid> labels;     ///< of components instead: the name of each one's first vertex
  VertexNames names;
  double seconds = 0;        ///< without reading and writing
  double setup_seconds = 0;  ///< of these before the sweeps of betweenness: order of vertices and sources, copies
};

/// Reads the graph and measures it. Collective; every rank has the result. The same bits for any ranks and devices.
/// Betweenness with Placement::parts, or where a rank's memory has no room for the whole graph: of a file that has
/// pieces no rank has more than its share of the arcs. Errors as read_graph; usage: closeness or components with
/// something that they do not know; input: a source that is no vertex, with file and line; resource: no room either
/// way.
MeasureResult measure(const MeasureRequest& request, DeviceSet& devices, const Comm& comm);

/// Whether ranks read pieces of a file and none has the whole graph. `there`: memory of a rank. Error(resource): there
/// is no room either way.
bool choose_pieces(const std::string& file, Measure measure, Placement placement, Size there, const Comm& comm);

/// Sources of `all`, a number or a file (one name of a vertex a line, # begins a comment).
std::vector<Vertex> choose_sources(const Graph& graph, const std::string& sources, std::uint64_t seed);

/// The same where each rank has the rows of its own vertices. Collective.
std::vector<Vertex> choose_sources(const Comm& comm, const Graph& share, const std::string& sources,
                                   std::uint64_t seed);

/// Closeness of the sources (Wasserman, Faust 1994, eq. 5.22, as NetworkX has it): with r vertices from which v is
/// reached, (r - 1)^2 / ((n - 1) * sum of their distances to v); 0 where that sum is 0. NaN of all others.
std::vector<double> closeness(const Graph& graph, const std::vector<Vertex>& sources, const ParallelFor& parallel = {});
/// The smallest vertex of each vertex's component, whatever the direction of the arcs.
std::vector<Vertex> components(const Graph& graph);

/// The result as files have it; `measure`: "betweenness", "closeness" or "components".
VertexValues values_of(const MeasureResult& result, const std::string& measure);

}  // namespace tutti::graph
