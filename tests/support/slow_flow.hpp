// A flow computed the slow and obvious way: one array a field, one loop a formula, nothing shared with the model but
// what its case says and the lengths of the grid.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "tutti/models/incompressible/flow_case.hpp"

namespace tutti::test {
using namespace incompressible;  // NOLINT(google-build-using-namespace): tests of this model

using CellIndex = std::array<Lid, 3>;

inline CellIndex moved(CellIndex cell, int d, Lid by) {
  cell[d] += by;
  return cell;
}

/// Values of all cells, and of one layer around them.
struct CellValues {
  explicit CellValues(const CellIndex& cells)
      : n(cells), values(static_cast<std::size_t>(Size{n[0] + 2} * (n[1] + 2) * (n[2] + 2)), 0.0) {}
  double& at(const CellIndex& c) {
    return values[c[0] + 1 + Size{n[0] + 2} * (c[1] + 1 + Size{n[1] + 2} * (c[2] + 1))];
  }
  CellIndex n;
  std::vector<double> values;
};

class SlowFlow {
 public:
  explicit SlowFlow(const FlowCase& flow)
      : flow_(flow),
        n_(flow.grid.cells()),
        u_(3, CellValues(n_)),
        star_(u_),
        rate_(u_),
        old_rate_(u_),
        s_(flow.scalars.size(), CellValues(n_)),
        s_rate_(s_),
        s_old_rate_(s_) {
    each_cell([&](const CellIndex& c) {
      for (int d = 0; d < 3; ++d) u_[i(d)].at(c) = flow_.initial_velocity[i(d)](face(c, d), 0);
      for (std::size_t k = 0; k < s_.size(); ++k) s_[k].at(c) = flow_.scalars[k].initial(centre(c), 0);
    });
    fill_velocity(0, 0);
    fill_scalars(0);
    star_ = u_;
    fill_star(0);
    project(0, 1);
    p_ = CellValues(n_);
  }

  /// Adams-Bashforth 2 with steps of equal length, Euler at first; or Runge-Kutta 3 (Wray).
  void step(double dt) {
    if (flow_.scheme == TimeScheme::ab2) {
      stage(dt, steps_ == 0 ? dt : 1.5 * dt, steps_ == 0 ? 0 : -0.5 * dt);
    } else {
      const double now[3] = {8.0 / 15, 5.0 / 12, 3.0 / 4}, old[3] = {0, -17.0 / 60, -5.0 / 12};
      for (int s = 0; s < 3; ++s) stage((now[s] + old[s]) * dt, now[s] * dt, old[s] * dt);
    }
    ++steps_;
  }

  /// In the order of the grid: x fastest.
  std::vector<double> velocity(int d) { return owned(u_[i(d)]); }
  std::vector<double> pressure() { return owned(p_); }
  std::vector<double> scalar(std::size_t k) { return owned(s_[k]); }

 private:
  static std::size_t i(int d) { return static_cast<std::size_t>(d); }
  const GridLine& line(int d) const { return flow_.grid.lines[i(d)]; }
  double width(const CellIndex& c, int d) const { return line(d).width(c[i(d)]); }
  /// From the centre of the cell to that of the next one.
  double distance(const CellIndex& c, int d) const { return line(d).distance(c[i(d)]); }
  Vec3 centre(const CellIndex& c) const { return flow_.grid.centre(c[0], c[1], c[2]); }
  Vec3 face(const CellIndex& c, int d) const {
    Vec3 at = centre(c);
    at[d] += 0.5 * width(c, d);
    return at;
  }

  template <class F>
  void each_cell(const F& f) const {
    for (Lid k = 0; k < n_[2]; ++k)
      for (Lid j = 0; j < n_[1]; ++j)
        for (Lid x = 0; x < n_[0]; ++x) f(CellIndex{x, j, k});
  }
  std::vector<double> owned(CellValues& field) const {
    std::vector<double> list;
    each_cell([&](const CellIndex& c) { list.push_back(field.at(c)); });
    return list;
  }

  /// f(direction, end, cell beyond it, cell before it) for the ends that are no period.
  template <class F>
  void each_end(const F& f) const {
    for (int d = 0; d < 3; ++d)
      for (const bool upper : {false, true}) {
        const FlowEnd& end = flow_.ends[i(2 * d + (upper ? 1 : 0))];
        if (end.velocity != VelocityEnd::periodic)
          each_beyond(d, upper, [&](auto... cells) { f(d, upper, end, cells...); });
      }
  }
  template <class F>
  void each_beyond(int d, bool upper, const F& f) const {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    for (Lid x = -1; x <= n_[i(a)]; ++x)
      for (Lid y = -1; y <= n_[i(b)]; ++y) {
        CellIndex ghost{}, inner{};
        ghost[i(a)] = inner[i(a)] = x;
        ghost[i(b)] = inner[i(b)] = y;
        ghost[i(d)] = upper ? n_[i(d)] : -1;
        inner[i(d)] = upper ? n_[i(d)] - 1 : 0;
        f(ghost, inner);
      }
  }
  void wrap(CellValues& field) const {
    for (int d = 0; d < 3; ++d)
      for (const bool upper : {false, true})
        if (flow_.ends[i(2 * d)].velocity == VelocityEnd::periodic)
          each_beyond(d, upper, [&](const CellIndex& ghost, const CellIndex&) {
            field.at(ghost) = field.at(moved(ghost, d, upper ? -n_[i(d)] : n_[i(d)]));
          });
  }
  /// Where component d of the velocity (-1: a scalar) lies on the end in direction `of`.
  Vec3 on_end(const CellIndex& ghost, int of, bool upper, int d) const {
    Vec3 at = centre(ghost);
    if (d >= 0 && d != of) at[d] += 0.5 * width(ghost, d);
    at[of] = upper ? line(of).faces.back() : line(of).faces.front();
    return at;
  }
  double through(const FlowEnd& end, const CellIndex& ghost, int d, bool upper, double time) const {
    return end.velocity == VelocityEnd::inflow ? end.value[i(d)](on_end(ghost, d, upper, d), time) : 0;
  }

  /// u* on the ends themselves.
  void fill_star(double time) {
    for (CellValues& component : star_) wrap(component);
    each_end([&](int d, bool upper, const FlowEnd& end, const CellIndex& ghost, const CellIndex& inner) {
      CellValues& normal = star_[i(d)];
      const CellIndex& on = upper ? inner : ghost;
      normal.at(on) = end.velocity == VelocityEnd::outflow ? normal.at(moved(on, d, upper ? -1 : 1))
                                                           : through(end, ghost, d, upper, time);
    });
  }
  void fill_velocity(double time, double dt) {
    for (CellValues& component : u_) wrap(component);
    each_end([&](int d, bool upper, const FlowEnd& end, const CellIndex& ghost, const CellIndex& inner) {
      const bool open = end.velocity == VelocityEnd::outflow;
      for (int c = 0; c < 3; ++c) {
        CellValues& q = u_[i(c)];
        if (c == d) {
          const CellIndex& on = upper ? inner : ghost;
          if (!open) q.at(on) = through(end, ghost, d, upper, time);
          if (open && !upper) q.at(on) = star_[i(d)].at(on) - dt * (p_.at(inner) - p_.at(ghost)) / distance(ghost, d);
          if (upper) q.at(ghost) = q.at(inner);
        } else if (open || end.velocity == VelocityEnd::free_slip) {
          q.at(ghost) = q.at(inner);
        } else {
          q.at(ghost) = 2 * end.value[i(c)](on_end(ghost, d, upper, c), time) - q.at(inner);
        }
      }
    });
  }
  void fill_scalars(double time) {
    for (std::size_t k = 0; k < s_.size(); ++k) {
      wrap(s_[k]);
      each_end([&](int d, bool upper, const FlowEnd&, const CellIndex& ghost, const CellIndex& inner) {
        const FlowScalarEnd& end = flow_.scalars[k].ends[i(2 * d + (upper ? 1 : 0))];
        const double value = s_[k].at(inner), given = end.value(on_end(ghost, d, upper, -1), time);
        const double gap = distance(upper ? inner : ghost, d);
        s_[k].at(ghost) = end.kind == ScalarEnd::fixed  ? 2 * given - value
                          : end.kind == ScalarEnd::flux ? value + given * gap / flow_.scalars[k].diffusivity
                                                        : value;
      });
    }
  }
  void fill_pressure() {
    wrap(p_);
    each_end([&](int, bool, const FlowEnd& end, const CellIndex& ghost, const CellIndex& inner) {
      p_.at(ghost) = end.velocity == VelocityEnd::outflow ? -p_.at(inner) : p_.at(inner);
    });
  }

  /// Equation 1 of Jacobsen 2010 at the upper face of the cell in direction d.
  double momentum(const CellIndex& c, int d, double time) {
    CellValues& q = u_[i(d)];
    const CellIndex next = moved(c, d, 1);
    double rate = flow_.force[i(d)](face(c, d), time);
    for (int a = 0; a < 3; ++a) {
      const CellIndex above = moved(c, a, 1), below = moved(c, a, -1);
      const double up = 0.5 * (q.at(c) + q.at(above)), down = 0.5 * (q.at(below) + q.at(c));
      if (a == d) {
        rate -= (up * up - down * down) / distance(c, d);
        rate += flow_.viscosity * ((q.at(above) - q.at(c)) / width(next, d) - (q.at(c) - q.at(below)) / width(c, d)) /
                distance(c, d);
        continue;
      }
      // The flow through the half of the face that lies in this cell, and through that in the next.
      CellValues& v = u_[i(a)];
      const double whole = width(c, d) + width(next, d);
      const auto flow = [&](const CellIndex& at) {
        return (width(c, d) * v.at(at) + width(next, d) * v.at(moved(at, d, 1))) / whole;
      };
      rate -= (flow(c) * up - flow(below) * down) / width(c, a);
      rate += flow_.viscosity *
              ((q.at(above) - q.at(c)) / distance(c, a) - (q.at(c) - q.at(below)) / distance(below, a)) / width(c, a);
    }
    if (flow_.subgrid != SubgridModel::none) rate += subgrid_force(c, d);
    if (flow_.has_temperature) rate += flow_.buoyancy[d] * (0.5 * (s_[0].at(c) + s_[0].at(next)) - flow_.reference);
    return rate;
  }

  /// d u_d / d x_a at the centre.
  double gradient(const CellIndex& c, int d, int a) {
    CellValues& q = u_[i(d)];
    if (a == d) return (q.at(c) - q.at(moved(c, d, -1))) / width(c, d);
    const auto centred = [&](const CellIndex& at) { return 0.5 * (q.at(at) + q.at(moved(at, d, -1))); };
    const CellIndex above = moved(c, a, 1), below = moved(c, a, -1);
    return 0.5 * ((centred(above) - centred(c)) / distance(c, a) + (centred(c) - centred(below)) / distance(below, a));
  }
  /// Equations 10 and 13 of Nicoud and Ducros 1999, or Smagorinsky's.
  double eddy_viscosity(const CellIndex& c) {
    double g[3][3], strains = 0, squares = 0, trace = 0;
    for (int d = 0; d < 3; ++d)
      for (int a = 0; a < 3; ++a) g[d][a] = gradient(c, d, a);
    const auto squared = [&](int d, int a) { return g[d][0] * g[0][a] + g[d][1] * g[1][a] + g[d][2] * g[2][a]; };
    for (int d = 0; d < 3; ++d) trace += squared(d, d);
    for (int d = 0; d < 3; ++d)
      for (int a = 0; a < 3; ++a) {
        strains += std::pow((g[d][a] + g[a][d]) / 2, 2);
        squares += std::pow((squared(d, a) + squared(a, d)) / 2 - (d == a ? trace / 3 : 0), 2);
      }
    const double length = flow_.subgrid_constant * std::cbrt(width(c, 0) * width(c, 1) * width(c, 2));
    return length * length *
           (flow_.subgrid == SubgridModel::smagorinsky
                ? std::sqrt(2 * strains)
                : std::pow(squares, 1.5) / (std::pow(strains, 2.5) + std::pow(squares, 1.25)));
  }
  void update_eddy_viscosity() {
    if (flow_.subgrid == SubgridModel::none) return;
    each_cell([&](const CellIndex& c) { nu_.at(c) = eddy_viscosity(c); });
    wrap(nu_);
    each_end([&](int, bool, const FlowEnd& end, const CellIndex& ghost, const CellIndex& inner) {
      nu_.at(ghost) = end.velocity == VelocityEnd::no_slip ? -nu_.at(inner) : nu_.at(inner);
    });
  }
  /// div(nu_t (grad u + (grad u)^T)) at the upper face of the cell in direction d.
  double subgrid_force(const CellIndex& c, int d) {
    double force = 0;
    const CellIndex next = moved(c, d, 1);
    for (int a = 0; a < 3; ++a) {
      if (a == d) {
        force += 2 * (nu_.at(next) * gradient(next, d, d) - nu_.at(c) * gradient(c, d, d)) / distance(c, d);
        continue;
      }
      const auto stress = [&](const CellIndex& at) {
        const CellIndex up = moved(at, a, 1), on = moved(at, d, 1);
        const double nu = (nu_.at(at) + nu_.at(on) + nu_.at(up) + nu_.at(moved(up, d, 1))) / 4;
        return nu * ((u_[i(d)].at(up) - u_[i(d)].at(at)) / distance(at, a) +
                     (u_[i(a)].at(on) - u_[i(a)].at(at)) / distance(at, d));
      };
      force += (stress(c) - stress(moved(c, a, -1))) / width(c, a);
    }
    return force;
  }
  double scalar_rate(std::size_t k, const CellIndex& c, double time) {
    CellValues& s = s_[k];
    double rate = flow_.scalars[k].source(centre(c), time);
    for (int a = 0; a < 3; ++a) {
      const CellIndex above = moved(c, a, 1), below = moved(c, a, -1);
      const double here = s.at(c), up = s.at(above), down = s.at(below);
      rate -= (u_[i(a)].at(c) * 0.5 * (here + up) - u_[i(a)].at(below) * 0.5 * (down + here)) / width(c, a);
      rate += flow_.scalars[k].diffusivity * ((up - here) / distance(c, a) - (here - down) / distance(below, a)) /
              width(c, a);
    }
    return rate;
  }

  void stage(double dt, double now, double old) {
    update_eddy_viscosity();
    std::vector<CellValues> next = s_;
    each_cell([&](const CellIndex& c) {
      for (int d = 0; d < 3; ++d) {
        const double rate = momentum(c, d, time_);
        star_[i(d)].at(c) = u_[i(d)].at(c) + now * rate + old * old_rate_[i(d)].at(c);
        rate_[i(d)].at(c) = rate;
      }
      for (std::size_t k = 0; k < s_.size(); ++k) {
        const double rate = scalar_rate(k, c, time_);
        next[k].at(c) = s_[k].at(c) + now * rate + old * s_old_rate_[k].at(c);
        s_rate_[k].at(c) = rate;
      }
    });
    s_ = next;
    old_rate_ = rate_;
    s_old_rate_ = s_rate_;
    time_ += dt;
    fill_star(time_);
    fill_scalars(time_);
    project(time_, dt);
  }

  void project(double time, double dt) {
    fill_pressure();
    CellValues rhs(n_);
    each_cell([&](const CellIndex& c) {
      for (int d = 0; d < 3; ++d) rhs.at(c) += (star_[i(d)].at(c) - star_[i(d)].at(moved(c, d, -1))) / width(c, d) / dt;
    });
    if (flow_.pressure == PressureMethod::jacobi) {
      for (int s = 0; s < flow_.sweeps; ++s) jacobi(rhs);
    } else {
      for (int s = 0; s < 10; ++s)  // as many as are made before anybody looks
        for (const Lid colour : {0, 1}) red_black(rhs, colour);
    }
    for (int d = 0; d < 3; ++d)
      each_cell([&](const CellIndex& c) {
        u_[i(d)].at(c) = star_[i(d)].at(c) - dt * (p_.at(moved(c, d, 1)) - p_.at(c)) / distance(c, d);
      });
    if (flow_.bulk) keep_bulk_velocity();
    fill_velocity(time, dt);
  }
  void keep_bulk_velocity() {
    CellValues& q = u_[i(flow_.bulk->direction)];
    double sum = 0, volume = 0;
    each_cell([&](const CellIndex& c) {
      const double v = width(c, 0) * width(c, 1) * width(c, 2);
      sum += v * q.at(c);
      volume += v;
    });
    each_cell([&](const CellIndex& c) { q.at(c) += flow_.bulk->velocity - sum / volume; });
  }
  /// The value that p has to have for lap p = rhs in this cell alone.
  double balanced(const CellIndex& c, CellValues& rhs) {
    double sum = 0, weights = 0;
    for (int d = 0; d < 3; ++d) {
      const CellIndex above = moved(c, d, 1), below = moved(c, d, -1);
      const double up = 1 / (width(c, d) * distance(c, d)), down = 1 / (width(c, d) * distance(below, d));
      sum += up * p_.at(above) + down * p_.at(below);
      weights += up + down;
    }
    return (sum - rhs.at(c)) / weights;
  }
  void jacobi(CellValues& rhs) {
    bool damped_by_walls = false;
    for (int d = 0; d < 3; ++d)
      for (const int f : {2 * d, 2 * d + 1}) {
        const VelocityEnd end = flow_.ends[i(f)].velocity;
        damped_by_walls =
            damped_by_walls || (n_[i(d)] > 1 && end != VelocityEnd::periodic && end != VelocityEnd::outflow);
      }
    const double omega = damped_by_walls ? 1 : 0.8;
    CellValues next = p_;
    each_cell([&](const CellIndex& c) { next.at(c) = (1 - omega) * p_.at(c) + omega * balanced(c, rhs); });
    p_ = next;
    fill_pressure();
  }
  void red_black(CellValues& rhs, Lid colour) {
    each_cell([&](const CellIndex& c) {
      if ((c[0] + c[1] + c[2]) % 2 == colour) p_.at(c) += flow_.omega * (balanced(c, rhs) - p_.at(c));
    });
    fill_pressure();
  }

  const FlowCase& flow_;
  CellIndex n_;
  std::vector<CellValues> u_, star_, rate_, old_rate_;  ///< components
  std::vector<CellValues> s_, s_rate_, s_old_rate_;     ///< scalars
  CellValues p_{n_}, nu_{n_};
  double time_ = 0;
  int steps_ = 0;
};

}  // namespace tutti::test
