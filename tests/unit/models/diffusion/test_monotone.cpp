// Fluxes without new extrema: what they promise for any u, and that they are the least-squares flux where that keeps
// it.
#include <gtest/gtest.h>

#include <algorithm>

#include "test_meshes.hpp"
#include "test_scheme_problem.hpp"
#include "tutti/base/random.hpp"
#include "tutti/models/diffusion/scheme/monotone.hpp"

namespace tutti::diffusion {
namespace {

using namespace test;

/// 100 along (1, 1, 0), 1 across.
constexpr Sym3 steep{50.5, 50.5, 1, 49.5, 0, 0};

BoundaryKind all_kinds(std::int32_t tag) {
  return tag <= 2 ? BoundaryKind::dirichlet : tag <= 4 ? BoundaryKind::robin : BoundaryKind::neumann;
}

struct Problem {
  explicit Problem(const BoundaryKindOf& kind, const Sym3& tensor = steep, double film = 3)
      : mesh(whole(jittered_box(Cut::five, 5, 0.25, 7))), K(mesh.cells.size(), tensor) {
    SchemeOptions options{.monotone = true};
    options.transfer = [film](std::int32_t, Vec3 x) { return film * (1 + x.y); };
    scheme = prepare_scheme(mesh, K, kind, options);
    for (Lid c = 0; c < mesh.cell_count(); ++c) u.push_back(random_unit(1, static_cast<std::uint64_t>(c)));
    for (std::size_t b = 0; b < scheme.boundary_faces.size(); ++b)
      g.push_back(gives_u(scheme.boundary_kinds[b]) ? random_unit(2, b) : 0);
  }
  DiffusionRows rows() {
    set_flux_bounds(scheme, u, g);
    return assemble_rows(Scheme(scheme));
  }

  LocalTetMesh mesh;
  std::vector<Sym3> K;
  Scheme scheme;
  std::vector<double> u, g;
};

TEST(Monotone, WeightsAreNotNegative) {
  for (const BoundaryKindOf& kind :
       {BoundaryKindOf(all_kinds), BoundaryKindOf([](std::int32_t) { return BoundaryKind::neumann; })}) {
    Problem problem(kind);
    const DiffusionRows rows = problem.rows();
    EXPECT_EQ(*std::max_element(rows.counts.begin(), rows.counts.end()), 4) << "those of the two-point flux";
    double least = 1;
    for (const auto& row : rows.values)
      for (const double value : row) least = std::min(least, value);
    for (const double value : rows.boundary_values) least = std::min(least, value);
    EXPECT_GE(least, 0);
  }
}

/// The smallest and largest u of 60 steps.
std::pair<double, double> range_of_steps(Problem& problem, bool monotone) {
  SchemeOptions plain = problem.scheme.options;
  plain.monotone = false;
  const DiffusionRows least_squares = assemble_rows(problem.mesh, problem.K, all_kinds, plain);
  std::pair range(problem.u[0], problem.u[0]);
  for (int step = 0; step < 60; ++step) {
    const DiffusionRows bounded = problem.rows();
    const auto rates = test::apply(monotone ? bounded : least_squares, problem.u, problem.g);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      problem.u[i] += rates[i] / bounded.max_outflow;
      range = {std::min(range.first, problem.u[i]), std::max(range.second, problem.u[i])};
    }
  }
  return range;
}

TEST(Monotone, EulerStepsHaveNoNewExtrema) {
  Problem random(all_kinds);
  const auto [least, largest] = range_of_steps(random, true);
  EXPECT_GE(least, 0);
  EXPECT_LE(largest, 1);
  // From 0 to data that jump, with a tensor that carries fluxes beside the gradient.
  for (const bool monotone : {false, true}) {
    Problem jump(all_kinds);
    std::fill(jump.u.begin(), jump.u.end(), 0.0);
    for (std::size_t b = 0; b < jump.g.size(); ++b)
      jump.g[b] = gives_u(jump.scheme.boundary_kinds[b]) && jump.scheme.boundary_faces[b].centroid.y < 0.4 ? 1 : 0;
    const auto [low, high] = range_of_steps(jump, monotone);
    EXPECT_LE(high, 1.1);
    if (monotone)
      EXPECT_GE(low, 0);
    else
      EXPECT_LT(low, -0.01) << "the least-squares flux undershoots here";
  }
}

TEST(Monotone, FilmsThatLetNothingThroughSayNothing) {
  Problem problem(all_kinds, steep, 0);
  for (std::size_t b = 0; b < problem.g.size(); ++b)
    if (problem.scheme.boundary_kinds[b] == BoundaryKind::robin) problem.g[b] = 100;
  const DiffusionRows rows = problem.rows();
  int films = 0;
  for (std::size_t e = 0; e < rows.boundary_values.size(); ++e) {
    const Lid face = rows.boundary_columns.columns[e];
    if (rows.boundary_kinds[static_cast<std::size_t>(face)] != BoundaryKind::robin) continue;
    EXPECT_EQ(rows.boundary_values[e], 0);
    ++films;
  }
  EXPECT_GT(films, 50);
}

TEST(Monotone, NothingIsLost) {
  Problem problem(all_kinds);
  for (std::size_t b = 0; b < problem.g.size(); ++b)
    if (!gives_u(problem.scheme.boundary_kinds[b])) problem.g[b] = random_unit(3, b) - 0.5;
  const auto rates = test::apply(problem.rows(), problem.u, problem.g);
  double change = 0, inflow = 0, size = 0;
  for (Lid c = 0; c < problem.mesh.owned; ++c) change += problem.mesh.volume(c) * rates[static_cast<std::size_t>(c)];
  for (const BoundaryFaceRef& face : problem.scheme.boundary_faces) {
    const double in = boundary_inflow(problem.scheme, face.cell, face.face, problem.u, problem.g);
    inflow += in;
    size += std::abs(in);
  }
  EXPECT_NEAR(inflow, change, 1e-11 * size);
}

/// Where the bounds are wide enough: everywhere, for a linear function with its values on the boundary.
TEST(Monotone, LinearFunctionsAreSteady) {
  const auto linear = [](Vec3 x) { return 1 + 2 * x.x - 3 * x.y + 0.5 * x.z; };
  for (const Sym3& tensor : {Sym3{2, 1.5, 3, 0.5, -0.7, 0.6}, Sym3{5, 5, 1, 4, 0, 0}}) {
    Problem problem([](std::int32_t) { return BoundaryKind::dirichlet; }, tensor);
    for (Lid c = 0; c < problem.mesh.cell_count(); ++c)
      problem.u[static_cast<std::size_t>(c)] = linear(problem.mesh.centroid(c));
    for (std::size_t b = 0; b < problem.g.size(); ++b) problem.g[b] = linear(problem.scheme.boundary_faces[b].centroid);
    const DiffusionRows rows = problem.rows();
    const auto rates = test::apply(rows, problem.u, problem.g);
    const auto moves = std::count_if(rates.begin(), rates.end(),
                                     [&](double rate) { return std::abs(rate) > 1e-10 * rows.max_outflow; });
    // Boxes cut in five have corners whose cells have three faces on the boundary.
    EXPECT_LE(moves, static_cast<std::ptrdiff_t>(rates.size() / 100)) << "of " << rates.size();
  }
}

}  // namespace
}  // namespace tutti::diffusion
