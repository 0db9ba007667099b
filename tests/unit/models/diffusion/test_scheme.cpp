// The rows of the diffusion operator: exactness, structure, conservation.
#include <gtest/gtest.h>

#include <set>

#include "test_meshes.hpp"
#include "test_scheme_problem.hpp"
#include "tests/support/elimination.hpp"
#include "tests/support/thread_hook.hpp"
#include "tutti/base/dense_matrix.hpp"
#include "tutti/base/error.hpp"

namespace tutti::diffusion {
namespace {

using namespace test;

/// Neumann on the sides whose bit is set (bit 0: tag 1).
BoundaryKindOf neumann_on(unsigned sides) {
  return
      [sides](std::int32_t tag) { return (sides >> (tag - 1)) & 1u ? BoundaryKind::neumann : BoundaryKind::dirichlet; };
}
constexpr unsigned all_sides = 63;

/// u = 1 + 2 x - 3 y + z / 2 with a full tensor.
Exact linear(unsigned neumann_sides) {
  Exact exact;
  exact.K = [](Vec3, int) { return full_tensor; };
  exact.u = [](Vec3 x, int) { return 1 + 2 * x.x - 3 * x.y + 0.5 * x.z; };
  exact.gradient = [](Vec3, int) { return Vec3{2, -3, 0.5}; };
  exact.kind = neumann_on(neumann_sides);
  return exact;
}

std::vector<double> values_of(const LocalTetMesh& mesh, const Exact& exact) {
  std::vector<double> u;
  for (Lid c = 0; c < mesh.cell_count(); ++c) u.push_back(exact.u(mesh.centroid(c), exact.side(mesh.centroid(c))));
  return u;
}

double largest(std::span<const double> x) {
  double out = 0;
  for (const double v : x) out = std::max(out, std::abs(v));
  return out;
}

/// The exact solution must have du/dt = 0 and exact gradients, to rounding (relative to the largest coefficient).
void expect_exact(const LocalTetMesh& mesh, const Exact& exact, const std::string& what) {
  const auto K = tensors(mesh, exact);
  const auto rows = assemble_rows(mesh, K, exact.kind);
  const auto g = boundary_data(mesh, rows.boundary_faces, exact);
  const auto u = values_of(mesh, exact);
  EXPECT_LT(largest(apply(rows, u, g)), 1e-12 * (1 + rows.max_outflow) * largest(u)) << what;
  const auto gradients = cell_gradients(mesh, K, exact.kind, u, g);
  for (Lid c = 0; c < mesh.owned; ++c) {
    const Vec3 expected = exact.gradient(mesh.centroid(c), exact.side(mesh.centroid(c)));
    EXPECT_LT(norm(gradients[at(c)] - expected), 1e-11 * (1 + norm(expected))) << what << ", cell " << c;
  }
}

int cells_with_boundary_faces(const LocalTetMesh& mesh, int faces) {
  int out = 0;
  for (const auto& n : mesh.neighbours) out += std::count_if(n.begin(), n.end(), [](Lid x) { return x < 0; }) == faces;
  return out;
}

TEST(Scheme, LinearFunctionsAreExactOnJitteredBoxes) {
  for (const double jitter : {0.0, 0.1, 0.25})
    for (const unsigned sides : {0u, 1u, 21u, 27u, 42u, all_sides}) {
      const std::string what = "jitter " + std::to_string(jitter) + ", Neumann sides " + std::to_string(sides);
      expect_exact(whole(jittered_box(Cut::kuhn, 4, jitter, 3)), linear(sides), "kuhn, " + what);
      const LocalTetMesh corners = whole(jittered_box(Cut::five, 5, jitter, 3));
      EXPECT_GT(cells_with_boundary_faces(corners, 3), 0);
      expect_exact(corners, linear(sides), "five, " + what);
      expect_exact(whole(irregular_box(4, 5)), linear(sides), "irregular, " + what);
    }
}

TEST(Scheme, LinearFunctionsAreExactOnOneAndTwoCells) {
  TetMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0.1, 0}, {0.2, 1, 0}, {0.1, 0.3, 0.9}, {0.9, 1.1, 1}};
  mesh.cells = {{0, 1, 2, 3}};
  for (const unsigned sides : {0u, 5u, all_sides}) expect_exact(whole(mesh), linear(sides), "one cell");
  const LocalTetMesh one = whole(mesh);
  const auto rows = assemble_rows(one, std::vector<Sym3>{full_tensor}, neumann_on(0));
  EXPECT_EQ(rows.counts[0], 0);
  EXPECT_EQ(rows.boundary_columns.entries(), 4);
  mesh.cells.push_back({1, 4, 2, 3});
  ASSERT_GT(whole(mesh).volume(1), 0);
  for (const unsigned sides : {0u, 5u, all_sides}) expect_exact(whole(mesh), linear(sides), "two cells");
}

TEST(Scheme, AnEmptyPartHasNoRows) {
  const auto rows = assemble_rows(LocalTetMesh{}, {}, neumann_on(0));
  EXPECT_TRUE(rows.columns.empty());
  EXPECT_EQ(rows.boundary_columns.offsets, std::vector<Size>{0});
  EXPECT_EQ(rows.max_outflow, 0);
}

/// Piecewise linear across x = 0.5: the same tangential gradient, normal derivatives that keep n . K grad u.
Exact piecewise_linear(const Sym3& left, const Sym3& right, unsigned sides) {
  const Vec3 tangential{0, -3, 0.5};
  const Vec3 grad_left{2, tangential.y, tangential.z};
  const double flow = (left * grad_left).x;
  const Vec3 grad_right{(flow - (right * tangential).x) / right.xx, tangential.y, tangential.z};
  Exact exact;
  exact.side = [](Vec3 x) { return x.x < 0.5 ? -1 : 1; };
  exact.K = [=](Vec3, int side) { return side < 0 ? left : right; };
  exact.gradient = [=](Vec3, int side) { return side < 0 ? grad_left : grad_right; };
  exact.u = [=](Vec3 x, int side) { return 1 + dot(side < 0 ? grad_left : grad_right, x - Vec3{0.5, 0, 0}); };
  exact.kind = neumann_on(sides);
  return exact;
}

TEST(Scheme, PiecewiseLinearFunctionsAreExactAcrossAnInterface) {
  const Sym3 other{1, 4, 2, -0.3, 0.4, 1.1};
  for (const double contrast : {1e-3, 0.1, 1.0, 10.0, 1e3})
    for (const unsigned sides : {0u, 42u, 27u}) {
      const auto exact = piecewise_linear(full_tensor, contrast * other, sides);
      const std::string what = "contrast " + std::to_string(contrast) + ", Neumann sides " + std::to_string(sides);
      expect_exact(whole(jittered_box(Cut::kuhn, 4, 0.2, 3, true)), exact, "kuhn, " + what);
      expect_exact(whole(irregular_box(4, 5, true)), exact, "irregular, " + what);
    }
}

TEST(Scheme, ConstantsStayExactly) {
  const LocalTetMesh mesh = whole(irregular_box(5, 2));
  const std::vector<Sym3> K(mesh.cells.size(), full_tensor);
  const std::vector<double> u(mesh.cells.size(), 3.7);
  const auto closed = assemble_rows(mesh, K, neumann_on(all_sides));
  for (const double d : closed.diagonal) EXPECT_EQ(d, 0);
  for (const double rate : apply(closed, u, std::vector<double>(closed.boundary_faces.size(), 0.0))) EXPECT_EQ(rate, 0);
  const auto open = assemble_rows(mesh, K, neumann_on(0));
  const auto rates = apply(open, u, std::vector<double>(open.boundary_faces.size(), 3.7));
  EXPECT_LT(largest(rates), 1e-14 * open.max_outflow);
}

TEST(Scheme, ClosedBoundariesConserve) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const LocalTetMesh mesh = whole(irregular_box(6, seed));
    std::vector<Sym3> K;
    std::vector<double> u;
    for (Lid c = 0; c < mesh.owned; ++c) {
      K.push_back((1 + 99 * random_unit(seed, at(c))) * full_tensor);
      u.push_back(random_unit(seed + 1, at(c)));
    }
    const auto rows = assemble_rows(mesh, K, neumann_on(all_sides));
    const auto rates = apply(rows, u, std::vector<double>(rows.boundary_faces.size(), 0.0));
    double sum = 0, absolute = 0;
    for (Lid c = 0; c < mesh.owned; ++c) {
      sum += mesh.volume(c) * rates[at(c)];
      absolute += std::abs(mesh.volume(c) * rates[at(c)]);
    }
    EXPECT_GT(absolute, 0);
    EXPECT_LT(std::abs(sum), 1e-14 * absolute);
    // The same in the columns: no cell loses more than its neighbours win, whatever u is.
    std::vector<double> column(mesh.cells.size(), 0.0);
    for (std::size_t i = 0; i < rows.counts.size(); ++i)
      for (std::size_t e = 0; e < rows.counts[i]; ++e) {
        const double flow = mesh.volume(static_cast<Lid>(i)) * rows.values[i][e];
        column[at(rows.columns[i][e])] += flow;
        column[i] -= flow;
      }
    EXPECT_LT(largest(column), 1e-12);
  }
}

TEST(Scheme, NeumannDataEnterAsTheirIntegral) {
  const LocalTetMesh mesh = whole(irregular_box(5, 7));
  const std::vector<Sym3> K(mesh.cells.size(), full_tensor);
  const auto rows = assemble_rows(mesh, K, neumann_on(all_sides));
  const auto rates =
      apply(rows, std::vector<double>(mesh.cells.size(), 1.0), std::vector<double>(rows.boundary_faces.size(), 1.0));
  double sum = 0;
  for (Lid c = 0; c < mesh.owned; ++c) sum += mesh.volume(c) * rates[at(c)];
  EXPECT_NEAR(sum, 6.0, 1e-11);  // q = 1 over the surface of the unit cube
}

TEST(Scheme, RowsHoldTheFourAndTwelveNeighboursInGlobalOrder) {
  const LocalTetMesh mesh = whole(irregular_box(5, 3));
  const std::vector<Sym3> K(mesh.cells.size(), full_tensor);
  const auto rows = assemble_rows(mesh, K, neumann_on(21));
  bool full_row = false;
  for (Lid c = 0; c < mesh.owned; ++c) {
    std::set<Gid> expected;
    std::set<std::pair<Gid, int>> faces;
    for (int f = 0; f < 4; ++f) {
      const Lid n = mesh.neighbours[at(c)][at(f)];
      if (n < 0) {
        faces.emplace(mesh.global[at(c)], f);
        continue;
      }
      expected.insert(mesh.global[at(n)]);
      for (int m = 0; m < 4; ++m) {
        const Lid k = mesh.neighbours[at(n)][at(m)];
        if (k >= 0 && k != c) expected.insert(mesh.global[at(k)]);
        if (k < 0) faces.emplace(mesh.global[at(n)], m);
      }
    }
    std::vector<Gid> columns;
    double sum = 0;
    for (std::size_t e = 0; e < rows.counts[at(c)]; ++e) {
      columns.push_back(mesh.global[at(rows.columns[at(c)][e])]);
      sum += rows.values[at(c)][e];
    }
    EXPECT_EQ(columns, std::vector<Gid>(expected.begin(), expected.end()));
    for (std::size_t e = rows.counts[at(c)]; e < 16; ++e) {
      EXPECT_EQ(rows.columns[at(c)][e], c);
      EXPECT_EQ(rows.values[at(c)][e], 0);
    }
    full_row = full_row || rows.counts[at(c)] == 16;
    EXPECT_LE(sum - rows.diagonal[at(c)], rows.max_outflow);

    std::vector<std::pair<Gid, int>> boundary;
    double dirichlet = 0;
    const auto b = rows.boundary_columns.row(c);
    for (std::size_t e = 0; e < b.size(); ++e) {
      const auto& face = rows.boundary_faces[at(b[e])];
      boundary.emplace_back(mesh.global[at(face.cell)], face.face);
      EXPECT_EQ(face.tag, -1 - mesh.neighbours[at(face.cell)][at(face.face)]);
      if (neumann_on(21)(face.tag) == BoundaryKind::dirichlet)
        dirichlet += rows.boundary_values[static_cast<std::size_t>(rows.boundary_columns.offsets[at(c)]) + e];
    }
    EXPECT_EQ(boundary, (std::vector<std::pair<Gid, int>>(faces.begin(), faces.end())));
    EXPECT_EQ(rows.diagonal[at(c)], -dirichlet);
  }
  EXPECT_TRUE(full_row);
}

TEST(Scheme, TwoPointFluxReadsFaceNeighboursOnly) {
  const LocalTetMesh mesh = whole(jittered_box(Cut::kuhn, 3, 0.1, 1));
  const std::vector<Sym3> K(mesh.cells.size(), identity3());
  const auto rows = assemble_rows(mesh, K, neumann_on(1), {.two_point = true});
  for (Lid c = 0; c < mesh.owned; ++c) {
    const auto& n = mesh.neighbours[at(c)];
    EXPECT_EQ(rows.counts[at(c)], std::count_if(n.begin(), n.end(), [](Lid x) { return x >= 0; }));
    for (std::size_t e = 0; e < rows.counts[at(c)]; ++e) EXPECT_GT(rows.values[at(c)][e], 0);
  }
}

TEST(Scheme, ATensorThatIsNotPositiveDefiniteIsAnInputError) {
  const LocalTetMesh mesh = whole(jittered_box(Cut::kuhn, 2, 0.1, 1));
  for (const Sym3 bad : {Sym3{}, Sym3{1, 1, -1, 0, 0, 0}, Sym3{1, 1, 1, 2, 0, 0}, Sym3{std::nan(""), 1, 1, 0, 0, 0}}) {
    std::vector<Sym3> K(mesh.cells.size(), full_tensor);
    K[17] = bad;
    try {
      assemble_rows(mesh, K, neumann_on(0));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_NE(std::string(error.what()).find("cell " + std::to_string(mesh.global[17])), std::string::npos);
    }
  }
}

TEST(Scheme, ThreadsChangeNothing) {
  const LocalTetMesh mesh = whole(irregular_box(6, 3));
  std::vector<Sym3> K;
  for (Lid c = 0; c < mesh.owned; ++c) K.push_back((1 + random_unit(3, at(c))) * full_tensor);
  const auto a = assemble_rows(mesh, K, neumann_on(5));
  const auto b = assemble_rows(mesh, K, neumann_on(5), {}, test::five_threads);
  EXPECT_EQ(a.columns, b.columns);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.diagonal, b.diagonal);
  EXPECT_EQ(a.boundary_columns.offsets, b.boundary_columns.offsets);
  EXPECT_EQ(a.boundary_columns.columns, b.boundary_columns.columns);
  EXPECT_EQ(a.boundary_values, b.boundary_values);
  EXPECT_EQ(a.max_outflow, b.max_outflow);
}

TEST(Gradient, TheFitIsTheWeightedLeastSquaresSolution) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto random = [&](std::uint64_t i) { return 2 * random_unit(seed, i) - 1; };
    std::array<FitRow, 4> rows;
    const Rows<long double> K = {{full_tensor.xx, full_tensor.xy, full_tensor.xz},
                                 {full_tensor.xy, full_tensor.yy, full_tensor.yz},
                                 {full_tensor.xz, full_tensor.yz, full_tensor.zz}};
    // The normal equations, in long double.
    Rows<long double> products = zero_rows<long double>(3, 3);
    std::vector<long double> right(3, 0.0L);
    for (int f = 0; f < 4; ++f) {
      const auto u = static_cast<std::uint64_t>(f);
      rows[at(f)] = {{random(5 * u), random(5 * u + 1), random(5 * u + 2)}, 1.5 + random(5 * u + 3)};
      const std::vector<long double> r = {rows[at(f)].row.x, rows[at(f)].row.y, rows[at(f)].row.z},
                                     q = solve_by_elimination(K, r);
      const long double squared_weight = 1 / (r[0] * q[0] + r[1] * q[1] + r[2] * q[2]);
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) products[i][j] += squared_weight * r[i] * r[j];
        right[i] += squared_weight * r[i] * static_cast<long double>(random(5 * u + 4) * rows[at(f)].scale);
      }
    }
    const auto fit = fit_gradient(full_tensor, rows, 0.0);
    ASSERT_FALSE(fit.singular);
    EXPECT_EQ(fit.quality, 1);
    const std::vector<long double> x = solve_by_elimination(products, right);
    const Vec3 expected{static_cast<double>(x[0]), static_cast<double>(x[1]), static_cast<double>(x[2])};
    Vec3 g;
    for (int f = 0; f < 4; ++f) g = g + random(5 * static_cast<std::uint64_t>(f) + 4) * fit.coefficients[at(f)];
    EXPECT_LT(norm(g - expected), 1e-10 * (1 + norm(expected)));
  }
}

TEST(Gradient, CellsFitTheirNeighboursWeighedWithK) {
  const LocalTetMesh mesh = whole(irregular_box(4, 6));
  const std::vector<Sym3> K(mesh.cells.size(), full_tensor);
  std::vector<double> u;
  for (Lid c = 0; c < mesh.owned; ++c) u.push_back(random_unit(3, at(c)));
  const auto scheme = prepare_scheme(mesh, K, neumann_on(all_sides));
  const auto gradients = cell_gradients(scheme, u, std::vector<double>(scheme.boundary_faces.size(), 0.0));
  int inner = 0;
  for (Lid c = 0; c < mesh.owned; ++c) {
    const auto& n = mesh.neighbours[at(c)];
    if (std::any_of(n.begin(), n.end(), [](Lid x) { return x < 0; })) continue;
    ++inner;
    std::array<FitRow, 4> rows;
    for (std::size_t f = 0; f < 4; ++f) rows[f] = {mesh.centroid(n[f]) - mesh.centroid(c), 1};
    const auto fit = fit_gradient(full_tensor, rows, 0.1);
    Vec3 expected;
    for (std::size_t f = 0; f < 4; ++f) expected = expected + (u[at(n[f])] - u[at(c)]) * fit.coefficients[f];
    EXPECT_LT(norm(gradients[at(c)] - expected), 1e-10 * (1 + norm(expected)));
  }
  EXPECT_GT(inner, 0);
}

TEST(Gradient, QualityIsTheSmallestEigenvalueOverTheLimit) {
  // Unit rows in a plane, one of them lifted: the smallest eigenvalue is known from another way.
  for (const double lift : {0.0, 1e-3, 0.1, 0.2, 1.0}) {
    const std::array<FitRow, 4> rows = {{{{1, 0, 0}, 1}, {{0, 1, 0}, 1}, {{1, 1, 0}, 1}, {{1, -1, lift}, 1}}};
    SquareMatrix<long double> m(3);
    for (const auto& row : rows) {
      const Vec3 e = (1 / norm(row.row)) * row.row;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) m(i, j) += e[i] * e[j];
    }
    const auto smallest = static_cast<double>(find_symmetric_eigenpairs(m, false).value().values[0]);
    const auto fit = fit_gradient(identity3(), rows, 0.3);
    EXPECT_NEAR(fit.quality, std::clamp(smallest / 0.3, singular_fit, 1.0), 1e-12) << lift;
    EXPECT_EQ(fit.singular, smallest < singular_fit) << lift;
    for (const Vec3 c : fit.coefficients) EXPECT_EQ(c == Vec3{}, fit.singular) << lift;
  }
}

}  // namespace
}  // namespace tutti::diffusion
