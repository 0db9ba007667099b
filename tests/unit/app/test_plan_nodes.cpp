#include <gtest/gtest.h>

#include <cmath>

#include "app/plan_nodes.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti::app {
namespace {

/// Rows in a line; each reads two on either side.
Adjacency line(Gid rows) {
  Adjacency graph;
  for (Gid i = 0; i < rows; ++i) {
    for (const Gid j : {i - 2, i - 1, i + 1, i + 2})
      if (j >= 0 && j < rows) graph.columns.push_back(j);
    graph.close_row();
  }
  return graph;
}

TEST(PlanNodes, CountsOfALine) {
  // Two nodes of two parts of five rows: the cut in the middle is the network's.
  std::vector<std::int32_t> owner(20);
  for (std::size_t i = 0; i < owner.size(); ++i) owner[i] = static_cast<std::int32_t>(i / 5);
  const auto counts = count_parts(line(20), owner, 4, 2);
  const double ghosts[] = {2, 4, 4, 2}, off[] = {0, 2, 2, 0}, messages[] = {0, 1, 1, 0};
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(counts[p].cells, 5);
    EXPECT_EQ(counts[p].ghosts, ghosts[p]) << p;
    EXPECT_EQ(counts[p].separators, ghosts[p]) << p;
    EXPECT_EQ(counts[p].sent, ghosts[p]) << p;
    EXPECT_EQ(counts[p].sent_off, off[p]) << p;
    EXPECT_EQ(counts[p].ghosts_off, off[p]) << p;
    EXPECT_EQ(counts[p].messages, messages[p]) << p;
  }
}

TEST(PlanNodes, OneRowReadByManyIsOneSeparator) {
  // Row 0 is read by three parts that it does not read.
  Adjacency star;
  star.close_row();
  for (int i = 1; i < 4; ++i) {
    star.columns.push_back(0);
    star.close_row();
  }
  const auto counts = count_parts(star, std::vector<std::int32_t>{0, 1, 2, 3}, 5, 1);
  EXPECT_EQ(counts[0].separators, 1);
  EXPECT_EQ(counts[0].sent, 3);
  EXPECT_EQ(counts[0].messages, 3);
  EXPECT_EQ(counts[0].ghosts, 0);
  EXPECT_EQ(counts[2].ghosts, 1);
  EXPECT_EQ(counts[4].cells, 0) << "a part without rows";
}

TEST(PlanNodes, GhostsAreThoseOfAssessPartition) {
  const auto graph = line(1000);
  std::vector<std::int32_t> owner(1000);
  for (std::size_t i = 0; i < owner.size(); ++i) owner[i] = static_cast<std::int32_t>(i * 7 % 13 % 6);
  const auto counts = count_parts(graph, owner, 6, 3);
  const auto quality = assess_partition(graph, owner, std::vector<double>(6, 1.0));
  for (std::size_t p = 0; p < 6; ++p) EXPECT_EQ(counts[p].ghosts, static_cast<double>(quality.ghosts[p]));
}

NodeDevice gpu() {
  NodeDevice d;
  d.name = "gpu";
  d.accelerator = true;
  d.rows = 1e9;
  d.to_device = 8e9;
  d.to_host = 4e9;
  d.copy_latency = 10e-6;
  d.launch = 5e-6;
  return d;
}

TEST(PlanNodes, SecondsOfEachPolicy) {
  PartCounts part;
  part.cells = 1e6;
  part.separators = 1e5;
  part.ghosts = 1e5;
  part.sent = 1e5;
  part.sent_off = part.ghosts_off = 5e4;
  part.messages = 3;
  const NodeDevice devices[] = {gpu()};
  const Network network{1e9, 2e-6};
  const StepSeconds s = project_step(std::span(&part, 1), devices, network);
  const double before = 1e-5 + 1e-4, interior = 9e-4;
  const double copies = 2e-5 + 8e5 / 4e9 + 8e5 / 8e9, message = 3 * 2e-6 + 4e5 / 1e9;
  EXPECT_NEAR(s.none, before + copies + message + interior, 1e-12);
  EXPECT_NEAR(s.messages, before + copies + interior, 1e-12);
  EXPECT_NEAR(s.full, before + interior, 1e-12);
}

TEST(PlanNodes, SlowNetworksAreSeenThroughTheInterior) {
  PartCounts part;
  part.cells = 1e6;
  part.separators = part.ghosts = part.sent = part.sent_off = part.ghosts_off = 1e5;
  const NodeDevice devices[] = {gpu()};
  const StepSeconds s = project_step(std::span(&part, 1), devices, {1e8, 0});
  EXPECT_NEAR(s.full, 1e-5 + 1e-4 + 2e-5 + 2e-4 + 1e-4 + 8e-3, 1e-12);
  EXPECT_DOUBLE_EQ(s.messages, s.full) << "the message hides the interior, whatever the copies do";
  EXPECT_LT(s.messages, s.none);
}

TEST(PlanNodes, OneDeviceAloneWaitsForNobody) {
  PartCounts part;
  part.cells = 2e6;
  const NodeDevice devices[] = {gpu()};
  const StepSeconds s = project_step(std::span(&part, 1), devices, {});
  EXPECT_DOUBLE_EQ(s.none, 2e-3);
  EXPECT_DOUBLE_EQ(s.full, 2e-3);
}

TEST(PlanNodes, ACpuHasNoCopiesAndMayFitInItsCaches) {
  PartCounts part;
  part.cells = 1000;
  part.separators = part.ghosts = part.sent = 100;
  NodeDevice cpu;
  cpu.rows = 1e6;
  cpu.rows_cached = 2e6;
  cpu.cached_rows = 1000;
  EXPECT_NEAR(project_step(std::span(&part, 1), std::span(&cpu, 1), {}).none, 5e-4, 1e-12);
  cpu.cached_rows = 999;
  EXPECT_NEAR(project_step(std::span(&part, 1), std::span(&cpu, 1), {}).none, 1e-3, 1e-12);
}

RealPartition like_cubes(int nodes, double cells, double factor) {
  RealPartition real{nodes, {}};
  PartCounts part;
  part.cells = cells / nodes;
  part.ghosts = part.separators = part.sent = factor * std::pow(part.cells, 2.0 / 3.0);
  part.messages = 6;
  real.parts.assign(nodes, part);
  real.parts[0].cells *= 0.9;  // the worst part counts
  return real;
}

TEST(PlanNodes, SurfacesOfCubesAreMetExactly) {
  // Fewer than a quarter of the nodes have fewer neighbours, and are left out.
  const std::vector<RealPartition> real{like_cubes(8, 1e6, 1), like_cubes(16, 1e6, 3), like_cubes(64, 1e6, 3)};
  const auto laws = fit_surfaces(real, 1);
  EXPECT_NEAR(laws[0].factors.ghosts, 3, 1e-12);
  EXPECT_NEAR(*law_error(real, laws), 0, 1e-12);
  const double weights[] = {1.0};
  const auto parts = project_parts(laws, weights, 1000);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_GT(parts[0].cells, 1000) << "the largest part is larger than the mean";
  EXPECT_NEAR(parts[0].ghosts, 3 * std::pow(parts[0].cells, 2.0 / 3.0), 1e-9);
  EXPECT_EQ(parts[0].messages, 6);
}

TEST(PlanNodes, TheErrorOfTheLawIsSeen) {
  const std::vector<RealPartition> real{like_cubes(16, 1e6, 2), like_cubes(64, 1e6, 4)};
  EXPECT_NEAR(*law_error(real, fit_surfaces(real, 1)), 0.5, 1e-12);
  EXPECT_FALSE(law_error(std::span(real).first(1), fit_surfaces(std::span(real).first(1), 1)).has_value());
}

TEST(PlanNodes, ADeviceWithoutCellsBorrowsALaw) {
  RealPartition real{2, {}};
  PartCounts part;
  part.cells = 1000;
  part.ghosts = part.separators = part.sent = 200;
  real.parts = {part, PartCounts{}, part, PartCounts{}};
  const auto laws = fit_surfaces(std::span(&real, 1), 2);
  EXPECT_NEAR(laws[1].factors.ghosts, 2, 1e-12);
  const double weights[] = {1.0, 0.0};
  EXPECT_EQ(project_parts(laws, weights, 500)[1].cells, 0);
}

}  // namespace
}  // namespace tutti::app
