// The kernels of the model, enqueued on a stream.
#pragma once

#include <span>

#include "tutti/base/exact_sum.hpp"
#include "tutti/base/formula.hpp"
#include "tutti/device/device.hpp"
#include "tutti/models/compressible/kernels/outside.hpp"
#include "tutti/models/compressible/kernels/stage.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

/// What faces leave for elements, value after value and point after point from FaceRecord::at on. Where elements
/// compute fluxes themselves (StraightView::fused), those at the boundary only.
struct FaceArrays {
  double* flux = nullptr;
  double* jump = nullptr;  ///< of viscous flow only
};
/// Numerical fluxes of faces; of viscous flow with jumps, which count `eta` times in gradients at faces. Where
/// view.straight is there, `faces` counts those of its tiles, whole tiles, and on GPUs all inside or at separators.
void compute_fluxes(Stream& stream, Range faces, const PartView& view, const BoundaryView& boundary, double eta,
                    const double* u, const FaceArrays& at_faces);
/// A stage of elements whose faces' fluxes are known, or computed here from u, whose ghosts must be there.
/// `keep_positive`: null, or the new state, which is limited.
void advance_elements(Stream& stream, Range elements, const PartView& view, const double* u, const FaceArrays& at_faces,
                      const StageArrays& stage, double* keep_positive = nullptr);
/// The limiter of Zhang and Shu on new states.
void keep_positive(Stream& stream, Range elements, const PartView& view, double* u);

/// A formula of boundary data: of value `value`, for the points of condition `condition`.
struct BoundaryFormula {
  std::int32_t condition = 0, value = 0;
  std::int32_t first = 0, count = 0;  ///< among the steps
};
struct BoundaryFormulas {
  const BoundaryFormula* formulas = nullptr;
  int count = 0;
  const FormulaStep* steps = nullptr;
  const Vec3* places = nullptr;
  const std::int32_t* conditions = nullptr;  ///< of each point
  Lid points = 0;
  double* values = nullptr;
};
void evaluate_boundary(Stream& stream, const BoundaryFormulas& formulas, double time);

/// Formulas of the source of each variable: steps one behind the other.
struct SourceFormulas {
  const FormulaStep* steps = nullptr;
  int counts[variables] = {};
  const Vec3* places = nullptr;  ///< of the volume's points of all elements
  const Size* first = nullptr;   ///< point of each element
  double* source = nullptr;      ///< coefficients, as the state
};
void evaluate_source(Stream& stream, Range elements, const PartView& view, const SourceFormulas& formulas, double time);

/// Means over elements times their volumes: of variable v; of kinetic energy.
ExactSum total_of(Stream& stream, Range elements, const PartView& view, const double* u, int variable);
ExactSum kinetic_energy_of(Stream& stream, Range elements, const PartView& view, const double* u);
/// 1/2 rho |omega|^2.
ExactSum enstrophy_of(Stream& stream, Range elements, const PartView& view, const double* u);
/// Means over each element: vorticity (3), and Q = (|W|^2 - |S|^2)/2 of the velocity gradient's two parts; four values
/// an element.
void rotation_of(Stream& stream, Range elements, const PartView& view, const double* u, double* to);
/// The boundary's points, and their shares of its area.
struct BoundaryPlaces {
  const Vec3* places = nullptr;
  const double* areas = nullptr;
};
/// What flows through the faces of a boundary tag, by their fluxes: component d of momentum (d = 0, 1, 2) or of its
/// moment about the origin (3, 4, 5).
ExactSum force_on(Stream& stream, Range faces, const PartView& view, const double* flux, const BoundaryPlaces& at,
                  std::int32_t tag, int component);
/// The same of each face of the tag: what flows through it of mass, momentum and energy (5), its area, and the sum of
/// its points times their areas (3); zeros for other faces. `to`: nine values a face.
inline constexpr int boundary_sums = 9;
void boundary_sums_of(Stream& stream, Range faces, const PartView& view, const double* flux, const BoundaryPlaces& at,
                      std::int32_t tag, double* to);
/// The largest Mach number at the points of elements' volumes; NaN where a state is none.
double largest_mach(Stream& stream, Range elements, const PartView& view, const double* u);
/// Minus the smallest of rho (0) or p (1) there.
double smallest_negated(Stream& stream, Range elements, const PartView& view, const double* u, int which);
/// Minus the smallest of V / (sum_d (|u_d| + a) V_d + (max(4/3 mu, gamma mu / Pr)/rho + eps) 3 (2p+1)/V sum_d V_d^2),
/// eps the artificial viscosity, at the points of the volume. `projected`: V_d, three an element.
double smallest_step_negated(Stream& stream, Range elements, const PartView& view, const double* u,
                             const double* projected);
/// The largest |x_i| / scale of its variable.
double largest_scaled(Stream& stream, Range elements, int bases, const double* x, const double (&scale)[variables]);

}  // namespace tutti::compressible
