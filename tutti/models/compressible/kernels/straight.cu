#include "tutti/models/compressible/kernels/straight.hpp"

#if defined(__CUDACC__)
#include "tutti/models/compressible/kernels/straight_fused_cuda.cuh"
#include "tutti/models/compressible/kernels/straight_slopes_cuda.cuh"
#include "tutti/models/compressible/kernels/straight_viscous_cuda.cuh"

namespace tutti::compressible {

bool has_room_for_tuned_kernels(const Device& gpu) {
  int memory = 0;
  TUTTI_CUDA_CHECK(cudaDeviceGetAttribute(&memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu.index()));
  return memory >= 160 << 10;
}

namespace {

/// Calls f(sizes) with those of the elements.
template <class F>
void with_sizes(const StraightView& tuned, const F& f) {
  const auto of = [&](const auto tet, const auto hex) { tuned.faces_each == tet.faces ? f(tet) : f(hex); };
  if (tuned.order == 1) of(TetSizes<1>(), HexSizes<1>());
  if (tuned.order == 2) of(TetSizes<2>(), HexSizes<2>());
  if (tuned.order == 3) of(TetSizes<3>(), HexSizes<3>());
}

}  // namespace

void compute_inner_fluxes(Stream& stream, Range tiles, const PartView& view, double eta, const double* u,
                          const FaceArrays& at_faces) {
  const StraightView& tuned = *view.straight;
  with_sizes(tuned, [&](const auto sizes) {
    if (tuned.viscous)
      straight::compute_viscous_fluxes<sizes.order>(stream, tiles, view, tuned, eta, u, at_faces);
    else
      straight::compute_fluxes<sizes.order>(stream, tiles, view, tuned, u, at_faces.flux);
  });
}

void advance_straight(Stream& stream, Range elements, const PartView& view, const double* u, const FaceArrays& at_faces,
                      const StageArrays& stage) {
  const StraightView& tuned = *view.straight;
  with_sizes(tuned, [&](const auto sizes) {
    using Sizes = std::decay_t<decltype(sizes)>;
    if (tuned.viscous) {
      if constexpr (Sizes::slopes)
        straight::advance_by_slopes<Sizes>(stream, elements, view, tuned, u, at_faces, stage);
      else
        straight::advance_viscous_elements<Sizes>(stream, elements, view, tuned, u, at_faces, stage);
    } else if constexpr (Sizes::slopes && has_symmetric_basis(ElementType::tetrahedron, Sizes::order)) {
      straight::advance_fused<Sizes>(stream, elements, view, tuned, u, at_faces.flux, stage);
    } else {
      straight::advance_elements<Sizes>(stream, elements, view, tuned, u, at_faces.flux, stage);
    }
  });
}

}  // namespace tutti::compressible
#else
namespace tutti::compressible {

bool has_room_for_tuned_kernels(const Device& /*gpu*/) {
  return false;
}

}  // namespace tutti::compressible
#endif
