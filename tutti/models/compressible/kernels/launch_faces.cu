// Kernels of faces. Compiles as plain C++ without CUDA.
#include <algorithm>

#include "tutti/device/sums/reduce.hpp"
#include "tutti/models/compressible/kernels/launch.hpp"
#include "tutti/models/compressible/kernels/straight.hpp"
#include "tutti/models/compressible/kernels/viscous.hpp"
#include "tutti/residency/residency.hpp"

namespace tutti::compressible {
namespace {

/// Faces by a list.
template <class F>
struct Listed {
  static constexpr int blocks = F::blocks;
  template <class Team>
  using Scratch = typename F::template Scratch<Team>;
  F f;
  const StraightFace* list;
  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid i, Scratch<Team>& s) const {
    f(team, list[i].face, s);
  }
};

/// Faces of whole tiles that are all at the boundary, or none.
void compute_straight_fluxes(Stream& stream, Range faces, bool at_boundary, const PartView& view,
                             const BoundaryView& boundary, double eta, const double* u, const FaceArrays& at_faces) {
  const StraightView& tuned = *view.straight;
  const TablesInPlace tables{view.tables};
  if (at_boundary && tuned.viscous)
    return for_each_team<false>(stream, faces, view.needs(),
                                Listed<ViscousFaceFluxes<TablesInPlace, BoundaryView>>{
                                    {view, tables, u, at_faces.flux, at_faces.jump, eta, boundary}, tuned.faces});
  if (at_boundary)
    return for_each_team<false>(
        stream, faces, view.needs(),
        Listed<FaceFluxes<TablesInPlace, BoundaryView>>{{view, tables, u, at_faces.flux, boundary}, tuned.faces});
  const Range tiles{faces.begin / tile_rows, faces.end / tile_rows};
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) return compute_inner_fluxes(stream, tiles, view, eta, u, at_faces);
#endif
  compute_inner_fluxes_in_lanes(stream, tiles, view, eta, u, at_faces);
}

/// f(faces, sides) for those faces, where their tables are.
template <class F>
void with_sides(Stream& stream, Range faces, const PartView& view, const F& f) {
  if (view.monomials.n > 0)
    f(faces, TablesOrMatrices{{view.tables}});
  else if (view.sides == nullptr)
    f(faces, TablesInPlace{view.tables});
  else
    for_each_chunk(*view.sides, stream, faces, f);
}

struct Force {
  PartView view;
  const double* flux;
  BoundaryPlaces at;
  std::int32_t tag;
  int component;
  TUTTI_HD double operator()(Lid i) const {
    const FaceRecord& face = view.faces[i];
    if (face.right >= 0 || face.tag != tag) return 0;
    const int d = component % 3, j = (d + 1) % 3, k = (d + 2) % 3;
    double sum = 0;
    for (int q = 0; q < face.actual; ++q) {
      const double* f = flux + face.at + q;
      const Vec3 x = at.places[face.boundary + q];
      sum += at.areas[face.boundary + q] * (component < 3
                                                ? f[(1 + d) * face.points]
                                                : x[j] * f[(1 + k) * face.points] - x[k] * f[(1 + j) * face.points]);
    }
    return sum;
  }
};
struct BoundarySums {
  PartView view;
  const double* flux;
  BoundaryPlaces at;
  std::int32_t tag;
  double* to;
  TUTTI_HD void operator()(Lid i) const {
    const FaceRecord& face = view.faces[i];
    double* const sums = to + Size{boundary_sums} * i;
    for (int k = 0; k < boundary_sums; ++k) sums[k] = 0;
    if (face.right >= 0 || face.tag != tag) return;
    for (int q = 0; q < face.actual; ++q) {
      const double area = at.areas[face.boundary + q];
      for (int v = 0; v < variables; ++v) sums[v] += area * flux[face.at + v * face.points + q];
      sums[variables] += area;
      const Vec3 x = at.places[face.boundary + q];
      for (int d = 0; d < 3; ++d) sums[variables + 1 + d] += area * x[d];
    }
  }
};

}  // namespace

void compute_fluxes(Stream& stream, Range faces, const PartView& view, const BoundaryView& boundary, double eta,
                    const double* u, const FaceArrays& at_faces) {
  if (faces.empty()) return;
  if (view.straight != nullptr) {
    for (const FaceSet set : {interior_inner, interior_boundary, separator_inner, separator_boundary}) {
      const Range tiles = view.straight->tiles(set);
      const Range some{std::max(faces.begin, tile_rows * tiles.begin), std::min(faces.end, tile_rows * tiles.end)};
      if (!some.empty())
        compute_straight_fluxes(stream, some, set == interior_boundary || set == separator_boundary, view, boundary,
                                eta, u, at_faces);
    }
    return;
  }
  with_sides(stream, faces, view, [&](Range some, const auto& sides) {
    using Sides = std::decay_t<decltype(sides)>;
    constexpr bool several = in_place<Sides>;  // as for elements
    if (!view.diffuses())
      for_each_team<several>(stream, some, view.needs(),
                             FaceFluxes<Sides, BoundaryView>{view, sides, u, at_faces.flux, boundary});
    else
      for_each_team<several>(
          stream, some, view.needs(),
          ViscousFaceFluxes<Sides, BoundaryView>{view, sides, u, at_faces.flux, at_faces.jump, eta, boundary});
  });
}

ExactSum force_on(Stream& stream, Range faces, const PartView& view, const double* flux, const BoundaryPlaces& at,
                  std::int32_t tag, int component) {
  return exact_sum(stream, faces, Force{view, flux, at, tag, component});
}
void boundary_sums_of(Stream& stream, Range faces, const PartView& view, const double* flux, const BoundaryPlaces& at,
                      std::int32_t tag, double* to) {
  for_each(stream, faces, BoundarySums{view, flux, at, tag, to});
}

}  // namespace tutti::compressible
