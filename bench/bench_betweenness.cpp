// Betweenness on one worker at a time, without what prepares it: a CPU thread, the loops that every device runs, and
// the kernels made for GPUs.
//
// usage: bench_betweenness GRAPH [SOURCES] [WORKER ...]
//   GRAPH    ssca2:S, kronecker:S, grid:N (N x N vertices), grid:RxC, torus:N or torus:RxC, mixed:N (the grid with its
//            vertices named at random), oneway:N (its edges lead right and down, with one in eight back)
//   SOURCES  default 1024
//   WORKER   thread, cuda (kernels made for GPUs), portable (on cuda:0); default: thread, and cuda where there is a GPU
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "tutti/models/graph/betweenness/source_worker.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/generate.hpp"

using namespace tutti;
using namespace tutti::graph;

namespace {

Graph make_graph(const std::string& text) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const int size = colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 1);
  BuildOptions options;
  if (kind == "ssca2") {
    options.leave_out_eighths = true;
    return build_graph(generate_rmat(ssca2_spec(size, 1)), options);
  }
  options.directed = kind == "oneway";
  if (kind == "kronecker") return build_graph(generate_rmat(kronecker_spec(size, 1)), options);
  const auto times = text.find('x', colon + 1);
  const int columns = times == std::string::npos ? size : std::atoi(text.c_str() + times + 1);
  if (kind == "grid") return build_graph(generate_grid(size, columns), options);
  if (kind == "torus") return build_graph(generate_torus(size, columns), options);
  if (kind == "mixed" || kind == "oneway") {
    ArcList list = generate_grid(size, columns);
    if (kind == "mixed") {
      std::vector<Vertex> name(list.vertices);
      std::iota(name.begin(), name.end(), 0);
      std::shuffle(name.begin(), name.end(), std::mt19937(1));
      for (Arc& a : list.arcs) a = {name[a.from], name[a.to]};
    } else {
      const auto leads_back = [](const Arc& a) { return a.to < a.from && (a.from * 2654435761u >> 29) != 0; };
      list.arcs.resize(std::remove_if(list.arcs.begin(), list.arcs.end(), leads_back) - list.arcs.begin());
      list.both_ways = false;
    }
    return build_graph(list, options);
  }
  fail(ErrorKind::usage, "{}: no such graph", text);
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void measure(const std::string& name, SourceWorker& worker, double made, const OrderedGraph& ordered,
             const std::vector<Vertex>& sources) {
  double best = 1e300, collected = 0;
  Size reached = 0;
  std::vector<DeltaSum> sums;
  for (int repetition = 0; repetition < 3; ++repetition) {
    sums.assign(ordered.graph.vertices, {});
    reached = 0;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t first = 0; first < sources.size();) {
      const auto count = std::min(sources.size() - first, static_cast<std::size_t>(worker.most()));
      worker.add(std::span(sources).subspan(first, count));
      first += count;
    }
    best = std::min(best, milliseconds_since(start) * 1e-3);
    const auto swept = std::chrono::steady_clock::now();
    take_all({}, std::vector{worker.take_sums(reached)}, sums);
    collected = milliseconds_since(swept);
  }
  std::uint64_t bits = 0;  // equal sums of all workers show as equal numbers
  for (const DeltaSum& s : sums)
    bits = bits * 31 + static_cast<std::uint64_t>(s.high) * 7 + static_cast<std::uint64_t>(s.middle) * 5 +
           static_cast<std::uint64_t>(s.low);
  const auto per_second = [&](double count) { return count / best * 1e-9; };
  const auto n = static_cast<double>(sources.size());
  fmt::print(
      "{:<10} {:>10.3f} ms  {:>9.3f} GTEPS (7 N)  {:>9.3f} G edges x sources/s  {:>9.3f} G reached/s  sums {:016x}  "
      "made in {:.1f} ms, collected in {:.1f} ms\n",
      name, best * 1e3, per_second(7.0 * ordered.graph.vertices * n),
      per_second(static_cast<double>(ordered.graph.arcs()) * n), per_second(static_cast<double>(reached)), bits, made,
      collected);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2)
      fail(ErrorKind::usage,
           "usage: bench_betweenness GRAPH [SOURCES] [WORKER ...]; the head of the source has the graphs");
    const Graph graph = make_graph(argv[1]);
    const Size count = argc > 2 ? std::atoll(argv[2]) : 1024;
    std::vector<std::string> workers(argv + std::min(argc, 3), argv + argc);
    if (workers.empty()) {
      workers = {"thread"};
      if (cuda_device_count() > 0) workers.emplace_back("cuda");
    }
    const auto start = std::chrono::steady_clock::now();
    const OrderedGraph ordered = order_by_degree(graph);
    const double order = milliseconds_since(start);
    std::vector<Vertex> sources = draw_sources(ordered.graph, count, 1);
    group_sources(ordered, sources);
    fmt::print("{}: {} vertices, {} arcs, {} sources, {} levels, ordered in {:.1f} ms\n", argv[1], graph.vertices,
               graph.arcs(), sources.size(), ordered.depth, order);
    for (const std::string& name : workers) {
      Budget budget("cpu", Size{1} << 60);
      const auto device = name == "thread" ? nullptr : make_cuda_device(0);
      const auto begin = std::chrono::steady_clock::now();
      const auto worker = name == "thread"
                              ? make_thread_worker(ordered, budget, count, Sweep::automatic)
                              : make_device_worker(ordered, *device, count, Sweep::automatic, name == "portable");
      measure(name, *worker, milliseconds_since(begin), ordered, sources);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "bench_betweenness: {}\n", error.what());
    return error.exit_code();
  }
  return 0;
}
