// Sweeps by the vectors of a CPU.
#include "tutti/models/smoothing/lane_star.hpp"
#include "tutti/models/smoothing/sweep.hpp"

namespace tutti::smoothing {
namespace {

template <Energy energy, bool untangle>
void sweep_some(const SweepRows& s, Lid begin, Lid end) {
  LaneStar lanes;
  for (Lid row = begin; row < end; ++row) {
    const Size star = s.first_star + row, here = s.first_row + row;
    const StarCell* cells = s.stars.cells + s.stars.offsets[star];
    const auto count = static_cast<int>(s.stars.offsets[star + 1] - s.stars.offsets[star]);
    const Point& node = s.from[here];
    const Vec3 at = node.vec();
    Vec3 by;
    if (count <= LaneStar::capacity) {
      lanes.load<energy>(cells, count, s.from, node, s.plane);
      by = node_step<energy, untangle>(lanes, at, s.options, s.stars.slide(star), s.stars.surface);
    } else {
      by = plain_step<energy, untangle, double>(s, row);
    }
    const Vec3 p = at + by;
    s.to[here] = {p.x, p.y, p.z, node.size};
  }
}

}  // namespace

void sweep_rows_lanes(const SweepRows& s, Lid begin, Lid end) {
  if (s.energy == Energy::plane_triangle)
    s.untangle ? sweep_some<Energy::plane_triangle, true>(s, begin, end)
               : sweep_some<Energy::plane_triangle, false>(s, begin, end);
  else if (s.energy == Energy::graded)
    sweep_some<Energy::graded, false>(s, begin, end);  // meshes are untangled by their shape
  else if (s.energy == Energy::shape)
    s.untangle ? sweep_some<Energy::shape, true>(s, begin, end) : sweep_some<Energy::shape, false>(s, begin, end);
  else
    s.untangle ? sweep_some<Energy::l2v, true>(s, begin, end) : sweep_some<Energy::l2v, false>(s, begin, end);
}

}  // namespace tutti::smoothing
