// Smoothing over ranks: any split of the nodes over any parts gives the bits of one part.
#include <gtest/gtest.h>

#include "tests/support/rank_parts.hpp"
#include "tests/support/smoothing_run.hpp"

namespace tutti::smoothing {
namespace {

const Comm& world() {
  static const Comm comm;
  return comm;
}

/// The only member of a communicator.
const Comm& alone() {
  static const Comm comm(MPI_COMM_SELF);
  return comm;
}

std::vector<Vec3> smoothed(const Comm& comm, const TetMesh& mesh, const SmoothOptions& options, test::Team& team,
                           const std::vector<std::int32_t>& owner, const std::vector<int>& rank_of_part,
                           Overlap overlap) {
  const NodeFreedom freedom = find_freedom(mesh, find_face_neighbours(mesh), options.boundary, options.feature_angle);
  Smoother smoother(comm, team.threads, mesh, freedom, options, owner, rank_of_part, team.streams, overlap);
  smoother.run();
  return smoother.points();
}

void compare(const TetMesh& mesh, const SmoothOptions& options, std::uint64_t seed, Overlap overlap) {
  test::Team one(0, true, 1);
  const auto expected =
      smoothed(alone(), mesh, options, one, std::vector<std::int32_t>(mesh.vertices.size(), 0), {0}, Overlap::full);
  // One to three parts a rank, on the CPU and on fake devices; now and then a part gets nothing.
  std::vector<int> rank_of_part;
  int mine = 0;
  for (int rank = 0; rank < world().size(); ++rank) {
    const int parts = 1 + static_cast<int>(random_bits(seed, static_cast<std::uint64_t>(rank)) % 3);
    rank_of_part.insert(rank_of_part.end(), static_cast<std::size_t>(parts), rank);
    if (rank == world().rank()) mine = parts;
  }
  std::vector<std::int32_t> owner;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    owner.push_back(static_cast<std::int32_t>(random_bits(seed, 1000 + v / (1 + seed % 20)) % rank_of_part.size()));
  test::Team team(mine - 1, true, 2);
  const auto found = smoothed(world(), mesh, options, team, owner, rank_of_part, overlap);
  ASSERT_EQ(found.size(), expected.size());
  int wrong = 0;
  for (std::size_t v = 0; v < found.size(); ++v) wrong += found[v] != expected[v];
  EXPECT_EQ(wrong, 0) << "nodes that differ, seed " << seed;
}

SmoothOptions options_of(std::uint64_t seed) {
  SmoothOptions o;
  o.iterations = 3;
  o.stop_energy = 0;
  o.energy = seed % 2 == 0 ? Energy::shape : Energy::l2v;
  o.simultaneous = seed % 3 == 0;
  o.method = seed % 5 == 0 ? Method::half_trace : Method::newton;
  o.boundary = seed % 4 == 0 ? BoundaryRule::fixed : BoundaryRule::slide;
  return o;
}

constexpr Overlap overlaps[] = {Overlap::none, Overlap::messages, Overlap::full};

TEST(Smoothing, AnySplitGivesTheBitsOfOnePart) {
  for (std::uint64_t seed = 1; seed <= 9; ++seed)
    compare(test::noisy_box({5, 4, 4}, 0.4, seed), options_of(seed), seed, overlaps[seed % 3]);
}

TEST(Smoothing, AnySplitUntanglesAlike) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed)
    compare(test::tangled_box({5, 4, 4}, 0.7, seed), options_of(seed), seed, Overlap::full);
}

TEST(Smoothing, CurvedSurfacesAlike) {
  TetMesh mesh = test::noisy_box({4, 4, 4}, 0.2, 3);
  mesh.boundary.clear();
  mesh.boundary_tags.clear();
  for (Vec3& v : mesh.vertices) {
    const Vec3 p = v - Vec3{2, 2, 2};
    v = v + (0.02 * dot(p, p)) * p;
  }
  SmoothOptions o = options_of(2);
  o.feature_angle = 100;
  compare(mesh, o, 5, Overlap::full);
  o.simultaneous = true;
  compare(mesh, o, 6, Overlap::full);
}

}  // namespace
}  // namespace tutti::smoothing
