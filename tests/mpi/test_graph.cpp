// Betweenness over ranks: the same bits as on one.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/shared_folder.hpp"
#include "tests/support/slow_betweenness.hpp"
#include "tutti/models/graph/betweenness/betweenness.hpp"
#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/files/graph_pieces.hpp"
#include "tutti/models/graph/generate.hpp"
#include "tutti/models/graph/measure.hpp"
#include "tutti/models/graph/ssca2.hpp"

namespace tutti::graph {
namespace {

BetweennessState run(const OrderedGraph& graph, const std::vector<Vertex>& sources, const Comm& comm,
                     const std::string& devices, Size portion, Placement placement = Placement::automatic) {
  DeviceOptions options;
  options.threads = 1;
  DeviceSet set = open_devices(devices, comm, options);
  const auto all = static_cast<Size>(sources.size());
  Betweenness work(graph, set, comm, all, Sweep::automatic, placement);
  BetweennessState state = work.begin();
  while (state.done < all) work.add(sources, std::min(all, state.done + portion), state);
  return state;
}

TEST(GraphOverRanks, BetweennessHasTheSameBits) {
  const Comm world, alone(MPI_COMM_SELF);
  for (const bool grid : {false, true}) {
    const ArcList list = grid ? generate_grid(1, 200) : generate_rmat(ssca2_spec(8, 3));
    const Graph graph = build_graph(list, {});
    const OrderedGraph ordered = order_by_degree(graph);
    const std::vector<Vertex> sources = draw_sources(ordered.graph, 150, 9);
    const BetweennessState one = run(ordered, sources, alone, "cpu", 1000);
    EXPECT_LE(difference(values_of(one, ordered),
                         [&] {
                           std::vector<Vertex> before;
                           for (const Vertex s : sources)
                             for (Vertex v = 0; v < graph.vertices; ++v)
                               if (ordered.new_name[v] == s) before.push_back(v);
                           return slow_betweenness(graph, before);
                         }()),
              1e-13);
    for (const char* devices : {"cpu", "fake:1", "fake:1,cpu"})
      for (const Size portion : {1000, 33}) {
        SCOPED_TRACE(devices);
        const BetweennessState many = run(ordered, sources, world, devices, portion);
        EXPECT_EQ(many.sums, one.sums);
        EXPECT_EQ(many.reached, one.reached);
        EXPECT_EQ(many.done, 150);
      }
  }
}

/// Vertices in parts of METIS, of which some are empty, and path counts beyond double.
TEST(GraphOverRanks, PartsHaveTheBitsOfCopies) {
  const Comm world, alone(MPI_COMM_SELF);
  const auto check = [&](const Graph& graph, const char* what, const char* devices = "cpu") {
    SCOPED_TRACE(what);
    const OrderedGraph ordered = order_by_degree(graph);
    const std::vector<Vertex> sources = draw_sources(ordered.graph, 20, 9);
    const BetweennessState one = run(ordered, sources, alone, "cpu", 1000);
    const BetweennessState parts = run(ordered, sources, world, devices, 13, Placement::parts);
    EXPECT_EQ(parts.sums, one.sums);
    EXPECT_EQ(parts.reached, one.reached);
  };
  check(build_graph(generate_rmat(ssca2_spec(7, 3)), {}), "directed R-MAT", "fake:2");
  BuildOptions undirected;
  undirected.directed = false;
  undirected.multi_edges = MultiEdges::paths;
  for (const char* devices : {"cpu", "fake:2", "fake:3,cpu"})
    check(build_graph(generate_rmat(ssca2_spec(7, 4)), undirected), "undirected R-MAT with multi-edges", devices);
  check(build_graph(generate_grid(1, 20), {}), "path");
  check(build_graph(generate_grid(1, 90), {}), "more levels than a device's batch has room for", "fake:2");
  check(build_graph(generate_grid(1, 2), {}), "fewer vertices than parts", "fake:2");
  check(build_graph(generate_grid(1, 1), {}), "one vertex");
  check(build_graph(ArcList{}, {}), "no vertex");
  // 100 rows of two vertices, 1024 arcs from each to each of the next two: 2^11 times as many paths a row, 2^1089 in
  // all.
  ArcList ladder;
  ladder.vertices = 2 * 100;
  for (Vertex v = 0; v + 2 < ladder.vertices; v += 2)
    for (const Vertex a : {v, v + 1})
      for (const Vertex b : {v + 2, v + 3})
        for (int copy = 0; copy < 1024; ++copy) ladder.arcs.push_back({a, b});
  BuildOptions paths;
  paths.multi_edges = MultiEdges::paths;
  const OrderedGraph ordered = order_by_degree(build_graph(ladder, paths));
  const std::vector<Vertex> first{ordered.new_name[0], ordered.new_name[1]};
  const BetweennessState one = run(ordered, first, alone, "cpu", 2);
  EXPECT_GT(values_of(one, ordered)[2], 50);
  for (const char* devices : {"cpu", "fake:2"})
    EXPECT_EQ(run(ordered, first, world, devices, 2, Placement::parts).sums, one.sums);
}

/// Devices of a rank that do not reach each other, and several batches.
TEST(GraphOverRanks, PartsThatPackTheirMessages) {
  const Comm world, alone(MPI_COMM_SELF);
  const OrderedGraph ordered = order_by_degree(build_graph(generate_rmat(ssca2_spec(9, 5)), {}));
  const std::vector<Vertex> sources = draw_sources(ordered.graph, 150, 9);
  const BetweennessState one = run(ordered, sources, alone, "cpu", 1000);
  for (const bool peer : {false, true}) {
    DeviceOptions options;
    options.threads = 1;
    options.fake.peer = peer;
    DeviceSet set = open_devices("fake:2", world, options);
    Betweenness work(ordered, set, world, 150, Sweep::automatic, Placement::parts);
    BetweennessState state = work.begin();
    work.add(sources, 150, state);
    EXPECT_EQ(state.sums, one.sums);
    EXPECT_EQ(state.reached, one.reached);
  }
}

/// A device that has no room for a copy gets a part.
TEST(GraphOverRanks, PartsAreChosenByMemory) {
  const Comm world, alone(MPI_COMM_SELF);
  const Graph graph = build_graph(generate_grid(40, 12), {});
  const OrderedGraph ordered = order_by_degree(graph);
  const std::vector<Vertex> sources{0, 333};
  DeviceOptions options;
  options.threads = 1;
  options.fake.memory = bytes_of_copy(ordered.graph) - 1;  // on one rank, two parts
  DeviceSet set = open_devices("fake:2", world, options);
  Betweenness work(ordered, set, world, 8);
  EXPECT_TRUE(work.in_parts());
  BetweennessState state = work.begin();
  work.add(sources, 2, state);
  EXPECT_EQ(state.sums, run(ordered, sources, alone, "cpu", 2).sums);
  options.fake.memory = Size{512} << 20;
  DeviceSet large = open_devices("fake:1", world, options);
  EXPECT_FALSE(Betweenness(ordered, large, world, 8).in_parts());
}

/// Ranks whose devices are lost, or have no memory, end all others in order.
TEST(GraphOverRanks, OneRanksErrorIsEveryones) {
  const Comm world;
  const Graph graph = build_graph(generate_rmat(ssca2_spec(8, 3)), {});
  const OrderedGraph ordered = order_by_degree(graph);
  const std::vector<Vertex> sources = draw_sources(ordered.graph, 100, 9);
  DeviceOptions options;
  options.threads = 1;
  options.fake.fail_after_launches = world.rank() == world.size() - 1 ? 5 : -1;
  DeviceSet set = open_devices("fake:1", world, options);
  EXPECT_THROW(
      {
        Betweenness work(ordered, set, world, 100);
        BetweennessState state = work.begin();
        work.add(sources, 100, state);
      },
      Error);
  options.fake = {};
  options.fake.memory = world.rank() == 0 ? 100 : Size{512} << 20;
  DeviceSet small = open_devices("fake:1", world, options);
  EXPECT_THROW(Betweenness(ordered, small, world, 100), Error);
  EXPECT_THROW(Betweenness(ordered, small, world, 100, Sweep::automatic, Placement::copies), Error);
  // The same of vertices in parts, whose device is lost between two levels.
  options.fake = {};
  options.fake.fail_after_launches = world.rank() == world.size() - 1 ? 20 : -1;
  DeviceSet lost = open_devices("fake:1", world, options);
  EXPECT_THROW(
      {
        Betweenness work(ordered, lost, world, 100, Sweep::automatic, Placement::parts);
        BetweennessState state = work.begin();
        work.add(sources, 100, state);
      },
      Error);
}

/// All ranks' pieces of a file, one after the other, are its list.
TEST(GraphOverRanks, PiecesOfFiles) {
  const Comm world;
  const test::SharedFolder folder(world, "graph_pieces");
  if (world.is_root()) {
    std::filesystem::create_directories(folder.path);
    ArcList list = generate_rmat(ssca2_spec(6, 3));
    write_graph(list, folder.path / "weights.el");
    list.names.first = 77;
    write_graph(list, folder.path / "names.el");
    list.weights.clear();
    write_graph(list, folder.path / "directed.sg");
    write_graph(generate_grid(1, 3), folder.path / "path.el");
    std::ofstream(folder.path / "empty.el");
    std::ofstream(folder.path / "gaps.el") << "# comment\n\n5 900000000000 1\n"
                                           << std::string(300, ' ') << "\n7 5 2\n9 9 3";
  }
  world.barrier();
  for (const char* name : {"weights.el", "names.el", "directed.sg", "path.el", "empty.el", "gaps.el"}) {
    SCOPED_TRACE(name);
    const ArcList whole = read_graph(folder.path / name), piece = read_graph_piece(world, folder.path / name);
    EXPECT_EQ(piece.vertices, whole.vertices);
    EXPECT_EQ(piece.both_ways, whole.both_ways);
    EXPECT_EQ(piece.names.first, whole.names.first);
    EXPECT_EQ(piece.names.ids, whole.names.ids);
    const auto arcs = world.all_gather(std::span<const Arc>(piece.arcs));
    EXPECT_TRUE(std::ranges::equal(arcs, whole.arcs));
    const auto weights = world.all_gather(std::span<const double>(piece.weights));
    EXPECT_TRUE(std::ranges::equal(weights, whole.weights));
  }
  EXPECT_FALSE(has_pieces(folder.path / "a.mtx"));
}

TEST(GraphOverRanks, BenchmarkAndMeasures) {
  const Comm world;
  DeviceOptions options;
  options.threads = 1;
  DeviceSet set = open_devices("cpu", world, options);
  Ssca2Request request;
  request.scale = 7;
  const Ssca2Result result = run_ssca2(request, set, world);
  EXPECT_EQ(result.vertices, 128);
  EXPECT_EQ(result.tuples, 1024);
  EXPECT_GT(result.sources, 100);
  EXPECT_EQ(world.sum(result.reached), result.reached * world.size());
  EXPECT_NE(json_of(result).find("\"teps\""), std::string::npos);
  // The same where no rank has the whole graph, on threads and on devices.
  for (const char* list : {"cpu", "fake:2"})
    for (const MultiEdges multi_edges : {MultiEdges::paths, MultiEdges::simple}) {
      SCOPED_TRACE(list);
      DeviceSet other = open_devices(list, world, options);
      request.multi_edges = multi_edges;
      request.placement = Placement::copies;
      const Ssca2Result whole = run_ssca2(request, set, world);
      request.placement = Placement::parts;
      const Ssca2Result parts = run_ssca2(request, other, world);
      EXPECT_TRUE(parts.in_parts);
      EXPECT_EQ(parts.max_betweenness, whole.max_betweenness);
      const auto counts = [](const Ssca2Result& r) {
        return std::vector<Size>{r.vertices,
                                 r.tuples,
                                 r.sources,
                                 r.loops,
                                 r.arcs,
                                 r.filtered,
                                 r.doubles,
                                 r.kernel4_arcs,
                                 r.heaviest,
                                 r.reached,
                                 r.without_successors,
                                 r.subgraph_vertices,
                                 r.subgraph_arcs};
      };
      EXPECT_EQ(counts(parts), counts(whole));
    }

  const test::SharedFolder folder(world, "graph");
  const std::string file = (folder.path / "star.el").string();
  if (world.is_root()) {
    std::filesystem::create_directories(folder.path);
    std::ofstream(file) << "5 7\n5 9\n5 11\n";
  }
  world.barrier();
  MeasureRequest star;
  star.file = file;
  EXPECT_EQ(measure(star, set, world).values, (std::vector<double>{6, 0, 0, 0}));
  star.measure = Measure::components;
  EXPECT_EQ(measure(star, set, world).labels, (std::vector<Gid>{5, 5, 5, 5}));
  star.measure = Measure::closeness;
  EXPECT_EQ(measure(star, set, world).values[0], 1);
  star.sources = file;
  EXPECT_THROW(measure(star, set, world), Error);
}

}  // namespace
}  // namespace tutti::graph
