// Kernels tuned for straight tetrahedra and hexahedra: of GPUs (straight.cu) and of CPUs (straight_host.cpp), in files
// of their own, since they take long to compile.
#pragma once

#include "tutti/models/compressible/kernels/launch.hpp"
#include "tutti/models/compressible/kernels/straight_view.hpp"

namespace tutti::compressible {

/// Whether a GPU has the shared memory that the kernels of all orders take: A100 and Hopper have.
bool has_room_for_tuned_kernels(const Device& gpu);

/// As compute_fluxes() of the faces in `tiles` of view.straight: on tensor cores.
void compute_inner_fluxes(Stream& stream, Range tiles, const PartView& view, double eta, const double* u,
                          const FaceArrays& at_faces);
/// As advance_elements() of elements that view.straight has tables of.
void advance_straight(Stream& stream, Range elements, const PartView& view, const double* u, const FaceArrays& at_faces,
                      const StageArrays& stage);

/// The same on a CPU, in the lanes of its vector registers.
void compute_inner_fluxes_in_lanes(Stream& stream, Range tiles, const PartView& view, double eta, const double* u,
                                   const FaceArrays& at_faces);
void advance_in_lanes(Stream& stream, Range elements, const PartView& view, const double* u, const FaceArrays& at_faces,
                      const StageArrays& stage);

}  // namespace tutti::compressible
