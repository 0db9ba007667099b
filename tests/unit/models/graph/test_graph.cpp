// Rows of lists, generators, and kernels 2 and 3 of SSCA#2, against the obvious.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/graph/betweenness/ordered_graph.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/device_ssca2.hpp"
#include "tutti/models/graph/generate.hpp"
#include "tutti/models/graph/graph_info.hpp"
#include "tutti/models/graph/measure.hpp"
#include "tutti/models/graph/rmat_arc.hpp"
#include "tutti/models/graph/subgraphs.hpp"

namespace tutti::graph {
namespace {

using testing::ElementsAre;

#if defined(TUTTI_TEST_GPU)
std::unique_ptr<Device> make_device() {
  return make_cuda_device(0);
}
#else
std::unique_ptr<Device> make_device() {
  return make_fake_device(0, {});
}
#endif

/// Rows as sorted lists of columns.
std::vector<std::vector<Vertex>> slow_rows(const ArcList& list, bool mirror, bool backwards, bool simple, bool filter) {
  std::vector<std::vector<Vertex>> rows(list.vertices);
  for (std::size_t i = 0; i < list.arcs.size(); ++i) {
    const auto [from, to] = list.arcs[i];
    if (from == to || (filter && static_cast<Gid>(list.weights[i]) % 8 == 0)) continue;
    if (!backwards) rows[from].push_back(to);
    if (backwards || mirror) rows[to].push_back(from);
  }
  for (auto& row : rows) {
    std::sort(row.begin(), row.end());
    if (simple) row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return rows;
}

void expect_rows(const Csr<Vertex>& rows, const std::vector<std::vector<Vertex>>& expected) {
  ASSERT_EQ(rows.offsets.size(), expected.size() + 1);
  for (std::size_t v = 0; v < expected.size(); ++v)
    ASSERT_TRUE(std::ranges::equal(rows.row(static_cast<Vertex>(v)), expected[v])) << v;
}

TEST(BuildGraph, RowsAreThoseOfTheList) {
  Threads threads(3);
  for (const int scale : {1, 5, 13}) {
    const ArcList list = generate_rmat(ssca2_spec(scale, 5));
    for (const bool simple : {true, false})
      for (const bool filter : {true, false})
        for (const bool directed : {true, false}) {
          BuildOptions options;
          options.directed = directed;
          options.multi_edges = simple ? MultiEdges::simple : MultiEdges::paths;
          options.leave_out_eighths = filter;
          BuildCounts counts;
          const Graph graph = build_graph(list, options, parallel_for(threads), &counts);
          expect_rows(graph.out, slow_rows(list, !directed, false, simple, filter));
          if (directed) {
            expect_rows(graph.in, slow_rows(list, false, true, simple, filter));
            EXPECT_EQ(counts.loops + counts.filtered + counts.doubles + graph.arcs(), list.size());
          }
          EXPECT_EQ(counts.doubles > 0, simple);
        }
  }
}

TEST(BuildGraph, AListIsFilteredAsRowsAre) {
  ArcList list = generate_rmat(ssca2_spec(8, 5));
  BuildOptions options;
  options.leave_out_eighths = true;
  const Graph rows = build_graph(list, options);
  leave_out_eighths(list);
  EXPECT_EQ(build_graph(list, {}).out.columns, rows.out.columns);
  EXPECT_THROW(leave_out_eighths(list), Error);
}

TEST(BuildGraph, KeepsTheSmallestWeight) {
  ArcList list;
  list.vertices = 3;
  for (const auto& [from, to, weight] : {std::tuple{0, 1, 5.0}, {2, 1, 7.0}, {0, 1, 3.0}, {1, 1, 1.0}}) {
    list.arcs.push_back({from, to});
    list.weights.push_back(weight);
  }
  BuildOptions options;
  options.keep_weights = true;
  EXPECT_THAT(build_graph(list, options).weights, ElementsAre(3, 7));
  options.multi_edges = MultiEdges::paths;
  EXPECT_THAT(build_graph(list, options).weights, ElementsAre(3, 5, 7));
  list.weights.clear();
  EXPECT_THROW(build_graph(list, options), Error);
}

TEST(Rmat, IsTheSameOnThreadsAndDevices) {
  for (const RmatSpec& spec : {ssca2_spec(9, 11), kronecker_spec(8, 2)}) {
    Threads threads(3);
    const ArcList one = generate_rmat(spec), many = generate_rmat(spec, parallel_for(threads));
    EXPECT_EQ(one.arcs, many.arcs);
    EXPECT_EQ(one.weights, many.weights);
    const auto device = make_device();
    const ArcList there = generate_rmat(spec, *device);
    EXPECT_EQ(one.arcs, there.arcs);
    EXPECT_EQ(one.weights, there.weights);
  }
  EXPECT_NE(generate_rmat(ssca2_spec(9, 11)).arcs, generate_rmat(ssca2_spec(9, 12)).arcs);
}

/// Two generators that were written apart agree on these figures (scale 16: 434,040 simple arcs after the filter, 8,490
/// vertices without successors before it), within the fluctuations of the draw.
TEST(Rmat, HasTheStatisticsOfSsca2) {
  Threads threads(2);
  const ArcList list = generate_rmat(ssca2_spec(16, 1), parallel_for(threads));
  EXPECT_EQ(list.size(), 8 << 16);
  BuildOptions options;
  options.leave_out_eighths = true;
  BuildCounts counts;
  const Graph graph = build_graph(list, options, parallel_for(threads), &counts);
  EXPECT_NEAR(static_cast<double>(graph.arcs()), 434040, 1200);
  const Graph unfiltered = build_graph(list, {}, parallel_for(threads));
  Size without = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) without += unfiltered.out_degree(v) == 0;
  EXPECT_NEAR(static_cast<double>(without), 8490, 250);
  EXPECT_GT(counts.loops, 13000);
  EXPECT_LT(counts.loops, 15000);
  // Weights are uniform in 1 to 2^16.
  double sum = 0;
  for (const double w : list.weights) sum += w;
  EXPECT_NEAR(sum / static_cast<double>(list.size()), 32768.5, 200);
  EXPECT_EQ(*std::ranges::min_element(list.weights), 1);
  EXPECT_LE(*std::ranges::max_element(list.weights), 65536);
}

TEST(Rmat, RenamesOneToOne) {
  for (int scale = 1; scale < 12; ++scale) {
    const graph::RmatSpec spec = ssca2_spec(scale, 3);
    std::set<Vertex> names;
    const RmatArc make(spec);
    for (std::uint64_t v = 0; v < std::uint64_t{1} << scale; ++v) names.insert(make.renamed(v));
    EXPECT_EQ(names.size(), std::size_t{1} << scale);
    EXPECT_EQ(*names.rbegin(), (1 << scale) - 1);
  }
}

TEST(Rmat, RefusesWhatMakesNoGraph) {
  RmatSpec spec;
  spec.a = 0.9;
  EXPECT_THROW(generate_rmat(spec), Error);
  EXPECT_THROW(generate_rmat(ssca2_spec(0, 1)), Error);
  EXPECT_THROW(generate_torus(0, 4), Error);
  EXPECT_THROW(generate_grid(1 << 20, 1 << 20), Error);
}

TEST(Grid, NeighboursAreBesideEachOther) {
  const ArcList grid = generate_grid(3, 4), torus = generate_torus(3, 4);
  EXPECT_EQ(grid.size(), 2 * (3 * 3 + 2 * 4));
  EXPECT_EQ(torus.size(), 4 * 12);
  const Graph g = build_graph(grid, {}), t = build_graph(torus, {});
  for (Vertex v = 0; v < 12; ++v) {
    std::vector<Vertex> beside, around;
    for (Vertex w = 0; w < 12; ++w) {
      const int r = std::abs(v / 4 - w / 4), c = std::abs(v % 4 - w % 4);
      if (r + c == 1) beside.push_back(w);
      if (std::min(r, 3 - r) + std::min(c, 4 - c) == 1) around.push_back(w);
    }
    EXPECT_TRUE(std::ranges::equal(g.out.row(v), beside)) << v;
    EXPECT_TRUE(std::ranges::equal(t.out.row(v), around)) << v;
  }
  EXPECT_EQ(generate_grid(1, 1).size(), 0);
  EXPECT_EQ(generate_torus(1, 1).size(), 4);
}

TEST(Sources, AreDifferentAndAble) {
  const Graph graph = build_graph(generate_rmat(ssca2_spec(10, 1)), {});
  const std::vector<Vertex> sources = draw_sources(graph, 100, 4);
  EXPECT_EQ(std::set<Vertex>(sources.begin(), sources.end()).size(), 100u);
  for (const Vertex s : sources) EXPECT_GT(graph.out_degree(s), 0);
  EXPECT_EQ(sources, draw_sources(graph, 100, 4));
  EXPECT_NE(sources, draw_sources(graph, 100, 5));
  const std::vector<Vertex> all = draw_sources(graph, 1 << 20, 4);
  EXPECT_TRUE(std::ranges::is_sorted(all));
  EXPECT_LT(all.size(), 1024u);
}

/// All that the benchmark makes of a graph on the host, for what a device makes.
struct HostSsca2 {
  ArcList list;
  Graph graph;
  BuildCounts counts;
  std::vector<Arc> heaviest;
  SubgraphCounts subgraphs;
  explicit HostSsca2(const RmatSpec& spec) : list(generate_rmat(spec)) {
    BuildOptions options;
    options.multi_edges = MultiEdges::paths;
    options.keep_weights = true;
    graph = build_graph(list, options, {}, &counts);
    heaviest = heaviest_arcs(graph);
    subgraphs = count(heaviest);
  }
  SubgraphCounts count(const std::vector<Arc>& around) const {
    SubgraphCounts all;
    for (const Subgraph& s : subgraphs_around(graph, around)) {
      all.vertices += static_cast<Size>(s.vertices.size());
      all.arcs += s.arcs;
    }
    return all;
  }
};

void expect_same_rows(const Csr<Vertex>& one, const Csr<Vertex>& other) {
  EXPECT_EQ(one.offsets, other.offsets);
  EXPECT_EQ(one.columns, other.columns);
}

TEST(DeviceSsca2, MakesWhatTheHostMakes) {
  for (const int scale : {1, 3, 4, 7, 12})
    for (const MultiEdges multi_edges : {MultiEdges::simple, MultiEdges::paths}) {
      SCOPED_TRACE(testing::Message() << scale);
      const RmatSpec spec = ssca2_spec(scale, 3);
      const HostSsca2 host(spec);
      const auto device = make_device();
      ASSERT_LE(DeviceSsca2::bytes(spec), device->budget().capacity());
      DeviceSsca2 made(spec, *device);
      EXPECT_EQ(made.build(), host.counts.loops);
      EXPECT_EQ(made.arcs(), host.graph.arcs());
      EXPECT_EQ(made.heaviest_arcs(), host.heaviest);
      const SubgraphCounts few = made.count_subgraphs(host.heaviest);
      EXPECT_EQ(few.vertices, host.subgraphs.vertices);
      EXPECT_EQ(few.arcs, host.subgraphs.arcs);
      // More than one pass has room for.
      const std::vector<Arc> around(host.list.arcs.begin(),
                                    host.list.arcs.begin() + std::min<Size>(host.list.size(), 150));
      const SubgraphCounts many = made.count_subgraphs(around), expected = host.count(around);
      EXPECT_EQ(many.vertices, expected.vertices);
      EXPECT_EQ(many.arcs, expected.arcs);

      std::vector<Vertex> sources = draw_sources(host.graph, 200, 9), on_device = sources;
      EXPECT_EQ(draw_sources(made.with_successors(), 200, 9), sources);
      BuildOptions options;
      options.multi_edges = multi_edges;
      options.leave_out_eighths = true;
      BuildCounts counts, device_counts;
      const OrderedGraph ordered = order_by_degree(build_graph(host.list, options, {}, &counts));
      for (Vertex& s : sources) s = ordered.new_name[s];
      if (sources.size() > 64) group_sources(ordered, sources);
      const OrderedGraph there = made.order(multi_edges, on_device, device_counts);
      EXPECT_EQ(device_counts.filtered, counts.filtered);
      EXPECT_EQ(device_counts.doubles, counts.doubles);
      EXPECT_EQ(there.new_name, ordered.new_name);
      EXPECT_EQ(there.graph.directed, ordered.graph.directed);
      expect_same_rows(there.graph.out, ordered.graph.out);
      expect_same_rows(there.graph.in, ordered.graph.in);
      EXPECT_EQ(there.depth, ordered.depth);
      EXPECT_EQ(there.widest, ordered.widest);
      EXPECT_EQ(on_device, sources);
      EXPECT_LE(device->budget().peak(), DeviceSsca2::bytes(spec));
    }
}

TEST(DeviceSsca2, NeedsRoom) {
  EXPECT_EQ(DeviceSsca2::bytes(ssca2_spec(28, 1)), std::numeric_limits<Size>::max());
  FakeOptions small;
  small.memory = 1 << 20;
  const auto device = make_fake_device(0, small);
  EXPECT_THROW(DeviceSsca2(ssca2_spec(16, 1), *device), Error);
}

TEST(Subgraphs, AreThoseOfTheObviousSearch) {
  Threads threads(3);
  BuildOptions options;
  options.multi_edges = MultiEdges::paths;
  options.keep_weights = true;
  const ArcList list = generate_rmat(ssca2_spec(8, 2));
  const Graph graph = build_graph(list, options);
  double most = 0;
  for (std::size_t i = 0; i < list.arcs.size(); ++i)
    if (list.arcs[i].from != list.arcs[i].to) most = std::max(most, list.weights[i]);
  std::vector<std::pair<Vertex, Vertex>> expected, found;
  for (std::size_t i = 0; i < list.arcs.size(); ++i)
    if (list.arcs[i].from != list.arcs[i].to && list.weights[i] == most)
      expected.emplace_back(list.arcs[i].from, list.arcs[i].to);
  const std::vector<Arc> heaviest = heaviest_arcs(graph, parallel_for(threads));
  for (const Arc& arc : heaviest) found.emplace_back(arc.from, arc.to);
  std::ranges::sort(expected);
  EXPECT_EQ(found, expected);
  ASSERT_FALSE(found.empty());
  for (const Subgraph& s : subgraphs_around(graph, heaviest, 3, parallel_for(threads))) {
    std::set<Vertex> reached{s.around.from, s.around.to}, level{s.around.to};
    for (int k = 0; k < 3; ++k) {
      std::set<Vertex> next;
      for (const Vertex v : level)
        for (const Vertex w : graph.out.row(v)) next.insert(w);
      reached.insert(next.begin(), next.end());
      level = next;
    }
    EXPECT_EQ(std::set<Vertex>(s.vertices.begin(), s.vertices.end()), reached);
    EXPECT_EQ(s.vertices.size(), reached.size());
  }
}

TEST(Measures, ClosenessAndComponents) {
  ArcList list;
  list.vertices = 6;
  for (const Arc arc : {Arc{0, 1}, Arc{1, 2}, Arc{4, 3}}) list.arcs.push_back(arc);
  const Graph graph = build_graph(list, {});
  EXPECT_THAT(components(graph), ElementsAre(0, 0, 0, 3, 3, 5));
  // Vertex 2 is reached from two others at distances 1 and 2: 2/3 of 2/5.
  const std::vector<double> values = closeness(graph, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(values, ElementsAre(0, 1.0 * (1.0 / 5), 2.0 / 3 * (2.0 / 5), 1.0 / 5, 0, 0));
  const GraphInfo info = inspect(list);
  EXPECT_EQ(info.components, 3);
  EXPECT_EQ(info.largest_component, 3);
  EXPECT_EQ(info.isolated, 1);
  EXPECT_EQ(info.without_successors, 3);
  EXPECT_FALSE(info.both_ways);
  EXPECT_TRUE(inspect(generate_torus(3, 3)).both_ways);
}

TEST(Measures, TopListAndCsv) {
  MeasureResult result;
  result.values = {1, 0.5, 3, 1, std::numeric_limits<double>::quiet_NaN()};
  result.names.first = 1;
  const VertexValues values = values_of(result, "betweenness");
  EXPECT_EQ(csv_of(values), "vertex,betweenness\n1,1\n2,0.5\n3,3\n4,1\n5,\n");
  EXPECT_EQ(top_list(values, 2), "                   3  3\n                   1  1");
}

}  // namespace
}  // namespace tutti::graph
