// Divergence and correction tuned for GPUs: threads march in z, several cells of a row each. What two planes need of w
// or p is read once, and the next plane is under way. The bits are those of DivideDivergence and Correct.
#pragma once

#include "tutti/models/incompressible/passes/flow_passes.hpp"
#include "tutti/models/incompressible/passes/march_cuda.cuh"

namespace tutti::incompressible {

/// What the model takes; bench_flow_kernels compares others. Of divergence and correction, which has more arrays.
template <class T>
using DivergenceMarch = RowTuning<16 / static_cast<int>(sizeof(T)), 256, 4, 4, 1>;
template <class T>
using CorrectionMarch = RowTuning<16 / static_cast<int>(sizeof(T)), 256, 4, 1, 1>;
/// Doubles need not march: a thread a cell reads them as fast as the memory gives them.
template <class T>
inline constexpr bool marches_in_projection = sizeof(T) < sizeof(double);

namespace detail {

/// What a cell's divergence needs of its plane.
template <class T, int cells>
struct DivergencePlane {
  T u[cells], v[cells], w[cells], v_south[cells], u_edge;
  __device__ void load(const DivideDivergence<T>& pass, Lid n, int lane) {
    load_aligned<cells>(pass.u[0] + n, u);
    load_aligned<cells>(pass.u[1] + n, v);
    load_aligned<cells>(pass.u[2] + n, w);
    load_beside<cells>(pass.u[1] + n - pass.g.array.row(), v_south);
    u_edge = load_edge<cells>(pass.u[0] + n, lane);
  }
};

template <class Tuning, bool equal_x, class T>
__global__ void __launch_bounds__(Tuning::threads, Tuning::resident)
    march_divergence(CellBox box, const __grid_constant__ DivideDivergence<T> pass, RowGroups groups, Lid planes) {
  cuda::wait_for_earlier_work();
  constexpr int cells = Tuning::cells;
  const BoxArray& array = pass.g.array;
  const MarchThread<Tuning> me(box, array, groups, planes);
  Lid n = me.first;
  const LengthsAlongX<T, cells, equal_x> x(pass.g.line[0], array, me.own.i);
  const T y = pass.g.line[1].width(me.own.j);
  DivergencePlane<T, cells> here, next;
  T below[cells];
  load_aligned<cells>(pass.u[2] + n - me.plane, below);
  next.load(pass, n, me.lane);
  for (Lid k = me.range.first; k < me.range.end; ++k, n += me.plane) {
    here = next;
    if (k + 1 < me.range.end) next.load(pass, n + me.plane, me.lane);
    const T z = pass.g.line[2].width(k), west = west_of(here.u, here.u_edge, me.lane);
    T values[cells];
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      values[c] = pass.value(here.u[c] - (c > 0 ? here.u[(c + cells - 1) % cells] : west), here.v[c] - here.v_south[c],
                             here.w[c] - below[c], x.width(c), y, z, pass.inverse_dt);
      below[c] = here.w[c];
    }
    me.own.store(pass.rhs + n, values);
  }
}

/// What a cell's correction needs of its plane; its p is that above the plane before.
template <class T, int cells>
struct CorrectionPlane {
  T u[cells], v[cells], w[cells], p_above[cells], p_north[cells], p_edge;
  __device__ void load(const Correct<T>& pass, Lid n, int lane) {
    load_aligned<cells>(pass.p + n + pass.g.array.plane(), p_above);
    load_beside<cells>(pass.p + n + pass.g.array.row(), p_north);
    p_edge = load_edge<cells>(pass.p + n, lane);
    stream_aligned<cells>(pass.intermediate[0] + n, u);
    stream_aligned<cells>(pass.intermediate[1] + n, v);
    stream_aligned<cells>(pass.intermediate[2] + n, w);
  }
};

template <class Tuning, bool equal_x, class T>
__global__ void __launch_bounds__(Tuning::threads, Tuning::resident)
    march_correction(CellBox box, const __grid_constant__ Correct<T> pass, RowGroups groups, Lid planes) {
  cuda::wait_for_earlier_work();
  constexpr int cells = Tuning::cells;
  const BoxArray& array = pass.g.array;
  const MarchThread<Tuning> me(box, array, groups, planes);
  Lid n = me.first;
  const LengthsAlongX<T, cells, equal_x> x(pass.g.line[0], array, me.own.i);
  const T y = pass.g.line[1].distance(me.own.j);
  CorrectionPlane<T, cells> here, next;
  T p[cells];
  load_aligned<cells>(pass.p + n, p);
  next.load(pass, n, me.lane);
  for (Lid k = me.range.first; k < me.range.end; ++k, n += me.plane) {
    here = next;
    if (k + 1 < me.range.end) next.load(pass, n + me.plane, me.lane);
    const T z = pass.g.line[2].distance(k), east = east_of(p, here.p_edge, me.lane);
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      const T p_east = c + 1 < cells ? p[(c + 1) % cells] : east;
      here.u[c] = pass.template gained<0>(pass.value(here.u[c], pass.dt, p[c], p_east, x.distance(c + 1)));
      here.v[c] = pass.template gained<1>(pass.value(here.v[c], pass.dt, p[c], here.p_north[c], y));
      here.w[c] = pass.template gained<2>(pass.value(here.w[c], pass.dt, p[c], here.p_above[c], z));
    }
    me.own.store(pass.u.c[0] + n, here.u);
    me.own.store(pass.u.c[1] + n, here.v);
    me.own.store(pass.u.c[2] + n, here.w);
#pragma unroll
    for (int c = 0; c < cells; ++c) {
      if ((me.own.inside >> c & 1) == 0) continue;
      if (me.own.i + c == pass.ends.lower.cell) pass.fill_lower(n + c, here.v[c], here.w[c]);
      if (me.own.i + c == pass.ends.upper.cell) pass.fill_upper(n + c, here.v[c], here.w[c]);
    }
#pragma unroll
    for (int c = 0; c < cells; ++c) p[c] = here.p_above[c];
  }
}

}  // namespace detail

/// See march_rows.
template <class T>
bool march_on_gpu(Stream& stream, const CellBox& box, const DivideDivergence<T>& pass, bool equal_x,
                  MarchWhere where = MarchWhere::faster) {
  if (where == MarchWhere::faster && !marches_in_projection<T>) return false;
  return march_rows<DivergenceMarch<T>, T>(
      stream, box, pass, equal_x, where, {pass.u[0], pass.u[1], pass.u[2], pass.rhs},
      []<bool equal>(std::bool_constant<equal>) { return &detail::march_divergence<DivergenceMarch<T>, equal, T>; });
}
template <class T>
bool march_on_gpu(Stream& stream, const CellBox& box, const Correct<T>& pass, bool equal_x,
                  MarchWhere where = MarchWhere::faster) {
  if (where == MarchWhere::faster && !marches_in_projection<T>) return false;
  return march_rows<CorrectionMarch<T>, T>(
      stream, box, pass, equal_x, where,
      {pass.intermediate[0], pass.intermediate[1], pass.intermediate[2], pass.u[0], pass.u[1], pass.u[2], pass.p},
      []<bool equal>(std::bool_constant<equal>) { return &detail::march_correction<CorrectionMarch<T>, equal, T>; });
}

}  // namespace tutti::incompressible
