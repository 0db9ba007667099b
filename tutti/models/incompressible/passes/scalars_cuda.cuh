// Scalars without momentum, tuned for GPUs: threads march in z, several cells of a row each, and take two scalars
// together, which read the same velocities. What comes from memory comes through shared memory, as that of momentum
// does (momentum_cuda.cuh). The bits are those of StepScalars.
#pragma once

#include "tutti/models/incompressible/passes/flow_passes.hpp"
#include "tutti/models/incompressible/passes/march_cuda.cuh"
#include "tutti/models/incompressible/passes/planes_ahead_cuda.cuh"

namespace tutti::incompressible {

/// ahead: planes whose values are under way, or there and not yet used.
template <int cells, int threads, int resident, int planes, int ahead_>
struct ScalarTuning : RowTuning<cells, threads, resident, planes, 2> {
  static constexpr int ahead = ahead_;
};
/// What the model takes.
template <class T, int count>
using ScalarMarch = ScalarTuning<16 / static_cast<int>(sizeof(T)), 384, 1, 8, 2>;

namespace detail {

/// What a thread reads of each plane, on its way: velocities, the rows beside, and values above. Fields before v are
/// those with edges, of the same numbers.
template <class T, class Tuning, int count>
struct ScalarFields {
  static constexpr int u = 0, above = 1, v = above + count, w = v + 1, v_south = w + 1, south = v_south + 1,
                       north = south + count, rate = north + count, fields = rate + count, edges = v;
  using Ahead = PlanesAhead<T, Tuning::cells, fields, edges, Tuning::threads, Tuning::ahead>;

  /// n: of the first value in the plane whose rates are wanted.
  __device__ static void bring_plane(Ahead& to, const StepScalars<T>& pass, Lid n) {
    const Lid row = pass.g.array.row(), next_plane = n + pass.g.array.plane();
    to.bring_shared(u, pass.u[0] + n);
    to.bring(v, pass.u[1] + n);
    to.bring(w, pass.u[2] + n);
    to.bring_beside(v_south, pass.u[1] + n - row);
#pragma unroll
    for (int s = 0; s < count; ++s) {
      const ScalarView<T>& scalar = pass.scalars.of[s];
      to.bring_shared(above + s, scalar.now + next_plane);
      to.bring_beside(south + s, scalar.now + n - row);
      to.bring_beside(north + s, scalar.now + n + row);
      to.bring(rate + s, scalar.rate + n);
    }
  }
};

/// A scalar's values in a thread's cells of a plane, and what passes into them from below.
template <class T, int cells>
struct ScalarOfGroup {
  T here[cells], edge;
  CrossFace<T> below[cells];

  __device__ void start(const T* now, const T* w, Lid n, Lid plane, T distance, int lane) {
    T before[cells], through[cells];
    load_aligned<cells>(now + n - plane, before);
    load_aligned<cells>(w + n - plane, through);
    load_aligned<cells>(now + n, here);
    edge = load_edge<cells>(now + n, lane);
#pragma unroll
    for (int c = 0; c < cells; ++c) below[c] = scalar_face(before[c], here[c], through[c], distance);
  }
};

template <class Tuning, bool equal_x, class T, int count>
__global__ void __launch_bounds__(Tuning::threads, Tuning::resident)
    march_scalars(CellBox box, const __grid_constant__ StepScalars<T> pass, RowGroups groups, Lid planes) {
  cuda::wait_for_earlier_work();
  constexpr int cells = Tuning::cells;
  using Fields = ScalarFields<T, Tuning, count>;
  const BoxArray& array = pass.g.array;
  const MarchThread<Tuning> me(box, array, groups, planes);
  Lid n = me.first;
  extern __shared__ __align__(16) char memory[];
  typename Fields::Ahead ahead(memory);
  const auto bring = [&](Lid k, Lid first_value) {
    if (k < me.range.end) Fields::bring_plane(ahead, pass, first_value);
    ahead.end_plane();
  };
  for (int a = 0; a < Tuning::ahead; ++a) bring(me.range.first + a, n + a * me.plane);
  const LengthsAlongX<T, cells, equal_x> x(pass.g.line[0], array, me.own.i);
  const LengthsAcross<T> y(pass.g.line[1], me.own.j);
  ScalarOfGroup<T, cells> scalars[count];
#pragma unroll
  for (int s = 0; s < count; ++s)
    scalars[s].start(pass.scalars.of[s].now, pass.u[2], n, me.plane, pass.g.line[2].distance(me.range.first - 1),
                     me.lane);
  for (Lid k = me.range.first; k < me.range.end; ++k, n += me.plane) {
    const LengthsAcross<T> z(pass.g.line[2], k);
    ahead.wait();
    T u[cells], v[cells], w[cells], v_south[cells];
    ahead.get(Fields::u, u);
    ahead.get(Fields::v, v);
    ahead.get(Fields::w, w);
    ahead.get(Fields::v_south, v_south);
    const T u_west = west_of(u, ahead.get_edge(0), me.lane);
#pragma unroll
    for (int s = 0; s < count; ++s) {
      ScalarOfGroup<T, cells>& scalar = scalars[s];
      T above[cells], south[cells], north[cells], rates[cells], next[cells];
      ahead.get(Fields::above + s, above);
      ahead.get(Fields::south + s, south);
      ahead.get(Fields::north + s, north);
      ahead.get(Fields::rate + s, rates);
      const T west_value = west_of(scalar.here, scalar.edge, me.lane),
              east_value = east_of(scalar.here, scalar.edge, me.lane);
      CrossFace<T> west = scalar_face(west_value, scalar.here[0], u_west, x.distance(0));
#pragma unroll
      for (int c = 0; c < cells; ++c) {
        const T q = scalar.here[c];
        const CrossFace<T> east =
            scalar_face(q, c + 1 < cells ? scalar.here[(c + 1) % cells] : east_value, u[c], x.distance(c + 1));
        const CrossFace<T> top = scalar_face(q, above[c], w[c], z.distance);
        ScalarRate<T> sum;
        sum.add(west, east, x.width(c));
        sum.add(scalar_face(south[c], q, v_south[c], y.distance_below), scalar_face(q, north[c], v[c], y.distance),
                y.width);
        sum.add(scalar.below[c], top, z.width);
        west = east;
        scalar.below[c] = top;
        const T rate = sum.value(pass.scalars.of[s].diffusivity) + pass.scalars.of[s].source_at(n + c);
        next[c] = pass.weights.step(q, rate, rates[c]);
        rates[c] = rate;
      }
      me.own.store(pass.scalars.of[s].next + n, next);
      me.own.store(pass.scalars.of[s].rate + n, rates);
      scalar.edge = ahead.get_edge(Fields::above + s);
#pragma unroll
      for (int c = 0; c < cells; ++c) scalar.here[c] = above[c];
    }
    bring(k + Tuning::ahead, n + Tuning::ahead * me.plane);
  }
}

/// See march_rows; of the first `count` scalars.
template <int count, class T>
bool march_first_scalars(Stream& stream, const CellBox& box, const StepScalars<T>& pass, bool equal_x,
                         MarchWhere where) {
  using Tuning = ScalarMarch<T, count>;
  const ScalarView<T>&first = pass.scalars.of[0], &last = pass.scalars.of[count - 1];
  return march_rows<Tuning, T>(
      stream, box, pass, equal_x, where,
      {pass.u[0], pass.u[1], pass.u[2], first.now, first.next, first.rate, last.now, last.next, last.rate},
      []<bool equal>(std::bool_constant<equal>) { return &march_scalars<Tuning, equal, T, count>; },
      ScalarFields<T, Tuning, count>::Ahead::bytes);
}

}  // namespace detail

/// See march_rows; all scalars march, or none.
template <class T>
bool march_on_gpu(Stream& stream, const CellBox& box, const StepScalars<T>& pass, bool equal_x,
                  MarchWhere where = MarchWhere::faster) {
  for (int begin = 0; begin < pass.scalars.count; begin += 2) {
    StepScalars<T> some = pass;
    some.scalars.count = pass.scalars.count - begin < 2 ? 1 : 2;
    for (int s = 0; s < some.scalars.count; ++s) some.scalars.of[s] = pass.scalars.of[begin + s];
    const bool marched = some.scalars.count == 2 ? detail::march_first_scalars<2>(stream, box, some, equal_x, where)
                                                 : detail::march_first_scalars<1>(stream, box, some, equal_x, where);
    if (!marched && begin == 0) return false;
    require(marched, "the first two scalars of a flow march, but not the others");
  }
  return true;
}

}  // namespace tutti::incompressible
