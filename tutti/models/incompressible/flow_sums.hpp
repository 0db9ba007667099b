// What is told about a flow: sums and maxima over the owned cells of a part. Their bits do not depend on the partition.
#pragma once

#include "tutti/base/exact_sum.hpp"
#include "tutti/device/sums/sum_and_largest.hpp"
#include "tutti/models/incompressible/flow_part.hpp"

namespace tutti::incompressible {

/// Largest magnitude of a component of u*, before the pressure.
template <class T>
double largest_intermediate(Stream& stream, FlowPart<T>& part);
/// Twice the kinetic energy times density 1: sum of V |u|^2, each component's square the mean of the cell's two faces.
template <class T>
ExactSum energy_sum(Stream& stream, FlowPart<T>& part);
/// sum of V s, of scalar s.
template <class T>
ExactSum scalar_sum(Stream& stream, FlowPart<T>& part, std::size_t s);
/// sum of V u*_c, of the component at the cells' upper faces, which may be waited for later.
template <class T>
Pending<SumAndLargest> start_intermediate_sum(Stream& stream, FlowPart<T>& part, int c);
/// sum of V, as start_intermediate_sum adds it up.
template <class T>
ExactSum volume_sum(Stream& stream, FlowPart<T>& part);
/// Largest magnitude of a velocity component, also of what flows in.
template <class T>
double largest_velocity(Stream& stream, FlowPart<T>& part);
/// Largest sum over the directions of |u| / (width of the cell): 1 over it is the time to cross a cell.
template <class T>
double crossing_rate(Stream& stream, FlowPart<T>& part);
/// Largest |T - reference|.
template <class T>
double largest_warmth(Stream& stream, FlowPart<T>& part, double reference);
/// Largest |div u|.
template <class T>
double largest_divergence(Stream& stream, FlowPart<T>& part);

/// Which ends of the box are walls: the velocity through them is no unknown, and how it changes along them is left out.
struct WallEnds {
  bool wall[3][2] = {};
  Lid cells[3] = {0, 0, 0};  ///< of the whole grid
};
/// sum of V |grad u|^2, the squares at the edges (and centres) where viscosity() of momentum_of has its differences:
/// viscosity times it is the power that viscosity takes, exactly so in the scheme without moving walls.
template <class T>
ExactSum squared_gradient_sum(Stream& stream, FlowPart<T>& part, const WallEnds& ends);
/// sum of V |curl u|^2, at the edges.
template <class T>
ExactSum squared_curl_sum(Stream& stream, FlowPart<T>& part, const WallEnds& ends);

/// Largest |u|^2 at a cell's centre.
template <class T>
double largest_square(Stream& stream, FlowPart<T>& part);
/// The lowest cell number, x first, negated, of the cells whose |u|^2 is `square`; -infinity: there is none.
template <class T>
double first_cell_of(Stream& stream, FlowPart<T>& part, double square, Lid nx, Lid ny);

/// Cells whose heat flux in a direction is added up: of those from `begin` to `end` in the direction, the fluxes
/// through the lower and the upper face with these weights, times the faces' area, or the cells' volume.
struct HeatFluxCells {
  int direction = 0;
  Lid begin = 0, end = 0;
  double lower = 0, upper = 0;
  bool volume = false;
};
/// Of u T - diffusivity dT/dx.
template <class T>
ExactSum heat_flux_sum(Stream& stream, FlowPart<T>& part, const HeatFluxCells& cells, double diffusivity);

/// The largest and the smallest value of scalar s, the latter negated.
template <class T>
std::array<double, 2> scalar_range(Stream& stream, FlowPart<T>& part, std::size_t s);
/// Largest |now - before| of the owned cells of two arrays.
template <class T>
double largest_change(Stream& stream, const FlowPart<T>& part, const Buffer<T>& now, const Buffer<T>& before);

}  // namespace tutti::incompressible
