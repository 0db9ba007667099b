// Fluxes against what they must be, and against slow obvious forms.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tutti/base/random.hpp"
#include "tutti/models/compressible/flux/viscous_flux.hpp"

namespace tutti::compressible {
namespace {

constexpr FluxKind all_fluxes[] = {FluxKind::llf, FluxKind::roe, FluxKind::hllc};
const Gas air;

double uniform(std::uint64_t seed, double low, double high) {
  static std::uint64_t count = 0;
  return low + (high - low) * random_unit(seed, ++count);
}
Primitive some_state(double speed = 2) {
  return {uniform(1, 0.2, 3), uniform(2, -speed, speed), uniform(3, -speed, speed), uniform(4, -speed, speed),
          uniform(5, 0.2, 3)};
}
Vec3 some_normal() {
  const Vec3 n{uniform(6, -1, 1), uniform(7, -1, 1), uniform(8, 0.1, 1)};
  return (1 / norm(n)) * n;
}

/// Of the textbook, variable by variable.
void reference_flux(const Primitive& s, Vec3 n, double* f) {
  const double speed = s.u * n.x + s.v * n.y + s.w * n.z;
  const double energy = s.p / 0.4 + 0.5 * s.rho * (s.u * s.u + s.v * s.v + s.w * s.w);
  f[0] = s.rho * speed;
  f[1] = s.rho * s.u * speed + s.p * n.x;
  f[2] = s.rho * s.v * speed + s.p * n.y;
  f[3] = s.rho * s.w * speed + s.p * n.z;
  f[4] = (energy + s.p) * speed;
}

TEST(NumericalFlux, IsConsistent) {
  for (const FluxKind kind : all_fluxes)
    for (int k = 0; k < 200; ++k) {
      const Primitive s = some_state();
      const Vec3 n = some_normal();
      double q[variables], f[variables], should[variables], all[3][variables];
      to_conserved(air, s, q);
      numerical_flux(kind, air, q, q, n, f);
      reference_flux(s, n, should);
      euler_flux(q, 1 / q[0], pressure(air, q), all);
      for (int v = 0; v < variables; ++v) {
        EXPECT_NEAR(f[v], should[v], 1e-13 * (1 + std::abs(should[v]))) << static_cast<int>(kind);
        EXPECT_NEAR(all[0][v] * n.x + all[1][v] * n.y + all[2][v] * n.z, should[v], 1e-12);
      }
    }
}

TEST(NumericalFlux, WhatLeavesTheLeftEntersTheRight) {
  for (const FluxKind kind : all_fluxes)
    for (int k = 0; k < 200; ++k) {
      double l[variables], r[variables], f[variables], back[variables];
      to_conserved(air, some_state(), l);
      to_conserved(air, some_state(), r);
      const Vec3 n = some_normal();
      numerical_flux(kind, air, l, r, n, f);
      numerical_flux(kind, air, r, l, Vec3{-n.x, -n.y, -n.z}, back);
      for (int v = 0; v < variables; ++v) EXPECT_NEAR(f[v], -back[v], 1e-12 * (1 + std::abs(f[v])));
    }
}

/// What fused kernels rely on, which look at each face from both elements.
TEST(NumericalFlux, LaxFriedrichsIsTheSameFromBothSides) {
  const auto as_left = [](double mine, double its) { return mine > its ? mine : its; };
  const auto as_right = [](double mine, double its) { return !(its > mine) ? mine : its; };
  int without_number = 0;
  for (int i = 0; i < 1000; ++i) {
    const Vec3 n = some_normal(), back{-n.x, -n.y, -n.z};
    double l[variables], r[variables], f[variables], left[variables], right[variables];
    to_conserved(air, some_state(), l);
    to_conserved(air, i % 10 == 0 ? to_primitive(air, l) : some_state(), r);
    // A pressure below 0 has no speed of sound.
    if (i % 4 == 1) l[4] = -1;
    if (i % 4 == 2) r[4] = -1;
    llf_flux(air, l, r, n, f);
    twice_llf_flux(air, l, r, n, as_left, left);
    twice_llf_flux(air, r, l, back, as_right, right);
    for (int v = 0; v < variables; ++v) {
      without_number += std::isnan(f[v]) ? 1 : 0;
      EXPECT_EQ(std::isnan(left[v]), std::isnan(f[v]));
      EXPECT_EQ(std::isnan(right[v]), std::isnan(f[v]));
      if (std::isnan(f[v])) continue;
      EXPECT_EQ(left[v], 2 * f[v]);
      EXPECT_EQ(right[v], -2 * f[v]);
    }
  }
  EXPECT_GT(without_number, 0);
  EXPECT_LT(without_number, 2000);
}

TEST(NumericalFlux, SupersonicFlowIsUpwind) {
  for (const FluxKind kind : {FluxKind::roe, FluxKind::hllc})
    for (int k = 0; k < 50; ++k) {
      const Vec3 n = some_normal();
      Primitive a = some_state(0.1), b = some_state(0.1);
      for (Primitive* s : {&a, &b}) s->u += 12 * n.x, s->v += 12 * n.y, s->w += 12 * n.z;
      double l[variables], r[variables], f[variables], should[variables];
      to_conserved(air, a, l);
      to_conserved(air, b, r);
      numerical_flux(kind, air, l, r, n, f);
      reference_flux(a, n, should);
      for (int v = 0; v < variables; ++v) EXPECT_NEAR(f[v], should[v], 2e-11 * (1 + std::abs(should[v])));
    }
}

// Roe and HLLC keep a contact at rest: density jumps, nothing moves.
TEST(NumericalFlux, ContactAtRest) {
  const Vec3 n = some_normal();
  double l[variables], r[variables], f[variables];
  to_conserved(air, {1, 0, 0, 0, 0.7}, l);
  to_conserved(air, {0.125, 0, 0, 0, 0.7}, r);
  for (const FluxKind kind : {FluxKind::roe, FluxKind::hllc}) {
    numerical_flux(kind, air, l, r, n, f);
    EXPECT_NEAR(f[0], 0, 1e-15);
    EXPECT_NEAR(f[4], 0, 1e-15);
    EXPECT_NEAR(f[1], 0.7 * n.x, 1e-15);
  }
  numerical_flux(FluxKind::llf, air, l, r, n, f);
  EXPECT_GT(f[0], 0.1);
}

TEST(Boundary, WallsLetNothingThrough) {
  for (int k = 0; k < 100; ++k) {
    const Vec3 n = some_normal();
    double l[variables], r[variables], f[variables];
    to_conserved(air, some_state(), l);
    BoundaryData wall;
    for (const BoundaryKind kind : {BoundaryKind::slip, BoundaryKind::adiabatic, BoundaryKind::isothermal}) {
      boundary_state(kind, air, wall, l, n, r);
      EXPECT_NEAR(r[4], l[4], 1e-13 * l[4]);  // nothing is gained
      for (const FluxKind flux : all_fluxes) {
        numerical_flux(flux, air, l, r, n, f);
        EXPECT_NEAR(f[0], 0, 1e-12);
        EXPECT_NEAR(f[4], 0, 1e-11);
      }
    }
  }
}

TEST(Boundary, FarFieldOfTheSameStateIsThatState) {
  for (int k = 0; k < 200; ++k) {
    const Primitive s = some_state(1.5);
    double l[variables], r[variables];
    to_conserved(air, s, l);
    boundary_state(BoundaryKind::far_field, air, {s.rho, s.u, s.v, s.w, s.p, 1}, l, some_normal(), r);
    for (int v = 0; v < variables; ++v) EXPECT_NEAR(r[v], l[v], 1e-13 * (1 + std::abs(l[v])));
  }
}

TEST(Boundary, TotalInflowHasItsTotals) {
  double l[variables], r[variables];
  to_conserved(air, {1, 0.2, 0, 0, 0.9}, l);
  boundary_state(BoundaryKind::total_inflow, air, {1, 2, 0, 0, 1.0, 1.1}, l, {-1, 0, 0}, r);
  const Primitive s = to_primitive(air, r);
  const double mach2 = s.u * s.u / (1.4 * s.p / s.rho);
  EXPECT_NEAR(s.p, 0.9, 1e-14);
  EXPECT_NEAR(s.p / s.rho * (1 + 0.2 * mach2), 1.1, 1e-13);
  EXPECT_NEAR(s.p * std::pow(1 + 0.2 * mach2, 3.5), 1.0, 1e-13);
  EXPECT_GT(s.u, 0);
}

// The stress of the textbook from gradients of primitive values.
TEST(ViscousFlux, AlongTheNormalIsThatOfTheTensor) {
  Gas gas;
  gas.viscosity = 0.3;
  for (const ViscosityLaw law : {ViscosityLaw::constant, ViscosityLaw::sutherland})
    for (int k = 0; k < 200; ++k) {
      gas.law = law;
      const Vec3 n = some_normal();
      double q[variables], g[3][variables], all[3][variables], along[variables];
      to_conserved(gas, some_state(), q);
      for (auto& row : g)
        for (double& slope : row) slope = uniform(9, -1, 1);
      viscous_flux(gas, q, 1 / q[0], g, 1, all);
      viscous_flux_along(gas, q, 1 / q[0], g, n, along);
      for (int v = 0; v < variables; ++v) {
        const double should = all[0][v] * n.x + all[1][v] * n.y + all[2][v] * n.z;
        EXPECT_NEAR(along[v], should, 1e-12 * (1 + std::abs(should)));
      }
    }
}

TEST(ViscousFlux, IsNewtonsStressAndFouriersHeat) {
  Gas gas = air;
  gas.law = ViscosityLaw::constant;
  gas.viscosity = 0.3;
  for (int k = 0; k < 100; ++k) {
    const Primitive s = some_state();
    double q[variables], g[3][variables], f[3][variables];
    to_conserved(gas, s, q);
    const double u[3] = {s.u, s.v, s.w};
    double slope[3][3], dt[3];
    for (int d = 0; d < 3; ++d) {
      const double drho = uniform(9, -1, 1), dp = uniform(10, -1, 1);
      g[d][0] = drho;
      double kinetic = 0;
      for (int i = 0; i < 3; ++i) {
        slope[d][i] = uniform(11, -1, 1);
        g[d][1 + i] = drho * u[i] + s.rho * slope[d][i];
        kinetic += 0.5 * drho * u[i] * u[i] + s.rho * u[i] * slope[d][i];
      }
      g[d][4] = dp / 0.4 + kinetic;
      dt[d] = (dp - s.p / s.rho * drho) / s.rho;  // R = 1
    }
    viscous_flux(gas, q, 1 / q[0], g, 1, f);
    const double divergence = slope[0][0] + slope[1][1] + slope[2][2];
    for (int d = 0; d < 3; ++d) {
      double work = 0.3 * 1.4 / (0.4 * 0.72) * dt[d];  // mu c_p / Pr dT
      for (int i = 0; i < 3; ++i) {
        const double stress = 0.3 * (slope[d][i] + slope[i][d] - (i == d ? 2.0 / 3 * divergence : 0));
        EXPECT_NEAR(f[d][1 + i], stress, 1e-12);
        work += u[i] * stress;
      }
      EXPECT_NEAR(f[d][4], work, 1e-11);
      EXPECT_EQ(f[d][0], 0);
    }
  }
}

/// Calls f(points, rows of values) point by point, and by as many points as there are lanes.
template <class F>
void by_lanes_and_alone(int n, const F& f) {
  for (int q = 0; q < n; ++q) f(OnePoint{q}, 0);
  for (int q = 0; q < n; q += lane_count) f(LanePoints{q, n - q}, 1);
}

TEST(Lanes, HaveTheBitsOfOnePoint) {
  constexpr int n = 100;  // not a multiple of the lanes
  Gas sutherland;
  sutherland.law = ViscosityLaw::sutherland;
  sutherland.viscosity = 0.3;
  sutherland.reference_temperature = 1.1;
  sutherland.sutherland_temperature = 0.4;
  std::array<double, variables * n> left, right;
  std::array<double, 3 * variables * n> slopes;
  std::array<double, 3 * n> normals;
  for (int q = 0; q < n; ++q) {
    double l[variables], r[variables];
    // Some are supersonic, in either direction.
    to_conserved(air, some_state(q % 3 == 0 ? 12 : 1), l);
    to_conserved(air, some_state(q % 3 == 0 ? 12 : 1), r);
    for (int v = 0; v < variables; ++v) left[v * n + q] = l[v], right[v * n + q] = q % 7 == 0 ? l[v] : r[v];
    const Vec3 normal = some_normal();
    for (int d = 0; d < 3; ++d) normals[3 * q + d] = normal[d];
  }
  for (double& x : slopes) x = uniform(9, -1, 1);
  for (const FluxKind kind : all_fluxes) {
    std::array<double, variables * n> flux[2];
    by_lanes_and_alone(n, [&](const auto at, int way) {
      NumberOf<decltype(at)> l[variables], r[variables], f[variables];
      for (int v = 0; v < variables; ++v) l[v] = at.load(&left[v * n]), r[v] = at.load(&right[v * n]);
      const VecOf<NumberOf<decltype(at)>> normal{at.gather(&normals[0], 3), at.gather(&normals[1], 3),
                                                 at.gather(&normals[2], 3)};
      numerical_flux(kind, air, l, r, normal, f);
      for (int v = 0; v < variables; ++v) at.store(&flux[way][v * n], f[v]);
    });
    EXPECT_EQ(flux[0], flux[1]) << static_cast<int>(kind);
  }
  std::array<double, 3 * variables * n> viscous[2];
  by_lanes_and_alone(n, [&](const auto at, int way) {
    NumberOf<decltype(at)> q[variables], g[3][variables], f[3][variables];
    for (int v = 0; v < variables; ++v) q[v] = at.load(&left[v * n]);
    for (int d = 0; d < 3; ++d)
      for (int v = 0; v < variables; ++v) g[d][v] = at.load(&slopes[(d * variables + v) * n]);
    viscous_flux(sutherland, q, 1 / q[0], g, 1, f);
    for (int d = 0; d < 3; ++d)
      for (int v = 0; v < variables; ++v) at.store(&viscous[way][(d * variables + v) * n], f[d][v]);
  });
  EXPECT_EQ(viscous[0], viscous[1]);
}

TEST(Gas, SutherlandsAir) {
  Gas gas;
  gas.law = ViscosityLaw::sutherland;
  gas.viscosity = 1.716e-5;
  EXPECT_NEAR(gas.viscosity_at(273.15), 1.716e-5, 1e-19);
  EXPECT_NEAR(gas.viscosity_at(500.0), 2.671e-5, 2e-8);  // tables of air: 2.67e-5
}

}  // namespace
}  // namespace tutti::compressible
