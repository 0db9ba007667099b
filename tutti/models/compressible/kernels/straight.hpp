// The kernels tuned for straight tetrahedra and hexahedra, for GPUs (straight.cu): in a file of their own, since they
// take long to compile.
#pragma once

#include "tutti/models/compressible/kernels/launch.hpp"
#include "tutti/models/compressible/kernels/straight_view.hpp"

namespace tutti::compressible {

/// As compute_fluxes() of the faces in `tiles` of view.straight.
void compute_inner_fluxes(Stream& stream, Range tiles, const PartView& view, double eta, const double* u,
                          const FaceArrays& at_faces);
/// As advance_elements() of elements that view.straight has tables of.
void advance_straight(Stream& stream, Range elements, const PartView& view, const double* u, const FaceArrays& at_faces,
                      const StageArrays& stage);

}  // namespace tutti::compressible
