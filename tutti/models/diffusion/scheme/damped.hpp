// A flux with more damping, for cells whose least-squares flux lets modes grow
// (docs/adr/0024-a-flux-that-cannot-grow.md).
#pragma once

#include "tutti/models/diffusion/scheme/gradient.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"

namespace tutti::diffusion {

/// The part kappa - 1 of alpha that is put on the defects u_j - u_i - row . grad u of a damped cell's fit.
inline constexpr double extra_damping = 3;

/// Is the flux of this cell damped (SchemeOptions::damped)?
inline bool is_damped(const Scheme& scheme, Lid cell) {
  return !scheme.options.damped.empty() && scheme.options.damped[static_cast<std::size_t>(cell)] >= 1;
}
/// What is left of the tangential flux of this cell's faces: 1, but where damping alone was not enough.
inline double tangential_share(const Scheme& scheme, Lid cell) {
  return is_damped(scheme, cell) ? scheme.options.damped[static_cast<std::size_t>(cell)] - 1 : 1;
}

/// The fit of a damped cell: each face weighs as much as its damping, so that this is a sum of squares. Its quality
/// tells how far the cell's share of the flux is from taking energy out: 1 / (1 + max(0, 0.2 - lambda)), lambda the
/// smallest eigenvalue of sum_f w_f row_f (K n_f)^T in coordinates that make K the identity and the volume 1, where
/// a cell whose faces are pierced at their centroids has 1.
GradientFit fit_damped(const Scheme& scheme, Lid cell, const std::array<FitRow, 4>& rows);

/// The largest share of its tangential fluxes with which an owned cell takes energy out of every state: the 4 x 4 form
/// of what its faces carry is positive definite. If all cells keep to it, the operator's eigenvalues are on the right
/// side, whatever the mesh and K are.
double coercive_share(const Scheme& scheme, Lid cell);

}  // namespace tutti::diffusion
