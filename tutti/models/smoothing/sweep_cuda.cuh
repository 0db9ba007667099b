// Sweeps for GPUs, to be measured (see SmoothOptions::by_groups): some threads a node, which bring its neighbours into
// shared memory once and, in some forms, keep the shapes of their first cells in registers, so that a search along the
// step needs ten operations a cell. The sums are those of PlainStarOf, bit for bit.
#pragma once

#include "tutti/device/cuda/check.hpp"
#include "tutti/models/smoothing/quick_math.cuh"
#include "tutti/models/smoothing/sweep.hpp"

namespace tutti::smoothing {
namespace detail {

/// How threads share nodes. `ahead` cells of each lane stand in registers: their shapes with `keep`, else their
/// corners' places; further ones are read where they lie. `quick`: see QuickMath; and the cells of a lane go side by
/// side, one that does no harm in the place of each that a star lacks, unless there are `gaps`. `flat`: of triangles in
/// a plane of constant z, only x and y.
template <int of_node, int of_lane, bool keep_shapes, int of_block, int least_blocks, bool quick_math,
          bool in_flat = false, bool leave_gaps = false>
struct Form {
  static constexpr int threads = of_node, ahead = of_lane, groups = of_block, blocks = least_blocks;
  static constexpr bool keep = keep_shapes, quick = quick_math, flat = in_flat, gaps = leave_gaps || !quick_math;
  static constexpr int kept = keep ? ahead : 0, lanes = star_lanes / threads, numbers = flat ? 2 : 3;
};

/// Nodes with more neighbours are moved by the portable form.
template <Energy energy, class F>
inline constexpr int most_neighbours = is_triangle(energy) ? 16
                                       : F::threads < 4    ? 32
                                                           : 48;

template <class T>
__device__ inline T from_lane(T x, int other) {
  return __shfl_xor_sync(~0U, x, other);
}

template <Energy energy, bool flat, class R>
__device__ inline void add_other(DerivativesOf<R>& sum, int other) {
  for (R* x : {&sum.e, &sum.gx, &sum.gy, &sum.xx, &sum.xy, &sum.yy, &sum.zz}) *x += from_lane(*x, other);
  if constexpr (!flat)
    for (R* x : {&sum.gz, &sum.xz, &sum.yz}) *x += from_lane(*x, other);
  if constexpr (energy == Energy::l2v) sum.t += from_lane(sum.t, other);
}
template <Energy energy, bool flat, class R>
__device__ inline void add_other(R& sum, int other) {
  sum += from_lane(sum, other);
}

/// As triangle_shape() and add_cell() of a plane with normal (0, 0, sign), without the terms that are 0.
template <class R>
__device__ inline CellShapeOf<R> flat_shape(R ax, R ay, R bx, R by, R sign) {
  using std::fma;
  CellShapeOf<R> c;
  c.v6 = fma(ax, by, -(ay * bx)) * sign;
  c.nx = -(sign * (ay - by));
  c.ny = sign * (ax - bx);
  c.mx = ax + bx, c.my = ay + by;
  const R squares = fma(ax, ax, ay * ay) + fma(bx, bx, by * by);
  c.s = fma(R(3), squares, -fma(c.mx, c.mx, c.my * c.my));
  c.mz = c.nz = 0;
  c.curve = 2;
  return c;
}
template <class R, class Math>
__device__ inline void add_flat_cell(DerivativesOf<R>& sum, const CellShapeOf<R>& c, R weight, const Math& math) {
  using std::fma;
  const R numerator = weight * (R(triangle_factor) * c.s);
  const R both = math.inverse(c.s * c.v6), inverse = both * c.s, is = both * c.v6, e = numerator * inverse;
  const R k = -2 * is, v = -inverse;
  const R sx = k * c.mx, sy = k * c.my, mx = v * c.nx, my = v * c.ny;
  sum.e += e;
  sum.gx = fma(e, sx - mx, sum.gx);
  sum.gy = fma(e, sy - my, sum.gy);
  const R fx = fma(R(-0.5), sx, mx), fy = fma(R(-0.5), sy, my);
  const R ef = 2 * e, es = R(-0.5) * e, hx = ef * fx, hy = ef * fy, tx = es * sx, ty = es * sy;
  sum.xx = fma(hx, fx, fma(tx, sx, sum.xx));
  sum.xy = fma(hx, fy, fma(tx, sy, sum.xy));
  sum.yy = fma(hy, fy, fma(ty, sy, sum.yy));
  sum.d = fma(4 * e, is, sum.d);
}
template <class R>
__device__ inline CellSize<R> moved_flat(const CellShapeOf<R>& c, R x, R y, R squares) {
  using std::fma;
  return {fma(R(2), squares, fma(R(-2), fma(x, c.mx, y * c.my), c.s)), fma(-x, c.nx, fma(-y, c.ny, c.v6))};
}

/// The threads of a warp that share a star: thread t has its lanes t, t + threads, ... (see star_lanes).
template <class R, class F, Energy of>
struct GroupStar {
  using Real = R;
  using Math = std::conditional_t<F::quick, QuickMath<R>, PlainMath>;

  const R* at;  ///< of the neighbours, relative to the node, in shared memory
  const std::uint32_t* corners;
  int count, thread;
  Vec3 normal;
  double scale;
  std::uint32_t words[F::lanes][F::ahead];
  mutable CellShapeOf<R> shapes[F::lanes][F::keep ? F::ahead : 1];
  Math math;

  /// The places of a cell that does no harm: the corners of a cube behind those of the neighbours.
  static constexpr std::uint32_t harmless = most_neighbours<of, F> | (most_neighbours<of, F> + 1) << 10 |
                                            (is_triangle(of) ? 0 : (most_neighbours<of, F> + 2) << 20);

  __device__ void load_words() {
#pragma unroll
    for (int l = 0; l < F::lanes; ++l)
#pragma unroll
      for (int j = 0; j < F::ahead; ++j) {
        const int k = cell(l, j);
        words[l][j] = k < count ? __ldg(corners + k) : harmless;
      }
  }
  /// The thread's lanes in the order that they are added in: t, t + 4, t + 2, t + 6, t + 1, ...
  __device__ int lane(int l) const {
    return thread + (4 * (l % 2) + 2 * (l / 2 % 2) + l / 4);
  }
  __device__ int cell(int l, int j) const {
    return lane(l) + j * star_lanes;
  }

  template <Energy energy>
  __device__ CellShapeOf<R> shape(std::uint32_t word) const {
    constexpr int n = F::numbers;
    const R *a = at + n * (word & 1023U), *b = at + n * (word >> 10 & 1023U), *c = at + n * (word >> 20);
    if constexpr (F::flat) {
      return flat_shape<R>(a[0], a[1], b[0], b[1], static_cast<R>(normal.z));
    } else {
      CellOffsetsOf<R> o{a[0], a[1], a[2], b[0], b[1], b[2], 0, 0, 0};
      if constexpr (!is_triangle(energy)) o.cx = c[0], o.cy = c[1], o.cz = c[2];
      return shape_of<energy>(o, normal);
    }
  }

  template <int first, int n, class Lane>
  __device__ static auto over_own(const Lane& of_lane) {
    if constexpr (n == 1) {
      return of_lane(first);
    } else {
      auto sum = over_own<first, n / 2>(of_lane);
      sum += over_own<first + n / 2, n / 2>(of_lane);
      return sum;
    }
  }
  template <Energy energy, class Lane>
  __device__ static auto over_lanes(const Lane& of_lane) {
    auto sum = over_own<0, F::lanes>(of_lane);
#pragma unroll
    for (int other = F::threads / 2; other > 0; other /= 2) add_other<energy, F::flat>(sum, other);
    return sum;
  }

  template <Energy energy, bool untangle>
  __device__ void add(DerivativesOf<R>& sum, const CellShapeOf<R>& c, R eps2, R weight) const {
    if constexpr (F::flat)
      add_flat_cell(sum, c, weight, math);
    else
      add_cell<energy, untangle>(sum, c, eps2, weight, math);
  }

  template <Energy energy, bool untangle>
  __device__ DerivativesOf<R> derivatives(R eps2) const {
    return over_lanes<energy>([&](int l) {
      DerivativesOf<R> sum;
#pragma unroll
      for (int j = 0; j < F::ahead; ++j) {
        const bool in = cell(l, j) < count;
        if (F::gaps && !in) continue;
        const CellShapeOf<R> c = shape<energy>(words[l][j]);
        if constexpr (F::keep) shapes[l][j] = c;
        add<energy, untangle>(sum, c, eps2, F::gaps || in ? R(1) : R(0));
      }
      for (int k = cell(l, F::ahead); k < count; k += star_lanes)
        add<energy, untangle>(sum, shape<energy>(__ldg(corners + k)), eps2, R(1));
      sum.finish();
      return sum;
    });
  }

  template <Energy energy, bool untangle>
  __device__ R value(Vec3 by, R eps2, bool& valid) const {
    const R x = static_cast<R>(scale * by.x), y = static_cast<R>(scale * by.y), z = static_cast<R>(scale * by.z);
    const R squares = F::flat ? std::fma(x, x, y * y) : length2(x, y, z);
    bool good = true;
    const auto add = [&](R& sum, CellShapeOf<R> shape, bool in) {
      shape.curve = is_triangle(energy) ? 2 : 3;  // no register for it
      CellSize<R> size;
      if constexpr (F::flat)
        size = moved_flat(shape, x, y, squares);
      else
        size = moved_shape<energy>(shape, x, y, z, squares);
      const R e = cell_energy<energy, untangle>(size, eps2, math);
      good = good & ((size.v6 > 0) | !in);
      sum += in ? e : R(0);
    };
    const R e = over_lanes<energy>([&](int l) {
      R sum = 0;
#pragma unroll
      for (int j = 0; j < F::ahead; ++j) {
        const bool in = cell(l, j) < count;
        if (F::gaps && !in) continue;
        if constexpr (F::keep)
          add(sum, shapes[l][j], F::gaps || in);
        else
          add(sum, shape<energy>(words[l][j]), F::gaps || in);
      }
      for (int k = cell(l, F::ahead); k < count; k += star_lanes) add(sum, shape<energy>(__ldg(corners + k)), true);
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
    const unsigned mine = __ballot_sync(~0U, found) >> (threadIdx.x % 32 / F::threads * F::threads);
    return (mine & ((1U << F::threads) - 1)) != 0;
  }
};

/// Out of line: the registers that it would take are the other nodes'.
template <Energy energy, bool untangle, class R>
__device__ __noinline__ Vec3 step_by_one(const SweepRows& s, Lid row) {
  return plain_step<energy, untangle, R>(s, row);
}

/// `s` stays where launches put it: its address is taken by step_by_one(), for which threads would copy it.
template <Energy energy, bool untangle, bool sliding, class R, class F>
__global__ void __launch_bounds__(F::groups* F::threads, F::blocks)
    sweep_kernel(Range rows, const __grid_constant__ SweepRows s) {
  constexpr int most = most_neighbours<energy, F>, n = F::numbers, batch = 16 / F::threads;
  constexpr bool filled = F::quick && !F::gaps;
  __shared__ R near[F::groups][(n * (most + (filled ? 3 : 0))) | 1];
  const int group = static_cast<int>(threadIdx.x) / F::threads, thread = static_cast<int>(threadIdx.x) % F::threads;
  const Lid wanted = rows.begin + static_cast<Lid>(blockIdx.x) * F::groups + group;
  // Groups beyond the end go through the last row with the others of their warp, and write nothing.
  const Lid row = wanted < rows.end ? wanted : rows.end - 1;
  const Size star = s.first_star + row, here = s.first_row + row;
  const Size first = s.stars.offsets[star], first_near = s.stars.neighbour_offsets[star];
  const auto count = static_cast<int>(s.stars.offsets[star + 1] - first),
             neighbours = static_cast<int>(s.stars.neighbour_offsets[star + 1] - first_near);
  bool fine = neighbours <= most;
  GroupStar<R, F, energy> group_star{
      near[group], s.stars.corners + first, fine ? count : 0, thread, s.normal, 1, {}, {}, {}};
  group_star.load_words();
  const auto point = [&](Size i) {
    const auto* numbers = reinterpret_cast<const double2*>(s.from + i);
    const double2 xy = numbers[0];
    return Vec3{xy.x, xy.y, reinterpret_cast<const double*>(numbers + 1)[0]};
  };
  const Vec3 at = point(here);
  const Lid* list = s.stars.neighbours + first_near;
  if (sizeof(R) == 4 && neighbours > 0) group_star.scale = star_scale<R>(point(__ldg(list)) - at);
  bool flat = true;
  // All numbers of a batch, then all its points: neither waits for another.
  for (int begin = 0; begin < neighbours && fine; begin += 16) {
    Lid which[batch];
    Vec3 points[batch];
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int k = begin + thread + j * F::threads;
      which[j] = k < neighbours ? __ldg(list + k) : static_cast<Lid>(here);
    }
#pragma unroll
    for (int j = 0; j < batch; ++j) points[j] = point(which[j]);
#pragma unroll
    for (int j = 0; j < batch; ++j) {
      const int k = begin + thread + j * F::threads;
      if (k >= neighbours) continue;
      const Vec3 d = group_star.scale * (points[j] - at);
      near[group][n * k] = static_cast<R>(d.x);
      near[group][n * k + 1] = static_cast<R>(d.y);
      if constexpr (F::flat)
        flat = flat && d.z == 0;
      else
        near[group][n * k + 2] = static_cast<R>(d.z);
    }
  }
  if constexpr (filled)
    for (int k = thread; k < 3 * n; k += F::threads) near[group][n * most + k] = k % (n + 1) == 0 ? R(1) : R(0);
  __syncwarp();
  const Slide* slide = nullptr;
  if constexpr (sliding) slide = s.stars.slide(star);
  Vec3 by = node_step<energy, untangle>(group_star, at, s.options, slide, s.stars.surface, fine);
  if constexpr (F::quick) {
    const bool odd = group_star.any_of_group(group_star.math.odd || !flat);
    fine = fine && !odd;
  }
  if (!fine) by = step_by_one<energy, untangle, R>(s, row);
  // In place: others of the group may still read the row for themselves.
  __syncwarp();
  if (thread != 0 || wanted >= rows.end) return;
  const Vec3 p = at + by;
  const double size = s.from[here].size;
  auto* to = reinterpret_cast<double2*>(s.to + here);
  to[0] = {p.x, p.y};
  to[1] = {p.z, size};
}

template <Energy energy, bool untangle, class R, class F>
void launch_groups(Stream& stream, Range rows, const SweepRows& s) {
  const cuda::CurrentDevice current(stream.device().index());
  // Where no node slides, the registers of sliding are the others'.
  auto* kernel = sweep_kernel<energy, untangle, false, R, F>;
  if constexpr (!F::flat)
    if (s.stars.slide_of != nullptr) kernel = sweep_kernel<energy, untangle, true, R, F>;
  kernel<<<static_cast<unsigned>((rows.size() + F::groups - 1) / F::groups), F::groups * F::threads, 0,
           static_cast<cudaStream_t>(stream.native())>>>(rows, s);
  TUTTI_CUDA_CHECK(cudaGetLastError());
  stream.device().counts().launches += 1;
}

/// Of tetrahedra. 0: as they were. 1: smaller blocks. 2-: QuickMath.
template <class R>
struct Forms {
  static constexpr bool small = sizeof(R) == 4;
  using F0 = Form<8, 3, true, 32, small ? 3 : 2, false>;
  using F1 = Form<8, 3, true, 8, small ? 12 : 8, false>;
  using F2 = Form<8, 3, true, 8, small ? 12 : 8, true>;
  using F3 = Form<4, 3, true, 16, small ? 9 : 4, true>;
  using F4 = Form<4, 3, false, 16, small ? 12 : 8, true>;
  using F5 = Form<2, 3, false, 32, small ? 10 : 6, true>;
};
/// Of triangles in a plane. 0: as they were. 1: smaller blocks, QuickMath. 2-: those of constant z in x and y alone.
struct TriangleForms {
  using F0 = Form<2, 1, true, 32, 8, false>;
  using F1 = Form<2, 1, true, 32, 8, true, false, true>;
  using F2 = Form<2, 1, true, 32, 8, true, true, false>;
  using F3 = Form<2, 1, false, 32, 12, true, true, true>;
  using F4 = Form<1, 1, false, 64, 10, true, true, true>;
};

}  // namespace detail

constexpr bool goes_by_groups(Energy energy) {
  return energy != Energy::surface_triangle && energy != Energy::graded;
}

/// Moves the rows of a GPU.
template <Energy energy, bool untangle, class R>
void sweep_by_groups(Stream& stream, Range rows, const SweepRows& s) {
  using namespace detail;
  if constexpr (energy == Energy::plane_triangle && !untangle) {
    const bool flat =
        s.stars.slide_of == nullptr && s.normal.x == 0 && s.normal.y == 0 && (s.normal.z == 1 || s.normal.z == -1);
    switch (flat || s.group_form == 0 ? s.group_form : 1) {
      case 1:
        return launch_groups<energy, untangle, R, TriangleForms::F1>(stream, rows, s);
      case 2:
        return launch_groups<energy, untangle, R, TriangleForms::F2>(stream, rows, s);
      case 3:
        return launch_groups<energy, untangle, R, TriangleForms::F3>(stream, rows, s);
      case 4:
        return launch_groups<energy, untangle, R, TriangleForms::F4>(stream, rows, s);
      default:
        return launch_groups<energy, untangle, R, TriangleForms::F0>(stream, rows, s);
    }
  } else if constexpr (is_triangle(energy)) {
    launch_groups<energy, untangle, R, TriangleForms::F0>(stream, rows, s);
  } else if constexpr (energy == Energy::shape && !untangle) {
    switch (s.group_form) {
      case 1:
        return launch_groups<energy, untangle, R, typename Forms<R>::F1>(stream, rows, s);
      case 2:
        return launch_groups<energy, untangle, R, typename Forms<R>::F2>(stream, rows, s);
      case 3:
        return launch_groups<energy, untangle, R, typename Forms<R>::F3>(stream, rows, s);
      case 4:
        return launch_groups<energy, untangle, R, typename Forms<R>::F4>(stream, rows, s);
      case 5:
        return launch_groups<energy, untangle, R, typename Forms<R>::F5>(stream, rows, s);
      default:
        return launch_groups<energy, untangle, R, typename Forms<R>::F0>(stream, rows, s);
    }
  } else {
    launch_groups<energy, untangle, R, typename Forms<R>::F0>(stream, rows, s);
  }
}

}  // namespace tutti::smoothing
