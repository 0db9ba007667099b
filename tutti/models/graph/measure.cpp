#include "tutti/models/graph/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "tutti/base/log.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/host/host_memory.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/files/graph_pieces.hpp"
#include "tutti/models/graph/files/text_scan.hpp"
#include "tutti/models/graph/generate.hpp"
#include "tutti/models/graph/parts/shared_graph.hpp"

namespace tutti::graph {
namespace {

std::vector<Vertex> read_sources(const Graph& graph, const std::string& file) {
  const std::string text = read_text(file, "file of sources", Size{1} << 34);
  std::vector<Vertex> sources;
  TextScan scan(text, file);
  for (; !scan.at_end(); scan.next_line()) {
    scan.skip_blanks();
    if (scan.at_line_end() || scan.peek() == '#') continue;
    const Gid name = scan.integer("the number of a vertex");
    scan.skip_blanks();
    if (!scan.at_line_end()) scan.refuse("expected one vertex per line, found {} after it", scan.excerpt());
    const Vertex v = graph.names.find(name, graph.vertices);
    if (v == no_lid) scan.refuse("vertex {} is not in the graph; remove the line", name);
    sources.push_back(v);
  }
  return sources;
}

std::vector<Vertex> all_vertices(const Graph& graph) {
  std::vector<Vertex> all(static_cast<std::size_t>(graph.vertices));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// How many sources are to be drawn; none: the words say it otherwise.
std::optional<Size> number_of(const std::string& sources) {
  Size count = 0;
  const auto [stop, code] = std::from_chars(sources.data(), sources.data() + sources.size(), count);
  if (stop != sources.data() + sources.size() || sources.empty()) return std::nullopt;
  if (code != std::errc() || count < 0)
    fail(ErrorKind::usage, "--sources {}: expected all, a number of sources, or a file", sources);
  return count;
}

/// Distances to v from all that reach it: how many these are, v too, and the distances' sum.
struct Reach {
  Size vertices = 0, distances = 0;
};

Reach reach_of(const Csr<Vertex>& rows, Vertex v, std::vector<Vertex>& queue, std::vector<Vertex>& seen_by) {
  Reach reach;
  queue.assign(1, v);
  seen_by[v] = v;
  std::size_t level_end = 1;
  Size depth = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (i == level_end) {
      level_end = queue.size();
      ++depth;
    }
    ++reach.vertices;
    reach.distances += depth;
    for (const Vertex w : rows.row(queue[i]))
      if (seen_by[w] != v) {
        seen_by[w] = v;
        queue.push_back(w);
      }
  }
  return reach;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void add_betweenness(const Graph& graph, const std::vector<Vertex>& sources, DeviceSet& devices, const Comm& comm,
                     Placement placement, MeasureResult& result) {
  const auto start = std::chrono::steady_clock::now();
  const ParallelFor parallel = parallel_for(*devices.threads);
  const OrderedGraph ordered = order_by_degree(graph, parallel);
  std::vector<Vertex> list;
  for (const Vertex s : sources) list.push_back(ordered.new_name[s]);
  if (static_cast<Size>(list.size()) > 64 && ordered.depth <= most_batch_depth) group_sources(ordered, list, parallel);
  Betweenness work(ordered, devices, comm, static_cast<Size>(list.size()), Sweep::automatic, placement);
  BetweennessState state = work.begin();
  result.setup_seconds = seconds_since(start);
  work.add(list, static_cast<Size>(list.size()), state);
  result.values = values_of(state, ordered);
}

BuildOptions build_options(const MeasureRequest& request) {
  BuildOptions options;
  options.directed = request.directed;
  options.multi_edges = request.multi_edges;
  options.leave_out_eighths = request.filter;
  return options;
}

/// Where no rank has the whole graph.
MeasureResult measure_in_parts(const MeasureRequest& request, Size there, DeviceSet& devices, const Comm& comm) {
  const ParallelFor parallel = parallel_for(*devices.threads);
  MeasureResult result;
  ArcList piece = read_graph_piece(comm, request.file, parallel);
  comm.together([&] { check_room(piece.vertices, piece.size(), there); });
  result.names = piece.names;
  const VertexOwners owners = share_blocks(comm, devices, piece);
  ArcShare share = share_arcs(comm, piece, owners, request.directed, parallel);
  piece = {};
  Graph graph;
  comm.together([&] {
    graph = build_graph(share.outgoing, share.incoming, build_options(request), parallel);
    graph.names = result.names;
    share = {};
  });
  std::vector<Vertex> sources = choose_sources(comm, graph, request.sources, request.seed);
  const auto start = std::chrono::steady_clock::now();
  const Vertex vertices = graph.vertices;
  CutGraph cut = order_and_cut(comm, std::move(graph), owners, parallel, sources);
  const auto count = static_cast<Size>(sources.size());
  Betweenness work(std::move(cut.parts), vertices, devices, comm, count);
  BetweennessState state = work.begin();
  result.setup_seconds = seconds_since(start);
  work.add(sources, count, state);
  result.values = values_of(state, cut.new_name);
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace

Measure parse_measure(const std::string& name) {
  if (name == "betweenness") return Measure::betweenness;
  if (name == "closeness") return Measure::closeness;
  if (name == "components") return Measure::components;
  fail(ErrorKind::usage, "measure '{}'; expected betweenness, closeness or components", name);
}

std::vector<Vertex> choose_sources(const Graph& graph, const std::string& sources, std::uint64_t seed) {
  if (const std::optional<Size> count = number_of(sources)) return draw_sources(graph, *count, seed);
  return sources == "all" ? all_vertices(graph) : read_sources(graph, sources);
}

std::vector<Vertex> choose_sources(const Comm& comm, const Graph& share, const std::string& sources,
                                   std::uint64_t seed) {
  std::optional<Size> count;
  std::vector<Vertex> chosen;
  comm.together([&] {
    count = number_of(sources);
    if (!count) chosen = choose_sources(share, sources, seed);
    if (count) chosen = draw_sources(share, share.vertices, seed);  // all that can be drawn
  });
  return count ? draw_sources(all_of(comm, chosen), *count, seed) : chosen;
}

std::vector<double> closeness(const Graph& graph, const std::vector<Vertex>& sources, const ParallelFor& parallel) {
  std::vector<double> values(graph.vertices, std::numeric_limits<double>::quiet_NaN());
  Blocks(static_cast<Size>(sources.size()), 16).run(parallel, [&](Size, Size begin, Size end) {
    std::vector<Vertex> queue, seen_by(static_cast<std::size_t>(graph.vertices), no_lid);
    for (Size i = begin; i < end; ++i) {
      const Vertex v = sources[i];
      const Reach reach = reach_of(graph.incoming(), v, queue, seen_by);
      const auto others = static_cast<double>(reach.vertices - 1);
      values[v] =
          reach.distances == 0 ? 0.0 : others / static_cast<double>(reach.distances) * (others / (graph.vertices - 1));
    }
  });
  return values;
}

std::vector<Vertex> components(const Graph& graph) {
  std::vector<Vertex> parent(graph.vertices);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Vertex v) {
    while (parent[v] != v) {
      Vertex& up = parent[v];
      up = parent[up];
      v = up;
    }
    return v;
  };
  for (Vertex v = 0; v < graph.vertices; ++v)
    for (const Vertex w : graph.out.row(v)) {
      const Vertex a = root(v), b = root(w);
      parent[std::max(a, b)] = std::min(a, b);
    }
  for (Vertex v = 0; v < graph.vertices; ++v) parent[v] = root(v);
  return parent;
}

bool choose_pieces(const std::string& file, Measure measure, Placement placement, Size there, const Comm& comm) {
  const bool can = measure == Measure::betweenness && comm.size() > 1 && has_pieces(file);
  if (placement == Placement::parts && can) return true;
  const Size whole = bytes_to_measure(file);
  if (whole <= there) return false;
  if (can && placement == Placement::automatic && whole / comm.size() <= there) return true;
  fail(ErrorKind::resource, "{}: the graph takes about {} of memory, and a rank has {}; use more memory{}", file,
       format_bytes(static_cast<double>(whole)), format_bytes(static_cast<double>(there)),
       can ? ", or ranks on more hosts" : ", or betweenness of an edge list or .sg file on ranks of several hosts");
}

MeasureResult measure(const MeasureRequest& request, DeviceSet& devices, const Comm& comm) {
  if (request.measure == Measure::components && request.sources != "all")
    fail(ErrorKind::usage, "--sources {}: components have none; remove it", request.sources);
  const Size there = host_memory(comm);
  bool parts = false;
  comm.together([&] { parts = choose_pieces(request.file, request.measure, request.placement, there, comm); });
  if (comm.max(parts ? 1 : 0) > 0) {
    if (request.placement == Placement::automatic)
      info("the graph does not fit into a rank's memory: its vertices are distributed");
    return measure_in_parts(request, there, devices, comm);
  }
  const ParallelFor parallel = parallel_for(*devices.threads);
  Graph graph;
  std::vector<Vertex> sources;
  comm.together([&] {
    const ArcList list = read_graph(request.file, parallel);
    check_room(list.vertices, list.size(), there);
    graph = build_graph(list, build_options(request), parallel);
    sources = choose_sources(graph, request.sources, request.seed);
  });
  const auto start = std::chrono::steady_clock::now();
  MeasureResult result;
  result.names = graph.names;
  if (request.measure == Measure::betweenness) {
    add_betweenness(graph, sources, devices, comm, request.placement, result);
  } else if (request.measure == Measure::closeness) {
    comm.together([&] { result.values = closeness(graph, sources, parallel); });
  } else {
    for (const Vertex v : components(graph)) result.labels.push_back(graph.names.of(v));
  }
  result.seconds = seconds_since(start);
  return result;
}

VertexValues values_of(const MeasureResult& result, const std::string& measure) {
  return {measure == "components" ? "component" : measure, result.names, result.values, result.labels};
}

}  // namespace tutti::graph
