// Straight elements on a CPU: one element or face per lane. The bits are those of FaceFluxes, AdvanceElements and the
// viscous ones, as each lane adds in their order. These leave vectors half empty where rows are short; lanes do not.
#include "tutti/models/compressible/kernels/straight.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "tutti/models/compressible/kernels/lane_tile.hpp"
#include "tutti/models/compressible/kernels/viscous.hpp"

namespace tutti::compressible {

#if TUTTI_LANES > 1
namespace {

constexpr int width = lane_count;

/// Values [v][i] of all lanes.
template <int values>
struct Tile {
  alignas(64) double value[values * width];
  double* at(int i) { return value + width * i; }
  const double* at(int i) const { return value + width * i; }
};

/// A row of each lane.
struct Rows {
  const double* row[width];
  template <class F>
  explicit Rows(const F& of_lane) {
    for (int i = 0; i < width; ++i) row[i] = of_lane(i);
  }
};
struct RowsToWrite {
  double* row[width];
  template <class F>
  explicit RowsToWrite(const F& of_lane) {
    for (int i = 0; i < width; ++i) row[i] = of_lane(i);
  }
};
template <class F, std::size_t... lane>
Lanes each_lane(const F& of_lane, std::index_sequence<lane...>) {
  return Lanes(LaneVector{of_lane(static_cast<int>(lane))...});
}
template <class F>
Lanes each_lane(const F& of_lane) {
  return each_lane(of_lane, std::make_index_sequence<width>());
}

/// Values `stride` apart.
template <int V>
void load_values(const double* from, int stride, Lanes* to) {
  for (int v = 0; v < V; ++v) to[v] = load_lanes(from + width * v * stride);
}
template <int V>
void store_values(const Lanes* from, double* to, int stride) {
  for (int v = 0; v < V; ++v) store_lanes(to + width * v * stride, from[v]);
}

/// Points of padding repeat the first.
template <int n>
void pad_points(const FaceRecord& face, Tile<variables * n>& values) {
  for (int v = 0; v < variables; ++v)
    for (int q = face.actual; q < n; ++q) store_lanes(values.at(v * n + q), load_lanes(values.at(v * n)));
}

/// As many faces as there are lanes, whose sides have the tables of the first.
struct FaceGroup {
  const FaceRecord& first;
  const StraightFace* faces;
  const double* scales;  ///< of viscous flow: of the left sides; of the right ones tile_rows further

  Lanes scale(int side) const { return load_lanes(scales + tile_rows * side); }
  Rows of_side(int side, const double* values, Size each) const {
    return Rows([&](int i) { return values + each * (side == 0 ? faces[i].left : faces[i].right); });
  }
  RowsToWrite fluxes(double* flux, Size each) const {
    return RowsToWrite([&](int i) { return flux + each * faces[i].face; });
  }
  VecOf<Lanes> normals(const PartView& view) const {
    Tile<3> normal;
    load_tile(Rows([&](int i) { return view.normals + Size{3} * faces[i].face; }).row, 3, normal.value);
    return {load_lanes(normal.at(0)), load_lanes(normal.at(1)), load_lanes(normal.at(2))};
  }
};

void fetch(const double* from, int count) {
  for (int i = 0; i < count; i += 8) __builtin_prefetch(from + i);
}

/// Has what is read of the next group's faces and sides come into the cache.
void fetch_faces(const PartView& view, const StraightFace* faces, const double* u, int values) {
  for (int i = 0; i < width; ++i) {
    const StraightFace& face = faces[i];
    fetch(view.normals + Size{3} * face.face, 3);
    fetch(u + Size{values} * face.left, values);
    fetch(u + Size{values} * face.right, values);
    if (!view.straight->viscous) continue;
    fetch(view.metric + Size{9} * face.left, 9);
    fetch(view.metric + Size{9} * face.right, 9);
  }
}

/// Calls f(group) for those of the tiles. Behind a class of faces, tiles repeat the last. values: of an element.
template <class F>
void for_each_group(Range tiles, const PartView& view, const double* u, int values, const F& f) {
  const StraightFace *all = view.straight->faces, *end = all + Size{tile_rows} * tiles.end;
  for (Lid tile = tiles.begin; tile < tiles.end; ++tile)
    for (int i = 0; i < tile_rows; i += width) {
      const StraightFace* faces = all + Size{tile_rows} * tile + i;
      if (i > 0 && faces[0].face == faces[-1].face) break;
      if (faces + width < end) fetch_faces(view, faces + width, u, values);
      const double* scales =
          view.straight->viscous ? view.straight->face_scales + Size{2 * tile_rows} * tile + i : nullptr;
      f(FaceGroup{view.faces[faces[0].face], faces, scales});
    }
}

template <int P>
struct FaceTiles : FaceSizes<P> {
  using Sizes = FaceSizes<P>;
  Tile<Sizes::values> u[2];
  Tile<Sizes::face_values> at[2], flux;
};

template <int P>
void trace_group(const PartView& view, const FaceGroup& group, const double* u, FaceTiles<P>& s) {
  for (int side = 0; side < 2; ++side) {
    load_tile(group.of_side(side, u, s.values).row, s.values, s.u[side].value);
    set_tile_product<variables>(view.tables + group.first.trace[side], s.face_points, s.bases, s.u[side].value, s.bases,
                                group.first.actual, s.at[side].value, s.face_points);
  }
}

template <int P>
void compute_group(const PartView& view, const FaceGroup& group, const double* u, double* flux, FaceTiles<P>& s) {
  constexpr int n = FaceTiles<P>::face_points;
  trace_group(view, group, u, s);
  const VecOf<Lanes> normal = group.normals(view);
  for (int q = 0; q < group.first.actual; ++q) {
    Lanes l[variables], r[variables], f[variables];
    load_values<variables>(s.at[0].at(q), n, l);
    load_values<variables>(s.at[1].at(q), n, r);
    numerical_flux(view.flux, view.gas, l, r, normal, f);
    store_values<variables>(f, s.flux.at(q), n);
  }
  pad_points<n>(group.first, s.flux);
  store_tile(s.flux.value, s.face_values, group.fluxes(flux, s.face_values).row);
}

template <int P>
struct ViscousFaceTiles : FaceTiles<P> {
  using Sizes = FaceSizes<P>;
  Tile<Sizes::face_values> jump, spread[2];
  Tile<3 * Sizes::face_values> slope[2];  ///< [v][d][q]
  Tile<9> metric[2];
};

/// As ViscousFaceFluxes::gradient_at().
template <int P>
void gradient_at(const ViscousFaceTiles<P>& s, int side, int q, Lanes factor, const VecOf<Lanes>& normal,
                 Lanes (*g)[variables]) {
  constexpr int n = ViscousFaceTiles<P>::face_points;
  const Tile<9>& metric = s.metric[side];
  const Lanes along[3] = {factor * normal.x, factor * normal.y, factor * normal.z};
  for (int v = 0; v < variables; ++v) {
    const Lanes r = load_lanes(s.slope[side].at((3 * v) * n + q)),
                t = load_lanes(s.slope[side].at((3 * v + 1) * n + q)),
                w = load_lanes(s.slope[side].at((3 * v + 2) * n + q)), jump = load_lanes(s.spread[side].at(v * n + q));
    for (int d = 0; d < 3; ++d)
      g[d][v] = fused(
          along[d], jump,
          fused(load_lanes(metric.at(6 + d)), w, fused(load_lanes(metric.at(3 + d)), t, load_lanes(metric.at(d)) * r)));
  }
}

template <int P>
void compute_viscous_group(const PartView& view, const FaceGroup& group, double eta, const double* u,
                           const FaceArrays& to, ViscousFaceTiles<P>& s) {
  constexpr int n = ViscousFaceTiles<P>::face_points, bases = ViscousFaceTiles<P>::bases;
  const FaceRecord& face = group.first;
  trace_group<P>(view, group, u, s);
  for (int v = 0; v < variables; ++v)
    for (int q = 0; q < face.actual; ++q) {
      const int i = v * n + q;
      store_lanes(s.jump.at(i), Lanes(0.5) * (load_lanes(s.at[1].at(i)) - load_lanes(s.at[0].at(i))));
    }
  pad_points<n>(face, s.jump);
  store_tile(s.jump.value, s.face_values, group.fluxes(to.jump, s.face_values).row);
  Lanes factor[2];
  for (int side = 0; side < 2; ++side) {
    const double* slopes = view.tables + face.slope[side];
    for (int d = 0; d < 3; ++d)
      set_tile_product<variables>(slopes + d * n, 3 * n, bases, s.u[side].value, bases, face.actual,
                                  s.slope[side].at(d * n), 3 * n);
    set_tile_product<variables>(slopes + 3 * n * bases, n, view.straight->summed_points, s.jump.value, n, face.actual,
                                s.spread[side].value, n);
    load_tile(group.of_side(side, view.metric, 9).row, 9, s.metric[side].value);
    factor[side] = Lanes(eta) * group.scale(side);
  }
  const VecOf<Lanes> normal = group.normals(view);
  for (int q = 0; q < face.actual; ++q) {
    Lanes states[2][variables], total[variables], along[variables], f[variables], g[3][variables];
    for (int side = 0; side < 2; ++side) {
      load_values<variables>(s.at[side].at(q), n, states[side]);
      gradient_at<P>(s, side, q, factor[side], normal, g);
      viscous_flux_along(view.gas, states[side], inverse_of(states[side][0]), g, normal, along);
      for (int v = 0; v < variables; ++v) total[v] = side == 0 ? along[v] : 0.5 * (total[v] + along[v]);
    }
    numerical_flux(view.flux, view.gas, states[0], states[1], normal, f);
    for (int v = 0; v < variables; ++v) store_lanes(s.flux.at(v * n + q), f[v] - total[v]);
  }
  pad_points<n>(face, s.flux);
  store_tile(s.flux.value, s.face_values, group.fluxes(to.flux, s.face_values).row);
}

/// As many elements as there are lanes; behind the last one, that once more.
struct ElementGroup {
  Lid first, last;
  int count() const { return last - first < width ? last - first + 1 : width; }
  Lid operator[](int i) const { return first + i < last ? first + i : last; }
  Rows rows(const double* of, Size each) const {
    return Rows([&](int i) { return of + each * (*this)[i]; });
  }
};

template <int P>
struct ElementTiles : FaceSizes<P> {
  using Sizes = FaceSizes<P>;
  Tile<Sizes::values> u, sum;
  Tile<9> metric;
  Tile<Sizes::face_values> at_face;
  Tile<variables * chunk_points> state;
  Tile<3 * variables * chunk_points> flux;  ///< [v][d][q]
  alignas(64) double rows[width * Sizes::values];
};

/// As begin_stage(): elements lie one behind the other.
template <int P>
void begin_group(const StageArrays& stage, const ElementGroup& group, ElementTiles<P>& s) {
  const Size first = Size{s.values} * group.first;
  const int count = s.values * group.count();
  double* sum = s.rows;
  if (stage.count == 0)
    for (int i = 0; i < count; ++i) sum[i] = 0;
  for (int k = 0; k < stage.count; ++k) {
    const double* x = stage.x[k] + first;
    const double weight = stage.weight[k];
    if (k == 0)
      for (int i = 0; i < count; ++i) sum[i] = weight * x[i];
    else
      for (int i = 0; i < count; ++i) sum[i] = std::fma(weight, x[i], sum[i]);
  }
  if (stage.source != nullptr)
    for (int i = 0; i < count; ++i) sum[i] = std::fma(stage.factor, stage.source[first + i], sum[i]);
  load_tile(Rows([&](int i) { return sum + s.values * (group[i] - group.first); }).row, s.values, s.sum.value);
}

/// As end_stage().
template <int P>
void end_group(const StageArrays& stage, const ElementGroup& group, ElementTiles<P>& s) {
  store_tile(s.sum.value, s.values, RowsToWrite([&](int i) { return s.rows + s.values * i; }).row);
  const Size first = Size{s.values} * group.first;
  const int count = s.values * group.count();
  double* out = stage.out + first;
  if (stage.second == nullptr) {
    for (int i = 0; i < count; ++i) out[i] = s.rows[i];
    return;
  }
  const double* base = stage.base + first;
  double* second = stage.second + first;
  for (int i = 0; i < count; ++i) {
    const double value = s.rows[i];
    out[i] = value;
    second[i] = std::fma(stage.second_factor, value, base[i]);
  }
}

/// What sides k of a group's elements have of values at faces, in their own order of the points and times a scale.
template <int P>
void load_sides(const PartView& view, const ElementGroup& group, int k, const double* values, Lanes scale,
                ElementTiles<P>& s) {
  const StraightView& tuned = *view.straight;
  alignas(64) double turned[width][ElementTiles<P>::face_values];
  const Rows rows([&](int i) {
    const int code = tuned.sides[Size{tuned.faces_each} * group[i] + k], turn = code % max_turns;
    const double* from = values + Size{s.face_values} * (code / max_turns);
    if (turn == 0) return from;
    turn_row<variables, ElementTiles<P>::face_points>(from, tuned.turns + tile_rows * turn, turned[i]);
    return static_cast<const double*>(turned[i]);
  });
  load_tile_scaled(rows.row, s.face_values, scale, s.at_face.value);
}

Lanes scales_of(const StraightView& tuned, const ElementGroup& group, int k) {
  return each_lane([&](int i) { return tuned.scales[Size{tuned.faces_each} * group[i] + k]; });
}

/// 1 where a side's jump is out of the element, else -1.
Lanes outward_signs(const StraightView& tuned, const ElementGroup& group, int k) {
  return each_lane([&](int i) { return tuned.scales[Size{tuned.faces_each} * group[i] + k] < 0 ? 1.0 : -1.0; });
}

/// Marks elements at whose point there is no state.
void watch_group(const PartView& view, const ElementGroup& group, const Lanes* state, Lanes p) {
  if (all(both(state[0] > Lanes(0.0), p > Lanes(0.0)))) return;
  Tile<variables> at;
  store_values<variables>(state, at.value, 1);
  for (int i = 0; i < group.count(); ++i) {
    double one[variables];
    for (int v = 0; v < variables; ++v) one[v] = at.at(v)[i];
    watch(view, group[i], one);
  }
}

void load_metric(const PartView& view, const ElementGroup& group, Lanes scale, Tile<9>& to) {
  load_tile_scaled(group.rows(view.metric, 9).row, 9, scale, to.value);
}

/// As add_volume(). values(first, count): to points of a chunk; flux(q, count): from there to s.flux.
template <int P, class Values, class Flux>
void add_group_volume(const PartView& view, const ElementRecord& element, ElementTiles<P>& s, const Values& values,
                      const Flux& flux) {
  constexpr int columns = padded(ElementTiles<P>::bases);
  for (int first = 0; first < element.points; first += chunk_points) {
    const int left = element.points - first, count = left < chunk_points ? left : chunk_points;
    values(first, count);
    for (int q = 0; q < count; ++q) flux(q, count);
    add_tile_product<variables>(view.tables + element.projection + Size{3} * first * columns, columns, 3 * count,
                                s.flux.value, 3 * chunk_points, s.bases, s.sum.value, s.bases);
  }
}

template <int P>
void advance_group(const PartView& view, const ElementGroup& group, const double* u, const double* flux,
                   const StageArrays& stage, ElementTiles<P>& s) {
  constexpr int bases = ElementTiles<P>::bases, n = ElementTiles<P>::face_points;
  const StraightView& tuned = *view.straight;
  const ElementRecord& element = view.elements[group.first];
  begin_group(stage, group, s);
  for (int k = 0; k < tuned.faces_each; ++k) {
    load_sides(view, group, k, flux, stage.factor * scales_of(tuned, group, k), s);
    add_tile_product<variables>(view.tables + tuned.lifts[k], padded(bases), tuned.summed_points, s.at_face.value, n,
                                bases, s.sum.value, bases);
  }
  load_tile(group.rows(u, s.values).row, s.values, s.u.value);
  load_metric(view, group, stage.factor, s.metric);
  Lanes metric[9];
  load_values<9>(s.metric.value, 1, metric);
  add_group_volume(
      view, element, s,
      [&](int first, int count) {
        set_tile_product<variables>(view.tables + element.values + first, element.points, bases, s.u.value, bases,
                                    count, s.state.value, chunk_points);
      },
      [&](int q, int count) {
        Lanes state[variables], g[variables];
        load_values<variables>(s.state.at(q), chunk_points, state);
        const Lanes inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse);
        watch_group(view, group, state, p);
        for (int d = 0; d < 3; ++d) {
          flux_along(state, inverse, p, metric + 3 * d, g);
          store_values<variables>(g, s.flux.at(d * count + q), 3 * chunk_points);
        }
      });
  end_group(stage, group, s);
}

template <int P>
struct ViscousElementTiles : ElementTiles<P> {
  using Sizes = FaceSizes<P>;
  Tile<3 * Sizes::values> g;  ///< [v][d][l]
  Tile<Sizes::values> lifted;
  Tile<gradients * chunk_points> slope;  ///< [d][v][q]
  Tile<Sizes::face_values> jump[4];      ///< of tetrahedra: out of the element
};

/// As element_gradient().
template <int P>
void group_gradient(const PartView& view, const ElementRecord& element, const Lanes* metric,
                    ViscousElementTiles<P>& s) {
  constexpr int bases = ViscousElementTiles<P>::bases, columns = padded(bases);
  for (int d = 0; d < 3; ++d)
    set_tile_product<variables>(view.tables + element.derivative + d * columns, 3 * columns, bases, s.u.value, bases,
                                bases, s.g.at(d * bases), 3 * bases);
  for (int v = 0; v < variables; ++v)
    for (int l = 0; l < bases; ++l) {
      double* to = s.g.at(3 * v * bases + l);
      Lanes slope[3];
      load_values<3>(to, bases, slope);
      for (int d = 0; d < 3; ++d)
        store_lanes(to + width * d * bases,
                    fused(metric[6 + d], slope[2], fused(metric[3 + d], slope[1], metric[d] * slope[0])));
    }
}

/// As AdvanceViscousElements::slopes_at_points().
template <int P>
void group_slopes(const PartView& view, const ElementRecord& element, int begin, int count, ViscousElementTiles<P>& s) {
  constexpr int bases = ViscousElementTiles<P>::bases, n = ViscousElementTiles<P>::face_points,
                direction = variables * chunk_points;
  const Size points = element.points;
  const double* table = view.tables + element.slopes + begin;
  const double* spread = table + 3 * points * bases;
  for (int f = 0; f < 4; ++f, spread += points * n) {
    double* to = s.slope.at((f == 0 ? 0 : f - 1) * direction);
    if (f == 0)
      set_tile_product<variables>(spread, points, view.straight->summed_points, s.jump[f].value, n, count, to,
                                  chunk_points);
    else
      add_tile_product<variables>(spread, points, view.straight->summed_points, s.jump[f].value, n, count, to,
                                  chunk_points);
    for (int d = 1; f == 0 && d < 3; ++d) std::copy_n(to, width * direction, s.slope.at(d * direction));
  }
  for (int d = 0; d < 3; ++d)
    add_tile_product<variables>(table + d * points, 3 * points, bases, s.u.value, bases, count,
                                s.slope.at(d * direction), chunk_points);
}

template <int P>
void advance_viscous_group(const PartView& view, const ElementGroup& group, const double* u, const FaceArrays& at_faces,
                           const StageArrays& stage, ViscousElementTiles<P>& s) {
  constexpr int bases = ViscousElementTiles<P>::bases, columns = padded(bases), n = ViscousElementTiles<P>::face_points;
  const StraightView& tuned = *view.straight;
  const ElementRecord& element = view.elements[group.first];
  begin_group<P>(stage, group, s);
  load_tile(group.rows(u, s.values).row, s.values, s.u.value);
  load_metric(view, group, 1, s.metric);
  Lanes metric[9];
  load_values<9>(s.metric.value, 1, metric);
  const bool slopes = element.slopes >= 0;
  if (!slopes) group_gradient<P>(view, element, metric, s);
  for (int k = 0; k < tuned.faces_each; ++k) {
    const Lanes scale = scales_of(tuned, group, k);
    const double* lift = view.tables + tuned.lifts[k];
    load_sides<P>(view, group, k, at_faces.flux, stage.factor * scale, s);
    add_tile_product<variables>(lift, columns, tuned.summed_points, s.at_face.value, n, bases, s.sum.value, bases);
    if (slopes) {
      load_sides<P>(view, group, k, at_faces.jump, outward_signs(tuned, group, k), s);
      s.jump[k] = s.at_face;
      continue;
    }
    load_sides<P>(view, group, k, at_faces.jump, absolute(scale), s);
    set_tile_product<variables>(lift, columns, tuned.summed_points, s.at_face.value, n, bases, s.lifted.value, bases);
    Tile<3> normals;
    load_tile(Rows([&](int i) {
                return view.normals + Size{3} * (tuned.sides[Size{tuned.faces_each} * group[i] + k] / max_turns);
              }).row,
              3, normals.value);
    Lanes normal[3];
    load_values<3>(normals.value, 1, normal);
    for (int v = 0; v < variables; ++v)
      for (int l = 0; l < bases; ++l) {
        const Lanes lifted = load_lanes(s.lifted.at(v * bases + l));
        for (int d = 0; d < 3; ++d) {
          double* to = s.g.at((3 * v + d) * bases + l);
          store_lanes(to, fused(normal[d], lifted, load_lanes(to)));
        }
      }
  }
  Lanes scaled[9];
  for (int i = 0; i < 9; ++i) scaled[i] = stage.factor * metric[i];
  add_group_volume<P>(
      view, element, s,
      [&](int first, int count) {
        const double* table = view.tables + element.values + first;
        set_tile_product<variables>(table, element.points, bases, s.u.value, bases, count, s.state.value, chunk_points);
        if (slopes) return group_slopes<P>(view, element, first, count, s);
        for (int d = 0; d < 3; ++d)
          set_tile_product<variables>(table, element.points, bases, s.g.at(d * bases), 3 * bases, count,
                                      s.slope.at(d * variables * chunk_points), chunk_points);
      },
      [&](int q, int count) {
        Lanes state[variables], g[3][variables], f[3][variables], h[3][variables];
        load_values<variables>(s.state.at(q), chunk_points, state);
        for (int d = 0; d < 3; ++d)
          load_values<variables>(s.slope.at(d * variables * chunk_points + q), chunk_points, g[d]);
        if (slopes) turn_slopes(metric, g);
        const Lanes inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse);
        watch_group(view, group, state, p);
        euler_flux(state, inverse, p, f);
        viscous_flux(view.gas, state, inverse, g, 1, h);
        for (int d = 0; d < 3; ++d)
          for (int v = 0; v < variables; ++v) f[d][v] = f[d][v] - h[d][v];
        turn_flux(true, scaled, f);
        for (int d = 0; d < 3; ++d) store_values<variables>(f[d], s.flux.at(d * count + q), 3 * chunk_points);
      });
  end_group<P>(stage, group, s);
}

/// Has what sides of the next group read come into the cache.
void fetch_sides(const PartView& view, const FaceArrays& at_faces, Range elements) {
  const StraightView& tuned = *view.straight;
  const int count = variables * tuned.face_points;
  for (Size k = Size{tuned.faces_each} * elements.begin; k < Size{tuned.faces_each} * elements.end; ++k) {
    const Size at = Size{count} * (tuned.sides[k] / max_turns);
    fetch(at_faces.flux + at, count);
    if (tuned.viscous) fetch(at_faces.jump + at, count);
  }
}

/// Calls f(group) for all elements.
template <class F>
void for_each_group(Range elements, const PartView& view, const FaceArrays& at_faces, Range groups, const F& f) {
  for (Lid i = groups.begin; i < groups.end; ++i) {
    const Lid first = elements.begin + width * i, next = std::min(first + width, elements.end);
    fetch_sides(view, at_faces, {next, std::min(next + width, elements.end)});
    f(ElementGroup{first, elements.end - 1});
  }
}

/// Calls f(std::integral_constant<int, P>()).
template <class F>
void with_order(int order, const F& f) {
  if (order == 1) f(std::integral_constant<int, 1>());
  if (order == 2) f(std::integral_constant<int, 2>());
  if (order == 3) f(std::integral_constant<int, 3>());
}

}  // namespace

void compute_inner_fluxes_in_lanes(Stream& stream, Range tiles, const PartView& view, double eta, const double* u,
                                   const FaceArrays& at_faces) {
  with_order(view.order, [&](const auto p) {
    stream.loop(tiles, [=](Lid begin, Lid end) {
      if (!view.straight->viscous) {
        FaceTiles<p()> s;
        return for_each_group({begin, end}, view, u, s.values,
                              [&](const FaceGroup& group) { compute_group(view, group, u, at_faces.flux, s); });
      }
      ViscousFaceTiles<p()> s;
      for_each_group({begin, end}, view, u, s.values,
                     [&](const FaceGroup& group) { compute_viscous_group(view, group, eta, u, at_faces, s); });
    });
  });
}

void advance_in_lanes(Stream& stream, Range elements, const PartView& view, const double* u, const FaceArrays& at_faces,
                      const StageArrays& stage) {
  with_order(view.order, [&](const auto p) {
    stream.loop({0, (elements.size() + width - 1) / width}, [=](Lid begin, Lid end) {
      if (!view.straight->viscous) {
        ElementTiles<p()> s;
        return for_each_group(elements, view, at_faces, {begin, end}, [&](const ElementGroup& group) {
          advance_group(view, group, u, at_faces.flux, stage, s);
        });
      }
      ViscousElementTiles<p()> s;
      for_each_group(elements, view, at_faces, {begin, end},
                     [&](const ElementGroup& group) { advance_viscous_group(view, group, u, at_faces, stage, s); });
    });
  });
}

#else  // no vectors: nobody asks for tiles

void compute_inner_fluxes_in_lanes(Stream&, Range, const PartView&, double, const double*, const FaceArrays&) {}
void advance_in_lanes(Stream&, Range, const PartView&, const double*, const FaceArrays&, const StageArrays&) {}

#endif

}  // namespace tutti::compressible
