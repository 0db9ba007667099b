// A row has the same bits in whatever part it is assembled.
#include <gtest/gtest.h>

#include <cstring>

#include "test_meshes.hpp"
#include "tutti/models/diffusion/scheme/gradient.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion {
namespace {

using namespace test;

bool same_bits(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

BoundaryKind some_dirichlet(std::int32_t tag) {
  return tag % 2 == 0 ? BoundaryKind::dirichlet : BoundaryKind::neumann;
}

/// Every cell its own tensor, anisotropic up to 9:1, known by the global number.
Sym3 tensor_of(Gid cell) {
  const auto c = static_cast<std::uint64_t>(cell);
  Vec3 f{random_unit(1, c) - 0.5, random_unit(2, c) - 0.5, random_unit(3, c) - 0.5};
  f = (1 / norm(f)) * f;
  const double t = 0.5 + random_unit(4, c);
  return t * Sym3{1 + 8 * f.x * f.x, 1 + 8 * f.y * f.y, 1 + 8 * f.z * f.z, 8 * f.x * f.y, 8 * f.x * f.z, 8 * f.y * f.z};
}

std::vector<Sym3> tensors_of(const LocalTetMesh& mesh) {
  std::vector<Sym3> K;
  for (const Gid g : mesh.global) K.push_back(tensor_of(g));
  return K;
}

/// Compares the rows and gradients of a part with those of the whole mesh.
void expect_same(const LocalTetMesh& mesh, const DiffusionRows& rows, const std::vector<Vec3>& gradients,
                 const LocalTetMesh& part, const std::vector<Lid>& from) {
  const auto K = tensors_of(part);
  const auto own = assemble_rows(part, K, some_dirichlet);
  std::vector<double> u, g;
  for (const Gid c : part.global) u.push_back(random_unit(9, static_cast<std::uint64_t>(c)));
  for (const auto& f : own.boundary_faces) g.push_back(random_unit(8, static_cast<std::uint64_t>(f.tag)));
  const auto own_gradients = cell_gradients(part, K, some_dirichlet, u, g);
  for (Lid c = 0; c < part.owned; ++c) {
    const std::size_t i = at(c), w = at(from[i]);
    ASSERT_EQ(own.counts[i], rows.counts[w]);
    for (std::size_t e = 0; e < 16; ++e) {
      ASSERT_EQ(part.global[at(own.columns[i][e])], mesh.global[at(rows.columns[w][e])]);
      ASSERT_TRUE(same_bits(own.values[i][e], rows.values[w][e])) << own.values[i][e] - rows.values[w][e];
    }
    ASSERT_TRUE(same_bits(own.diagonal[i], rows.diagonal[w]));
    const auto b = own.boundary_columns.row(c), expected = rows.boundary_columns.row(from[i]);
    ASSERT_EQ(b.size(), expected.size());
    for (std::size_t e = 0; e < b.size(); ++e) {
      const auto& f = own.boundary_faces[at(b[e])];
      const auto& ef = rows.boundary_faces[at(expected[e])];
      ASSERT_EQ(part.global[at(f.cell)], mesh.global[at(ef.cell)]);
      ASSERT_EQ(f.face, ef.face);
      ASSERT_EQ(f.tag, ef.tag);
      ASSERT_EQ(f.centroid, ef.centroid);
      ASSERT_TRUE(same_bits(own.boundary_values[static_cast<std::size_t>(own.boundary_columns.offsets[i]) + e],
                            rows.boundary_values[static_cast<std::size_t>(rows.boundary_columns.offsets[w]) + e]));
    }
    ASSERT_EQ(own_gradients[i], gradients[w]);
  }
}

TEST(SchemeCanonical, RowsHaveTheSameBitsInEveryPart) {
  for (const std::uint64_t seed : {1u, 2u}) {
    const LocalTetMesh mesh = whole(irregular_box(6, seed), seed);
    const auto K = tensors_of(mesh);
    const auto rows = assemble_rows(mesh, K, some_dirichlet);
    EXPECT_GT(rows.weak_fits, 0);
    std::vector<double> u, g;
    for (const Gid c : mesh.global) u.push_back(random_unit(9, static_cast<std::uint64_t>(c)));
    for (const auto& f : rows.boundary_faces) g.push_back(random_unit(8, static_cast<std::uint64_t>(f.tag)));
    const auto gradients = cell_gradients(mesh, K, some_dirichlet, u, g);

    // Parts of random cells (all boundary, much halo), of slabs, of one cell; owned cells in any order.
    std::vector<std::vector<Lid>> parts(12);
    for (const Lid c : random_order(mesh.owned, seed + 5)) {
      parts[random_bits(seed, at(c)) % 4].push_back(c);
      parts[4 + std::min<std::size_t>(2, static_cast<std::size_t>(3 * mesh.centroid(c).x))].push_back(c);
      if (c % (mesh.owned / 4) == 0) parts[7 + at(c / (mesh.owned / 4))].push_back(c);
    }
    std::vector<Lid> from;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      SCOPED_TRACE("part " + std::to_string(p) + " of " + std::to_string(parts[p].size()) + " cells");
      const LocalTetMesh part = part_of(mesh, parts[p], seed + p, from);
      expect_same(mesh, rows, gradients, part, from);
    }
  }
}

TEST(SchemeCanonical, BoundaryFacesOfAPartAreThoseItsRowsRead) {
  const LocalTetMesh mesh = whole(jittered_box(Cut::kuhn, 6, 0.2, 1));
  std::vector<Lid> owned, from;
  for (Lid c = 0; c < mesh.owned; ++c)
    if (mesh.centroid(c).x < 0.4) owned.push_back(c);
  const LocalTetMesh part = part_of(mesh, owned, 3, from);
  ASSERT_GT(part.cell_count(), part.owned);
  const auto rows = assemble_rows(part, tensors_of(part), some_dirichlet);
  std::vector<bool> read(rows.boundary_faces.size(), false);
  for (const Lid f : rows.boundary_columns.columns) read[at(f)] = true;
  EXPECT_EQ(std::count(read.begin(), read.end(), false), 0);
}

}  // namespace
}  // namespace tutti::diffusion
