// Values beyond the ends of the box: walls, inflow, outflow.
#pragma once

#include <array>
#include <vector>

#include "tutti/base/formula.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/models/incompressible/flow_part.hpp"

namespace tutti::incompressible {

/// A formula's value at an end; a constant needs no steps.
struct EndValue {
  Lid first = 0, count = 0;  ///< of the steps
  double constant = 0;       ///< where count is 0
};

/// One end of the box, as kernels see it.
struct EndView {
  VelocityEnd velocity = VelocityEnd::no_slip;
  EndValue value[3];
  bool upper = false;
  Lid ghost = 0, inner = 0;  ///< cell numbers in the direction: beyond the end, and the last one before it
  double position = 0;       ///< of the end
  double distance = 0;       ///< of the centres of these two cells
};

/// The two ends in one direction, as far as a part touches them.
struct EndsView {
  int direction = 0, count = 0;
  EndView end[2];
  /// In the other two directions, by place in the part's arrays: its cells, and those beyond ends in later directions,
  /// which are set from its cells.
  Range known[2];
  const FormulaStep* steps = nullptr;
  /// Centres and upper faces of the part's cells, by direction; of the first stored cell first.
  const double* centres[3] = {};
  const double* faces[3] = {};
};

/// All ends that a part touches.
struct BoxEndsView {
  EndsView along[3];
  Lid cells[3] = {0, 0, 0};  ///< to fill in each direction
  Lid count() const { return cells[0] + cells[1] + cells[2]; }
};

/// What holds for a scalar at the ends in one direction.
struct ScalarEndsView {
  ScalarEnd kind[2] = {ScalarEnd::no_flux, ScalarEnd::no_flux};
  EndValue value[2];
};

/// Which ends of the box a part touches, and what holds there; formulas and coordinates are on its device.
class BoundaryConditions {
 public:
  BoundaryConditions() = default;
  BoundaryConditions(Stream& stream, const FlowCase& flow, const CellBox& box, const BoxArray& array);
  /// Cells to fill in direction d, or in all; those of the former that are beside cells of a halo (EndsView::known).
  Lid cells(int d) const;
  Lid cells() const { return cells(0) + cells(1) + cells(2); }
  Lid cells_around(int d) const;
  /// The ends in x that momentum and correction set; none where a value is a formula, or with an outflow.
  template <class T>
  RowEnds<T> row_ends() const;
  const EndsView& view(int d) const { return views_[d]; }
  BoxEndsView all() const;
  const ScalarEndsView& scalar(std::size_t s, int d) const { return scalars_[s][d]; }

 private:
  BoxArray array_;
  std::array<EndsView, 3> views_;
  std::vector<std::array<ScalarEndsView, 3>> scalars_;
  Buffer<FormulaStep> steps_;
  std::array<Buffer<double>, 3> centres_, faces_;
};

// What passes over the cells beyond all ends do: rows are [0, cells()).

/// The component of u* through the ends; x_done: those in x are set.
template <class T>
void fill_intermediate(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends, double time,
                       bool x_done = false);
/// p beyond the ends: no gradient, or at an outflow p = 0.
template <class T>
void fill_pressure(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends);
/// nu_t beyond the ends: no gradient, or at a wall that holds the fluid nu_t = 0.
template <class T>
void fill_eddy_viscosity(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends);

// The same in direction d: rows are [0, cells(d)).

/// Velocity at and beyond the ends; what an outflow lets through is u* - dt grad p. around: only those cells that
/// cells_around() counts. A value beyond several ends follows from that before the last of them; to find it at once,
/// in one kernel for all directions, is four times as slow on a GPU.
template <class T>
void fill_velocity(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends, int d, double time, T dt,
                   bool around = false);
/// Scalars beyond the ends, now or after the step.
template <class T>
void fill_scalars(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends, int d, double time, bool next);
/// Scalar s beyond the ends, in an array of the part's layout.
template <class T>
void fill_scalar(Kernels& to, FlowPart<T>& part, std::size_t s, T* values, const BoundaryConditions& ends, int d,
                 double time);
/// Component c of u* at and beyond the ends, for viscosity that acts on u*: along a wall or inflow it is w + dt grad p
/// there (Kim and Moin 1985), with FlowPart::p.
template <class T>
void fill_unprojected(Kernels& to, FlowPart<T>& part, int c, T* values, const BoundaryConditions& ends, int d,
                      double time, T dt);
/// Fields whose ends are carried from one array to the next.
template <class T>
struct CarriedFields {
  static constexpr int most = 4;
  int count = 0;
  int component[most] = {};       ///< -1: a scalar
  std::size_t scalar[most] = {};  ///< which one
  const T* from[most] = {};
  T* to[most] = {};
};
/// The same ends for other values inside: what they hold is in the ghosts of `from`. Ends behind the first `own` are a
/// cell away from the part: there only what flows through them is set.
template <class T>
void carry_ends(Kernels& to, const BoxArray& array, const CarriedFields<T>& fields, const BoundaryConditions& ends,
                int d, int own);

/// f(position) of a formula of the case into an array: at the centres (component -1), or at the upper faces in a
/// direction. For initial values, forces and sources.
template <class T>
void evaluate_field(Stream& stream, const BoxGrid& grid, const BoxArray& array, const CellBox& box,
                    const Expression& formula, int component, double time, Buffer<T>& values);

}  // namespace tutti::incompressible
