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
void pad_points(int actual, Tile<variables * n>& values) {
  for (int v = 0; v < variables; ++v)
    for (int q = actual; q < n; ++q) store_lanes(values.at(v * n + q), load_lanes(values.at(v * n)));
}

/// As many faces as there are lanes, whose sides have the same tables.
struct FaceGroup {
  const SideProducts* tables[2];
  const StraightFace* faces;
  const Lid* rows;       ///< of fluxes and jumps; null: faces' numbers
  const double* scales;  ///< of viscous flow: of the left sides; of the right ones tile_rows further

  Lanes scale(int side) const { return load_lanes(scales + tile_rows * side); }
  Rows of_side(int side, const double* values, Size each) const {
    return Rows([&](int i) { return values + each * (side == 0 ? faces[i].left : faces[i].right); });
  }
  RowsToWrite fluxes(double* flux, Size each) const {
    return RowsToWrite([&](int i) { return flux + each * (rows == nullptr ? faces[i].face : rows[i]); });
  }
  VecOf<Lanes> normals(const PartView& view) const {
    Tile<3> normal;
    load_tile(Rows([&](int i) { return view.normals + Size{3} * faces[i].face; }).row, 3, normal.value);
    return {load_lanes(normal.at(0)), load_lanes(normal.at(1)), load_lanes(normal.at(2))};
  }
};

/// Brings numbers into the second cache.
void fetch(const double* from, int count) {
  for (int i = 0; i < count; i += 8) __builtin_prefetch(from + i, 0, 2);
  asm volatile("");  // GCC leaves out calls of functions that only prefetch
}

/// Brings the states on both sides of a group's faces there.
void fetch_states(const StraightFace* faces, const double* u, int values) {
  for (int i = 0; i < width; ++i) {
    fetch(u + Size{values} * faces[i].left, values);
    fetch(u + Size{values} * faces[i].right, values);
  }
}

/// Calls f(group) for those of the tiles. Behind a class of faces, tiles repeat the last. values: of an element.
template <class F>
void for_each_group(Range tiles, const PartView& view, const double* u, int values, const F& f) {
  const StraightFace *all = view.straight->faces, *end = all + Size{tile_rows} * tiles.end;
  const LaneProducts& products = *view.straight->products;
  for (Lid tile = tiles.begin; tile < tiles.end; ++tile) {
    const SideClasses sides = SideClasses::of(view.straight->tables[tile]);
    for (int i = 0; i < tile_rows; i += width) {
      const StraightFace* faces = all + Size{tile_rows} * tile + i;
      if (i > 0 && faces[0].face == faces[-1].face) break;
      // Memory may take longer to answer than a group to compute.
      if (faces + 2 * width < end) fetch_states(faces + 2 * width, u, values);
      const double* scales =
          view.straight->viscous ? view.straight->face_scales + Size{2 * tile_rows} * tile + i : nullptr;
      const Lid* const rows = view.straight->flux_rows;
      f(FaceGroup{{products.sides + sides.left, products.sides + sides.right},
                  faces,
                  rows == nullptr ? nullptr : rows + (faces - all),
                  scales});
    }
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
    set_tile_product<variables>(*view.straight->products, group.tables[side]->trace, s.u[side].value, s.bases,
                                s.at[side].value, s.face_points);
  }
}

template <int P>
void compute_group(const PartView& view, const FaceGroup& group, const double* u, double* flux, FaceTiles<P>& s) {
  constexpr int n = FaceTiles<P>::face_points;
  const int actual = view.straight->actual_points;
  trace_group(view, group, u, s);
  const VecOf<Lanes> normal = group.normals(view);
  for (int q = 0; q < actual; ++q) {
    Lanes l[variables], r[variables], f[variables];
    load_values<variables>(s.at[0].at(q), n, l);
    load_values<variables>(s.at[1].at(q), n, r);
    numerical_flux(view.flux, view.gas, l, r, normal, f);
    store_values<variables>(f, s.flux.at(q), n);
  }
  pad_points<n>(actual, s.flux);
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
  const LaneProducts& products = *view.straight->products;
  const int actual = view.straight->actual_points;
  trace_group<P>(view, group, u, s);
  for (int v = 0; v < variables; ++v)
    for (int q = 0; q < actual; ++q) {
      const int i = v * n + q;
      store_lanes(s.jump.at(i), Lanes(0.5) * (load_lanes(s.at[1].at(i)) - load_lanes(s.at[0].at(i))));
    }
  pad_points<n>(actual, s.jump);
  store_tile(s.jump.value, s.face_values, group.fluxes(to.jump, s.face_values).row);
  Lanes factor[2];
  for (int side = 0; side < 2; ++side) {
    const SideProducts& tables = *group.tables[side];
    for (int d = 0; d < 3; ++d)
      set_tile_product<variables>(products, tables.slope[d], s.u[side].value, bases, s.slope[side].at(d * n), 3 * n);
    set_tile_product<variables>(products, tables.spread, s.jump.value, n, s.spread[side].value, n);
    load_tile(group.of_side(side, view.metric, 9).row, 9, s.metric[side].value);
    factor[side] = Lanes(eta) * group.scale(side);
  }
  const VecOf<Lanes> normal = group.normals(view);
  for (int q = 0; q < actual; ++q) {
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
  pad_points<n>(actual, s.flux);
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
  Tile<variables * chunk_points> state;
  /// What goes into the sum: [v], of the sides [k][q], behind them of a chunk of the volume [d][q].
  static constexpr int of_sides = max_faces * Sizes::face_points, each = of_sides + 3 * chunk_points;
  Tile<variables * each> in;
};

/// As begin_stage(): elements lie one behind the other.
template <int P>
void begin_group(const StageArrays& stage, const ElementGroup& group, ElementTiles<P>& s) {
  Size row[width];
  for (int i = 0; i < width; ++i) row[i] = Size{s.values} * group[i];
  load_tile_of(
      [&](int i, int at, int count) {
        QuarterRow sum;
        for (int k = 0; k < stage.count; ++k) {
          const QuarterRow x(stage.x[k] + row[i] + at, count);
          sum = k == 0 ? stage.weight[k] * x : fused(stage.weight[k], x, sum);
        }
        if (stage.source == nullptr) return sum;
        return fused(stage.factor, QuarterRow(stage.source + row[i] + at, count), sum);
      },
      s.values, s.sum.value);
}

/// As end_stage().
template <int P>
void end_group(const StageArrays& stage, const ElementGroup& group, ElementTiles<P>& s) {
  store_tile(s.sum.value, s.values, RowsToWrite([&](int i) { return stage.out + Size{s.values} * group[i]; }).row);
  if (stage.second == nullptr) return;
  const Size first = Size{s.values} * group.first, end = first + Size{s.values} * group.count();
  for (Size i = first; i < end; ++i) stage.second[i] = std::fma(stage.second_factor, stage.out[i], stage.base[i]);
}

/// What sides k of a group's elements have of values at faces, in their own order of the points and times a scale:
/// to[v][q], variables `each` apart.
template <int P>
void load_sides(const PartView& view, const ElementGroup& group, int k, const double* values, Lanes scale, double* to,
                int each) {
  const StraightView& tuned = *view.straight;
  const std::int32_t* const codes = tuned.side_rows == nullptr ? tuned.sides : tuned.side_rows;
  const double* rows[width];
  const std::uint8_t* orders[width];
  for (int i = 0; i < width; ++i) {
    const int code = codes[Size{tuned.faces_each} * group[i] + k];
    rows[i] = values + Size{FaceSizes<P>::face_values} * (code / max_turns);
    orders[i] = tuned.turns + tile_rows * (code % max_turns);
  }
  load_turned_tile<variables, FaceSizes<P>::face_points>(rows, orders, scale, to, each);
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

/// As add_volume(), with what the sides have in s.in. values(chunk): to its points; flux(q, count): from there to s.in,
/// where a direction has `count`.
template <int P, class Values, class Flux>
void add_group_volume(const StraightView& tuned, ElementTiles<P>& s, const Values& values, const Flux& flux) {
  const LaneProducts& all = *tuned.products;
  for (int first = 0, chunk = 0; first < tuned.points; first += chunk_points, ++chunk) {
    const int left = tuned.points - first, count = left < chunk_points ? padded(left) : chunk_points;
    values(chunk);
    for (int q = 0; q < std::min(left, chunk_points); ++q) flux(q, count);
    add_tile_product<variables>(all, all.element.projection[chunk], s.in.value, s.each, s.sum.value, s.bases);
  }
}

template <int P>
void advance_group(const PartView& view, const ElementGroup& group, const double* u, const double* flux,
                   const StageArrays& stage, ElementTiles<P>& s) {
  constexpr int bases = ElementTiles<P>::bases, n = ElementTiles<P>::face_points;
  const StraightView& tuned = *view.straight;
  const LaneProducts& products = *tuned.products;
  begin_group(stage, group, s);
  for (int k = 0; k < tuned.faces_each; ++k) {
    load_sides<P>(view, group, k, flux, stage.factor * scales_of(tuned, group, k), s.in.at(n * k), s.each);
  }
  load_tile(group.rows(u, s.values).row, s.values, s.u.value);
  load_metric(view, group, stage.factor, s.metric);
  Lanes metric[9];
  load_values<9>(s.metric.value, 1, metric);
  add_group_volume(
      tuned, s,
      [&](int chunk) {
        set_tile_product<variables>(products, products.element.values[chunk], s.u.value, bases, s.state.value,
                                    chunk_points);
      },
      [&](int q, int count) {
        Lanes state[variables], g[variables];
        load_values<variables>(s.state.at(q), chunk_points, state);
        const Lanes inverse = inverse_of(state[0]), p = pressure(view.gas, state, inverse);
        watch_group(view, group, state, p);
        for (int d = 0; d < 3; ++d) {
          flux_along(state, inverse, p, metric + 3 * d, g);
          store_values<variables>(g, s.in.at(s.of_sides + d * count + q), s.each);
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
  Tile<Sizes::face_values> jump[4];      ///< of tetrahedra: out of the element; of hexahedra [0]: of a side
};

/// As element_gradient().
template <int P>
void group_gradient(const LaneProducts& products, const Lanes* metric, ViscousElementTiles<P>& s) {
  constexpr int bases = ViscousElementTiles<P>::bases;
  for (int d = 0; d < 3; ++d)
    set_tile_product<variables>(products, products.element.derivative[d], s.u.value, bases, s.g.at(d * bases),
                                3 * bases);
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
void group_slopes(const LaneProducts& products, int chunk, ViscousElementTiles<P>& s) {
  constexpr int bases = ViscousElementTiles<P>::bases, n = ViscousElementTiles<P>::face_points,
                direction = variables * chunk_points;
  const ElementProducts& element = products.element;
  set_tile_product<variables>(products, element.oblique[chunk], s.jump[0].value, n, s.slope.value, chunk_points);
  for (int d = 1; d < 3; ++d) std::copy_n(s.slope.value, width * direction, s.slope.at(d * direction));
  for (int d = 0; d < 3; ++d) {
    double* to = s.slope.at(d * direction);
    add_tile_product<variables>(products, element.spread[d][chunk], s.jump[d + 1].value, n, to, chunk_points);
    add_tile_product<variables>(products, element.slopes[d][chunk], s.u.value, bases, to, chunk_points);
  }
}

template <int P>
void advance_viscous_group(const PartView& view, const ElementGroup& group, const double* u, const FaceArrays& at_faces,
                           const StageArrays& stage, ViscousElementTiles<P>& s) {
  constexpr int bases = ViscousElementTiles<P>::bases, n = ViscousElementTiles<P>::face_points;
  const StraightView& tuned = *view.straight;
  const LaneProducts& products = *tuned.products;
  begin_group<P>(stage, group, s);
  load_tile(group.rows(u, s.values).row, s.values, s.u.value);
  load_metric(view, group, 1, s.metric);
  Lanes metric[9];
  load_values<9>(s.metric.value, 1, metric);
  const bool slopes = tuned.faces_each == 4;
  if (!slopes) group_gradient<P>(products, metric, s);
  for (int k = 0; k < tuned.faces_each; ++k) {
    const Lanes scale = scales_of(tuned, group, k);
    load_sides<P>(view, group, k, at_faces.flux, stage.factor * scale, s.in.at(n * k), s.each);
    if (slopes) {
      load_sides<P>(view, group, k, at_faces.jump, outward_signs(tuned, group, k), s.jump[k].value, n);
      continue;
    }
    load_sides<P>(view, group, k, at_faces.jump, absolute(scale), s.jump[0].value, n);
    set_tile_product<variables>(products, products.element.lift[k], s.jump[0].value, n, s.lifted.value, bases);
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
      tuned, s,
      [&](int chunk) {
        const LaneProduct values = products.element.values[chunk];
        set_tile_product<variables>(products, values, s.u.value, bases, s.state.value, chunk_points);
        if (slopes) return group_slopes<P>(products, chunk, s);
        for (int d = 0; d < 3; ++d)
          set_tile_product<variables>(products, values, s.g.at(d * bases), 3 * bases,
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
        for (int d = 0; d < 3; ++d) store_values<variables>(f[d], s.in.at(s.of_sides + d * count + q), s.each);
      });
  end_group<P>(stage, group, s);
}

/// Brings the stage's rows of a group there. Those of `u` have been read by the faces.
void fetch_stage(const StageArrays& stage, const double* u, int values, Range elements) {
  const Size first = Size{values} * elements.begin;
  const int count = values * elements.size();
  for (int k = 0; k < stage.count; ++k)
    if (stage.x[k] != u) fetch(stage.x[k] + first, count);
  fetch(stage.out + first, count);
  if (stage.second == nullptr) return;
  fetch(stage.second + first, count);
  fetch(stage.base + first, count);
}

/// Calls f(group) for all elements.
template <class F>
void for_each_group(Range elements, const double* u, int values, const StageArrays& stage, Range groups, const F& f) {
  for (Lid i = groups.begin; i < groups.end; ++i) {
    const Lid first = elements.begin + width * i, next = std::min(first + width, elements.end);
    fetch_stage(stage, u, values, {next, std::min(next + width, elements.end)});
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
        return for_each_group(elements, u, s.values, stage, {begin, end}, [&](const ElementGroup& group) {
          advance_group(view, group, u, at_faces.flux, stage, s);
        });
      }
      ViscousElementTiles<p()> s;
      for_each_group(elements, u, s.values, stage, {begin, end},
                     [&](const ElementGroup& group) { advance_viscous_group(view, group, u, at_faces, stage, s); });
    });
  });
}

#else  // no vectors: nobody asks for tiles

void compute_inner_fluxes_in_lanes(Stream&, Range, const PartView&, double, const double*, const FaceArrays&) {}
void advance_in_lanes(Stream&, Range, const PartView&, const double*, const FaceArrays&, const StageArrays&) {}

#endif

}  // namespace tutti::compressible
