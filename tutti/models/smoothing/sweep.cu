#include "tutti/models/smoothing/sweep.hpp"

#include <limits>
#include <type_traits>

#include "tutti/device/for_each.hpp"
#include "tutti/device/sums/reduce.hpp"
#if defined(__CUDACC__)
#include "tutti/models/smoothing/sweep_cuda.cuh"
#include "tutti/models/smoothing/sweep_rings.cuh"
#endif

namespace tutti::smoothing {
namespace {

template <Energy energy, bool untangle, class R>
struct MoveNode {
  SweepRows s;
  TUTTI_HD void operator()(Lid row) const {
    const Size here = s.first_row + row;
    const Vec3 p = s.from[here].vec() + plain_step<energy, untangle, R>(s, row);
    s.to[here] = {p.x, p.y, p.z, s.from[here].size};
  }
};

/// 6 V of a cell from a row's star; of a triangle its area times the one it had.
TUTTI_HD double star_volume(const SweepRows& s, const Point* points, Size here, const StarCell& cell) {
  const Vec3 at = points[here].vec();
  if (is_triangle(s.energy)) {
    const Vec3 was = s.from[here].vec();
    return dot(cross(points[cell.a].vec() - at, points[cell.b].vec() - at),
               cross(s.from[cell.a].vec() - was, s.from[cell.b].vec() - was));
  }
  const Vec3 a = points[cell.a].vec() - at, b = points[cell.b].vec() - at, c = points[cell.c].vec() - at;
  return cell_shape(CellOffsets{a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z}).v6;
}

struct MarkBad {
  SweepRows s;
  std::uint8_t* bad;
  TUTTI_HD void operator()(Lid row) const {
    const Size star = s.first_star + row, here = s.first_row + row;
    bool found = false;
    for (Size k = s.stars.offsets[star]; k < s.stars.offsets[star + 1]; ++k) {
      const StarCell cell = s.stars.cells[k];
      // All four corners must agree on whether a cell is bad: rounding may tell them different volumes, so that one of
      // them takes its move back alone. The next round sees what is left.
      found = found || !(star_volume(s, s.to, here, cell) > 0.1 * star_volume(s, s.from, here, cell));
    }
    bad[star] = found ? 1 : 0;
  }
};

struct HalveMove {
  SweepRows s;
  const std::uint8_t* bad;
  bool back;
  TUTTI_HD void operator()(Lid row) const {
    const Size star = s.first_star + row, here = s.first_row + row;
    if (bad != nullptr && bad[star] == 0) return;
    const Vec3 from = s.from[here].vec();
    Vec3 p = from + 0.5 * (s.to[here].vec() - from);
    if (const Slide* slide = s.stars.slide(star)) p = put_back(*slide, s.stars.surface, p);
    if (back) p = from;
    s.to[here] = {p.x, p.y, p.z, s.from[here].size};
  }
};

struct IsBad {
  const std::uint8_t* bad;
  TUTTI_HD double operator()(Lid row) const { return bad[row]; }
};

/// The shape energy of the cells that `energy` is made for.
TUTTI_HD constexpr Energy shape_energy(Energy energy) {
  return is_triangle(energy) ? energy : Energy::shape;
}

template <Energy energy>
TUTTI_HD CellShape view_shape(const CellView& view, Lid cell) {
  const CellRows rows = view.cells[cell];
  const Vec3 at = view.points[rows.v[0]].vec();
  const Vec3 a = view.points[rows.v[1]].vec() - at, b = view.points[rows.v[2]].vec() - at,
             c = view.points[rows.v[3]].vec() - at;
  double size = 1;
  if constexpr (energy == Energy::graded)
    size = wanted_size(view.points[rows.v[0]], view.points[rows.v[1]], view.points[rows.v[2]], view.points[rows.v[3]]);
  if constexpr (in_plane(energy)) {
    const Vec3 to_a = view.plane.inside(a), to_b = view.plane.inside(b);
    return shape_of<energy>(CellOffsets{to_a.x, to_a.y, 0, to_b.x, to_b.y, 0, 0, 0, 0});
  }
  return shape_of<energy>(CellOffsets{a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z}, size);
}

/// The energy and the shape energy, which is infinite where a cell is inverted.
template <Energy energy, bool untangle>
struct EnergiesOf {
  CellView view;
  double eps2;
  TUTTI_HD ReduceTerm operator()(Lid cell) const {
    constexpr Energy shape_energy_of = shape_energy(energy);
    const CellShape shape = view_shape<shape_energy_of>(view, cell);
    return {cell_energy<energy, untangle>(view_shape<energy>(view, cell), eps2),
            shape.v6 > 0 ? cell_energy<shape_energy_of, false>(shape, 0) : std::numeric_limits<double>::infinity()};
  }
};
template <Energy energy>
struct InvertedOf {
  CellView view;
  TUTTI_HD double operator()(Lid cell) const { return view_shape<energy>(view, cell).v6 > 0 ? 0 : 1; }
};
template <Energy energy>
struct NegativeVolumeOf {
  CellView view;
  TUTTI_HD double operator()(Lid cell) const { return -view_shape<energy>(view, cell).v6; }
};
template <Energy energy>
struct VolumeOf {
  CellView view;
  TUTTI_HD double operator()(Lid cell) const {
    const double v6 = view_shape<energy>(view, cell).v6;
    return v6 < 0 ? -v6 : v6;
  }
};
struct MoveOf {
  const Point *a, *b;
  TUTTI_HD double operator()(Lid row) const {
    const Vec3 d = a[row].vec() - b[row].vec();
    return dot(d, d);
  }
};

/// Calls work(energy) with the energy as a constant.
template <class Work>
auto with_energy(Energy energy, const Work& work) {
  switch (energy) {
    case Energy::shape:
      return work(std::integral_constant<Energy, Energy::shape>{});
    case Energy::l2v:
      return work(std::integral_constant<Energy, Energy::l2v>{});
    case Energy::graded:
      return work(std::integral_constant<Energy, Energy::graded>{});
    case Energy::plane_triangle:
      return work(std::integral_constant<Energy, Energy::plane_triangle>{});
    default:
      return work(std::integral_constant<Energy, Energy::surface_triangle>{});
  }
}

/// Calls work(energy, untangle, number of the derivatives) with these as constants.
template <class Work>
void with_form(const SweepRows& s, const Work& work) {
  with_energy(s.energy, [&](auto energy) {
    if constexpr (takes_float(energy(), false))
      if (s.in_float && !s.untangle) return work(energy, std::false_type{}, float{});
    if (s.untangle) return work(energy, std::true_type{}, double{});
    work(energy, std::false_type{}, double{});
  });
}

}  // namespace

void sweep_rows_plain(Stream& stream, Range rows, const SweepRows& s) {
  with_form(s, [&](auto energy, auto untangle, auto number) {
    for_each(stream, rows, MoveNode<energy(), untangle(), decltype(number)>{s});
  });
}

void sweep_rows(Stream& stream, Range rows, const SweepRows& s) {
  if (rows.empty()) return;
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda && s.stars.corners != nullptr && goes_by_groups(s.energy))
    return with_form(s, [&](auto energy, auto untangle, auto number) {
      if constexpr (goes_by_groups(energy())) sweep_by_groups<energy(), untangle(), decltype(number)>(stream, rows, s);
    });
  if (stream.kind() == DeviceKind::cuda && s.stars.rings != nullptr && goes_by_rings(s.energy, s.untangle))
    return with_form(s, [&](auto energy, auto untangle, auto number) {
      if constexpr (goes_by_rings(energy(), untangle()))
        sweep_by_rings<energy(), untangle(), decltype(number)>(stream, rows, s);
    });
#endif
  const bool in_float = s.in_float && takes_float(s.energy, s.untangle);
  if (stream.kind() == DeviceKind::cuda || s.energy == Energy::surface_triangle || in_float)
    return sweep_rows_plain(stream, rows, s);
  stream.loop(rows, [s](Lid begin, Lid end) { sweep_rows_lanes(s, begin, end); });
}

void mark_bad_rows(Stream& stream, Range rows, const SweepRows& sweep, std::uint8_t* bad) {
  for_each(stream, rows, MarkBad{sweep, bad});
}
void halve_moves(Stream& stream, Range rows, const SweepRows& sweep, const std::uint8_t* bad, bool back) {
  for_each(stream, rows, HalveMove{sweep, bad, back});
}
bool any_bad(Stream& stream, Range rows, const SweepRows& sweep, const std::uint8_t* bad) {
  return max_value(stream, rows, IsBad{bad + sweep.first_star}) > 0;
}

Pending<SumAndLargest> start_energies(Stream& stream, Range cells, const CellView& view, double eps2) {
  return with_energy(view.energy, [&](auto energy) {
    return eps2 > 0 ? start_sum_and_largest(stream, cells, EnergiesOf<energy(), true>{view, eps2})
                    : start_sum_and_largest(stream, cells, EnergiesOf<energy(), false>{view, 0});
  });
}
ExactSum count_inverted(Stream& stream, Range cells, const CellView& view) {
  return with_energy(shape_energy(view.energy),
                     [&](auto energy) { return exact_sum(stream, cells, InvertedOf<energy()>{view}); });
}
double largest_negative_volume(Stream& stream, Range cells, const CellView& view) {
  return with_energy(shape_energy(view.energy),
                     [&](auto energy) { return max_value(stream, cells, NegativeVolumeOf<energy()>{view}); });
}
ExactSum total_volume6(Stream& stream, Range cells, const CellView& view) {
  return with_energy(shape_energy(view.energy),
                     [&](auto energy) { return exact_sum(stream, cells, VolumeOf<energy()>{view}); });
}
double largest_move2(Stream& stream, Range rows, const Point* a, const Point* b) {
  return max_value(stream, rows, MoveOf{a, b});
}

}  // namespace tutti::smoothing
