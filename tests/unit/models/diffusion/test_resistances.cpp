// Films on the boundary (Robin) and contact resistance between regions.
#include <gtest/gtest.h>

#include <array>

#include "test_meshes.hpp"
#include "test_scheme_problem.hpp"
#include "tutti/models/diffusion/scheme/damped.hpp"

namespace tutti::diffusion {
namespace {

using namespace test;

constexpr Sym3 other_tensor{1, 4, 2, -0.3, 0.4, 1.1};

BoundaryKind robin(std::int32_t) {
  return BoundaryKind::robin;
}
BoundaryKind each_kind(std::int32_t tag) {
  return static_cast<BoundaryKind>(tag % 3);
}

SchemeOptions film(double h) {
  SchemeOptions options;
  options.transfer = [h](std::int32_t, Vec3 x) { return h * (1 + x.y); };
  return options;
}
SchemeOptions contact(double resistance) {
  SchemeOptions options;
  options.resistance = [resistance](std::int32_t one, std::int32_t other, Vec3) {
    EXPECT_LT(one, other);
    return resistance;
  };
  return options;
}

/// The exact solution is at rest, of any flux.
void expect_at_rest(const LocalTetMesh& mesh, const Exact& exact, SchemeOptions options) {
  const std::vector<double> none(mesh.cells.size(), 0.0), all(mesh.cells.size(), 2.0);
  for (const auto& damped : {none, all}) {
    options.damped = damped;
    const auto rows = assemble_rows(mesh, tensors(mesh, exact), exact.kind, options);
    std::vector<double> u;
    double size = 0;
    for (Lid c = 0; c < mesh.owned; ++c) {
      u.push_back(exact.u(mesh.centroid(c), exact.side(mesh.centroid(c))));
      size = std::max(size, std::abs(u.back()));
    }
    const auto g = boundary_data(mesh, rows.boundary_faces, exact, options);
    for (const double d : g) size = std::max(size, std::abs(d));
    for (const double rate : apply(rows, u, g)) EXPECT_LT(std::abs(rate), 1e-10 * rows.max_outflow * size);
  }
}

Exact linear(BoundaryKindOf kind) {
  Exact exact;
  exact.K = [](Vec3, int) { return full_tensor; };
  exact.u = [](Vec3 x, int) { return 1 + 2 * x.x - 3 * x.y + 0.5 * x.z; };
  exact.gradient = [](Vec3, int) { return Vec3{2, -3, 0.5}; };
  exact.kind = std::move(kind);
  return exact;
}

/// u = a + c t + t^2 on both sides of t = x - 0.5 = 0, where the flux is q = cos(2 y - z) and u jumps by R q.
Exact jump(double resistance) {
  Exact exact;
  exact.side = [](Vec3 x) { return x.x < 0.5 ? -1 : 1; };
  exact.K = [](Vec3, int side) { return side < 0 ? full_tensor : 3.0 * other_tensor; };
  exact.u = [=](Vec3 x, int side) {
    const Sym3 k = side < 0 ? full_tensor : 3.0 * other_tensor;
    const double r = side < 0 ? 0 : resistance, t = x.x - 0.5, w = x.y + 0.5 * x.z, v = 2 * x.y - x.z;
    const double a = std::sin(w) + r * std::cos(v), ay = std::cos(w) - 2 * r * std::sin(v),
                 az = 0.5 * std::cos(w) + r * std::sin(v);
    return a + (std::cos(v) - k.xy * ay - k.xz * az) / k.xx * t + t * t;
  };
  exact.gradient = [u = exact.u](Vec3 x, int side) {
    Vec3 g;
    for (int d = 0; d < 3; ++d) {
      const auto at = [&](double s) {
        Vec3 y = x;
        y[d] += s;
        return u(y, side);
      };
      const double h = 1e-3;
      g[d] = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
    }
    return g;
  };
  return exact;
}

/// Observed order of u.
double order_of(const Exact& exact, const SchemeOptions& options) {
  std::array<double, 2> h, error;
  for (std::size_t k = 0; k < 2; ++k) {
    const auto n = k == 0 ? 6 : 14;
    const Errors e = steady_errors(whole(irregular_box(n, static_cast<std::uint64_t>(n), true)), exact, options);
    h[k] = e.h, error[k] = e.u;
  }
  const double order = std::log(error[0] / error[1]) / std::log(h[0] / h[1]);
  std::printf("    errors %.3e and %.3e, order %.2f\n", error[0], error[1], order);
  return order;
}

TEST(Robin, LinearFunctionsAreExact) {
  for (const double h : {1e-6, 1.0, 1e6})
    for (const auto& kind : {robin, each_kind}) {
      expect_at_rest(whole(jittered_box(Cut::five, 5, 0.2, 3)), linear(kind), film(h));
      expect_at_rest(whole(irregular_box(4, 5)), linear(kind), film(h));
    }
}

TEST(Robin, LiesBetweenTheTwoOthers) {
  const LocalTetMesh mesh = whole(irregular_box(4, 5));
  const std::vector<Sym3> K(mesh.cells.size(), full_tensor);
  const auto all = [&](BoundaryKind kind, double h) {
    return assemble_rows(
        mesh, K, [kind](std::int32_t) { return kind; }, film(h));
  };
  const auto closed = all(BoundaryKind::neumann, 0), fixed = all(BoundaryKind::dirichlet, 0);
  for (const auto& [other, h, near] : {std::tuple(closed, 0.0, 1e-13), {fixed, 1e12, 1e-9}}) {
    const auto rows = all(BoundaryKind::robin, h);
    for (std::size_t c = 0; c < rows.values.size(); ++c) {
      EXPECT_NEAR(rows.diagonal[c], other.diagonal[c], near * rows.max_outflow);
      for (std::size_t e = 0; e < rows.values[c].size(); ++e)
        EXPECT_NEAR(rows.values[c][e], other.values[c][e], near * rows.max_outflow);
    }
  }
}

TEST(Robin, SecondOrder) {
  Exact exact = linear(each_kind);
  exact.u = [](Vec3 x, int) { return std::sin(3 * x.x + 0.3) * std::cos(2.5 * x.y) * std::exp(0.5 * x.z); };
  exact.gradient = [](Vec3 x, int) {
    const double s = std::sin(3 * x.x + 0.3), c = std::cos(3 * x.x + 0.3), e = std::exp(0.5 * x.z);
    return Vec3{3 * c * std::cos(2.5 * x.y) * e, -2.5 * s * std::sin(2.5 * x.y) * e, 0.5 * s * std::cos(2.5 * x.y) * e};
  };
  for (const double h : {0.1, 10.0}) EXPECT_GT(order_of(exact, film(h)), 1.75);
  exact.kind = robin;
  EXPECT_GT(order_of(exact, film(1)), 1.75);
}

TEST(Contact, PiecewiseLinearFunctionsAreExact) {
  const Vec3 tangential{0, -3, 0.5};
  const double flow = 1.7;
  for (const double resistance : {0.0, 1e-3, 1.0, 1e4}) {
    Exact exact = jump(resistance);
    const auto slope = [=](int side) {
      const Sym3 k = side < 0 ? full_tensor : 3.0 * other_tensor;
      return Vec3{(flow - (k * tangential).x) / k.xx, tangential.y, tangential.z};
    };
    exact.u = [=](Vec3 x, int side) {
      return 1 + dot(slope(side), x - Vec3{0.5, 0, 0}) + (side > 0 ? resistance * flow : 0);
    };
    exact.gradient = [=](Vec3, int side) { return slope(side); };
    expect_at_rest(whole(jittered_box(Cut::kuhn, 4, 0.2, 3, true)), exact, contact(resistance));
    expect_at_rest(whole(irregular_box(4, 5, true)), exact, contact(resistance));
    if (resistance == 0) continue;
    // Without the resistance it is not: this test can tell.
    EXPECT_THROW(
        {
          const LocalTetMesh mesh = whole(irregular_box(4, 5, true));
          const auto rows = assemble_rows(mesh, tensors(mesh, exact), exact.kind);
          std::vector<double> u;
          for (Lid c = 0; c < mesh.owned; ++c) u.push_back(exact.u(mesh.centroid(c), exact.side(mesh.centroid(c))));
          double most = 0;
          for (const double r : apply(rows, u, boundary_data(mesh, rows.boundary_faces, exact)))
            most = std::max(most, std::abs(r));
          if (most > 1e-3 * rows.max_outflow * resistance) throw most;
        },
        double);
  }
}

TEST(Contact, SecondOrder) {
  for (const double resistance : {1e-2, 0.3, 10.0}) EXPECT_GT(order_of(jump(resistance), contact(resistance)), 1.75);
}

/// No state gains energy in the damped flux, whose shares know of films and contacts.
TEST(Resistances, TakeEnergyOutOfEveryState) {
  TetMesh box = jittered_box(Cut::kuhn, 4, 0.33, 5, true);
  for (Vec3& x : box.vertices) x.x *= 20;
  const LocalTetMesh mesh = whole(box);
  const std::vector<Sym3> K(mesh.cells.size(), Sym3{30, 2, 1, 3, -2, 0.3});
  for (const double h : {1e-9, 1e-2, 1.0, 1e3})
    for (const auto& kind : {robin, each_kind}) {
      std::vector<double> damped(mesh.cells.size(), 2.0);
      SchemeOptions options = film(h);
      options.resistance = [h](std::int32_t, std::int32_t, Vec3) { return 1 / h; };
      options.damped = damped;
      const Scheme scheme = prepare_scheme(mesh, K, kind, options);
      std::vector<double> shares;
      for (Lid c = 0; c < mesh.owned; ++c) shares.push_back(1 + coercive_share(scheme, c));
      options.damped = shares;
      EXPECT_LT(largest_gain(mesh, assemble_rows(mesh, K, kind, options)), 1e-12) << h;
    }
}

}  // namespace
}  // namespace tutti::diffusion
