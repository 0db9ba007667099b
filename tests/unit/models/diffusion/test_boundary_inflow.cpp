// What flows through the boundary: exact for linear functions, and what the rows take in, all together.
#include <gtest/gtest.h>

#include "test_meshes.hpp"
#include "test_scheme_problem.hpp"
#include "tutti/mesh/face_shape.hpp"

namespace tutti::diffusion {
namespace {

using namespace test;

Exact problem(bool linear) {
  Exact exact;
  exact.K = [](Vec3, int) { return full_tensor; };
  exact.u = [linear](Vec3 x, int) { return linear ? 1 + 2 * x.x - 3 * x.y + 0.5 * x.z : std::sin(5 * x.x) * x.y; };
  exact.gradient = [](Vec3, int) { return Vec3{2, -3, 0.5}; };
  exact.kind = [](std::int32_t tag) { return tag <= 4 ? BoundaryKind::dirichlet : BoundaryKind::neumann; };
  return exact;
}

/// f(face, what flows in) for every boundary face.
void each_face(const LocalTetMesh& mesh, const Scheme& scheme, std::span<const double> u, std::span<const double> g,
               const auto& f) {
  for (const BoundaryFaceRef& face : scheme.boundary_faces)
    if (face.cell < mesh.owned) f(face, boundary_inflow(scheme, face.cell, face.face, u, g));
}

TEST(BoundaryInflow, LinearFunctionsAreExact) {
  const Exact exact = problem(true);
  const LocalTetMesh mesh = whole(jittered_box(Cut::kuhn, 4, 0.2, 3));
  const auto K = tensors(mesh, exact);
  const Scheme scheme = prepare_scheme(mesh, K, exact.kind);
  std::vector<double> u;
  for (Lid c = 0; c < mesh.cell_count(); ++c) u.push_back(exact.u(mesh.centroid(c), 0));
  const auto g = test::boundary_data(mesh, scheme.boundary_faces, exact);
  int faces = 0;
  each_face(mesh, scheme, u, g, [&](const BoundaryFaceRef& face, double inflow) {
    const Vec3 area = face_shape(mesh, face.cell, face.face).area;
    EXPECT_NEAR(inflow, dot(area, full_tensor * Vec3{2, -3, 0.5}), 1e-11 * norm(area));
    ++faces;
  });
  EXPECT_EQ(faces, 6 * 4 * 4 * 2);
}

/// sum_i V_i du_i/dt is what comes in through the boundary: nothing else changes the integral.
TEST(BoundaryInflow, IsWhatTheRowsTakeIn) {
  const Exact exact = problem(false);
  for (const bool two_point : {false, true})
    for (const bool damped : {false, true}) {
      if (two_point && damped) continue;
      const LocalTetMesh mesh = whole(jittered_box(Cut::five, 5, 0.25, 7));
      const auto K = tensors(mesh, exact);
      SchemeOptions options;
      options.two_point = two_point;
      std::vector<double> levels(mesh.cells.size(), 0.0);
      for (std::size_t c = 0; c < levels.size(); c += 3) levels[c] = 1.5 + 0.25 * static_cast<double>(c % 2);
      if (damped) options.damped = levels;
      const Scheme scheme = prepare_scheme(mesh, K, exact.kind, options);
      std::vector<double> u;
      for (Lid c = 0; c < mesh.cell_count(); ++c) u.push_back(exact.u(mesh.centroid(c), 0));
      const auto g = test::boundary_data(mesh, scheme.boundary_faces, exact);
      const auto rates = test::apply(assemble_rows(mesh, K, exact.kind, options), u, g);
      double change = 0, inflow = 0, size = 0;
      for (Lid c = 0; c < mesh.owned; ++c) change += mesh.volume(c) * rates[static_cast<std::size_t>(c)];
      each_face(mesh, scheme, u, g, [&](const BoundaryFaceRef&, double in) {
        inflow += in;
        size += std::abs(in);
      });
      EXPECT_NEAR(inflow, change, 1e-11 * size) << two_point << damped;
      EXPECT_GT(std::abs(inflow), 1e-3 * size);
    }
}

}  // namespace
}  // namespace tutti::diffusion
