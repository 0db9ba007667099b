#include "tutti/models/graph/ssca2.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tutti/base/units.hpp"
#include "tutti/device/host/host_memory.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/device_ssca2.hpp"
#include "tutti/models/graph/generate.hpp"
#include "tutti/models/graph/parts/shared_graph.hpp"
#include "tutti/models/graph/subgraphs.hpp"

namespace tutti::graph {
namespace {

class Clock {
 public:
  /// Seconds since the last call.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

RmatSpec spec_of(const Ssca2Request& request) {
  return ssca2_spec(request.scale, static_cast<std::uint64_t>(request.seed));
}

/// So many sources of kernel 4 among the vertices that can be one.
std::vector<Vertex> draw_sources_for(const Ssca2Request& request, std::vector<Vertex> able) {
  const Size wanted = request.sources > 0 ? request.sources : Size{1} << std::min(request.scale, 10);
  return draw_sources(std::move(able), wanted, static_cast<std::uint64_t>(request.seed));
}

std::vector<Vertex> with_successors(const Graph& graph) {
  std::vector<Vertex> able;
  for (Vertex v = 0; v < graph.vertices; ++v)
    if (graph.out_degree(v) > 0) able.push_back(v);
  return able;
}

/// A graph ready for kernel 4.
struct Prepared {
  OrderedGraph graph;
  std::vector<Vertex> sources;
};

/// All before kernel 4's sweeps, on a device.
Prepared prepare(const Ssca2Request& request, Device& device, Ssca2Result& result) {
  Prepared prepared;
  Clock clock;
  const RmatSpec spec = spec_of(request);
  DeviceSsca2 made(spec, device);
  result.generate_seconds = clock.lap();
  result.loops = made.build();
  result.kernel1_seconds = clock.lap();
  const std::vector<Arc> heaviest = made.heaviest_arcs();
  result.kernel2_seconds = clock.lap();
  const SubgraphCounts subgraphs = made.count_subgraphs(heaviest);
  result.kernel3_seconds = clock.lap();
  result.subgraph_vertices = subgraphs.vertices;
  result.subgraph_arcs = subgraphs.arcs;
  result.tuples = spec.degree << spec.scale;
  result.arcs = made.arcs();
  result.heaviest = static_cast<Size>(heaviest.size());
  prepared.sources = draw_sources_for(request, made.with_successors());
  clock.lap();
  BuildCounts counts;
  prepared.graph = made.order(request.multi_edges, prepared.sources, counts);
  result.filtered = counts.filtered;
  result.doubles = counts.doubles;
  result.setup_seconds = clock.lap();
  return prepared;
}

/// The same on the host.
Prepared prepare(const Ssca2Request& request, const ParallelFor& parallel, Ssca2Result& result) {
  Prepared prepared;
  Clock clock;
  ArcList list = generate_rmat(spec_of(request), parallel);
  result.generate_seconds = clock.lap();
  BuildOptions options;
  options.multi_edges = MultiEdges::paths;
  options.keep_weights = true;
  BuildCounts counts;
  Graph graph = build_graph(list, options, parallel, &counts);
  result.kernel1_seconds = clock.lap();
  const std::vector<Arc> heaviest = heaviest_arcs(graph, parallel);
  result.kernel2_seconds = clock.lap();
  for (const Subgraph& s : subgraphs_around(graph, heaviest, 3, parallel)) {
    result.subgraph_vertices += static_cast<Size>(s.vertices.size());
    result.subgraph_arcs += s.arcs;
  }
  result.kernel3_seconds = clock.lap();
  result.tuples = list.size();
  result.loops = counts.loops;
  result.arcs = graph.arcs();
  result.heaviest = static_cast<Size>(heaviest.size());
  std::vector<Vertex> sources = draw_sources_for(request, with_successors(graph));
  clock.lap();
  options = {};
  options.multi_edges = request.multi_edges;
  options.leave_out_eighths = true;
  graph = {};  // memory has room for one of them beside the list
  graph = build_graph(list, options, parallel, &counts);
  list = {};
  result.filtered = counts.filtered;
  result.doubles = counts.doubles;
  prepared.graph = order_by_degree(graph, parallel);
  for (const Vertex s : sources) prepared.sources.push_back(prepared.graph.new_name[s]);
  if (sources.size() > 64) group_sources(prepared.graph, prepared.sources, parallel);
  result.setup_seconds = clock.lap();
  return prepared;
}

/// The names of all devices of all ranks.
std::string names_of(const DeviceSet& devices, const Comm& comm) {
  std::string names, all;
  for (const auto& device : devices.devices) names += (names.empty() ? "" : ", ") + device->name();
  for (const std::string& text : comm.all_gather_text(names)) all += (all.empty() ? "" : "; ") + text;
  return all;
}

/// The generator and kernels 1 to 3 where no rank has the whole graph; the arcs of this rank's vertices are left.
ArcShare first_kernels_of_share(const Ssca2Request& request, const VertexOwners& owners, const Comm& comm,
                                const ParallelFor& parallel, std::vector<Vertex>& sources, Ssca2Result& result) {
  Clock clock;
  const RmatSpec spec = spec_of(request);
  const Size tuples = spec.degree << spec.scale;
  ArcList piece;
  comm.together([&] {
    piece = generate_rmat(spec, tuples * comm.rank() / comm.size(), tuples * (comm.rank() + 1) / comm.size(), parallel);
  });
  result.generate_seconds = comm.max(clock.lap());
  ArcShare share = share_arcs(comm, piece, owners, true, parallel);
  piece = {};
  BuildOptions options;
  options.multi_edges = MultiEdges::paths;
  options.keep_weights = true;
  BuildCounts counts;
  Graph graph;
  comm.together([&] { graph = build_graph(share.outgoing, share.incoming, options, parallel, &counts); });
  result.kernel1_seconds = comm.max(clock.lap());
  const std::vector<Arc> heaviest = heaviest_arcs(comm, graph, parallel);
  result.kernel2_seconds = comm.max(clock.lap());
  const SubgraphCounts subgraphs = count_subgraphs(comm, graph, owners, heaviest);
  result.kernel3_seconds = comm.max(clock.lap());
  result.subgraph_vertices = subgraphs.vertices;
  result.subgraph_arcs = subgraphs.arcs;
  result.vertices = graph.vertices;
  result.tuples = tuples;
  result.loops = comm.sum(counts.loops);
  result.arcs = comm.sum(graph.arcs());
  result.heaviest = static_cast<Size>(heaviest.size());
  sources = draw_sources_for(request, all_of(comm, with_successors(graph)));
  return share;
}

/// Kernel 4's graph, cut into parts, and its sources by their names there.
std::vector<GraphPart> prepare_parts(const Ssca2Request& request, ArcShare share, const VertexOwners& owners,
                                     const Comm& comm, const ParallelFor& parallel, std::vector<Vertex>& sources,
                                     Ssca2Result& result) {
  BuildOptions options;
  options.multi_edges = request.multi_edges;
  options.leave_out_eighths = true;
  BuildCounts counts;
  Graph graph;
  comm.together([&] {
    graph = build_graph(share.outgoing, share.incoming, options, parallel, &counts);
    share = {};
  });
  result.filtered = comm.sum(counts.filtered);
  result.doubles = comm.sum(counts.doubles);
  result.kernel4_arcs = comm.sum(graph.arcs());
  Size with_successors = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) with_successors += graph.out_degree(v) > 0 ? 1 : 0;
  result.without_successors = graph.vertices - comm.sum(with_successors);
  return order_and_cut(comm, std::move(graph), owners, parallel, sources).parts;
}

/// All of it in parts.
Ssca2Result run_in_parts(const Ssca2Request& request, DeviceSet& devices, const Comm& comm) {
  const ParallelFor parallel = parallel_for(*devices.threads);
  const VertexOwners owners = deal_out(comm, devices);
  Ssca2Result result;
  result.scale = request.scale;
  result.in_parts = true;
  result.maker = "cpu";
  std::vector<Vertex> sources;
  ArcShare share = first_kernels_of_share(request, owners, comm, parallel, sources, result);
  Clock clock;
  result.sources = static_cast<Size>(sources.size());
  std::vector<GraphPart> parts = prepare_parts(request, std::move(share), owners, comm, parallel, sources, result);
  Betweenness work(std::move(parts), static_cast<Vertex>(result.vertices), devices, comm, result.sources);
  BetweennessState state = work.begin();
  result.setup_seconds = clock.lap();
  work.add(sources, result.sources, state);
  result.seconds = clock.lap();
  result.reached = state.reached;
  for (const DeltaSum& sum : state.sums) result.max_betweenness = std::max(result.max_betweenness, sum.value());
  result.bytes_sent = comm.sum(work.bytes_sent());
  result.exchange_seconds = comm.max(work.exchange_seconds());
  result.devices = names_of(devices, comm);
  return result;
}

/// Whether vertices are in parts. Error(resource): the host's memory has no room.
bool choose_parts(const Ssca2Request& request, const DeviceSet& devices, const Comm& comm) {
  const Size vertices = Size{1} << request.scale, tuples = 8 * vertices, there = host_memory(comm);
  // Of a rank: the list and the rows with weights, while the sorted entries are still there; in parts the list in three
  // pieces, and of all vertices sums, degrees, names, owners and distances to hubs.
  const Size whole = 44 * tuples + 60 * vertices, part = 64 * tuples / comm.size() + 100 * vertices;
  bool parts = request.placement == Placement::parts;
  // Kernel 4 leaves out an eighth of the arcs.
  if (request.placement == Placement::automatic)
    parts = needs_parts(bytes_of_copy(vertices, tuples / 8 * 7, true), devices, comm) ||
            comm.max(whole > there ? 1 : 0) > 0;
  comm.together([&] {
    if ((parts ? part : whole) > there)
      fail(ErrorKind::resource,
           "scale {} takes about {} of memory per rank, and a rank has {}; choose a smaller scale{}", request.scale,
           format_bytes(static_cast<double>(parts ? part : whole)), format_bytes(static_cast<double>(there)),
           parts ? ", or ranks on more hosts" : ", or --placement parts");
  });
  return parts;
}

}  // namespace

double Ssca2Result::teps() const {
  return 7.0 * static_cast<double>(vertices) * static_cast<double>(sources) / seconds;
}
double Ssca2Result::edges_sources_per_second() const {
  return static_cast<double>(kernel4_arcs) * static_cast<double>(sources) / seconds;
}
double Ssca2Result::reached_edges_per_second() const {
  return static_cast<double>(reached) / seconds;
}

Ssca2Result run_ssca2(const Ssca2Request& request, DeviceSet& devices, const Comm& comm) {
  if (choose_parts(request, devices, comm)) return run_in_parts(request, devices, comm);
  Ssca2Result result;
  result.scale = request.scale;
  Prepared prepared;
  comm.together([&] {
    if (Device* maker = device_with_room(devices, DeviceSsca2::bytes(spec_of(request)))) {
      prepared = prepare(request, *maker, result);
      result.maker = maker->name();
    } else {
      prepared = prepare(request, parallel_for(*devices.threads), result);
      result.maker = "cpu";
    }
  });
  const OrderedGraph& graph = prepared.graph;
  const std::vector<Vertex>& sources = prepared.sources;
  result.vertices = graph.graph.vertices;
  result.kernel4_arcs = graph.graph.arcs();
  result.without_successors = graph.graph.vertices - static_cast<Size>(with_successors(graph.graph).size());
  result.sources = static_cast<Size>(sources.size());
  Clock clock;
  Betweenness work(graph, devices, comm, result.sources, Sweep::automatic, request.placement);
  BetweennessState state = work.begin();
  result.setup_seconds += clock.lap();
  work.add(sources, result.sources, state);
  result.seconds = clock.lap();
  result.reached = state.reached;
  result.in_parts = work.in_parts();
  result.bytes_sent = comm.sum(work.bytes_sent());
  result.exchange_seconds = comm.max(work.exchange_seconds());
  for (const double value : values_of(state, graph)) result.max_betweenness = std::max(result.max_betweenness, value);
  result.devices = names_of(devices, comm);
  return result;
}

std::string describe(const Ssca2Result& r) {
  std::string text =
      fmt::format("SSCA#2 v2.2, scale {}: {} vertices, {} arcs ({} self-loops left out), on {}\n", r.scale,
                  format_count(r.vertices), format_count(r.tuples), format_count(r.loops), r.devices);
  text += fmt::format("generator   {:>10.4g} s  on {}\n", r.generate_seconds, r.maker);
  text += fmt::format("kernel 1    {:>10.4g} s  rows in both directions\n", r.kernel1_seconds);
  text += fmt::format("kernel 2    {:>10.4g} s  {} arcs of the largest weight\n", r.kernel2_seconds,
                      format_count(r.heaviest));
  text += fmt::format("kernel 3    {:>10.4g} s  {} vertices, {} arcs followed in their subgraphs\n", r.kernel3_seconds,
                      format_count(r.subgraph_vertices), format_count(r.subgraph_arcs));
  text += fmt::format(
      "kernel 4    {:>10.4g} s  {} sources, {} arcs ({} left out by weight, {} doubles), and {:.4g} s to prepare it\n",
      r.seconds, format_count(r.sources), format_count(r.kernel4_arcs), format_count(r.filtered),
      format_count(r.doubles), r.setup_seconds);
  text += fmt::format(
      "{:.4g} GTEPS (7 N sources / time), {:.4g} G edges x sources per second, {:.4g} G of them reached; {:.4g} GTEPS "
      "with the preparation",
      r.teps() * 1e-9, r.edges_sources_per_second() * 1e-9, r.reached_edges_per_second() * 1e-9,
      r.teps() * 1e-9 * r.seconds / (r.seconds + r.setup_seconds));
  return text;
}

std::string json_of(const Ssca2Result& r) {
  const nlohmann::ordered_json json = {
      {"benchmark", "ssca2 v2.2"},
      {"scale", r.scale},
      {"vertices", r.vertices},
      {"tuples", r.tuples},
      {"self_loops", r.loops},
      {"sources", r.sources},
      {"devices", r.devices},
      {"generated_on", r.maker},
      {"teps", r.teps()},
      {"teps_with_setup", r.teps() * r.seconds / (r.seconds + r.setup_seconds)},
      {"edges_sources_per_second", r.edges_sources_per_second()},
      {"reached_edges_per_second", r.reached_edges_per_second()},
      {"seconds", r.seconds},
      {"setup_seconds", r.setup_seconds},
      {"generate_seconds", r.generate_seconds},
      {"kernel1", {{"seconds", r.kernel1_seconds}, {"arcs", r.arcs}}},
      {"kernel2", {{"seconds", r.kernel2_seconds}, {"arcs", r.heaviest}}},
      {"kernel3", {{"seconds", r.kernel3_seconds}, {"vertices", r.subgraph_vertices}, {"arcs", r.subgraph_arcs}}},
      {"kernel4",
       {{"seconds", r.seconds},
        {"arcs", r.kernel4_arcs},
        {"left_out_by_weight", r.filtered},
        {"doubles", r.doubles},
        {"placement", r.in_parts ? "parts" : "copies"},
        {"bytes_sent", r.bytes_sent},
        {"exchange_seconds", r.exchange_seconds},
        {"without_successors", r.without_successors},
        {"max_betweenness", r.max_betweenness}}}};
  return json.dump(2) + "\n";
}

}  // namespace tutti::graph
