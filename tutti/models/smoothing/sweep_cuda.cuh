// Sweeps for GPUs, to be measured (see SmoothOptions::by_groups): some threads a node, which bring its neighbours into
// shared memory once and keep the shapes of their first cells in registers, so that a search along the step needs ten
// operations a cell. The sums are those of PlainStarOf, bit for bit.
#pragma once

#include "tutti/device/cuda/check.hpp"
#include "tutti/models/smoothing/sweep.hpp"

namespace tutti::smoothing {
namespace detail {

/// Nodes with more neighbours are moved by the portable form.
template <Energy energy>
inline constexpr int most_neighbours = is_triangle(energy) ? 16 : 48;
/// Nodes a thread block.
inline constexpr int groups_a_block = 32;

template <class T>
__device__ inline T from_lane(T x, int other) {
  return __shfl_xor_sync(~0U, x, other);
}

template <bool printed, class R>
__device__ inline void add_other(DerivativesOf<R>& sum, int other) {
  for (R* x : {&sum.e, &sum.gx, &sum.gy, &sum.gz, &sum.xx, &sum.xy, &sum.xz, &sum.yy, &sum.yz, &sum.zz})
    *x += from_lane(*x, other);
  if constexpr (printed) sum.t += from_lane(sum.t, other);
}
template <bool printed, class R>
__device__ inline void add_other(R& sum, int other) {
  sum += from_lane(sum, other);
}

/// `threads` of a warp share a star: thread t has its lanes t, t + threads, ... (see star_lanes). Of each lane the
/// shapes of the first `kept` cells stay in registers.
template <class R, int threads, int kept>
struct GroupStar {
  using Real = R;
  static constexpr int lanes = star_lanes / threads;

  const R* at;  ///< of the neighbours, relative to the node, in shared memory
  const std::uint32_t* corners;
  int count, thread;
  Vec3 normal;
  double scale;
  std::uint32_t words[lanes][kept > 0 ? kept : 1];
  mutable CellShapeOf<R> shapes[lanes][kept > 0 ? kept : 1];

  __device__ void load_words() {
#pragma unroll
    for (int l = 0; l < lanes; ++l)
#pragma unroll
      for (int j = 0; j < kept; ++j) {
        const int k = lane(l) + j * star_lanes;
        words[l][j] = k < count ? __ldg(corners + k) : 0U;
      }
  }
  /// The thread's lanes in the order that they are added in: t, t + 4, t + 2, t + 6.
  __device__ int lane(int l) const {
    return thread + (threads == 4 ? 4 * l : 4 * (l % 2) + 2 * (l / 2));
  }

  template <Energy energy>
  __device__ CellShapeOf<R> shape(std::uint32_t word) const {
    const R *a = at + 3 * (word & 1023U), *b = at + 3 * (word >> 10 & 1023U), *c = at + 3 * (word >> 20);
    CellOffsetsOf<R> o{a[0], a[1], a[2], b[0], b[1], b[2], 0, 0, 0};
    if constexpr (!is_triangle(energy)) o.cx = c[0], o.cy = c[1], o.cz = c[2];
    return shape_of<energy>(o, normal);
  }

  template <class T, bool printed, class Lane>
  __device__ static T over_lanes(const Lane& of) {
    T sum = of(0);
    if constexpr (lanes > 1) sum += of(1);
    if constexpr (lanes > 2) {
      T more = of(2);
      more += of(3);
      sum += more;
    }
#pragma unroll
    for (int other = threads / 2; other > 0; other /= 2) add_other<printed>(sum, other);
    return sum;
  }

  template <Energy energy, bool untangle>
  __device__ DerivativesOf<R> derivatives(R eps2) const {
    return over_lanes<DerivativesOf<R>, energy == Energy::l2v>([&](int l) {
      DerivativesOf<R> sum;
#pragma unroll
      for (int j = 0; j < kept; ++j) {
        if (lane(l) + j * star_lanes >= count) continue;
        shapes[l][j] = shape<energy>(words[l][j]);
        add_cell<energy, untangle>(sum, shapes[l][j], eps2);
      }
      for (int k = lane(l) + kept * star_lanes; k < count; k += star_lanes)
        add_cell<energy, untangle>(sum, shape<energy>(__ldg(corners + k)), eps2);
      sum.finish();
      return sum;
    });
  }

  template <Energy energy, bool untangle>
  __device__ R value(Vec3 by, R eps2, bool& valid) const {
    const R x = static_cast<R>(scale * by.x), y = static_cast<R>(scale * by.y), z = static_cast<R>(scale * by.z);
    const R squares = length2(x, y, z);
    bool good = true;
    const auto add = [&](R& sum, CellShapeOf<R> shape) {
      shape.curve = is_triangle(energy) ? 2 : 3;  // no register for it
      const CellSize<R> size = moved_shape<energy>(shape, x, y, z, squares);
      good = good && size.v6 > 0;
      sum += cell_energy<energy, untangle>(size, eps2);
    };
    const R e = over_lanes<R, false>([&](int l) {
      R sum = 0;
#pragma unroll
      for (int j = 0; j < kept; ++j)
        if (lane(l) + j * star_lanes < count) add(sum, shapes[l][j]);
      for (int k = lane(l) + kept * star_lanes; k < count; k += star_lanes) add(sum, shape<energy>(__ldg(corners + k)));
      return sum;
    });
    const unsigned bad = __ballot_sync(~0U, !good) >> (threadIdx.x % 32 / threads * threads);
    valid = (bad & ((1U << threads) - 1)) == 0;
    return e;
  }
  __device__ static bool all(bool found) {
    return __all_sync(~0U, found) != 0;
  }
};

/// Out of line: the registers that it would take are the other nodes'.
template <Energy energy, bool untangle, class R>
__device__ __noinline__ Vec3 step_by_one(const SweepRows& s, Lid row) {
  return plain_step<energy, untangle, R>(s, row);
}

template <Energy energy, bool untangle, bool sliding, class R, int threads, int kept, int blocks>
__global__ void __launch_bounds__(groups_a_block* threads, blocks) sweep_kernel(Range rows, SweepRows s) {
  __shared__ R near[groups_a_block][3 * most_neighbours<energy> + 1];
  const int group = static_cast<int>(threadIdx.x) / threads, thread = static_cast<int>(threadIdx.x) % threads;
  const Lid wanted = rows.begin + static_cast<Lid>(blockIdx.x) * groups_a_block + group;
  // Groups beyond the end go through the last row with the others of their warp, and write nothing.
  const Lid row = wanted < rows.end ? wanted : rows.end - 1;
  const Size star = s.first_star + row, here = s.first_row + row;
  const Size first = s.stars.offsets[star], first_near = s.stars.neighbour_offsets[star];
  const auto count = static_cast<int>(s.stars.offsets[star + 1] - first),
             neighbours = static_cast<int>(s.stars.neighbour_offsets[star + 1] - first_near);
  bool fine = neighbours <= most_neighbours<energy>;
  GroupStar<R, threads, kept> group_star{
      near[group], s.stars.corners + first, fine ? count : 0, thread, s.normal, 1, {}, {}};
  group_star.load_words();
  const auto point = [&](Size i) {
    const auto* halves = reinterpret_cast<const double2*>(s.from + i);
    const double2 xy = halves[0], zw = halves[1];
    return Point{xy.x, xy.y, zw.x, zw.y};
  };
  const Point node = point(here);
  const Vec3 at = node.vec();
  const Lid* list = s.stars.neighbours + first_near;
  if (sizeof(R) == 4 && neighbours > 0) group_star.scale = star_scale<R>(point(__ldg(list)).vec() - at);
  for (int k = thread; k < neighbours && fine; k += threads) {
    const Vec3 d = group_star.scale * (point(__ldg(list + k)).vec() - at);
    near[group][3 * k] = static_cast<R>(d.x);
    near[group][3 * k + 1] = static_cast<R>(d.y);
    near[group][3 * k + 2] = static_cast<R>(d.z);
  }
  __syncwarp();
  const Slide* slide = nullptr;
  if constexpr (sliding) slide = s.stars.slide(star);
  Vec3 by = node_step<energy, untangle>(group_star, at, s.options, slide, s.stars.surface, fine);
  if (!fine) by = step_by_one<energy, untangle, R>(s, row);
  // In place: others of the group may still read the row for themselves.
  __syncwarp();
  if (thread != 0 || wanted >= rows.end) return;
  const Vec3 p = at + by;
  auto* to = reinterpret_cast<double2*>(s.to + here);
  to[0] = {p.x, p.y};
  to[1] = {p.z, node.size};
}

template <Energy energy, bool untangle, class R, int threads, int kept, int blocks>
void launch_groups(Stream& stream, Range rows, const SweepRows& s) {
  const cuda::CurrentDevice current(stream.device().index());
  // Where no node slides, the registers of sliding are the others'.
  auto* kernel = s.stars.slide_of == nullptr ? sweep_kernel<energy, untangle, false, R, threads, kept, blocks>
                                             : sweep_kernel<energy, untangle, true, R, threads, kept, blocks>;
  kernel<<<static_cast<unsigned>((rows.size() + groups_a_block - 1) / groups_a_block), groups_a_block * threads, 0,
           static_cast<cudaStream_t>(stream.native())>>>(rows, s);
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
}

}  // namespace detail

constexpr bool goes_by_groups(Energy energy) {
  return energy != Energy::surface_triangle && energy != Energy::graded;
}

/// Moves the rows of a GPU.
template <Energy energy, bool untangle, class R>
void sweep_by_groups(Stream& stream, Range rows, const SweepRows& s) {
  if constexpr (is_triangle(energy))
    detail::launch_groups<energy, untangle, R, 2, 1, 8>(stream, rows, s);
  else
    detail::launch_groups<energy, untangle, R, 8, 3, sizeof(R) == 4 ? 3 : 2>(stream, rows, s);
}

}  // namespace tutti::smoothing
