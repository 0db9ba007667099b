// Nodes to a file of every format and back: the same bits.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tutti/base/error.hpp"
#include "tutti/io/write_nodes.hpp"
#include "tutti/mesh/sphere/node_report.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;

class WriteNodes : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tutti_write_nodes_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_P(WriteNodes, AndRead) {
  for (NodeCloud cloud : {fibonacci_nodes(1), fibonacci_nodes(12), random_nodes(2000, 1), icosahedral_nodes(3)}) {
    for (const bool weights : {false, true}) {
      if (weights) cloud.weights = cell_areas(cloud.points);
      if (weights && cloud.size() == 1) cloud.weights = {12.566370614359172};
      const fs::path path = folder_ / (std::string("nodes.") + GetParam());
      write_nodes(cloud, path, 2);
      const NodeCloud back = read_nodes(path);
      EXPECT_EQ(back.points, cloud.points);
      EXPECT_EQ(back.weights, cloud.weights);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, WriteNodes, ::testing::Values("xyz", "txt", "bin", "raw", "f64", "vtp", "vtu"),
                         [](const auto& test) { return std::string(test.param); });

void expect_usage(const char* name, bool weights, const std::string& words) {
  try {
    check_node_file(name, weights);
    ADD_FAILURE() << name;
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(WriteNodesNames, TellTheFormat) {
  expect_usage("nodes.csv", false, "nodes.csv: the name must end in .xyz");
  expect_usage("nodes", false, "must end in");
  expect_usage("nodes.xyzw.bin", false, "nodes.xyzw.bin: the nodes have no weights; a name with .xyz is expected");
  expect_usage("nodes.xyz.bin", true, "a name with .xyzw is expected");
  check_node_file("nodes.xyzw.bin", true);
  check_node_file("nodes.xyz.f64", false);
}

}  // namespace
}  // namespace tutti
