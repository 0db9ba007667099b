// The predictor tuned for GPUs: threads march in z, several cells of a row each. Momentum and heat that pass through
// the faces above a plane stay in registers until the thread is in the plane above, as what the faces between a
// thread's own cells pass does. What memory has, and the rows beside, of which caches have most, come through shared
// memory, a plane or more ahead. Scalars but the temperature follow by themselves, as threads have no registers for
// more (scalars_cuda.cuh). The bits are those of Predict.
#pragma once

#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/passes/flow_passes.hpp"
#include "tutti/models/incompressible/passes/march_cuda.cuh"
#include "tutti/models/incompressible/passes/planes_ahead_cuda.cuh"
#include "tutti/models/incompressible/passes/scalars_cuda.cuh"

namespace tutti::incompressible {

/// ahead: planes whose values are under way, or there and not yet used; brings_rows: the rows beside are among them.
template <int cells, int threads, int resident, int planes, int ahead_, bool brings_rows_>
struct MomentumTuning : RowTuning<cells, threads, resident, planes, 2> {
  static constexpr int ahead = ahead_;
  static constexpr bool brings_rows = brings_rows_;
};
/// What the model takes; bench_flow_kernels compares others. With forces and a temperature 384 threads would need more
/// shared memory than there is.
template <class T, bool warm, bool forced>
struct MomentumMarch : MomentumTuning<16 / static_cast<int>(sizeof(T)), warm && forced ? 320 : 384, 1, 8, 2, true> {};
template <bool forced>
struct MomentumMarch<float, false, forced> : MomentumTuning<4, 512, 1, 8, 2, false> {};

namespace detail {

/// A thread's values of one plane, and those that `west_of` and `east_of` take for its neighbours.
template <class T, int cells, bool warm>
struct FlowPlane {
  T u[cells], v[cells], w[cells], t[warm ? cells : 1];
  T u_edge, v_edge, w_edge, t_edge;

  template <class Pass>
  __device__ void load(const Pass& pass, Lid n, int lane) {
    load_aligned<cells>(pass.a.u[0] + n, u);
    load_aligned<cells>(pass.a.u[1] + n, v);
    load_aligned<cells>(pass.a.u[2] + n, w);
    u_edge = load_edge<cells>(pass.a.u[0] + n, lane);
    v_edge = load_edge<cells>(pass.a.u[1] + n, lane);
    w_edge = load_edge<cells>(pass.a.u[2] + n, lane);
    if constexpr (warm) {
      load_aligned<cells>(pass.a.scalars.of[0].now + n, t);
      t_edge = load_edge<cells>(pass.a.scalars.of[0].now + n, lane);
    }
  }
};

/// Rows beside a thread's own that a plane needs; v to the south of the plane itself is known from the one below.
enum Beside : std::uint8_t { u_south, u_north, v_north, v_south_above, w_south, w_north, t_south, t_north };

/// What a thread reads of each plane, on its way: velocities and temperature of the plane above, whose edges it needs,
/// this one's rates and forces, and the rows beside.
template <class T, class Tuning, bool warm, bool forced>
struct MomentumFields {
  static constexpr int carried = warm ? 4 : 3, rates = carried, beside = 2 * carried, rows = warm ? 8 : 6,
                       forces = beside + (Tuning::brings_rows ? rows : 0), count = forces + (forced ? 3 : 0),
                       corner = carried, edges = carried + 1;
  using Ahead = PlanesAhead<T, Tuning::cells, count, edges, Tuning::threads, Tuning::ahead>;
};
template <class T, class Tuning, bool warm, bool forced>
struct MomentumAhead : MomentumFields<T, Tuning, warm, forced>::Ahead {
  using Fields = MomentumFields<T, Tuning, warm, forced>;
  using Base = Fields::Ahead;
  using Base::Base;
  using Pass = Predict<T, warm, forced>;
  using Row = T[Tuning::cells];

  /// n: of the first value in the plane whose rates are wanted.
  __device__ void bring_plane(const Pass& pass, Lid n) {
    const Lid above = n + pass.g.array.plane();
#pragma unroll
    for (int c = 0; c < 3; ++c) this->bring_shared(c, pass.a.u[c] + above);
    if constexpr (warm) this->bring_shared(3, pass.a.scalars.of[0].now + above);
#pragma unroll
    for (int c = 0; c < 3; ++c) this->bring(Fields::rates + c, pass.a.rate[c] + n);
    if constexpr (warm) this->bring(Fields::rates + 3, pass.a.scalars.of[0].rate + n);
    if constexpr (forced) {
#pragma unroll
      for (int c = 0; c < 3; ++c) this->bring(Fields::forces + c, pass.a.force[c] + n);
    }
    if constexpr (Tuning::brings_rows) {
#pragma unroll
      for (int b = 0; b < Fields::rows; ++b)
        this->bring_beside(Fields::beside + b, beside_at(pass, static_cast<Beside>(b), n));
      this->bring_edge(Fields::corner, corner_at(pass, n));
    }
  }
  __device__ void get_above(FlowPlane<T, Tuning::cells, warm>& to) const {
    this->get(0, to.u);
    this->get(1, to.v);
    this->get(2, to.w);
    to.u_edge = this->get_edge(0);
    to.v_edge = this->get_edge(1);
    to.w_edge = this->get_edge(2);
    if constexpr (warm) {
      this->get(3, to.t);
      to.t_edge = this->get_edge(3);
    }
  }
  /// 3: of the temperature.
  __device__ void get_rate(int c, Row& to) const {
    this->get(Fields::rates + c, to);
  }
  __device__ void get_force(int c, Row& to) const {
    this->get(Fields::forces + c, to);
  }
  __device__ void get_beside(const Pass& pass, Beside row, Lid n, Row& to) const {
    if constexpr (Tuning::brings_rows)
      this->get(Fields::beside + row, to);
    else
      load_beside<Tuning::cells>(beside_at(pass, row, n), to);
  }
  /// West of u in the row to the north for a warp's first thread, east of v in the row to the south for its last one.
  __device__ T get_corner(const Pass& pass, Lid n) const {
    if constexpr (Tuning::brings_rows) return this->get_edge(Fields::corner);
    return threadIdx.x % 32 == 0 || threadIdx.x % 32 == 31 ? __ldg(corner_at(pass, n)) : T(0);
  }

 private:
  __device__ static const T* beside_at(const Pass& pass, Beside row, Lid n) {
    const Lid step = pass.g.array.row();
    switch (row) {
      case u_south:
        return pass.a.u[0] + n - step;
      case u_north:
        return pass.a.u[0] + n + step;
      case v_north:
        return pass.a.u[1] + n + step;
      case v_south_above:
        return pass.a.u[1] + n + pass.g.array.plane() - step;
      case w_south:
        return pass.a.u[2] + n - step;
      case w_north:
        return pass.a.u[2] + n + step;
      case t_south:
        return pass.a.scalars.of[0].now + n - step;
      default:
        return pass.a.scalars.of[0].now + n + step;
    }
  }
  __device__ static const T* corner_at(const Pass& pass, Lid n) {
    const Lid step = pass.g.array.row();
    return threadIdx.x % 32 == 0 ? pass.a.u[0] + n + step - 1 : pass.a.u[1] + n - step + Tuning::cells;
  }
};

/// What a thread's cells pass to those above: through the upper faces of the plane.
template <class T, int cells, bool warm>
struct FacesAbove {
  CrossFace<T> u[cells], v[cells], t[warm ? cells : 1];
  OwnFace<T> w[cells];
};

/// What a thread does with its cells of plane after plane.
template <class T, bool warm, bool forced, class Tuning, bool equal_x>
class MomentumOfGroup {
  static constexpr int cells = Tuning::cells;
  using Plane = FlowPlane<T, cells, warm>;
  using Ahead = MomentumAhead<T, Tuning, warm, forced>;

 public:
  __device__ MomentumOfGroup(const Predict<T, warm, forced>& pass, const MarchGroup<cells>& own, const Ahead& ahead,
                             int lane)
      : pass_(pass),
        own_(own),
        ahead_(ahead),
        lane_(lane),
        row_(pass.g.array.row()),
        x_(pass.g.line[0], pass.g.array, own.i),
        y_(pass.g.line[1], own.j) {}

  /// What passes into plane k from the one below, whose values are `below`; n: of the first value in that one.
  __device__ void start(const Plane& below, const Plane& here, Lid n, Lid k) {
    const T distance = pass_.g.line[2].distance(k - 1), width = pass_.g.line[2].width(k);
    T w_north[cells];
    load_beside<cells>(pass_.a.u[2] + n + row_, w_north);
    const T w_east = east_of(below.w, below.w_edge, lane_);
    const T lower_y = y_.lower, upper_y = y_.upper;
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      const T lower = x_.share(c), next_w = c + 1 < cells ? below.w[(c + 1) % cells] : w_east;
      faces_.u[c] = cross_face(below.u[c], here.u[c], below.w[c], next_w, lower, T(1) - lower, distance);
      faces_.v[c] = cross_face(below.v[c], here.v[c], below.w[c], w_north[c], lower_y, upper_y, distance);
      faces_.w[c] = own_face(below.w[c], here.w[c], width);
      if constexpr (warm) faces_.t[c] = scalar_face(below.t[c], here.t[c], below.w[c], distance);
    }
    load_beside<cells>(pass_.a.u[1] + n + pass_.g.array.plane() - row_, v_south_);
  }

  /// All of plane k, whose first value has number n, and whose rates have arrived.
  __device__ void step(const Plane& here, const Plane& above, Lid n, Lid k) {
    const LengthsAcross<T> z(pass_.g.line[2], k);
    RowsBeside beside;
    ahead_.get_beside(pass_, u_south, n, beside.u_south);
    ahead_.get_beside(pass_, u_north, n, beside.u_north);
    ahead_.get_beside(pass_, v_north, n, beside.v_north);
    ahead_.get_beside(pass_, v_south_above, n, beside.v_south_above);
    ahead_.get_beside(pass_, w_south, n, beside.w_south);
    ahead_.get_beside(pass_, w_north, n, beside.w_north);
    const T corner = ahead_.get_corner(pass_, n);
    const T u_west = west_of(here.u, here.u_edge, lane_);
    component_u(here, above, beside, u_west, corner, z, n);
    component_v(here, above, beside, u_west, corner, z, n);
    component_w(here, above, beside, u_west, z, n);
    if constexpr (warm) temperature(here, above, u_west, z, n);
#pragma unroll
    for (int c = 0; c < cells; ++c) v_south_[c] = beside.v_south_above[c];
  }

 private:
  using Lengths = LengthsAcross<T>;
  using Row = T[cells];
  struct RowsBeside {
    T u_south[cells], u_north[cells], v_north[cells], v_south_above[cells], w_south[cells], w_north[cells];
  };

  __device__ void component_u(const Plane& here, const Plane& above, const RowsBeside& beside, T u_west, T corner,
                              const Lengths& z, Lid n) {
    T momentum[cells], lift[cells] = {};
    const T u_east = east_of(here.u, here.u_edge, lane_), v_east = east_of(here.v, here.v_edge, lane_);
    const T w_east = east_of(here.w, here.w_edge, lane_), v_south_east = east_of(v_south_, corner, lane_);
    OwnFace<T> before = own_face(u_west, here.u[0], x_.width(0));
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      const int next = (c + 1) % cells;
      const bool last = c + 1 == cells;
      const T lower = x_.share(c), upper = T(1) - lower, q = here.u[c];
      const OwnFace<T> behind = own_face(q, last ? u_east : here.u[next], x_.width(c + 1));
      const CrossFace<T> south = cross_face(beside.u_south[c], q, v_south_[c], last ? v_south_east : v_south_[next],
                                            lower, upper, y_.distance_below);
      const CrossFace<T> north =
          cross_face(q, beside.u_north[c], here.v[c], last ? v_east : here.v[next], lower, upper, y_.distance);
      const CrossFace<T> top =
          cross_face(q, above.u[c], here.w[c], last ? w_east : here.w[next], lower, upper, z.distance);
      momentum[c] = momentum_of(pass_.constants.viscosity, before, behind, x_.distance(c + 1), south, north, y_.width,
                                faces_.u[c], top, z.width);
      before = behind;
      faces_.u[c] = top;
    }
    if constexpr (warm) {
      const T t_east = east_of(here.t, here.t_edge, lane_);
#pragma unroll
      for (int c = 0; c < cells; ++c)
        lift[c] = pass_.force_of(0).lift(here.t[c], c + 1 < cells ? here.t[(c + 1) % cells] : t_east);
    }
    finish<0>(here.u, momentum, lift, n);
  }

  __device__ void component_v(const Plane& here, const Plane& above, const RowsBeside& beside, T u_west, T corner,
                              const Lengths& z, Lid n) {
    T momentum[cells], lift[cells] = {};
    const T v_west = west_of(here.v, here.v_edge, lane_), v_east = east_of(here.v, here.v_edge, lane_);
    const T u_north_west = west_of(beside.u_north, corner, lane_);
    CrossFace<T> west = cross_face(v_west, here.v[0], u_west, u_north_west, y_.lower, y_.upper, x_.distance(0));
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      const T q = here.v[c];
      const CrossFace<T> east = cross_face(q, c + 1 < cells ? here.v[(c + 1) % cells] : v_east, here.u[c],
                                           beside.u_north[c], y_.lower, y_.upper, x_.distance(c + 1));
      const CrossFace<T> top = cross_face(q, above.v[c], here.w[c], beside.w_north[c], y_.lower, y_.upper, z.distance);
      momentum[c] = momentum_of(pass_.constants.viscosity, own_face(v_south_[c], q, y_.width),
                                own_face(q, beside.v_north[c], y_.next_width), y_.distance, faces_.v[c], top, z.width,
                                west, east, x_.width(c));
      west = east;
      faces_.v[c] = top;
    }
    if constexpr (warm) {
      T north[cells];
      ahead_.get_beside(pass_, t_north, n, north);
#pragma unroll
      for (int c = 0; c < cells; ++c) lift[c] = pass_.force_of(1).lift(here.t[c], north[c]);
    }
    finish<1>(here.v, momentum, lift, n);
  }

  __device__ void component_w(const Plane& here, const Plane& above, const RowsBeside& beside, T u_west,
                              const Lengths& z, Lid n) {
    T momentum[cells], lift[cells] = {};
    const T w_west = west_of(here.w, here.w_edge, lane_), w_east = east_of(here.w, here.w_edge, lane_);
    const T u_west_above = west_of(above.u, above.u_edge, lane_);
    CrossFace<T> west = cross_face(w_west, here.w[0], u_west, u_west_above, z.lower, z.upper, x_.distance(0));
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      const T q = here.w[c];
      const CrossFace<T> east = cross_face(q, c + 1 < cells ? here.w[(c + 1) % cells] : w_east, here.u[c], above.u[c],
                                           z.lower, z.upper, x_.distance(c + 1));
      const CrossFace<T> south =
          cross_face(beside.w_south[c], q, v_south_[c], beside.v_south_above[c], z.lower, z.upper, y_.distance_below);
      const CrossFace<T> north = cross_face(q, beside.w_north[c], here.v[c], above.v[c], z.lower, z.upper, y_.distance);
      const OwnFace<T> top = own_face(q, above.w[c], z.next_width);
      momentum[c] = momentum_of(pass_.constants.viscosity, faces_.w[c], top, z.distance, west, east, x_.width(c), south,
                                north, y_.width);
      west = east;
      faces_.w[c] = top;
      if constexpr (warm) lift[c] = pass_.force_of(2).lift(here.t[c], above.t[c]);
    }
    finish<2>(here.w, momentum, lift, n);
  }

  /// Forces are added, and the stage is made.
  template <int C>
  __device__ void finish(const Row& before, const Row& momentum, const Row& lift, Lid n) const {
    T rates[cells], next[cells], force[cells];
    ahead_.get_rate(C, rates);
    if constexpr (forced) ahead_.get_force(C, force);
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      T rate = momentum[c] + (forced ? force[c] : pass_.constants.force[C]);
      if (warm) rate += lift[c];
      next[c] = pass_.weights.step(before[c], rate, rates[c]);
      rates[c] = rate;
      if (C != 0) continue;
      if (own_.i + c == pass_.ends.upper.cell) next[c] = pass_.ends.upper.through;
      if (own_.i + c == pass_.ends.lower.cell && (own_.inside >> c & 1) != 0)
        pass_.a.intermediate.c[C][n + c - 1] = pass_.ends.lower.through;
    }
    own_.store(pass_.a.intermediate.c[C] + n, next);
    own_.store(pass_.a.rate.c[C] + n, rates);
  }

  __device__ void temperature(const Plane& here, const Plane& above, T u_west, const Lengths& z, Lid n) {
    const ScalarView<T>& s = pass_.a.scalars.of[0];
    T south[cells], north[cells], rates[cells], next[cells];
    ahead_.get_beside(pass_, t_south, n, south);
    ahead_.get_beside(pass_, t_north, n, north);
    ahead_.get_rate(3, rates);
    const T t_west = west_of(here.t, here.t_edge, lane_), t_east = east_of(here.t, here.t_edge, lane_);
    CrossFace<T> west = scalar_face(t_west, here.t[0], u_west, x_.distance(0));
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      const T t = here.t[c];
      const CrossFace<T> east =
          scalar_face(t, c + 1 < cells ? here.t[(c + 1) % cells] : t_east, here.u[c], x_.distance(c + 1));
      const CrossFace<T> top = scalar_face(t, above.t[c], here.w[c], z.distance);
      ScalarRate<T> sum;
      sum.add(west, east, x_.width(c));
      sum.add(scalar_face(south[c], t, v_south_[c], y_.distance_below),
              scalar_face(t, north[c], here.v[c], y_.distance), y_.width);
      sum.add(faces_.t[c], top, z.width);
      west = east;
      faces_.t[c] = top;
      const T rate = sum.value(s.diffusivity) + s.source_at(n + c);
      next[c] = pass_.weights.step(t, rate, rates[c]);
      rates[c] = rate;
    }
    own_.store(s.next + n, next);
    own_.store(s.rate + n, rates);
  }

  const Predict<T, warm, forced>& pass_;
  const MarchGroup<cells>& own_;
  const Ahead& ahead_;
  int lane_;
  Lid row_;
  LengthsAlongX<T, cells, equal_x> x_;
  Lengths y_;
  FacesAbove<T, cells, warm> faces_;
  T v_south_[cells];  ///< of the plane that comes next
};

/// Over `planes` planes a block; grid: blocks of a plane, and of planes. Whole warps, for neighbours are shuffled.
template <class Tuning, bool equal_x, class T, bool warm, bool forced>
__global__ void __launch_bounds__(Tuning::threads, Tuning::resident)
    march_momentum(CellBox box, const __grid_constant__ Predict<T, warm, forced> pass, RowGroups groups, Lid planes) {
  cuda::wait_for_earlier_work();
  constexpr int cells = Tuning::cells;
  const BoxArray& array = pass.g.array;
  const MarchThread<Tuning> me(box, array, groups, planes);
  Lid n = me.first;
  extern __shared__ __align__(16) char memory[];
  MomentumAhead<T, Tuning, warm, forced> ahead(memory);
  const auto bring = [&](Lid k, Lid first_value) {
    if (k < me.range.end) ahead.bring_plane(pass, first_value);
    ahead.end_plane();
  };
  for (int a = 0; a < Tuning::ahead; ++a) bring(me.range.first + a, n + a * me.plane);
  MomentumOfGroup<T, warm, forced, Tuning, equal_x> group(pass, me.own, ahead, me.lane);
  FlowPlane<T, cells, warm> here, above;
  {
    FlowPlane<T, cells, warm> below;
    below.load(pass, n - me.plane, me.lane);
    here.load(pass, n, me.lane);
    group.start(below, here, n - me.plane, me.range.first);
  }
  for (Lid k = me.range.first; k < me.range.end; ++k, n += me.plane) {
    ahead.wait();
    ahead.get_above(above);
    group.step(here, above, n, k);
    bring(k + Tuning::ahead, n + Tuning::ahead * me.plane);
    here = above;
  }
}

}  // namespace detail

/// See march_rows.
template <class T, bool warm, bool forced>
bool march_on_gpu(Stream& stream, const CellBox& box, const Predict<T, warm, forced>& pass, bool equal_x,
                  MarchWhere where = MarchWhere::faster) {
  using Tuning = MomentumMarch<T, warm, forced>;
  const PredictArrays<T>& a = pass.a;
  const ScalarView<T>& first = a.scalars.of[0];
  const bool marched = march_rows<Tuning, T>(
      stream, box, pass, equal_x, where,
      {a.u[0], a.u[1], a.u[2], a.intermediate[0], a.intermediate[1], a.intermediate[2], a.rate[0], a.rate[1], a.rate[2],
       a.force[0], a.force[1], a.force[2], first.now, first.next, first.rate},
      []<bool equal>(std::bool_constant<equal>) { return &detail::march_momentum<Tuning, equal, T, warm, forced>; },
      detail::MomentumAhead<T, Tuning, warm, forced>::bytes);
  if (!marched) return false;
  StepScalars<T> others{pass.g, a.u, {}, pass.weights};
  for (int s = warm ? 1 : 0; s < a.scalars.count; ++s) others.scalars.of[others.scalars.count++] = a.scalars.of[s];
  if (!march_on_gpu(stream, box, others, equal_x, where))
    for_each_cell<T>(stream, box, {0, static_cast<Lid>(box.cells())}, others);
  return true;
}

}  // namespace tutti::incompressible
