// Boundary data of a part, as kernels see them.
#pragma once

#include "tutti/models/compressible/flux/viscous_flux.hpp"
#include "tutti/models/compressible/kernels/view.hpp"

namespace tutti::compressible {

/// Data of all points at a part's boundary: value after value.
struct BoundaryView {
  const std::uint8_t* kinds = nullptr;  ///< of each condition
  const double* values = nullptr;       ///< [boundary_values][points]
  Size points = 0;
  bool passive = false;  ///< nothing changes across the boundary: for tests with a uniform flow

  TUTTI_HD BoundaryKind kind(const FaceRecord& face) const { return static_cast<BoundaryKind>(kinds[face.condition]); }
  TUTTI_HD BoundaryData data(const FaceRecord& face, int q) const {
    const double* at = values + face.boundary + q;
    return {at[0], at[points], at[2 * points], at[3 * points], at[4 * points], at[5 * points]};
  }
  /// The right state of the inviscid flux.
  TUTTI_HD void state(const Gas& gas, const FaceRecord& face, int q, Vec3 n, const double* l, double* r) const {
    if (!passive) return boundary_state(kind(face), gas, data(face, q), l, n, r);
    for (int k = 0; k < variables; ++k) r[k] = l[k];
  }
  /// The state on the boundary that gradients and viscous fluxes see.
  TUTTI_HD void viscous_state(const Gas& gas, const FaceRecord& face, int q, Vec3 n, const double* l, double* b) const {
    if (!passive) return viscous_boundary_state(kind(face), gas, data(face, q), l, n, b);
    for (int k = 0; k < variables; ++k) b[k] = l[k];
  }
  /// 0: no heat goes through the face.
  TUTTI_HD double conducts(const FaceRecord& face) const {
    return !passive && kind(face) == BoundaryKind::adiabatic ? 0 : 1;
  }
  /// 0: no stress, no heat.
  TUTTI_HD double rubs(const FaceRecord& face) const { return !passive && kind(face) == BoundaryKind::slip ? 0 : 1; }
};

}  // namespace tutti::compressible
