// Sweeps of tetrahedra for GPUs: some threads a node, which bring its neighbours into shared memory once. The sums are
// those of PlainStarOf, bit for bit. Figures in the comments: one H100, 8.0 M cells, Newton in colours, G cells/s in
// double and float; a thread a node has 5.3 and 5.2.
#pragma once

#include <type_traits>

#include "tutti/device/cuda/launch.hpp"
#include "tutti/models/smoothing/quick_math.cuh"
#include "tutti/models/smoothing/sweep.hpp"

namespace tutti::smoothing {
namespace detail {

/// For the shape energy (10.9 and 14.9). Four threads a node, two lanes each, no branches: roots and quotients are
/// those of QuickMath, and a harmless cell stands where a lane has none, so that the latencies of all a thread's cells
/// pass at once. The search makes shapes anew: kept ones cost registers, and so warps in flight, in double (7.8 instead
/// of 10.9; in float 15.2 and 14.9). Blocks are small, as a block that starts waits for memory three times (offsets,
/// numbers, points).
template <class R>
struct FourThreads {
  static constexpr int threads = 4, nodes = 16, blocks = sizeof(R) == 4 ? 12 : 8;
  static constexpr bool branchless = true;
};
/// Eight threads a node, a lane each, for the other energies and untangling; the shapes of a lane's first cells stay in
/// registers, so that the search needs ten operations a cell (the shape energy by this: 8.6 and 11.6).
struct EightThreads {
  static constexpr int threads = 8, nodes = 32, blocks = 2;
  static constexpr bool branchless = false;
};

/// Cells of each lane, the first ones, that are loaded at the start; further ones are where they are needed.
inline constexpr int cells_ahead = 3;
/// Nodes with more neighbours are moved by the portable form.
inline constexpr int most_neighbours = 48;

template <class T>
__device__ inline T from_lane(T x, int other) {
  return __shfl_xor_sync(~0U, x, other);
}

template <Energy energy, class R>
__device__ inline void add_other(DerivativesOf<R>& sum, int other) {
  for (R* x : {&sum.e, &sum.gx, &sum.gy, &sum.gz, &sum.xx, &sum.xy, &sum.xz, &sum.yy, &sum.yz, &sum.zz})
    *x += from_lane(*x, other);
  if constexpr (energy == Energy::l2v) sum.t += from_lane(sum.t, other);
}
template <Energy energy, class R>
__device__ inline void add_other(R& sum, int other) {
  sum += from_lane(sum, other);
}

/// The threads of a warp that share a star: thread t has its lanes t, t + threads, ... (see star_lanes).
template <class R, class Layout>
struct GroupStar {
  using Real = R;
  using Math = std::conditional_t<Layout::branchless, QuickMath<R>, PlainMath>;
  static constexpr int lanes = star_lanes / Layout::threads;
  static constexpr bool keep_shapes = !Layout::branchless;

  const R* at;  ///< of the neighbours, relative to the node, in shared memory
  const std::uint32_t* corners;
  int count, thread;
  double scale;
  std::uint32_t words[lanes][cells_ahead];
  mutable CellShapeOf<R> shapes[lanes][keep_shapes ? cells_ahead : 1];
  Math math;

  /// The places of a cell that does no harm: the corners of a cube, which stand behind the neighbours.
  static constexpr std::uint32_t harmless = most_neighbours | (most_neighbours + 1) << 10 | (most_neighbours + 2) << 20;

  __device__ void load_words() {
#pragma unroll
    for (int l = 0; l < lanes; ++l)
#pragma unroll
      for (int j = 0; j < cells_ahead; ++j) {
        const int k = cell(l, j);
        words[l][j] = k < count ? __ldg(corners + k) : harmless;
      }
  }
  __device__ int cell(int l, int j) const {
    return thread + l * Layout::threads + j * star_lanes;
  }

  template <Energy energy>
  __device__ CellShapeOf<R> shape(std::uint32_t word) const {
    const R *a = at + 3 * (word & 1023U), *b = at + 3 * (word >> 10 & 1023U), *c = at + 3 * (word >> 20);
    return shape_of<energy>(CellOffsetsOf<R>{a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]});
  }

  /// A thread's own lanes first, then those of others: the order of star_lanes.
  template <Energy energy, class Lane>
  __device__ static auto over_lanes(const Lane& of_lane) {
    static_assert(lanes <= 2);
    auto sum = of_lane(0);
    if constexpr (lanes == 2) sum += of_lane(1);
#pragma unroll
    for (int other = Layout::threads / 2; other > 0; other /= 2) add_other<energy>(sum, other);
    return sum;
  }

  template <Energy energy, bool untangle>
  __device__ DerivativesOf<R> derivatives(R eps2) const {
    return over_lanes<energy>([&](int l) {
      DerivativesOf<R> sum;
#pragma unroll
      for (int j = 0; j < cells_ahead; ++j) {
        const bool in = cell(l, j) < count;
        if (!Layout::branchless && !in) continue;
        const CellShapeOf<R> c = shape<energy>(words[l][j]);
        if constexpr (keep_shapes) shapes[l][j] = c;
        add_cell<energy, untangle>(sum, c, eps2, in ? R(1) : R(0), math);
      }
      for (int k = cell(l, cells_ahead); k < count; k += star_lanes)
        add_cell<energy, untangle>(sum, shape<energy>(__ldg(corners + k)), eps2, R(1), math);
      sum.template finish<energy>();
      return sum;
    });
  }

  template <Energy energy, bool untangle>
  __device__ R value(Vec3 by, R eps2, bool& valid) const {
    const R x = static_cast<R>(scale * by.x), y = static_cast<R>(scale * by.y), z = static_cast<R>(scale * by.z);
    const R squares = length2(x, y, z);
    bool good = true;
    const auto add = [&](R& sum, CellShapeOf<R> shape, bool in) {
      shape.curve = 3;  // no register for it
      const CellSize<R> size = moved_shape<energy>(shape, x, y, z, squares);
      const R e = cell_energy<energy, untangle>(size, eps2, math);
      good = good & ((size.v6 > 0) | !in);
      sum += in ? e : R(0);
    };
    const R e = over_lanes<energy>([&](int l) {
      R sum = 0;
#pragma unroll
      for (int j = 0; j < cells_ahead; ++j) {
        const bool in = cell(l, j) < count;
        if (!Layout::branchless && !in) continue;
        if constexpr (keep_shapes)
          add(sum, shapes[l][j], true);
        else
          add(sum, shape<energy>(words[l][j]), in);
      }
      for (int k = cell(l, cells_ahead); k < count; k += star_lanes) add(sum, shape<energy>(__ldg(corners + k)), true);
      return sum;
    });
    valid = !any_of_group(!good);
    return e;
  }
  __device__ static bool all(bool found) {
    return __all_sync(~0U, found) != 0;
  }
  /// All threads of the warp come here together.
  __device__ static bool any_of_group(bool found) {
    const unsigned mine = __ballot_sync(~0U, found) >> (threadIdx.x % 32 / Layout::threads * Layout::threads);
    return (mine & ((1U << Layout::threads) - 1)) != 0;
  }
};

__device__ inline Vec3 load_vec(const Point* p) {
  const auto* numbers = reinterpret_cast<const double2*>(p);
  const double2 xy = numbers[0];
  return {xy.x, xy.y, reinterpret_cast<const double*>(numbers + 1)[0]};
}
__device__ inline void store_moved(const SweepRows& s, Size here, Vec3 at, Vec3 by) {
  const Vec3 p = at + by;
  const double size = s.from[here].size;
  auto* to = reinterpret_cast<double2*>(s.to + here);
  to[0] = {p.x, p.y};
  to[1] = {p.z, size};
}

/// Out of line: the registers that it would take are the other nodes'.
template <Energy energy, bool untangle, class R>
__device__ __noinline__ Vec3 step_by_one(const SweepRows& s, Lid row) {
  return plain_step<energy, untangle, R>(s, row);
}

/// __grid_constant__: step_by_one() takes the address of `s`, for which every thread would copy it to its stack.
template <Energy energy, bool untangle, bool sliding, class R, class Layout>
__global__ void __launch_bounds__(Layout::nodes* Layout::threads, Layout::blocks)
    sweep_kernel(Range rows, const __grid_constant__ SweepRows s) {
  cuda::wait_for_earlier_work();
  cuda::let_next_kernel_begin();
  constexpr int most = most_neighbours, threads = Layout::threads, batch = 16 / threads;
  __shared__ R near[Layout::nodes][(3 * (most + (Layout::branchless ? 3 : 0))) | 1];
  const int group = static_cast<int>(threadIdx.x) / threads, thread = static_cast<int>(threadIdx.x) % threads;
  const Lid wanted = rows.begin + static_cast<Lid>(blockIdx.x) * Layout::nodes + group;
  // Groups beyond the end go through the last row with the others of their warp, and write nothing.
  const Lid row = wanted < rows.end ? wanted : rows.end - 1;
  const Size star = s.first_star + row, here = s.first_row + row;
  const Size first = s.stars.offsets[star], first_near = s.stars.neighbour_offsets[star];
  const auto count = static_cast<int>(s.stars.offsets[star + 1] - first),
             neighbours = static_cast<int>(s.stars.neighbour_offsets[star + 1] - first_near);
  bool fine = neighbours <= most;
  GroupStar<R, Layout> group_star{near[group], s.stars.corners + first, fine ? count : 0, thread, 1, {}, {}, {}};
  group_star.load_words();
  const auto point = [&](Size i) { return load_vec(s.from + i); };
  const Vec3 at = point(here);
  const Lid* list = s.stars.neighbours + first_near;
  if (sizeof(R) == 4 && neighbours > 0) group_star.scale = star_scale<R>(point(__ldg(list)) - at);
  // All numbers of a batch, then all its points: neither waits for another.
  for (int begin = 0; begin < neighbours && fine; begin += 16) {
    Lid which[batch];
    Vec3 points[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int k = begin + thread + j * threads;
      which[j] = k < neighbours ? __ldg(list + k) : static_cast<Lid>(here);
    }
#pragma unroll
    for (int j = 0; j < batch; ++j) points[j] = point(which[j]);
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int k = begin + thread + j * threads;
      if (k >= neighbours) continue;
      const Vec3 d = group_star.scale * (points[j] - at);
      near[group][3 * k] = static_cast<R>(d.x);
      near[group][3 * k + 1] = static_cast<R>(d.y);
      near[group][3 * k + 2] = static_cast<R>(d.z);
    }
  }
  if constexpr (Layout::branchless)  // the corners of the harmless cell
    for (int k = thread; k < 9; k += threads) near[group][3 * most + k] = k % 4 == 0 ? R(1) : R(0);
  __syncwarp();
  const Slide* slide = nullptr;
  if constexpr (sliding) slide = s.stars.slide(star);
  Vec3 by = node_step<energy, untangle>(group_star, at, s.options, slide, s.stars.surface, fine);
  if constexpr (Layout::branchless) {
    const bool odd = group_star.any_of_group(group_star.math.odd);
    fine = fine && !odd;
  }
  if (!fine) by = step_by_one<energy, untangle, R>(s, row);
  // In place: others of the group may still read the row for themselves.
  __syncwarp();
  if (thread != 0 || wanted >= rows.end) return;
  store_moved(s, here, at, by);
}

}  // namespace detail

/// Triangles have a thread a node: see sweep_rings.cuh.
constexpr bool goes_by_groups(Energy energy) {
  return !is_triangle(energy) && energy != Energy::graded;
}

/// Moves the rows of a GPU.
template <Energy energy, bool untangle, class R>
void sweep_by_groups(Stream& stream, Range rows, const SweepRows& s) {
  using namespace detail;
  static_assert(goes_by_groups(energy));
  using Layout = std::conditional_t<energy == Energy::shape && !untangle, FourThreads<R>, EightThreads>;
  // Where no node slides, the registers of sliding are the others'.
  auto* kernel = s.stars.slide_of == nullptr ? sweep_kernel<energy, untangle, false, R, Layout>
                                             : sweep_kernel<energy, untangle, true, R, Layout>;
  cuda::launch(stream, kernel, static_cast<unsigned>((rows.size() + Layout::nodes - 1) / Layout::nodes),
               Layout::nodes * Layout::threads, 0, rows, s);
}

}  // namespace tutti::smoothing
