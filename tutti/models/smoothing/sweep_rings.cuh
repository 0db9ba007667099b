// Sweeps of triangles for GPUs: a thread a node, which goes round its triangles with the ends of their edges in
// registers. The sums are those of PlainStarOf, bit for bit.
#pragma once

#include <type_traits>

#include "tutti/device/cuda/launch.hpp"
#include "tutti/models/smoothing/quick_math.cuh"
#include "tutti/models/smoothing/sweep.hpp"
#include "tutti/models/smoothing/sweep_cuda.cuh"

namespace tutti::smoothing {
namespace detail {

/// Nodes with more triangles are moved by the portable form.
inline constexpr int ring_most = star_lanes;
/// Blocks of a multiprocessor: with more of them registers do not suffice. One H100, 8.0 M triangles in a plane, Newton
/// in colours, G cells/s: 320 or 384 threads in double 22, 448 16; in float 384 23, 512 25.7, 640 26.5, 768 24,
/// 1,024 16.
inline constexpr int ring_threads = 64;
template <class R>
inline constexpr int ring_blocks = sizeof(R) == 4 ? 10 : 5;

/// Roots and quotients by QuickMath, and triangles that do no harm where a node has fewer than others of its warp.
constexpr bool ring_is_branchless(Energy energy, bool untangle) {
  return in_plane(energy) && !untangle;
}

template <Energy energy, bool level, bool branchless, class R>
struct RingStar {
  using Real = R;
  using Math = std::conditional_t<branchless, QuickMath<R>, PlainMath>;
  static constexpr bool flat = in_plane(energy);

  /// Of the ends, relative to the node; where there are none, what makes triangles that do no harm.
  R x[ring_most + 1], y[ring_most + 1], z[flat ? 1 : ring_most + 1];
  int count;
  bool few;  ///< no node of the warp has more than six triangles
  double scale;
  const Plane& within;
  Math math;

  __device__ auto plane() const {
    if constexpr (level)
      return LevelPlane{};
    else
      return within;
  }
  __device__ static bool all(bool found) { return found; }

  template <int l>
  __device__ CellOffsetsOf<R> offsets() const {
    if constexpr (flat)
      return {x[l], y[l], 0, x[l + 1], y[l + 1], 0, 0, 0, 0};
    else
      return {x[l], y[l], z[l], x[l + 1], y[l + 1], z[l + 1], 0, 0, 0};
  }

  /// Calls sum(number of lanes) with it as a constant.
  template <class Sum>
  __device__ auto over(const Sum& sum) const {
    if (branchless && few) return sum(std::integral_constant<int, 6>{});
    return sum(std::integral_constant<int, ring_most>{});
  }

  template <Energy, bool untangle>
  __device__ DerivativesOf<R> derivatives(R eps2) const {
    return over([&](auto lanes) {
      return sum_of_lanes<DerivativesOf<R>>([&](auto lane) {
        constexpr int l = decltype(lane)::value;
        DerivativesOf<R> sum;
        const bool in = l < count;
        if constexpr (l < decltype(lanes)::value) {
          if (!branchless && !in) return sum;
          const CellOffsetsOf<R> o = offsets<l>();
          const CellShapeOf<R> c = shape_of<energy>(o);
          add_cell<energy, untangle>(sum, c, eps2, in ? R(1) : R(0), math);
          if constexpr (!flat) add_surface(sum, c, o);
          sum.template finish<energy>();
        }
        return sum;
      });
    });
  }

  template <Energy, bool untangle>
  __device__ R value(Vec3 by, R eps2, bool& valid) const {
    bool good = true;
    const Vec3 move = flat ? plane().inside(by) : by;
    const R mx = static_cast<R>(scale * move.x), my = static_cast<R>(scale * move.y);
    const R squares = length2(mx, my);
    const R e = over([&](auto lanes) {
      return sum_of_lanes<R>([&](auto lane) {
        constexpr int l = decltype(lane)::value;
        const bool in = l < count;
        if constexpr (l < decltype(lanes)::value) {
          if (!branchless && !in) return R(0);
          const CellOffsetsOf<R> o = offsets<l>();
          CellSize<R> size;
          if constexpr (flat) {
            size = moved_shape<energy>(shape_of<energy>(o), mx, my, R(0), squares);
          } else {
            const CellOffsets to{o.ax - by.x, o.ay - by.y, o.az - by.z, o.bx - by.x, o.by - by.y, o.bz - by.z, 0, 0, 0};
            const CellShape c = shape_of<energy>(to);
            size = {c.s, c.v6};
            good = good && dot(area_of(to), area_of(o)) > 0;
          }
          const R of_cell = cell_energy<energy, untangle>(size, eps2, math);
          good = good & ((size.v6 > 0) | !in);
          return in ? of_cell : R(0);
        }
        return R(0);
      });
    });
    valid = good;
    return e;
  }
};

template <Energy energy, bool untangle, bool level, bool sliding, class R>
__global__ void __launch_bounds__(ring_threads, ring_blocks<R>)
    ring_kernel(Range rows, const __grid_constant__ SweepRows s) {
  cuda::wait_for_earlier_work();
  cuda::let_next_kernel_begin();
  const Lid wanted = rows.begin + static_cast<Lid>(blockIdx.x) * ring_threads + static_cast<Lid>(threadIdx.x);
  // Threads beyond the end go through the last row with the others of their warp, and write nothing.
  const Lid row = wanted < rows.end ? wanted : rows.end - 1;
  const Size star = s.first_star + row, here = s.first_row + row;
  constexpr int slice = StarView::ring_slice, most = ring_most;
  const Size begin = __ldg(s.stars.ring_begins + star / slice);
  const auto width = static_cast<int>((__ldg(s.stars.ring_begins + star / slice + 1) - begin) / slice);
  const Lid* ring = s.stars.rings + begin + star % slice;
  Lid ends[most + 1];
#pragma unroll
  for (int k = 0; k <= most; ++k) ends[k] = k < width ? __ldg(ring + k * slice) : no_lid;
  const Vec3 at = load_vec(s.from + here);
  bool fine = ends[0] != StarView::no_ring && (width <= most + 1 || __ldg(ring + (most + 1) * slice) == no_lid);
  int count = -1;
#pragma unroll
  for (int k = 0; k <= most; ++k) count += ends[k] >= 0 ? 1 : 0;
  if (!fine) count = 0;
  constexpr bool branchless = ring_is_branchless(energy, untangle);
  RingStar<energy, level, branchless, R> of_node{{}, {}, {}, count, __all_sync(~0U, count <= 6) != 0, 1, s.plane, {}};
  // Some points are loaded at a time, before the first of them is used.
  constexpr int batch = 3;
#pragma unroll
  for (int first = 0; first <= most; first += batch) {
    Vec3 points[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const Lid end = ends[first + j];
      const Point* p = s.from + (end >= 0 ? end : here);
      if (level && !(sizeof(R) == 4 && first + j == 0)) {
        const double2 xy = *reinterpret_cast<const double2*>(p);
        points[j] = {xy.x, xy.y, 0};
      } else {
        points[j] = load_vec(p);
      }
    }
    if (sizeof(R) == 4 && first == 0 && ends[0] >= 0) of_node.scale = star_scale<R>(points[0] - at);
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int k = first + j;
      Vec3 d = points[j] - at;
      if constexpr (in_plane(energy)) d = of_node.plane().inside(d);
      of_node.x[k] = static_cast<R>(of_node.scale * d.x);
      of_node.y[k] = static_cast<R>(of_node.scale * d.y);
      if constexpr (!in_plane(energy)) of_node.z[k] = d.z;
      if (branchless && k > 0 && k > count) {
        of_node.x[k] = -of_node.y[k - 1];
        of_node.y[k] = of_node.x[k - 1];
      }
    }
  }
  const Slide* slide = nullptr;
  if constexpr (sliding) slide = s.stars.slide(star);
  Vec3 by = node_step<energy, untangle>(of_node, at, s.options, slide, s.stars.surface, fine);
  if constexpr (branchless) fine = fine && !of_node.math.odd;
  if (!fine) by = step_by_one<energy, untangle, R>(s, row);
  // Loaded anew: the place costs registers.
  if (wanted < rows.end) store_moved(s, here, load_vec(s.from + here), by);
}

}  // namespace detail

constexpr bool goes_by_rings(Energy energy, bool untangle) {
  return is_triangle(energy) && !(untangle && energy == Energy::surface_triangle);
}

/// Moves the rows of a GPU.
template <Energy energy, bool untangle, class R>
void sweep_by_rings(Stream& stream, Range rows, const SweepRows& s) {
  using namespace detail;
  static_assert(goes_by_rings(energy, untangle));
  auto* kernel = ring_kernel<energy, untangle, false, true, R>;
  if constexpr (in_plane(energy))
    if (s.plane.level)
      // Where no node slides, the registers of sliding are the others'.
      kernel = s.stars.slide_of == nullptr ? ring_kernel<energy, untangle, true, false, R>
                                           : ring_kernel<energy, untangle, true, true, R>;
  cuda::launch(stream, kernel, static_cast<unsigned>((rows.size() + ring_threads - 1) / ring_threads), ring_threads, 0,
               rows, s);
}

}  // namespace tutti::smoothing
