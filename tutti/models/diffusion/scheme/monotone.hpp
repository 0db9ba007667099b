// Fluxes without new extrema: a non-linear two-point flux (docs/adr/0027-no-new-extrema.md).
//
// Through a face flows alpha (u_j - u_i) + r, r the tangential flux by the gradients of both cells. What r brings into
// a cell is bounded by a multiple of (the largest u behind its faces) - u_i, what it takes out by one of u_i - (the
// smallest), so it is written as non-negative weights of differences u_k - u_i. Then Euler's steps up to a length,
// backward Euler's of any length, and steady solutions have no extremum, without sources, that the data have not. Both
// sides of a face bound r alike, so it is conservative. Where the bounds are wider than r, as for linear u with cells
// all around, this is the least-squares flux. Behind a Neumann face lies what the two-point flux would need there.
#pragma once

#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion {

/// Sets the bounds of a scheme with `monotone`. u: local cells, valid in both ghost layers; g: data of
/// scheme.boundary_faces.
void set_flux_bounds(Scheme& scheme, std::span<const double> u, std::span<const double> g,
                     const ParallelFor& parallel = {});

/// The weights of face_datum() in an owned cell's row, one a face: not negative. Without bounds those of the two-point
/// flux.
std::array<double, 4> monotone_weights(const Scheme& scheme, Lid cell);

/// Of an owned cell: the inverse of the longest step of Euler's method without new extrema, whatever u.
double monotone_outflow(const Scheme& scheme, Lid cell);

/// boundary_inflow() of a scheme with bounds, at a face that gives u.
double monotone_inflow(const Scheme& scheme, Lid cell, int face);

}  // namespace tutti::diffusion
