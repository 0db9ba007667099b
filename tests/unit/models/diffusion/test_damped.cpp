// The damped flux: exact for linear functions, of second order, and what its shares make coercive.
#include <gtest/gtest.h>

#include "test_meshes.hpp"
#include "test_scheme_problem.hpp"
#include "tutti/models/diffusion/scheme/damped.hpp"

namespace tutti::diffusion {
namespace {

using namespace test;

BoundaryKind closed(std::int32_t) {
  return BoundaryKind::neumann;
}
BoundaryKind open(std::int32_t) {
  return BoundaryKind::dirichlet;
}
BoundaryKind mixed(std::int32_t tag) {
  return tag % 2 == 0 ? BoundaryKind::neumann : BoundaryKind::dirichlet;
}

/// A fibre 100:1 in a direction of no mesh.
Sym3 fibre(double ratio) {
  Vec3 f{0.6, -0.35, 0.72};
  f = (1 / norm(f)) * f;
  const double d = ratio - 1;
  return {1 + d * f.x * f.x, 1 + d * f.y * f.y, 1 + d * f.z * f.z, d * f.x * f.y, d * f.x * f.z, d * f.y * f.z};
}

/// Vertices that move so far that some cells get flat; stretched along x.
LocalTetMesh bad_box(int n, double stretch, std::uint64_t seed) {
  TetMesh mesh = jittered_box(Cut::kuhn, n, 0.33, seed);
  for (Vec3& x : mesh.vertices) x.x *= stretch;
  return whole(mesh);
}

std::vector<double> all_damped(const LocalTetMesh& mesh) {
  return std::vector<double>(mesh.cells.size(), 2.0);
}

/// The rows in which every cell keeps to its coercive share.
DiffusionRows coercive_rows(const LocalTetMesh& mesh, std::span<const Sym3> K, const BoundaryKindOf& kind) {
  auto damped = all_damped(mesh);
  SchemeOptions options;
  options.damped = damped;
  const Scheme scheme = prepare_scheme(mesh, K, kind, options);
  std::vector<double> shares;
  for (Lid c = 0; c < mesh.owned; ++c) shares.push_back(1 + coercive_share(scheme, c));
  options.damped = shares;
  return assemble_rows(mesh, K, kind, options);
}

TEST(Damped, LinearFunctionsAreExact) {
  for (const BoundaryKindOf& kind : {BoundaryKindOf(closed), BoundaryKindOf(open), BoundaryKindOf(mixed)})
    for (const bool every : {true, false}) {
      const LocalTetMesh mesh = bad_box(4, 1, 3);
      Exact exact;
      exact.K = [](Vec3, int) { return full_tensor; };
      exact.u = [](Vec3 x, int) { return 1 + 2 * x.x - 3 * x.y + 0.5 * x.z; };
      exact.gradient = [](Vec3, int) { return Vec3{2, -3, 0.5}; };
      exact.kind = kind;
      auto damped = all_damped(mesh);
      for (std::size_t c = 0; c < damped.size() && !every; c += 3) damped[c] = 0;
      SchemeOptions options;
      options.damped = damped;
      const auto K = tensors(mesh, exact);
      const auto rows = assemble_rows(mesh, K, kind, options);
      std::vector<double> u;
      for (Lid c = 0; c < mesh.owned; ++c) u.push_back(exact.u(mesh.centroid(c), 0));
      for (const double rate : apply(rows, u, boundary_data(mesh, rows.boundary_faces, exact)))
        EXPECT_LT(std::abs(rate), 1e-10 * rows.max_outflow);
    }
}

TEST(Damped, SecondOrder) {
  std::array<double, 2> size, error;
  for (std::size_t k = 0; k < 2; ++k) {
    const LocalTetMesh mesh = whole(irregular_box(k == 0 ? 6 : 12, 7));
    Exact exact;
    exact.K = [](Vec3, int) { return fibre(9); };
    exact.u = [](Vec3 x, int) { return std::sin(3 * x.x + 0.3) * std::cos(2.5 * x.y) * std::exp(0.5 * x.z); };
    exact.gradient = [](Vec3 x, int) {
      const double s = std::sin(3 * x.x + 0.3), c = std::cos(3 * x.x + 0.3), e = std::exp(0.5 * x.z);
      return Vec3{3 * c * std::cos(2.5 * x.y) * e, -2.5 * s * std::sin(2.5 * x.y) * e,
                  0.5 * s * std::cos(2.5 * x.y) * e};
    };
    const auto damped = all_damped(mesh);
    SchemeOptions options;
    options.damped = damped;
    const Errors errors = steady_errors(mesh, exact, options), plain = steady_errors(mesh, exact);
    std::printf("    h %.3f: %.3e, with the least-squares flux %.3e\n", errors.h, errors.u, plain.u);
    size[k] = errors.h;
    error[k] = errors.u;
  }
  EXPECT_GT(std::log(error[0] / error[1]) / std::log(size[0] / size[1]), 1.6);
}

/// The proof is about each cell; the sum of all is the energy of any state.
TEST(Damped, CoerciveSharesTakeEnergyOutOfEveryState) {
  double plain_gain = 0;
  for (const double stretch : {1.0, 50.0})
    for (const double ratio : {1.0, 9.0, 100.0})
      for (const auto kind : {closed, open, mixed}) {
        const LocalTetMesh mesh = bad_box(3, stretch, 5);
        const std::vector<Sym3> K(mesh.cells.size(), fibre(ratio));
        EXPECT_LT(largest_gain(mesh, coercive_rows(mesh, K, kind)), 1e-12) << stretch << ", " << ratio << ":1";
        plain_gain = std::max(plain_gain, largest_gain(mesh, assemble_rows(mesh, K, kind)));
      }
  EXPECT_GT(plain_gain, 1e-3) << "this test can no longer tell";
}

TEST(Damped, MassIsKept) {
  const LocalTetMesh mesh = bad_box(4, 1, 3);
  const std::vector<Sym3> K(mesh.cells.size(), fibre(30));
  const auto rows = coercive_rows(mesh, K, closed);
  std::vector<double> u, none(rows.boundary_faces.size(), 0.0);
  for (Lid c = 0; c < mesh.owned; ++c) u.push_back(random_unit(3, static_cast<std::uint64_t>(c)));
  const auto rates = apply(rows, u, none);
  double sum = 0, size = 0;
  for (Lid c = 0; c < mesh.owned; ++c) {
    sum += mesh.volume(c) * rates[static_cast<std::size_t>(c)];
    size += mesh.volume(c) * std::abs(rates[static_cast<std::size_t>(c)]);
  }
  EXPECT_LT(std::abs(sum), 1e-13 * size);
}

}  // namespace
}  // namespace tutti::diffusion
