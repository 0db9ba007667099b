// The benchmark SSCA#2 v2.2 (Bader, Madduri 2007): generator and four kernels, with the times of each.
#pragma once

#include <string>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/models/graph/betweenness/betweenness.hpp"
#include "tutti/models/graph/graph.hpp"

namespace tutti::graph {

struct Ssca2Request {
  int scale = 10;
  Size sources = 0;  ///< of kernel 4; 0: 2^min(scale, 10)
  std::int64_t seed = 1;
  MultiEdges multi_edges = MultiEdges::paths;  ///< as v2.2 counts them
  Placement placement = Placement::automatic;
};

struct Ssca2Result {
  int scale = 0;
  Size vertices = 0, tuples = 0, sources = 0;
  Size loops = 0, arcs = 0;                          ///< of kernel 1's graph
  Size filtered = 0, doubles = 0, kernel4_arcs = 0;  ///< of kernel 4's
  Size without_successors = 0;                       ///< vertices of kernel 4's graph
  Size heaviest = 0;                                 ///< arcs that kernel 2 found
  Size subgraph_vertices = 0, subgraph_arcs = 0;     ///< of all subgraphs of kernel 3
  double max_betweenness = 0;
  bool in_parts = false;        ///< kernel 4: vertices in parts, not copies of the graph
  Size bytes_sent = 0;          ///< between ranks, by parts
  double exchange_seconds = 0;  ///< of the sweeps, by parts
  double generate_seconds = 0, kernel1_seconds = 0, kernel2_seconds = 0, kernel3_seconds = 0;
  double setup_seconds = 0;  ///< of kernel 4: filter, order of vertices and sources, copies to devices
  double seconds = 0;        ///< of kernel 4: the sweeps over all sources and their sum
  Size reached = 0;          ///< arcs that began at reached vertices, over all sources
  std::string devices;
  std::string maker;  ///< of the first rank: the device of the generator, kernels 1 to 3 and kernel 4's graph

  double teps() const;                      ///< 7 N sources / seconds, as the benchmark has it
  double edges_sources_per_second() const;  ///< with the arcs that kernel 4's graph has
  double reached_edges_per_second() const;  ///< with the arcs that can be reached
};

/// Runs it. Collective: every rank makes the graph, kernel 4's sources are shared out. Error(resource) without memory.
Ssca2Result run_ssca2(const Ssca2Request& request, DeviceSet& devices, const Comm& comm);

std::string describe(const Ssca2Result& result);
std::string json_of(const Ssca2Result& result);

}  // namespace tutti::graph
