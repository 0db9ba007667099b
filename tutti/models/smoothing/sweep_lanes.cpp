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
    const Vec3 at = s.from[here].vec();
    const Lid number = s.stars.slide_of == nullptr ? -1 : s.stars.slide_of[star];
    const Slide* slide = number < 0 ? nullptr : s.stars.slides + number;
    Vec3 by;
    if (count <= LaneStar::capacity) {
      lanes.load(cells, count, s.from, at);
      by = node_step<energy, untangle>(lanes, at, s.options, slide, s.stars.surface);
    } else {
      by = node_step<energy, untangle>(PlainStar(cells, count, s.from, at), at, s.options, slide, s.stars.surface);
    }
    const Vec3 p = at + by;
    s.to[here] = {p.x, p.y, p.z, 0};
  }
}

}  // namespace

void sweep_rows_lanes(const SweepRows& s, Lid begin, Lid end) {
  if (s.energy == Energy::shape)
    s.untangle ? sweep_some<Energy::shape, true>(s, begin, end) : sweep_some<Energy::shape, false>(s, begin, end);
  else
    s.untangle ? sweep_some<Energy::l2v, true>(s, begin, end) : sweep_some<Energy::l2v, false>(s, begin, end);
}

}  // namespace tutti::smoothing
