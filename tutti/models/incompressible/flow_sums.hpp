// What is told about a flow: sums and maxima over the owned cells of a part. Their bits do not depend on the partition.
#pragma once

#include "tutti/base/exact_sum.hpp"
#include "tutti/models/incompressible/flow_part.hpp"

namespace tutti {

/// Largest magnitude of a component of u*, before the pressure.
template <class T>
double largest_predicted(Stream& stream, FlowPart<T>& part);
/// Twice the kinetic energy times density 1: sum of V |u|^2, each component's square the mean of the cell's two faces.
template <class T>
ExactSum energy_sum(Stream& stream, FlowPart<T>& part);
/// sum of V T.
template <class T>
ExactSum temperature_sum(Stream& stream, FlowPart<T>& part);
/// Largest magnitude of a velocity component.
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

}  // namespace tutti
