#include "tutti/models/incompressible/viscous/diffusion_bounds.hpp"

#include <algorithm>

#include "tutti/models/incompressible/viscous/chebyshev.hpp"

namespace tutti {
namespace {

double weight_below(const GridLine& line, bool at_faces, Lid i) {
  return at_faces ? 1 / (line.distance(i) * line.width(i)) : 1 / (line.width(i) * line.distance(i - 1));
}
double weight_above(const GridLine& line, bool at_faces, Lid i) {
  return at_faces ? 1 / (line.distance(i) * line.width(i + 1)) : 1 / (line.width(i) * line.distance(i));
}

}  // namespace

LineWeights diffusion_weights(const GridLine& line, bool at_faces, Lid i) {
  // Along a period of one cell nothing changes: its neighbours are itself.
  if (line.periodic && line.cells() == 1) return {};
  return {weight_below(line, at_faces, i), weight_above(line, at_faces, i)};
}

/// A row's circle reaches to twice its diagonal: at an end with 2 w - q for a ghost, the ghost's weight is on the
/// diagonal instead of beside it, once more.
double largest_eigenvalue(const BoxGrid& grid, int component) {
  double sum = 0;
  for (int d = 0; d < 3; ++d) {
    const GridLine& line = grid.lines[d];
    double largest = 0;
    for (Lid i = 0; i < line.cells(); ++i) {
      const LineWeights weights = diffusion_weights(line, d == component, i);
      largest = std::max(largest, weights.lower + weights.upper);
    }
    sum += 2 * largest;
  }
  return sum;
}

int diffusion_sweeps(const FlowCase& flow, double dt) {
  double bound = 0;
  for (int c = 0; c < 3; ++c) bound = std::max(bound, flow.viscosity * largest_eigenvalue(flow.grid, c));
  for (const FlowScalar& scalar : flow.scalars)
    bound = std::max(bound, scalar.diffusivity * largest_eigenvalue(flow.grid, at_centres));
  return chebyshev_sweeps(dt / 2 * bound, flow.diffusion_tolerance);
}

Size diffusion_values(const FlowCase& flow, double dt) {
  const Size fields = 3 + static_cast<Size>(flow.scalars.size());
  return fields * (3 + 4 * static_cast<Size>(diffusion_sweeps(flow, dt))) + 7;
}

}  // namespace tutti
