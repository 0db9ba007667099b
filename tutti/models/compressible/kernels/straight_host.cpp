// Straight elements on a CPU: an element or a face a lane. The bits are those of FaceFluxes, AdvanceElements and the
// viscous ones, whose sums these are; what those spend on short rows, and on as many vectors as a row has left over,
// tiles save.
#include "tutti/models/compressible/kernels/straight.hpp"

#include <algorithm>

#include "tutti/models/compressible/kernels/lane_tile.hpp"
#include "tutti/models/compressible/kernels/viscous.hpp"

namespace tutti::compressible {

#if TUTTI_LANES > 1
namespace {

constexpr int width = lane_count;
/// Of an element, and points of a face.
constexpr int most_bases = FaceSizes<highest_tuned_order>::bases,
              most_points = FaceSizes<highest_tuned_order>::face_points;

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
template <class F>
Lanes each_lane(const F& of_lane) {
  double x[width];
  for (int i = 0; i < width; ++i) x[i] = of_lane(i);
  return load_lanes(x);
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

/// Points with which sums of a face go: all that are none of padding, and one for all of that. More zeros change
/// nothing.
int summed_points(const FaceRecord& face) {
  return face.actual + (face.points > face.actual ? 1 : 0);
}
/// Points of padding repeat the first.
void pad_points(const FaceRecord& face, double* values) {
  for (int v = 0; v < variables; ++v)
    for (int q = face.actual; q < face.points; ++q)
      store_lanes(values + width * (v * face.points + q), load_lanes(values + width * v * face.points));
}

/// As many faces as there are lanes, whose sides have the tables of the first.
struct FaceGroup {
  const FaceRecord& first;
  const StraightFace* faces;
  int values;  ///< of an element

  Rows states(const double* u, int side) const {
    return Rows([&](int i) { return u + Size{values} * (side == 0 ? faces[i].left : faces[i].right); });
  }
  RowsToWrite fluxes(double* flux) const {
    return RowsToWrite([&](int i) { return flux + Size{variables} * first.points * faces[i].face; });
  }
  VecOf<Lanes> normals(const PartView& view) const {
    Tile<3> normal;
    load_tile(Rows([&](int i) { return view.normals + Size{3} * faces[i].face; }).row, 3, normal.value);
    return {load_lanes(normal.at(0)), load_lanes(normal.at(1)), load_lanes(normal.at(2))};
  }
};

/// Calls f(group) for those of the tiles. Behind a class of faces, tiles repeat the last.
template <class F>
void for_each_group(Range tiles, const PartView& view, const F& f) {
  const StraightView& tuned = *view.straight;
  for (Lid tile = tiles.begin; tile < tiles.end; ++tile)
    for (int i = 0; i < tile_rows; i += width) {
      const StraightFace* faces = tuned.faces + Size{tile_rows} * tile + i;
      if (i > 0 && faces[0].face == faces[-1].face) break;
      f(FaceGroup{view.faces[faces[0].face], faces, variables * view.bases});
    }
}

struct FaceTiles {
  Tile<variables * most_bases> u[2];
  Tile<variables * most_points> at[2], flux;
};

void trace_group(const PartView& view, const FaceGroup& group, const double* u, FaceTiles& s) {
  const FaceRecord& face = group.first;
  for (int side = 0; side < 2; ++side) {
    load_tile(group.states(u, side).row, group.values, s.u[side].value);
    set_tile_product<variables>(view.tables + face.trace[side], face.points, view.bases, s.u[side].value, view.bases,
                                face.actual, s.at[side].value, face.points);
  }
}

void compute_group(const PartView& view, const FaceGroup& group, const double* u, double* flux, FaceTiles& s) {
  const FaceRecord& face = group.first;
  const int n = face.points;
  trace_group(view, group, u, s);
  const VecOf<Lanes> normal = group.normals(view);
  for (int q = 0; q < face.actual; ++q) {
    Lanes l[variables], r[variables], f[variables];
    load_values<variables>(s.at[0].at(q), n, l);
    load_values<variables>(s.at[1].at(q), n, r);
    numerical_flux(view.flux, view.gas, l, r, normal, f);
    store_values<variables>(f, s.flux.at(q), n);
  }
  pad_points(face, s.flux.value);
  store_tile(s.flux.value, variables * n, group.fluxes(flux).row);
}

struct ViscousFaceTiles {
  FaceTiles states;
  Tile<variables * most_points> jump, spread[2];
  Tile<gradients * most_points> slope[2];
  Tile<9> metric[2];
};

/// As ViscousFaceFluxes::gradient_at().
struct SideGradient {
  VecOf<Lanes> normal;
  Lanes factor;
  const Tile<9>& metric;

  void operator()(const Tile<gradients * most_points>& slope, const Tile<variables * most_points>& spread, int q, int n,
                  Lanes (*g)[variables]) const {
    const Lanes along[3] = {factor * normal.x, factor * normal.y, factor * normal.z};
    for (int v = 0; v < variables; ++v) {
      const double* at = slope.at(3 * n * v + q);
      const Lanes r = load_lanes(at), t = load_lanes(at + width * n), w = load_lanes(at + width * 2 * n),
                  jump = load_lanes(spread.at(v * n + q));
      for (int d = 0; d < 3; ++d)
        g[d][v] = fused(along[d], jump,
                        fused(load_lanes(metric.at(6 + d)), w,
                              fused(load_lanes(metric.at(3 + d)), t, load_lanes(metric.at(d)) * r)));
    }
  }
};

void compute_viscous_group(const PartView& view, const FaceGroup& group, double eta, const double* u,
                           const FaceArrays& to, ViscousFaceTiles& s) {
  const FaceRecord& face = group.first;
  const int n = face.points, bases = view.bases;
  trace_group(view, group, u, s.states);
  for (int v = 0; v < variables; ++v)
    for (int q = 0; q < face.actual; ++q) {
      const int i = v * n + q;
      store_lanes(s.jump.at(i), Lanes(0.5) * (load_lanes(s.states.at[1].at(i)) - load_lanes(s.states.at[0].at(i))));
    }
  pad_points(face, s.jump.value);
  store_tile(s.jump.value, variables * n, group.fluxes(to.jump).row);
  for (int side = 0; side < 2; ++side) {
    const double* slopes = view.tables + face.slope[side];
    for (int d = 0; d < 3; ++d)
      set_tile_product<variables>(slopes + d * n, Size{3} * n, bases, s.states.u[side].value, bases, face.actual,
                                  s.slope[side].at(d * n), 3 * n);
    set_tile_product<variables>(slopes + Size{3} * n * bases, n, summed_points(face), s.jump.value, n, face.actual,
                                s.spread[side].value, n);
    load_tile(Rows([&](int i) {
                return view.metric + Size{9} * (side == 0 ? group.faces[i].left : group.faces[i].right);
              }).row,
              9, s.metric[side].value);
  }
  const VecOf<Lanes> normal = group.normals(view);
  const auto factor = [&](int side) {
    return each_lane([&](int i) { return eta * view.faces[group.faces[i].face].scale[side]; });
  };
  const SideGradient gradients_of[2] = {{normal, factor(0), s.metric[0]}, {normal, factor(1), s.metric[1]}};
  for (int q = 0; q < face.actual; ++q) {
    Lanes states[2][variables], total[variables], f[variables], g[3][variables], h[3][variables];
    for (int side = 0; side < 2; ++side) {
      load_values<variables>(s.states.at[side].at(q), n, states[side]);
      gradients_of[side](s.slope[side], s.spread[side], q, n, g);
      viscous_flux(view.gas, states[side], 1 / states[side][0], g, 1, h);
      for (int v = 0; v < variables; ++v) {
        const Lanes along = fused(h[2][v], normal.z, fused(h[1][v], normal.y, h[0][v] * normal.x));
        total[v] = side == 0 ? along : 0.5 * (total[v] + along);
      }
    }
    numerical_flux(view.flux, view.gas, states[0], states[1], normal, f);
    for (int v = 0; v < variables; ++v) store_lanes(s.states.flux.at(v * n + q), f[v] - total[v]);
  }
  pad_points(face, s.states.flux.value);
  store_tile(s.states.flux.value, variables * n, group.fluxes(to.flux).row);
}

/// As many elements as there are lanes; behind the last one, that once more.
struct ElementGroup {
  Lid first, last;
  int values;
  int count() const { return last - first < width ? last - first + 1 : width; }
  Lid operator[](int i) const { return first + i < last ? first + i : last; }
  Rows rows(const double* of, Size each) const {
    return Rows([&](int i) { return of + each * (*this)[i]; });
  }
};

struct ElementTiles {
  Tile<variables * most_bases> u, sum;
  Tile<9> metric;
  Tile<variables * most_points> at_face, state;
  Tile<3 * variables * chunk_points> flux;
  alignas(64) double rows[width * variables * most_bases];
};

/// As begin_stage(): elements lie one behind the other.
void begin_group(const StageArrays& stage, const ElementGroup& group, ElementTiles& s) {
  const Size first = Size{group.values} * group.first;
  const int count = group.values * group.count();
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
  load_tile(Rows([&](int i) { return sum + group.values * (i < group.count() ? i : group.count() - 1); }).row,
            group.values, s.sum.value);
}

/// As end_stage().
void end_group(const StageArrays& stage, const ElementGroup& group, ElementTiles& s) {
  store_tile(s.sum.value, group.values, RowsToWrite([&](int i) { return s.rows + group.values * i; }).row);
  const Size first = Size{group.values} * group.first;
  const int count = group.values * group.count();
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
template <int n>
void load_sides_of(const PartView& view, const ElementGroup& group, int k, const double* values, Lanes scale,
                   ElementTiles& s) {
  const StraightView& tuned = *view.straight;
  alignas(64) double turned[width][variables * n];
  const Rows rows([&](int i) {
    const int code = tuned.sides[Size{tuned.faces_each} * group[i] + k], turn = code % max_turns;
    const double* from = values + Size{variables * n} * (code / max_turns);
    if (turn == 0) return from;
    turn_row<variables, n>(from, tuned.turns + tile_rows * turn, turned[i]);
    return static_cast<const double*>(turned[i]);
  });
  load_tile_scaled(rows.row, variables * n, scale, s.at_face.value);
}
void load_sides(const PartView& view, const ElementGroup& group, int k, const double* values, Lanes scale,
                ElementTiles& s) {
  static_assert(most_points == 12);
  switch (view.straight->face_points) {
    case 4:
      return load_sides_of<4>(view, group, k, values, scale, s);
    case 8:
      return load_sides_of<8>(view, group, k, values, scale, s);
    default:
      return load_sides_of<12>(view, group, k, values, scale, s);
  }
}

Lanes scales_of(const StraightView& tuned, const ElementGroup& group, int k) {
  return each_lane([&](int i) { return tuned.scales[Size{tuned.faces_each} * group[i] + k]; });
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

/// As add_volume(), for `quantities` times five values at points. flux(q, count): from those at a point to s.flux.
template <class Values, class Flux>
void add_group_volume(const PartView& view, const ElementRecord& element, ElementTiles& s, const Values& values,
                      const Flux& flux) {
  const int bases = view.bases, columns = padded(bases);
  for (int begin = 0; begin < element.points; begin += chunk_points) {
    const int left = element.points - begin, count = left < chunk_points ? left : chunk_points;
    values(begin, count);
    for (int q = 0; q < count; ++q) flux(q, count);
    add_tile_product<variables>(view.tables + element.projection + Size{3} * begin * columns, columns, 3 * count,
                                s.flux.value, 3 * chunk_points, bases, s.sum.value, bases);
  }
}

void advance_group(const PartView& view, const ElementGroup& group, const double* u, const double* flux,
                   const StageArrays& stage, ElementTiles& s) {
  const StraightView& tuned = *view.straight;
  const ElementRecord& element = view.elements[group.first];
  const int bases = view.bases, columns = padded(bases), n = tuned.face_points;
  begin_group(stage, group, s);
  for (int k = 0; k < tuned.faces_each; ++k) {
    load_sides(view, group, k, flux, stage.factor * scales_of(tuned, group, k), s);
    add_tile_product<variables>(view.tables + tuned.lifts[k], columns, tuned.summed_points, s.at_face.value, n, bases,
                                s.sum.value, bases);
  }
  load_tile(group.rows(u, group.values).row, group.values, s.u.value);
  load_metric(view, group, stage.factor, s.metric);
  Lanes metric[9];
  load_values<9>(s.metric.value, 1, metric);
  add_group_volume(
      view, element, s,
      [&](int begin, int count) {
        set_tile_product<variables>(view.tables + element.values + begin, element.points, bases, s.u.value, bases,
                                    count, s.state.value, chunk_points);
      },
      [&](int q, int count) {
        Lanes state[variables], g[variables];
        load_values<variables>(s.state.at(q), chunk_points, state);
        const Lanes inverse = 1 / state[0], p = pressure(view.gas, state, inverse);
        watch_group(view, group, state, p);
        for (int d = 0; d < 3; ++d) {
          flux_along(state, inverse, p, metric + 3 * d, g);
          store_values<variables>(g, s.flux.at(d * count + q), 3 * chunk_points);
        }
      });
  end_group(stage, group, s);
}

struct ViscousElementTiles {
  ElementTiles base;
  Tile<gradients * most_bases> g;  ///< [v][d][l]
  Tile<variables * most_bases> lifted;
  Tile<gradients * chunk_points> slope;  ///< [d][v][q]
};

void advance_viscous_group(const PartView& view, const ElementGroup& group, const double* u, const FaceArrays& at_faces,
                           const StageArrays& stage, ViscousElementTiles& tiles) {
  ElementTiles& s = tiles.base;
  const StraightView& tuned = *view.straight;
  const ElementRecord& element = view.elements[group.first];
  const int bases = view.bases, columns = padded(bases), n = tuned.face_points;
  begin_group(stage, group, s);
  load_tile(group.rows(u, group.values).row, group.values, s.u.value);
  load_metric(view, group, 1, s.metric);
  Lanes metric[9];
  load_values<9>(s.metric.value, 1, metric);
  for (int d = 0; d < 3; ++d)
    set_tile_product<variables>(view.tables + element.derivative + d * columns, Size{3} * columns, bases, s.u.value,
                                bases, bases, tiles.g.at(d * bases), 3 * bases);
  for (int v = 0; v < variables; ++v)
    for (int l = 0; l < bases; ++l) {
      double* to = tiles.g.at(3 * v * bases + l);
      Lanes slope[3];
      load_values<3>(to, bases, slope);
      for (int d = 0; d < 3; ++d)
        store_lanes(to + width * d * bases,
                    fused(metric[6 + d], slope[2], fused(metric[3 + d], slope[1], metric[d] * slope[0])));
    }
  for (int k = 0; k < tuned.faces_each; ++k) {
    const Lanes scale = scales_of(tuned, group, k);
    const double* lift = view.tables + tuned.lifts[k];
    load_sides(view, group, k, at_faces.flux, stage.factor * scale, s);
    add_tile_product<variables>(lift, columns, tuned.summed_points, s.at_face.value, n, bases, s.sum.value, bases);
    load_sides(view, group, k, at_faces.jump, absolute(scale), s);
    set_tile_product<variables>(lift, columns, tuned.summed_points, s.at_face.value, n, bases, tiles.lifted.value,
                                bases);
    Tile<3> normals;
    load_tile(Rows([&](int i) {
                return view.normals + Size{3} * (tuned.sides[Size{tuned.faces_each} * group[i] + k] / max_turns);
              }).row,
              3, normals.value);
    Lanes normal[3];
    load_values<3>(normals.value, 1, normal);
    for (int v = 0; v < variables; ++v)
      for (int l = 0; l < bases; ++l) {
        const Lanes lifted = load_lanes(tiles.lifted.at(v * bases + l));
        for (int d = 0; d < 3; ++d) {
          double* to = tiles.g.at((3 * v + d) * bases + l);
          store_lanes(to, fused(normal[d], lifted, load_lanes(to)));
        }
      }
  }
  for (Lanes& m : metric) m = stage.factor * m;
  add_group_volume(
      view, element, s,
      [&](int begin, int count) {
        const double* table = view.tables + element.values + begin;
        set_tile_product<variables>(table, element.points, bases, s.u.value, bases, count, s.state.value, chunk_points);
        for (int d = 0; d < 3; ++d)
          set_tile_product<variables>(table, element.points, bases, tiles.g.at(d * bases), 3 * bases, count,
                                      tiles.slope.at(d * variables * chunk_points), chunk_points);
      },
      [&](int q, int count) {
        Lanes state[variables], g[3][variables], f[3][variables], h[3][variables];
        load_values<variables>(s.state.at(q), chunk_points, state);
        for (int d = 0; d < 3; ++d)
          load_values<variables>(tiles.slope.at(d * variables * chunk_points + q), chunk_points, g[d]);
        const Lanes inverse = 1 / state[0], p = pressure(view.gas, state, inverse);
        watch_group(view, group, state, p);
        euler_flux(state, inverse, p, f);
        viscous_flux(view.gas, state, inverse, g, 1, h);
        for (int d = 0; d < 3; ++d)
          for (int v = 0; v < variables; ++v) f[d][v] = f[d][v] - h[d][v];
        turn_flux(true, metric, f);
        for (int d = 0; d < 3; ++d) store_values<variables>(f[d], s.flux.at(d * count + q), 3 * chunk_points);
      });
  end_group(stage, group, s);
}

/// Has what sides of the next group read come into the cache.
void fetch_sides(const PartView& view, const FaceArrays& at_faces, Range elements) {
  const StraightView& tuned = *view.straight;
  const int count = variables * tuned.face_points;
  for (Size k = Size{tuned.faces_each} * elements.begin; k < Size{tuned.faces_each} * elements.end; ++k) {
    const Size at = Size{count} * (tuned.sides[k] / max_turns);
    for (int i = 0; i < count; i += 8) __builtin_prefetch(at_faces.flux + at + i);
    if (tuned.viscous)
      for (int i = 0; i < count; i += 8) __builtin_prefetch(at_faces.jump + at + i);
  }
}

/// Calls f(group) for all elements.
template <class F>
void for_each_group(Range elements, const PartView& view, const FaceArrays& at_faces, Range groups, const F& f) {
  for (Lid i = groups.begin; i < groups.end; ++i) {
    const Lid first = elements.begin + width * i, next = std::min(first + width, elements.end);
    fetch_sides(view, at_faces, {next, std::min(next + width, elements.end)});
    f(ElementGroup{first, elements.end - 1, variables * view.bases});
  }
}

}  // namespace

void compute_inner_fluxes_in_lanes(Stream& stream, Range tiles, const PartView& view, double eta, const double* u,
                                   const FaceArrays& at_faces) {
  stream.loop(tiles, [=](Lid begin, Lid end) {
    if (!view.straight->viscous) {
      FaceTiles s;
      return for_each_group({begin, end}, view,
                            [&](const FaceGroup& group) { compute_group(view, group, u, at_faces.flux, s); });
    }
    ViscousFaceTiles s;
    for_each_group({begin, end}, view,
                   [&](const FaceGroup& group) { compute_viscous_group(view, group, eta, u, at_faces, s); });
  });
}

void advance_in_lanes(Stream& stream, Range elements, const PartView& view, const double* u, const FaceArrays& at_faces,
                      const StageArrays& stage) {
  stream.loop({0, (elements.size() + width - 1) / width}, [=](Lid begin, Lid end) {
    if (!view.straight->viscous) {
      ElementTiles s;
      return for_each_group(elements, view, at_faces, {begin, end},
                            [&](const ElementGroup& group) { advance_group(view, group, u, at_faces.flux, stage, s); });
    }
    ViscousElementTiles s;
    for_each_group(elements, view, at_faces, {begin, end},
                   [&](const ElementGroup& group) { advance_viscous_group(view, group, u, at_faces, stage, s); });
  });
}

#else  // no vectors: nobody asks for tiles

void compute_inner_fluxes_in_lanes(Stream&, Range, const PartView&, double, const double*, const FaceArrays&) {}
void advance_in_lanes(Stream&, Range, const PartView&, const double*, const FaceArrays&, const StageArrays&) {}

#endif

}  // namespace tutti::compressible
