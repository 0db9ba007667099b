// Betweenness on threads and devices against the slow one, closed forms, and each other, bit for bit. In test_gpu the
// devices are GPUs.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>

#include "tests/support/slow_betweenness.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/random.hpp"
#include "tutti/models/graph/betweenness/betweenness.hpp"
#include "tutti/models/graph/betweenness/lane_batch.hpp"
#include "tutti/models/graph/betweenness/wide_number.hpp"
#include "tutti/models/graph/generate.hpp"

namespace tutti::graph {
namespace {

#if defined(TUTTI_TEST_GPU)
constexpr const char* one_device = "cuda:0";
constexpr const char* many_devices = "cuda:0,cpu";
#else
constexpr const char* one_device = "fake:1";
constexpr const char* many_devices = "fake:2,cpu";
#endif

struct Result {
  std::vector<double> values;
  BetweennessState state;
};

Result run(const Graph& graph, const std::vector<Vertex>& sources, const std::string& devices, int threads = 2,
           Sweep sweep = Sweep::automatic, Size portion = 0, Placement placement = Placement::automatic) {
  DeviceOptions options;
  options.threads = threads;
  test::world();
  const Comm comm(MPI_COMM_SELF);
  DeviceSet set = open_devices(devices, comm, options);
  const OrderedGraph ordered = order_by_degree(graph, parallel_for(*set.threads));
  std::vector<Vertex> list;
  for (const Vertex s : sources) list.push_back(ordered.new_name[s]);
  Betweenness work(ordered, set, comm, static_cast<Size>(list.size()), sweep, placement);
  BetweennessState state = work.begin();
  const auto all = static_cast<Size>(list.size());
  if (portion == 0) portion = all;
  do work.add(list, std::min(all, state.done + portion), state);
  while (state.done < all);
  return {values_of(state, ordered), state};
}

Graph graph_of(const ArcList& list, bool directed = true, MultiEdges multi_edges = MultiEdges::simple) {
  BuildOptions options;
  options.directed = directed;
  options.multi_edges = multi_edges;
  return build_graph(list, options);
}

ArcList arcs_of(Vertex vertices, const std::vector<Arc>& arcs) {
  ArcList list;
  list.vertices = vertices;
  list.arcs.assign(arcs.begin(), arcs.end());
  return list;
}

ArcList random_arcs(Vertex vertices, Size count, std::uint64_t seed) {
  ArcList list;
  list.vertices = vertices;
  const auto draw = [&](std::uint64_t k) {
    return static_cast<Vertex>(random_bits(seed, k) % static_cast<std::uint64_t>(vertices));
  };
  for (Size i = 0; i < count; ++i) {
    const auto k = 2 * static_cast<std::uint64_t>(i);
    list.arcs.push_back({draw(k), draw(k + 1)});
  }
  return list;
}

void expect_everywhere(const Graph& graph, const std::vector<Vertex>& sources, double tolerance = 1e-13) {
  const Result first = run(graph, sources, "cpu", 1);
  EXPECT_LE(difference(first.values, slow_betweenness(graph, sources)), tolerance);
  for (const char* devices : {"cpu", one_device})
    for (const Sweep sweep : {Sweep::automatic, Sweep::batches, Sweep::one_by_one}) {
      SCOPED_TRACE(std::string(devices) + ", sweep " + std::to_string(static_cast<int>(sweep)));
      const Result other = run(graph, sources, devices, 2, sweep);
      EXPECT_EQ(other.values, first.values);
      EXPECT_EQ(other.state.sums, first.state.sums);
      EXPECT_EQ(other.state.reached, first.state.reached);
    }
}

/// Vertices in parts, some of them of other devices; hubs, several batches, levels that are pushed and pulled.
TEST(Betweenness, PartsHaveTheBitsOfCopies) {
  std::vector<std::string> lists{"cpu", many_devices};
#if defined(TUTTI_TEST_GPU)
  if (cuda_device_count() > 1) lists.push_back("cuda:0,cuda:1");
#endif
  for (const bool directed : {true, false})
    for (const bool rmat : {false, true}) {
      const Graph graph =
          graph_of(rmat ? generate_rmat(ssca2_spec(10, 7)) : random_arcs(150, 500, 7), directed, MultiEdges::paths);
      const std::vector<Vertex> sources = draw_sources(graph, rmat ? 150 : 30, 3);
      const Result first = run(graph, sources, "cpu", 1);
      for (const std::string& devices : lists) {
        SCOPED_TRACE(devices);
        const Result parts = run(graph, sources, devices, 2, Sweep::automatic, rmat ? 0 : 17, Placement::parts);
        EXPECT_EQ(parts.state.sums, first.state.sums);
        EXPECT_EQ(parts.state.reached, first.state.reached);
      }
    }
}

TEST(Betweenness, IsThatOfTheSlowOneOnRandomGraphs) {
  for (const std::uint64_t seed : {1, 2, 3})
    for (const bool directed : {true, false})
      for (const MultiEdges multi_edges : {MultiEdges::simple, MultiEdges::paths}) {
        SCOPED_TRACE(seed);
        const Graph graph = graph_of(random_arcs(150, 400 * static_cast<Size>(seed), seed), directed, multi_edges);
        expect_everywhere(graph, all_vertices(graph));
      }
}

TEST(Betweenness, IsThatOfTheSlowOneOnRmatGraphs) {
  for (const int scale : {1, 4, 9}) {
    SCOPED_TRACE(scale);
    const Graph graph = graph_of(generate_rmat(ssca2_spec(scale, 7)), true, MultiEdges::paths);
    expect_everywhere(graph, draw_sources(graph, 100, 5));
  }
}

/// Hubs have more arcs than a piece, in both directions.
TEST(Betweenness, HubsAreSummedInPieces) {
  ArcList list = random_arcs(900, 3000, 4);
  for (Vertex v = 1; v < 900; ++v) {
    list.arcs.push_back({0, v});
    if (v % 2 == 0) list.arcs.push_back({v, 1});
  }
  const Graph graph = graph_of(list, true, MultiEdges::paths);
  ASSERT_GT(graph.out_degree(0), 3 * piece_arcs);
  expect_everywhere(graph, draw_sources(graph, 70, 1));
}

TEST(Betweenness, TorusHasTheClosedForm) {
  for (const int scale : {4, 5, 8, 9}) {
    const Gid rows = Gid{1} << (scale / 2), columns = Gid{1} << (scale - scale / 2);
    const Graph graph = graph_of(generate_torus(rows, columns));
    const double n = std::pow(2.0, scale);
    const double expected =
        (scale % 2 == 0 ? 0.5 * std::pow(2.0, 1.5 * scale) : 0.75 * std::pow(2.0, (3 * scale - 1) / 2)) - n + 1;
    for (const double value : run(graph, all_vertices(graph), "cpu").values)
      EXPECT_NEAR(value, expected, 1e-12 * expected);
  }
}

TEST(Betweenness, SmallAndStrangeGraphs) {
  const Graph none = graph_of(arcs_of(0, {}));
  EXPECT_TRUE(run(none, {}, "cpu").values.empty());
  const Graph one = graph_of(arcs_of(1, {{0, 0}}));
  EXPECT_EQ(run(one, {0}, "cpu").values, std::vector<double>{0});
  const Graph isolated = graph_of(arcs_of(5, {{1, 2}}));
  expect_everywhere(isolated, all_vertices(isolated));
  // A star: every pair of leaves meets in the middle.
  ArcList star;
  star.vertices = 301;
  for (Vertex v = 1; v <= 300; ++v) star.arcs.push_back({0, v});
  const Graph undirected = graph_of(star, false);
  expect_everywhere(undirected, all_vertices(undirected));
  EXPECT_EQ(run(undirected, all_vertices(undirected), "cpu").values[0], 300.0 * 299);
  // Two triangles that do not meet, one of them a circle in one direction.
  const Graph two = graph_of(arcs_of(6, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {3, 5}}));
  expect_everywhere(two, all_vertices(two));
  EXPECT_EQ(run(two, all_vertices(two), "cpu").values, (std::vector<double>{1, 1, 1, 0, 0, 0}));
}

TEST(Betweenness, SourcesMayRepeat) {
  const Graph graph = graph_of(random_arcs(60, 200, 8));
  std::vector<Vertex> twice = all_vertices(graph);
  twice.insert(twice.end(), twice.begin(), twice.end());
  std::vector<double> doubled = run(graph, all_vertices(graph), "cpu").values;
  for (double& value : doubled) value *= 2;
  EXPECT_LE(difference(run(graph, twice, "cpu").values, doubled), 1e-15);
  expect_everywhere(graph, twice);
}

TEST(Betweenness, ALongPathTakesNoStackAndLittleTime) {
  constexpr Vertex n = 1000000;
  const Graph graph = graph_of(generate_grid(1, n));
  const Result result = run(graph, {0, n / 2}, "cpu");
  // From the end, vertex v lies before n - 1 - v others; from the middle, outwards.
  for (const Vertex v : {1, n / 4, n / 2, 3 * (n / 4), n - 2}) {
    const double from_end = n - 1 - v;
    const double from_middle = v == n / 2 ? 0 : v < n / 2 ? v : n - 1 - v;
    EXPECT_EQ(result.values[v], from_end + from_middle) << v;
  }
}

/// 2^k paths after k diamonds in a row: far beyond double's 1e308.
TEST(Betweenness, PathCountsBeyondDouble) {
  for (const Vertex diamonds : {20, 1100}) {
    ArcList list;
    list.vertices = 3 * diamonds + 1;
    for (Vertex k = 0; k < diamonds; ++k)
      for (const Arc arc : {Arc{0, 1}, Arc{0, 2}, Arc{1, 3}, Arc{2, 3}})
        list.arcs.push_back({3 * k + arc.from, 3 * k + arc.to});
    const Graph graph = graph_of(list);
    expect_everywhere(graph, {0, 3, 1});
    // From vertex 0, each of the two in diamond k lies on half of the paths to all that follow.
    const std::vector<double> values = run(graph, {0}, "cpu").values;
    for (Vertex k = 0; k < diamonds; ++k) EXPECT_EQ(values[3 * k + 1], 0.5 * (3 * (diamonds - 1 - k) + 1)) << k;
  }
}

/// A batch has room for some levels more than the vertex of the highest degree sees: not for a path that leads there.
TEST(Betweenness, AFewSourcesMayBeTooDeepForABatch) {
  ArcList list = random_arcs(150, 900, 3);
  for (Vertex v = 150; v < 190; ++v) list.arcs.push_back({v, v + 1 < 190 ? v + 1 : 0});
  list.vertices = 190;
  const Graph graph = graph_of(list);
  std::vector<Vertex> sources = all_vertices(graph);
  sources.insert(sources.end(), sources.begin(), sources.end());
  const Result first = run(graph, sources, "cpu", 1);
  for (const Size portion : {0, 190, 50})
    EXPECT_EQ(run(graph, sources, one_device, 1, Sweep::batches, portion).state.sums, first.state.sums) << portion;
}

/// Parts count with doubles until these do not suffice; what was added before stays.
TEST(Betweenness, PartsChangeTheirNumbersOnTheWay) {
  ArcList list = generate_grid(1, 10);
  const Vertex first = list.vertices;
  list.vertices += 110;  // a path of 109 edges, each there 1024 times: 2^1090 paths
  for (Vertex v = first; v + 1 < list.vertices; ++v)
    for (int copy = 0; copy < 1024; ++copy) list.arcs.push_back({v, v + 1});
  const OrderedGraph ordered = order_by_degree(graph_of(list, true, MultiEdges::paths));
  const std::vector<Vertex> sources{ordered.new_name[2], ordered.new_name[first], ordered.new_name[5]};
  test::world();
  const Comm comm(MPI_COMM_SELF);
  DeviceOptions options;
  options.threads = 1;
  DeviceSet set = open_devices("cpu", comm, options);
  std::vector<std::vector<DeltaSum>> sums;
  for (const Placement placement : {Placement::copies, Placement::parts}) {
    Betweenness work(ordered, set, comm, 1, Sweep::automatic, placement);
    BetweennessState state = work.begin();
    for (const Size until : {1, 2, 3}) work.advance(sources, until, state);
    work.collect(state);
    sums.push_back(state.sums);
  }
  EXPECT_EQ(sums[0], sums[1]);
  EXPECT_GT(sums[0][static_cast<std::size_t>(ordered.new_name[3])].value(), 0);
}

/// What a GPU's shared memory has no room for.
TEST(Betweenness, OneByOneWhereLevelsAreWideAndPathsMany) {
  // Of the highest degree is the vertex `middle`, from where levels have one vertex; vertex 0 sees one of 1000.
  const Vertex middle = 1001;
  std::vector<Arc> wide{{middle, middle + 1}, {middle + 1, middle}};
  for (Vertex v = 1; v < middle; ++v) {
    wide.push_back({0, v});
    wide.push_back({v, middle});
  }
  for (const bool directed : {true, false})
    expect_everywhere(graph_of(arcs_of(middle + 2, wide), directed), {0, 5, middle, middle + 1});
  // A path of 420 edges, each there 1024 times: 2^4200 paths from the first vertex, fewer from the others.
  ArcList many;
  many.vertices = 421;
  for (Vertex v = 0; v + 1 < many.vertices; ++v)
    for (int copy = 0; copy < 1024; ++copy) many.arcs.push_back({v, v + 1});
  for (const bool directed : {true, false}) {
    const Graph graph = graph_of(many, directed, MultiEdges::paths);
    const std::vector<Vertex> sources{300, 0, 200, 1, 420};
    const Result first = run(graph, sources, "cpu", 1);
    const Result other = run(graph, sources, one_device, 1, Sweep::one_by_one);
    EXPECT_EQ(other.state.sums, first.state.sums);
    EXPECT_EQ(other.state.reached, first.state.reached);
  }
}

/// Thousands of levels; rows of any length in both directions.
TEST(Betweenness, OneByOneOnDeepGraphs) {
  expect_everywhere(graph_of(generate_grid(1, 3000), false), {0, 17, 2999});
  expect_everywhere(graph_of(generate_torus(4, 700), false), {0, 17, 1500});
  const Vertex length = 600;
  std::vector<Arc> arcs;
  for (Vertex v = 0; v + 1 < length; ++v)
    for (const Vertex step : {1, 2, 7, -1, -5, 40 * (v % 97 == 0 ? 1 : 0)})
      if (step != 0 && v + step >= 0 && v + step < length) arcs.push_back({v, v + step});
  for (Vertex v = 0; v < 40; ++v) arcs.push_back({v + 200, 220});
  for (Vertex v = 0; v < 300; ++v) arcs.push_back({300, v});
  for (const bool directed : {true, false})
    expect_everywhere(graph_of(arcs_of(length, arcs), directed, MultiEdges::paths), {0, 17, 250, 300, 599});
}

TEST(Betweenness, PortionsThreadsAndDevicesChangeNoBit) {
  const Graph graph = graph_of(generate_rmat(ssca2_spec(10, 3)), true);
  const std::vector<Vertex> sources = draw_sources(graph, 300, 2);
  const Result all = run(graph, sources, "cpu", 1);
  std::vector<Vertex> reversed(sources.rbegin(), sources.rend());
  EXPECT_EQ(run(graph, reversed, "cpu", 3).state.sums, all.state.sums);
  EXPECT_EQ(run(graph, sources, "cpu", 2, Sweep::automatic, 37).state.sums, all.state.sums);
  EXPECT_EQ(run(graph, sources, std::string(one_device) + ",cpu", 2).state.sums, all.state.sums);
#if !defined(TUTTI_TEST_GPU)
  EXPECT_EQ(run(graph, sources, "fake:3", 1, Sweep::automatic, 100).state.sums, all.state.sums);
#endif
}

/// The loops that every device runs, on this device, beside what it would run; sources that a batch leaves over, too.
TEST(Betweenness, PortableLoopsAndThoseOfTheDeviceAgree) {
#if defined(TUTTI_TEST_GPU)
  const auto device = make_cuda_device(0);
#else
  const auto device = make_fake_device(0, {});
#endif
  for (const bool grid : {false, true}) {
    const Graph graph = grid ? graph_of(generate_grid(30, 40), false) : graph_of(generate_rmat(ssca2_spec(11, 3)));
    const OrderedGraph ordered = order_by_degree(graph);
    const std::vector<Vertex> sources = draw_sources(ordered.graph, 130, 2);
    for (const Sweep sweep : {Sweep::batches, Sweep::one_by_one}) {
      std::vector<std::vector<DeltaSum>> sums;
      for (const bool portable : {true, false}) {
        const auto worker = make_device_worker(ordered, *device, 130, sweep, portable);
        for (std::size_t first = 0; first < sources.size();) {
          const auto count = std::min(sources.size() - first, static_cast<std::size_t>(worker->most()));
          worker->add(std::span(sources).subspan(first, count));
          first += count;
        }
        Size reached = 0;
        take_all({}, std::vector{worker->take_sums(reached)},
                 sums.emplace_back(static_cast<std::size_t>(graph.vertices)));
        EXPECT_GT(reached, 0);
      }
      EXPECT_EQ(sums[0], sums[1]);
    }
  }
}

TEST(Betweenness, TooLittleMemoryIsSaid) {
  const Graph graph = graph_of(generate_rmat(ssca2_spec(10, 3)));
  const OrderedGraph ordered = order_by_degree(graph);
  Budget small("cpu", 30000);
  try {
    make_thread_worker(ordered, small, 64, Sweep::automatic);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
  }
  EXPECT_EQ(small.used(), 0);
  // Less than a whole batch: fewer lanes.
  Budget medium("cpu", LaneBatch::bytes(graph.vertices, 16) + graph.vertices * Size{24} + 100);
  EXPECT_EQ(make_thread_worker(ordered, medium, 64, Sweep::automatic)->most(), 16);
  FakeOptions options;
  options.memory = 50000;
  const auto fake = make_fake_device(0, options);
  EXPECT_THROW(make_device_worker(ordered, *fake, 64, Sweep::automatic), Error);
}

TEST(OrderedGraph, LevelsAndGroupsAreThoseOfSearchesOneByOne) {
  Threads threads(3);
  const ParallelFor parallel = parallel_for(threads);
  ArcList ring;  // long, with a tail that only few see
  ring.vertices = 300;
  for (Vertex v = 0; v < 299; ++v) ring.arcs.push_back({v, v < 200 ? (v + 1) % 40 : v + 1});
  for (const bool directed : {true, false})
    for (const ArcList& list : {generate_rmat(ssca2_spec(9, 3), {}), random_arcs(2000, 3000, 7), random_arcs(9, 30, 8),
                                generate_grid(12, 9, {}), ring}) {
      const OrderedGraph ordered = order_by_degree(graph_of(list, directed), parallel);
      std::vector<std::uint8_t> distance;
      const Levels levels = distances_from(ordered.graph.out, 0, distance);
      EXPECT_EQ(ordered.depth, levels.depth);
      EXPECT_EQ(ordered.widest, levels.widest);
      std::vector<Vertex> sources, expected;
      for (Vertex v = 0; v < list.vertices; ++v) sources.push_back(v);
      expected = sources;
      group_sources(ordered, sources, parallel);
      std::vector<std::vector<std::uint8_t>> to_hubs(std::min<std::size_t>(most_hubs, sources.size()));
      for (std::size_t h = 0; h < to_hubs.size(); ++h)
        distances_from(ordered.graph.incoming(), static_cast<Vertex>(h), to_hubs[h]);
      group_sources(to_hubs, expected);
      EXPECT_EQ(sources, expected);
    }
}

TEST(DeltaSum, IsTheSameInAnyOrderAndGrouping) {
  std::vector<double> values;
  for (std::uint64_t i = 0; i < 1000; ++i)
    values.push_back(std::ldexp(random_unit(1, i), static_cast<int>(random_bits(2, i) % 100) - 70));
  DeltaSum forward, backward, grouped;
  for (const double v : values) forward.add(split_delta(v));
  for (std::size_t i = values.size(); i-- > 0;) backward.add(split_delta(values[i]));
  for (std::size_t i = 0; i < values.size(); i += 50) {
    DeltaParts parts;
    for (std::size_t k = i; k < i + 50; ++k) {
      const DeltaParts p = split_delta(values[k]);
      parts.high += p.high;
      parts.middle += p.middle;
      parts.low += p.low;
    }
    grouped.add(parts);
  }
  EXPECT_EQ(forward, backward);
  EXPECT_EQ(forward, grouped);
  long double sum = 0;
  for (const double v : values) sum += v;
  EXPECT_NEAR(forward.value(), static_cast<double>(sum), 1e-15 * static_cast<double>(sum));
  DeltaSum tiny;
  tiny.add(split_delta(0x1.23p-90));
  EXPECT_EQ(tiny.value(), 0x1.23p-90);
}

TEST(WideNumber, RoundsAsDoubleDoes) {
  const auto wide = [](double x) { return WideNumber::normalised(x, 0); };
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const double a = std::ldexp(1 + random_unit(1, i), static_cast<int>(random_bits(3, i) % 120)),
                 b = std::ldexp(1 + random_unit(2, i), static_cast<int>(random_bits(4, i) % 120));
    EXPECT_EQ(wide(a).plus(wide(b)).value(), a + b);
    EXPECT_EQ(wide(a).times(wide(b)).value(), a * b);
    EXPECT_EQ(wide(a).reciprocal().value(), 1 / a);
  }
  EXPECT_EQ(WideNumber{}.plus(WideNumber{}).value(), 0);
  EXPECT_EQ(wide(3).plus({}).value(), 3);
}

TEST(SourceQueue, GivesEverySourceOnce) {
  std::vector<WorkerRate> rates{{64, 1000, true}, {64, 1, true}, {64, 900, false}};
  SourceQueue queue({10, 1500}, rates);
  Size next = 10, slow = 0;
  for (bool more = true; more;) {
    more = false;
    for (const std::size_t w : {2, 1, 0}) {
      const SourceRange range = queue.take(w);
      if (range.size() == 0) continue;
      EXPECT_EQ(range.begin, next);
      next = range.end;
      more = true;
      if (w == 1) slow += range.size();
    }
  }
  EXPECT_EQ(next, 1500);
  EXPECT_LE(slow, 3);
}

TEST(SourceQueue, AGuessedSlowWorkerTakesLittle) {
  // Threads of a CPU beside a GPU, kernel 4 of scale 20: what each takes must be done before the GPU is.
  std::vector<WorkerRate> rates(25, {64, 12, false});
  rates[0] = {4096, 6000, false};
  for (const Size sources : {1024, 8192}) {
    SourceQueue queue({0, sources}, rates);
    for (std::size_t w = 1; w < rates.size(); ++w) EXPECT_EQ(queue.take(w).size(), 0);
    EXPECT_EQ(queue.take(0).size(), std::min<Size>(sources, 4096));
  }
  SourceQueue many({0, 65536}, rates);
  EXPECT_EQ(many.take(1).size(), 12);  // a tenth of what the guess allows
  rates[1] = {64, 12, true};
  SourceQueue measured({0, 65536}, rates);
  EXPECT_EQ(measured.take(1).size(), 64);
}

TEST(SourceQueue, TheLastWorkerGetsTheRest) {
  std::vector<WorkerRate> rates{{8, 1, true}, {8, 1e6, true}};
  SourceQueue queue({0, 100}, rates);
  EXPECT_EQ(queue.take(0).size(), 0);
  rates[1].rate = 0.01;  // slower than the one that left
  Size taken = 0;
  while (const Size n = queue.take(1).size()) taken += n;
  EXPECT_EQ(taken, 100);
}

TEST(SourceQueue, EqualWorkersGetEqualParts) {
  std::vector<WorkerRate> rates{
      {4096, 5, false}, {4096, 5, false}, {4096, 5, false}, {4096, 5, false}, {64, 0.01, false}};
  SourceQueue queue({0, 1024}, rates);
  EXPECT_EQ(queue.take(4).size(), 0);  // a CPU thread beside four GPUs
  for (std::size_t w = 0; w < 4; ++w) EXPECT_EQ(queue.take(w).size(), 256);
  EXPECT_EQ(queue.take(0).size(), 0);
}

TEST(ShareOut, IsWhole) {
  EXPECT_EQ(share_out(10, {1, 1, 1}), (std::vector<Size>{4, 3, 3}));
  EXPECT_EQ(share_out(7, {0, 2, 5}), (std::vector<Size>{0, 2, 5}));
  EXPECT_EQ(share_out(0, {1, 2}), (std::vector<Size>{0, 0}));
}

}  // namespace
}  // namespace tutti::graph
