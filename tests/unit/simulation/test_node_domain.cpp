// Nodes and their stencils on several parts, against the obvious search over all nodes; probes and results at nodes.
#include "tutti/domain/node_domain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/support/own_folder.hpp"
#include "tests/unit/base/mpi_environment.hpp"
#include "tutti/base/random.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/io/vtk/vtu.hpp"
#include "tutti/simulation/field_values.hpp"

namespace tutti {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// A domain with all that it needs.
class NodeSetup {
 public:
  NodeSetup(const std::string& nodes, int stencil, const std::string& devices, const std::string& more = "")
      : options_(parse_case("model = \"any\"\n[nodes]\n" + nodes + "\n[time]\nsteps = 1\n" + more, "case.toml",
                            core_schema({"any"}, DomainKeys::nodes))),
        devices_(open_devices(devices, test::world(), one_thread())),
        domain(make_node_domain({test::world(), devices_, options_, test::own_folder(), phases_}, stencil)) {}

 private:
  static DeviceOptions one_thread() {
    DeviceOptions options;
    options.threads = 1;
    return options;
  }
  Case options_;
  DeviceSet devices_;
  Phases phases_;

 public:
  NodeDomain domain;
};

std::string random_cloud(int count, int seed) {
  return fmt::format("generate = \"random\"\ncount = {}\nseed = {}", count, seed);
}
std::string partition(const std::string& method, const std::string& order, const std::string& weights) {
  return fmt::format("[partition]\nmethod = \"{}\"\norder = \"{}\"\n[balance]\nweights = {}\n", method, order, weights);
}

/// All nodes by (squared distance, number): the first of them are the stencil.
std::vector<Gid> obvious_stencil(const NodeCloud& cloud, Gid node, int size) {
  std::vector<Gid> all(cloud.points.size());
  std::iota(all.begin(), all.end(), 0);
  const auto key = [&](Gid i) {
    const Vec3 d = cloud.points[i] - cloud.points[node];
    return std::pair(dot(d, d), i);
  };
  std::sort(all.begin(), all.end(), [&](Gid a, Gid b) { return key(a) < key(b); });
  all.resize(size);
  return all;
}

/// Every node has one owner; stencils refer to the right nodes; local rows are left alone.
void check_domain(const NodeDomain& domain, int stencil) {
  ASSERT_EQ(domain.stencil, stencil);
  const auto size = static_cast<std::size_t>(stencil);
  std::vector<int> owners(domain.cloud.points.size(), 0);
  std::set<Gid> read_by_others;
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    const IndexMap& map = domain.maps[p];
    ASSERT_EQ(domain.stencils[p].size(), static_cast<std::size_t>(map.owned * stencil));
    EXPECT_EQ(domain.owned_points(p).size(), static_cast<std::size_t>(map.owned));
    for (Lid row = 0; row < map.owned; ++row) {
      const Gid node = map.global[row];
      ++owners[node];
      EXPECT_EQ(domain.point(p, row), domain.cloud.points[node]);
      std::vector<Gid> found;
      for (int j = 0; j < stencil; ++j) {
        const Lid local = domain.stencils[p][static_cast<std::size_t>(row) * size + static_cast<std::size_t>(j)];
        ASSERT_GE(local, 0);
        ASSERT_LT(local, map.local());
        found.push_back(map.global[local]);
        if (local >= map.owned) read_by_others.insert(found.back());
      }
      ASSERT_EQ(found, obvious_stencil(domain.cloud, node, stencil)) << "node " << node;
    }
  }
  for (const int count : owners) ASSERT_EQ(count, 1);
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    const IndexMap& map = domain.maps[p];
    const auto reads_ghost = [&](Lid row) {
      const auto* first = domain.stencils[p].data() + row * stencil;
      return std::any_of(first, first + stencil, [&](Lid c) { return c >= map.owned; });
    };
    EXPECT_LE(map.independent, map.interior);
    for (Lid row = 0; row < map.owned; ++row) {
      const bool read = read_by_others.contains(map.global[row]);
      EXPECT_EQ(read, row >= map.interior) << "row " << row;
      EXPECT_EQ(row >= map.independent, read || reads_ghost(row)) << "row " << row << ": no row waits without need";
    }
  }
}

TEST(NodeDomain, NumbersEveryStencilRight) {
  int seed = 0;
  for (const char* devices : {"cpu", "fake:1,cpu", "fake:4,cpu"})
    for (const char* method : {"metis", "hilbert", "latitude"})
      for (const char* order : {"hilbert", "native", "random"}) {
        const int count = 60 + static_cast<int>(random_bits(8, static_cast<unsigned>(++seed)) % 120),
                  stencil = 1 + static_cast<int>(random_bits(9, static_cast<unsigned>(seed)) % 20);
        SCOPED_TRACE(fmt::format("{}, {}, {}: {} nodes, n = {}", devices, method, order, count, stencil));
        const NodeSetup setup(random_cloud(count, seed), stencil, devices, partition(method, order, "\"equal\""));
        check_domain(setup.domain, stencil);
      }
}

TEST(NodeDomain, PartsMayBeEmpty) {
  for (const char* weights : {"[0, 1, 0]", "[1, 0, 2]", "[3, 1, 0]"}) {
    SCOPED_TRACE(weights);
    const NodeSetup setup(random_cloud(100, 3), 13, "fake:2,cpu", partition("metis", "hilbert", weights));
    check_domain(setup.domain, 13);
  }
}

TEST(NodeDomain, AStencilOfAllNodes) {
  const NodeSetup setup("generate = \"icosahedral\"\ncount = 42", 42, "fake:2,cpu",
                        partition("hilbert", "hilbert", "\"equal\""));
  check_domain(setup.domain, 42);
  for (const IndexMap& map : setup.domain.maps) EXPECT_EQ(map.independent, 0);
}

TEST(NodeDomain, OneMoreIsTooMany) {
  try {
    const NodeSetup setup("generate = \"icosahedral\"\ncount = 42", 43, "cpu");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("there are 42"), HasSubstr("43 of a stencil")));
  }
}

TEST(NodeDomain, ErrorsNameTheKey) {
  const auto error = [](const std::string& nodes) -> std::string {
    try {
      const NodeSetup setup(nodes, 9, "cpu");
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::input);
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error("generate = \"icosahedral\"\ncount = 100"),
              AllOf(HasSubstr("case.toml:4:"), HasSubstr("92"), HasSubstr("162")));
  EXPECT_THAT(error("generate = \"icosahedral\""), HasSubstr("nodes.count"));
  EXPECT_THAT(error("count = 92"), HasSubstr("nodes.generate"));
  EXPECT_THAT(error("generate = \"fibonacci\"\ncount = 4"), AllOf(HasSubstr("case.toml:4:"), HasSubstr("12")));
}

TEST(WithComponents, EachNodeBecomesSeveralRows) {
  const NodeSetup setup(random_cloud(90, 5), 12, "fake:2,cpu", partition("metis", "hilbert", "\"equal\""));
  for (const IndexMap& map : setup.domain.maps)
    for (const int count : {1, 3}) {
      const IndexMap wide = with_components(map, count);
      EXPECT_EQ(wide.part, map.part);
      EXPECT_EQ(wide.interior, map.interior * count);
      EXPECT_EQ(wide.owned, map.owned * count);
      ASSERT_EQ(wide.local(), map.local() * count);
      for (Lid row = 0; row < map.local(); ++row)
        for (int c = 0; c < count; ++c) EXPECT_EQ(wide.global[row * count + c], map.global[row] * count + c);
      ASSERT_EQ(wide.links.size(), map.links.size());
      EXPECT_FALSE(map.links.empty());
      for (std::size_t l = 0; l < map.links.size(); ++l) {
        const Link &narrow = map.links[l], &link = wide.links[l];
        EXPECT_EQ(link.part, narrow.part);
        EXPECT_EQ(link.rank, narrow.rank);
        EXPECT_EQ(link.ghosts.begin, narrow.ghosts.begin * count);
        EXPECT_EQ(link.ghosts.end, narrow.ghosts.end * count);
        EXPECT_EQ(link.contiguous(), narrow.contiguous());
        ASSERT_EQ(link.send_rows.size(), narrow.send_rows.size() * static_cast<std::size_t>(count));
        for (std::size_t i = 0; i < link.send_rows.size(); ++i)
          EXPECT_EQ(link.send_rows[i], narrow.send_rows[i / static_cast<std::size_t>(count)] * count +
                                           static_cast<Lid>(i % static_cast<std::size_t>(count)));
      }
    }
}

TEST(NodeProbes, FindTheNearestNode) {
  const NodeSetup setup(random_cloud(150, 7), 9, "fake:2,cpu", partition("latitude", "hilbert", "\"equal\""));
  const NodeDomain& domain = setup.domain;
  std::vector<Vec3> points{{0, 0, 3}, {0, 0, -1e-3}, {-2, 0, 0}, {1, 1, 1}};
  for (std::uint64_t i = 0; i < 40; ++i)
    points.push_back({random_unit(1, 3 * i) - 0.5, random_unit(1, 3 * i + 1) - 0.5, random_unit(1, 3 * i + 2) - 0.5});
  points.push_back(domain.cloud.points[17]);
  for (Vec3& point : points) point = (1 / norm(point)) * point;
  const std::vector<std::string> labels(points.size(), "probe");
  // Two quantities: the node's number, and its height.
  std::vector<ModelField> fields;
  fields.push_back({.name = "any", .components = 2, .probes = {"number", "height"}});
  fields[0].read = [&](std::size_t p, const RowSet& rows, std::span<double> values) {
    ASSERT_EQ(values.size(), 2U);
    values[0] = static_cast<double>(domain.maps[p].global[rows.rows.begin]);
    values[1] = domain.point(p, static_cast<Lid>(rows.rows.begin)).z;
  };
  const auto places = domain.locate(test::world(), points, labels);
  const auto found = probed_values(test::world(), fields, places, points.size());
  ASSERT_EQ(found.size(), 2 * points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    // The nearest by angle.
    Gid nearest = 0;
    for (Gid k = 1; k < domain.cloud.size(); ++k)
      if (dot(domain.cloud.points[k], points[i]) > dot(domain.cloud.points[nearest], points[i])) nearest = k;
    EXPECT_EQ(found[2 * i], static_cast<double>(nearest)) << "probe " << i;
    EXPECT_EQ(found[2 * i + 1], domain.cloud.points[nearest].z);
  }
  EXPECT_EQ(found[2 * points.size() - 2], 17);
}

TEST(NodeProbes, TheCentreIsAboveNoNode) {
  const NodeSetup setup(random_cloud(50, 7), 9, "cpu");
  const std::vector<Vec3> points{{1, 0, 0}, {0, 0, 0}};
  const std::vector<std::string> labels{"case.toml:7:1: probe 'a'", "case.toml:9:1: probe 'b'"};
  try {
    setup.domain.locate(test::world(), points, labels);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("case.toml:9:1: probe 'b' at the sphere's centre"));
  }
}

TEST(NodeProbes, NoneIsNothing) {
  const NodeSetup setup(random_cloud(50, 7), 9, "cpu");
  const auto places = setup.domain.locate(test::world(), {}, {});
  EXPECT_TRUE(probed_values(test::world(), {}, places, 0).empty());
}

TEST(NodePoints, AreReadBackFromTheirFile) {
  const NodeCloud cloud = random_nodes(123, 4);
  for (const int level : {0, 6}) {
    VtkOptions options;
    options.level = level;
    const VtuGrid grid = VtuGrid::of_points(cloud.points, options);
    EXPECT_EQ(grid.points(), 123);
    EXPECT_EQ(grid.cells(), 123);
    const std::vector<double> heights(123, 0.5);
    const std::vector<VtkArray> arrays{{"height", 1, std::span<const double>(heights)}};
    const auto path = test::own_folder() / "points.vtu";
    write_vtu(path, grid, arrays, options);
    EXPECT_EQ(read_nodes(path).points, cloud.points);
  }
}

}  // namespace
}  // namespace tutti
