// The arrays of one part of a flow, and the passes over its cells.
#pragma once

#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/models/incompressible/flow_case.hpp"
#include "tutti/models/incompressible/flow_kernel.hpp"
#include "tutti/schedule/kernels.hpp"

namespace tutti::incompressible {

/// Widths of cells by direction, unrounded, for sums over volumes.
struct CellWidths {
  const double* width[3] = {};
  Lid first[3] = {};
  TUTTI_HD double volume(const Lid (&at)[3]) const {
    return width[0][at[0] - first[0]] * width[1][at[1] - first[1]] * width[2][at[2] - first[2]];
  }
};

/// Lengths of a part's cells, on its device.
template <class T>
struct PartGrid {
  PartGrid() = default;
  PartGrid(Stream& stream, const BoxGrid& whole, const BoxArray& layout);
  GridView<T> view() const;
  CellWidths cell_widths() const;

  BoxArray array;
  std::array<Buffer<T>, 3> inverse_widths, inverse_distances, shares;
  std::array<Buffer<double>, 3> widths;
  bool equal_along_x = false;  ///< every array of lengths along x holds one value
};

/// A scalar of a part.
template <class T>
struct PartScalar {
  Buffer<T> now, next, rate;
  Buffer<T> source;  ///< empty where it is constant
  T constant_source = 0;
  T diffusivity = 0;
};

/// All arrays have the part's layout with one layer around the owned cells.
template <class T>
struct FlowPart {
  PartGrid<T> grid;
  CellBox box;  ///< owned
  std::array<Buffer<T>, 3> u, intermediate, rate;
  std::vector<PartScalar<T>> scalars;
  bool warm = false;  ///< the first scalar is the temperature
  Buffer<T> p, rhs;
  std::array<Buffer<T>, 3> force;  ///< empty where it is constant
  // Of a subgrid model (subgrid.hpp); its force goes to `force`, and to that what the case gives as a formula here.
  Buffer<T> eddy_viscosity;
  std::array<Buffer<T>, 3> given_force;
  std::array<Buffer<double>, 3> filter;  ///< widths^(2/3) of stored cells, by direction

  VelocityView<T> velocity() { return {{u[0].data(), u[1].data(), u[2].data()}}; }
  VelocityView<T> intermediate_velocity() {
    return {{intermediate[0].data(), intermediate[1].data(), intermediate[2].data()}};
  }
};

/// What a stage of a step does: u* = u + now R(u) + old R_before, R_before = R(u).
template <class T>
struct StageWeights {
  T now = 0, old = 0;  ///< weights times dt
  TUTTI_HD T step(T value, T rate, T rate_before) const { return value + (now * rate + old * rate_before); }
};

template <class T>
struct FlowConstants {
  T viscosity = 0, reference = 0;
  T buoyancy[3] = {0, 0, 0};
  T force[3] = {0, 0, 0};  ///< where it is constant
  bool diffuses = true;    ///< do scalars? Not where that is implicit
};

/// What holds at an end in x where it is the same for all rows and all times. Momentum and correction then set the
/// velocity at and beyond it themselves: a pass of its own, with one value per row, takes up to a tenth of a step.
template <class T>
struct RowEnd {
  static constexpr Lid nowhere = std::numeric_limits<Lid>::min();
  Lid cell = nowhere;   ///< the last one before the end
  T through = 0;        ///< the velocity through it
  bool given = false;   ///< the velocity along it: by the values on it, or by no slope
  T along[2] = {0, 0};  ///< of components 1 and 2

  /// Component c beyond it, of which `inner` is the value before it.
  TUTTI_HD T beyond(int c, T inner) const { return given ? T(2) * along[c - 1] - inner : inner; }
};
template <class T>
struct RowEnds {
  RowEnd<T> lower, upper;
  bool any() const { return lower.cell != lower.nowhere || upper.cell != upper.nowhere; }
};

/// What a component gains everywhere.
template <class T>
struct Gain {
  int c = -1;  ///< -1: none does
  T by = 0;
};

// What passes over cells of a part do; `ends`: as far as they set them.

/// u* and the new scalars.
template <class T>
void predict(Kernels& to, FlowPart<T>& part, const FlowConstants<T>& constants, const StageWeights<T>& weights,
             const RowEnds<T>& ends = {});
/// rhs = div u* / dt.
template <class T>
void pressure_right_hand_side(Kernels& to, FlowPart<T>& part, T dt);
/// u = u* - dt grad p, and what keeps a mass flow.
template <class T>
void correct(Kernels& to, FlowPart<T>& part, T dt, const Gain<T>& gain = {}, const RowEnds<T>& ends = {});

}  // namespace tutti::incompressible
