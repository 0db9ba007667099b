// The case of a run on a graph.
#pragma once

#include "tutti/base/parallel.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/measure.hpp"

namespace tutti::graph {

/// The keys that follow those of the core.
void add_measure_keys(CaseSchema& schema);

struct GraphCase {
  BuildOptions build;
  Measure measure = Measure::betweenness;
  std::string name;            ///< of the measure
  std::string sources, where;  ///< as choose_sources takes them; the key that says so
  std::uint64_t seed = 1;
  Placement placement = Placement::automatic;
  Size sources_a_step = 0;  ///< 0: as many as take about two seconds
  std::vector<std::string> formats;
  int top = 0;
};
/// Error(input): keys that do not go together.
GraphCase read_graph_case(const Case& options);

/// The arcs of the case's file or generator.
ArcList load_arcs(const Case& options, const ParallelFor& parallel);
/// This rank's piece of them: of a file that has pieces, or of R-MAT. Collective.
ArcList load_piece(const Case& options, const Comm& comm, const ParallelFor& parallel);
/// Whether no rank shall have the whole graph: with placement = "parts", or where a rank's memory has no room.
/// Error(resource): there is no room either way. The same on all ranks; collective.
bool chooses_pieces(const Case& options, const GraphCase& graph_case, const Comm& comm);

}  // namespace tutti::graph
