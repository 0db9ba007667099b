// Stability: no eigenvalue of the operator on the wrong side, at isotropic and at 9:1.
#include <gtest/gtest.h>

#include "test_meshes.hpp"
#include "test_scheme_problem.hpp"

namespace tutti::diffusion {
namespace {

using namespace test;

struct Spectrum {
  double radius = 0;
  double rightmost = -1e300;   ///< largest real part
  double euler_limit = 1e300;  ///< largest stable step of explicit Euler: min of -2 Re / |lambda|^2
};

Spectrum spectrum(const DiffusionRows& rows) {
  const auto values = eigenvalues(rows);
  Spectrum out;
  for (const auto& z : values) {
    out.radius = std::max(out.radius, std::abs(z));
    out.rightmost = std::max(out.rightmost, z.real());
  }
  for (const auto& z : values)
    if (std::abs(z) > 1e-9 * out.radius) out.euler_limit = std::min(out.euler_limit, -2 * z.real() / std::norm(z));
  return out;
}

Sym3 fibre(Vec3 x, double ratio) {
  const double angle = 3.14159 * x.z - 0.3 * x.x;
  Vec3 f{std::cos(angle), std::sin(angle), 0.3};
  f = (1 / norm(f)) * f;
  const double d = ratio - 1;
  return {1 + d * f.x * f.x, 1 + d * f.y * f.y, 1 + d * f.z * f.z, d * f.x * f.y, d * f.x * f.z, d * f.y * f.z};
}

BoundaryKind closed(std::int32_t) {
  return BoundaryKind::neumann;
}
BoundaryKind open(std::int32_t) {
  return BoundaryKind::dirichlet;
}

std::vector<Sym3> fibres(const LocalTetMesh& mesh, double ratio) {
  std::vector<Sym3> K;
  for (Lid c = 0; c < mesh.cell_count(); ++c) K.push_back(fibre(mesh.centroid(c), ratio));
  return K;
}

TEST(SchemeSpectrum, NoGrowingModesUpTo9To1) {
  const std::vector<LocalTetMesh> meshes = {whole(jittered_box(Cut::kuhn, 4, 0, 1)),
                                            whole(jittered_box(Cut::kuhn, 4, 0.2, 1)),
                                            whole(jittered_box(Cut::five, 4, 0.2, 1)), whole(irregular_box(4, 2))};
  for (std::size_t m = 0; m < meshes.size(); ++m)
    for (const double ratio : {1.0, 9.0})
      for (const auto kind : {closed, open}) {
        SCOPED_TRACE("mesh " + std::to_string(m) + ", " + std::to_string(ratio) + ":1, " +
                     (kind == closed ? "closed" : "open"));
        const auto rows = assemble_rows(meshes[m], fibres(meshes[m], ratio), kind);
        const Spectrum s = spectrum(rows);
        EXPECT_LT(s.rightmost, 1e-13 * s.radius);
        // The two time steps that a caller can choose without a dense spectrum.
        EXPECT_GT(s.euler_limit, 0.99 * 2 / s.radius);
        EXPECT_GT(s.euler_limit, 1 / rows.max_outflow);
      }
}

/// Boxes on which a plain cut-off of weak fits (gradient zero below 0.02) has growing modes at 9:1.
TEST(SchemeSpectrum, WeakFitsYieldToGoodOnes) {
  SchemeOptions careless;
  careless.weak_fit = careless.weak_boundary_fit = careless.tangential_limit = 1e-3;
  int careless_grows = 0;
  for (const auto& [n, seed] : {std::pair(6, 4), {6, 8}, {8, 1}}) {
    const LocalTetMesh mesh = whole(jittered_box(Cut::kuhn, n, 0.25, static_cast<std::uint64_t>(seed)));
    const auto K = fibres(mesh, 9);
    EXPECT_LE(growth(assemble_rows(mesh, K, closed)), 1.0) << n << ", " << seed;
    careless_grows += growth(assemble_rows(mesh, K, closed, careless)) > 10;
  }
  EXPECT_GT(careless_grows, 0) << "this test can no longer tell";
}

}  // namespace
}  // namespace tutti::diffusion
