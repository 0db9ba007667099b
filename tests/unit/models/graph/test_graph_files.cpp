// Readers and writers of graphs: what they read, and what they say of what they cannot read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/generate.hpp"

namespace tutti::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& text, const std::string& name) {
  try {
    parse_graph(text, name);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

std::vector<std::pair<Gid, Gid>> named(const ArcList& list) {
  std::vector<std::pair<Gid, Gid>> arcs;
  for (const Arc& arc : list.arcs) arcs.emplace_back(list.names.of(arc.from), list.names.of(arc.to));
  return arcs;
}

using Pairs = std::vector<std::pair<Gid, Gid>>;

TEST(EdgeList, NumbersNeedNotBeDense) {
  const ArcList list =
      parse_graph("# a comment\n7 9000000000000000000\n% another\n\n 7\t12 \r\n12,7\n// the end", "a.el");
  EXPECT_EQ(list.vertices, 3);
  EXPECT_THAT(list.names.ids, ElementsAre(7, 12, 9000000000000000000));
  EXPECT_EQ(named(list), (Pairs{{7, 9000000000000000000}, {7, 12}, {12, 7}}));
  EXPECT_TRUE(list.weights.empty());
  EXPECT_EQ(list.names.find(12, 3), 1);
  EXPECT_EQ(list.names.find(13, 3), no_lid);
}

TEST(EdgeList, WeightsAndHeader) {
  const ArcList list = parse_graph("# vertices 10\n# symmetric\n0 1 2.5\n1 0 8\n", "a.txt");
  EXPECT_EQ(list.vertices, 10);
  EXPECT_TRUE(list.both_ways);
  EXPECT_THAT(list.weights, ElementsAre(2.5, 8));
  EXPECT_EQ(parse_graph("", "a.el").vertices, 0);
  EXPECT_EQ(parse_graph("5 6\n6 5\n", "a.el").names.first, 5);
}

TEST(EdgeList, ErrorsNameTheLine) {
  EXPECT_THAT(error_of("0 1\n1 x\n", "a.el"),
              HasSubstr("a.el:2: expected the number of the vertex at the other end, found 'x'"));
  EXPECT_THAT(error_of("0 1\n\n3\n", "a.el"),
              HasSubstr("a.el:3: expected the number of the vertex at the other end, found the end of the line"));
  EXPECT_THAT(error_of("0 1\n0 -2\n", "a.el"), HasSubstr("a.el:2: vertex -2"));
  EXPECT_THAT(error_of("0 99999999999999999999\n", "a.el"), HasSubstr("a.el:1: expected"));
  EXPECT_THAT(error_of("0 1 1\n0 1\n", "a.el"), HasSubstr("a.el:2: some edges have a weight"));
  EXPECT_THAT(error_of("0 1 nan\n", "a.el"), HasSubstr("a.el:1: expected a weight"));
  EXPECT_THAT(error_of("0 1 1 1\n", "a.el"), HasSubstr("a.el:1: expected the end of the line after the weight"));
  EXPECT_THAT(error_of("# vertices 3\n0 3\n", "a.el"), HasSubstr("a.el:2: vertex 3"));
  EXPECT_THAT(error_of("# vertices 3000000000\n", "a.el"), HasSubstr("a.el:1: expected '# vertices N'"));
  // In a later piece, read by another thread.
  std::string long_text;
  for (int i = 0; i < 40000; ++i) long_text += "12345 54321\n";
  EXPECT_THAT(error_of(long_text + "1 2 3\n", "a.el"), HasSubstr("some edges have a weight"));
  EXPECT_THAT(error_of(long_text + "1 a\n" + long_text + "b\n", "a.el"), HasSubstr("a.el:40001: "));
}

TEST(MatrixMarket, GeneralAndSymmetric) {
  const ArcList general =
      parse_graph("%%MatrixMarket matrix coordinate pattern general\n% x\n3 3 2\n1 2\n3 1\n", "a.mtx");
  EXPECT_EQ(named(general), (Pairs{{1, 2}, {3, 1}}));
  EXPECT_FALSE(general.both_ways);
  const ArcList symmetric =
      parse_graph("%%MatrixMarket Matrix Coordinate Real Symmetric\n2 2 2\n2 1 4e0\n1 1 3\n", "a.mtx");
  EXPECT_EQ(named(symmetric), (Pairs{{2, 1}, {1, 2}, {1, 1}}));
  EXPECT_THAT(symmetric.weights, ElementsAre(4, 4, 3));
  EXPECT_TRUE(symmetric.both_ways);
}

TEST(MatrixMarket, Errors) {
  const std::string head = "%%MatrixMarket matrix coordinate pattern general\n";
  EXPECT_THAT(error_of("1 2\n", "a.mtx"), HasSubstr("a.mtx:1: expected '%%MatrixMarket"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix array real general\n", "a.mtx"), HasSubstr("'matrix coordinate'"));
  EXPECT_THAT(error_of("%%MatrixMarket matrix coordinate complex general\n", "a.mtx"),
              HasSubstr("'real', 'integer' or"));
  EXPECT_THAT(error_of(head + "2 3 1\n1 1\n", "a.mtx"), HasSubstr("a.mtx:2: a matrix of 2 x 3"));
  EXPECT_THAT(error_of(head + "2 2 1\n1 3\n", "a.mtx"), HasSubstr("a.mtx:3: column 3"));
  EXPECT_THAT(error_of(head + "2 2 2\n1 2\n", "a.mtx"), HasSubstr("1 entries, but the header says 2"));
  EXPECT_THAT(error_of(head + "2 2 1\n1 2\n2 1\n", "a.mtx"), HasSubstr("a.mtx:4: more than the 1 entries"));
  EXPECT_THAT(error_of(head, "a.mtx"), HasSubstr("a.mtx:2: expected the number of rows"));
}

TEST(Metis, PlainAndWithWeights) {
  const ArcList plain = parse_graph("% c\n4 2\n2\n1 3\n2\n\n", "a.graph");
  EXPECT_EQ(plain.vertices, 4);
  EXPECT_EQ(named(plain), (Pairs{{1, 2}, {2, 1}, {2, 3}, {3, 2}}));
  const ArcList weighted = parse_graph("2 1 011 2\n7 8 2 5\n9 9 1 5\n", "a.metis");
  EXPECT_EQ(named(weighted), (Pairs{{1, 2}, {2, 1}}));
  EXPECT_THAT(weighted.weights, ElementsAre(5, 5));
}

TEST(Metis, Errors) {
  EXPECT_THAT(error_of("2 1\n2\n", "a.graph"), HasSubstr("ends after 1 of 2 vertices"));
  EXPECT_THAT(error_of("2 1\n3\n1\n", "a.graph"), HasSubstr("a.graph:2: neighbour 3"));
  EXPECT_THAT(error_of("2 2\n2\n1\n", "a.graph"), HasSubstr("2 neighbours in all, but the header says 2 edges"));
  EXPECT_THAT(error_of("2 1 7\n2\n1\n", "a.graph"), HasSubstr("a.graph:1: format 7"));
  EXPECT_THAT(error_of("2 1\n2\n1\n5\n", "a.graph"), HasSubstr("a.graph:4: expected the end of the file"));
}

TEST(Gap, Errors) {
  EXPECT_THAT(error_of("abc", "a.sg"), HasSubstr("a.sg: 3 bytes"));
  std::string bytes(17, '\0');
  bytes[1] = 5;
  EXPECT_THAT(error_of(bytes, "a.sg"), HasSubstr("expected a serialized graph"));
  bytes[1] = 0;
  EXPECT_THAT(error_of(bytes, "a.sg"), HasSubstr("17 bytes, but its header needs 25"));
  EXPECT_EQ(parse_graph(bytes + std::string(8, '\0'), "a.sg").vertices, 0);
}

TEST(GraphFiles, EveryFormatComesBack) {
  ArcList list = generate_rmat(ssca2_spec(6, 3));
  list.weights.clear();
  BuildOptions undirected;
  undirected.directed = false;
  for (const char* name : {"a.el", "a.el.gz", "a.mtx", "a.mtx.gz", "a.sg", "a.graph", "a.metis.gz", "a"}) {
    SCOPED_TRACE(name);
    const auto path = test::own_folder() / name;
    write_graph(list, path);
    const ArcList back = read_graph(path);
    EXPECT_EQ(back.vertices, list.vertices);
    const bool metis = back.both_ways;
    BuildOptions options;
    options.directed = !metis;
    const Graph a = build_graph(list, options), b = build_graph(back, options);
    EXPECT_EQ(a.out.columns, b.out.columns);
    EXPECT_EQ(a.in.offsets, b.in.offsets);
  }
}

TEST(GraphFiles, WeightsComeBack) {
  const ArcList list = generate_rmat(ssca2_spec(6, 3));
  for (const char* name : {"a.el", "a.mtx.gz"}) {
    write_graph(list, test::own_folder() / name);
    const ArcList back = read_graph(test::own_folder() / name);
    EXPECT_EQ(back.arcs, list.arcs);
    EXPECT_EQ(back.weights, list.weights);
  }
  EXPECT_THROW(write_graph(list, test::own_folder() / "a.graph"), Error);
  EXPECT_THROW(write_graph(list, test::own_folder() / "a.wsg"), Error);
}

TEST(GraphFiles, DamagedGzip) {
  const std::string good = compress("0 1\n1 2\n");
  EXPECT_EQ(parse_graph(good, "a.el.gz").size(), 2);
  EXPECT_EQ(parse_graph(good + compress("2 3\n"), "a.el.gz").size(), 3);
  EXPECT_THAT(error_of(good.substr(0, good.size() - 3), "a.gz"), HasSubstr("truncated"));
  std::string bad = good;
  bad[12] = static_cast<char>(bad[12] ^ 0x55);
  EXPECT_THAT(error_of(bad, "a.gz"), HasSubstr("damaged"));
  EXPECT_THAT(error_of(compress(good), "a.gz"), HasSubstr("twice"));
  EXPECT_THROW(read_graph(test::own_folder() / "none.el"), Error);
}

}  // namespace
}  // namespace tutti::graph
