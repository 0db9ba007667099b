// The Laplacian that viscosity and conduction make implicit: weights, the bound of its eigenvalues, and what its sweeps
// take.
#pragma once

#include "tutti/models/incompressible/flow_case.hpp"

namespace tutti::incompressible {

/// Where the values of a field lie: a component of velocity (0, 1, 2) on the upper faces in its direction, a scalar at
/// the centres of the cells.
inline constexpr int at_centres = -1;

/// Of the neighbours below and above, in the second difference along a line of a field at the cells' upper faces or at
/// their centres; cell i of the grid.
struct LineWeights {
  double lower = 0, upper = 0;
};
LineWeights diffusion_weights(const GridLine& line, bool at_faces, Lid i);

/// No eigenvalue of -lap of a field that lies there is larger, whatever holds at the ends: Gershgorin's circles.
double largest_eigenvalue(const BoxGrid& grid, int component);
/// Sweeps of a step of length dt: those of the field that needs most.
int diffusion_sweeps(const FlowCase& flow, double dt);
/// Values a cell that these sweeps, and what comes before them, must read or write.
Size diffusion_values(const FlowCase& flow, double dt);

}  // namespace tutti::incompressible
