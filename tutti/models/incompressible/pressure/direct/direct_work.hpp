// What the passes of the direct solver enqueue for a part, on a CPU or a GPU.
#pragma once

#include <algorithm>

#include "tutti/base/denormals.hpp"
#include "tutti/models/incompressible/pressure/direct/column_modes.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_gpu.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"
#include "tutti/models/incompressible/pressure/direct/tridiagonal_rows.hpp"
#include "tutti/models/incompressible/pressure/direct/turned_planes.hpp"

namespace tutti::incompressible {

/// What both directions of the transforms have to know of a part's planes.
template <class T>
struct PlaneWork {
  DirectGpu<T>* gpu;  ///< null where the part is on none
  T* values;
  LineTransformView<T> x, y;
  Lid units;                 ///< of work a plane
  std::array<int, 3> order;  ///< of DirectLayout
  Lid nx, ny;
  bool apart;  ///< planes come from a field and go there, else they are in `values`
  BoxArray field;
  CellBox planes;  ///< in the field

  Range planes_of(Range work) const { return {(work.begin + units - 1) / units, (work.end + units - 1) / units}; }
  /// Values side by side in a plane are so in the field, too.
  bool same_rows() const { return order[0] == 0; }
  template <class V>
  V* first_of(V* in) const {
    return in + field.at(planes.lower[0], planes.lower[1], planes.lower[2]);
  }
  template <class V>
  PlanesOfRows<V> rows_of(V* in, V* own) const {
    if (!apart || !same_rows()) return {own, nx, Size{nx} * ny};
    return {first_of(in), field.stride(order[1]), field.stride(order[2])};
  }
  template <class V>
  TurnedPlanes<V> turned_of(V* in) const {
    return {first_of(in), field.stride(order[0]), field.stride(order[1])};
  }
  /// copy(from or to the field, from or to `values`, how many) for all values of planes [first, last).
  template <class V, class Copy>
  void for_field(V* in, Lid first, Lid last, const Copy& copy) const {
    if (!same_rows()) {
      const TurnedPlanes<V> turned = turned_of(in);
      return for_turned(nx, ny, turned.step, turned.row, {first, last},
                        [&](Size own, Size at) { copy(turned.first + at, values + own, 1); });
    }
    const PlanesOfRows<V> rows = rows_of<V>(in, values);
    T* own = values + first * (Size{nx} * ny);
    for (Lid plane = first; plane < last; ++plane)
      for (Lid row = 0; row < ny; ++row, own += nx) copy(rows.first + plane * rows.plane + row * rows.row, own, nx);
  }
  /// `values` of planes [first, last) to modes.
  void transform(Lid first, Lid last) const {
    transform_x(x, values, values, {first * ny, last * ny});
    if (ny > 1) transform_y(y, values, values, nx, {first * nx, last * nx});
  }
  /// use(first, last) for a few planes at a time: they stay in the cache from one direction to the next.
  template <class Use>
  void for_planes(Stream& stream, Range work, const Use& use) const {
    stream.loop(planes_of(work), [ny = ny, least = same_rows() ? 1 : 8, use](Lid begin, Lid end) {
      const FlushDenormals<T> flush;
      const Lid at_once = std::max<Lid>(least, 64 / ny);
      for (Lid k = begin; k < end; k += at_once) use(k, std::min(end, k + at_once));
    });
  }
};

template <class T>
struct ToModes {
  PlaneWork<T> w;
  const T* rhs;
  void operator()(Stream& stream, Range work) const {
    if (w.gpu != nullptr) {
      if (!w.same_rows()) w.gpu->turn_from(stream, w.turned_of(rhs), w.values, w.planes_of(work));
      return w.gpu->to_modes(stream, w.template rows_of<const T>(rhs, w.values), w.values, w.planes_of(work));
    }
    w.for_planes(stream, work, [w = w, rhs = rhs](Lid first, Lid last) {
      if (w.apart) w.for_field(rhs, first, last, [](const T* from, T* to, Lid count) { std::copy_n(from, count, to); });
      w.transform(first, last);
    });
  }
};

/// The same for div u* / dt, found on the way.
template <class T>
struct DivideToModes {
  PlaneWork<T> w;
  DivergenceRows<T> rows;
  void operator()(Stream& stream, Range work) const {
    if (w.gpu != nullptr) return w.gpu->divide_to_modes(stream, rows, w.values, w.planes_of(work));
    w.for_planes(stream, work, [w = w, rows = rows](Lid first, Lid last) {
      T* own = w.values + first * (Size{w.nx} * w.ny);
      for (Lid plane = first; plane < last; ++plane)
        for (Lid row = 0; row < w.ny; ++row, own += w.nx) rows.take(plane, row, own);
      w.transform(first, last);
    });
  }
};

template <class T>
struct FromModes {
  PlaneWork<T> w;
  T* p;
  void operator()(Stream& stream, Range work) const {
    if (w.gpu != nullptr) {
      w.gpu->from_modes(stream, w.values, w.template rows_of<T>(p, w.values), w.planes_of(work));
      if (!w.same_rows()) w.gpu->turn_to(stream, w.values, w.turned_of(p), w.planes_of(work));
      return;
    }
    w.for_planes(stream, work, [w = w, p = p](Lid first, Lid last) {
      if (w.ny > 1) transform_y(w.y, w.values, w.values, w.nx, {first * w.nx, last * w.nx});
      transform_x(w.x, w.values, w.values, {first * w.ny, last * w.ny});
      if (w.apart) w.for_field(p, first, last, [](T* to, const T* from, Lid count) { std::copy_n(from, count, to); });
    });
  }
};

/// The constant column of a line that parts share: all of its rows come to each of them, which solves all.
template <class T>
struct NullColumn {
  TridiagonalView<T> line;
  Buffer<T> values;  ///< of all rows
  Range rows;        ///< of the part

  void solve(Stream& stream, DirectGpu<T>* gpu, const ColumnRows<T>& to) {
    T* const all = values.data();
    if (gpu != nullptr) return gpu->solve_null(stream, all, to);
    stream.loop({0, 1}, [this, all, to](Lid, Lid) {
      const FlushDenormals<T> flush;
      solve_null_column(line, [all](Lid k) -> T& { return all[k]; });
      for (Lid k = rows.begin; k < rows.end; ++k) to.row(k - rows.begin)[0] = all[k];
    });
  }
};

template <class T>
struct Eliminate {
  DirectGpu<T>* gpu;
  TridiagonalView<T> line;
  const T* lambda;  ///< of the part's columns
  ColumnRows<T> rows;
  void operator()(Stream& stream, Range range) const {
    if (gpu != nullptr) return gpu->eliminate(stream, rows, range);
    stream.loop(range, [own = *this](Lid begin, Lid end) {
      const FlushDenormals<T> flush;
      solve_columns(own.line, own.lambda, own.rows, {begin, end});
    });
  }
};

/// What Eliminate does, where columns have modes of their own. All of their rows lie in one array.
template <class T>
struct DivideModes {
  DirectGpu<T>* gpu;
  ColumnModesView<T> modes;
  const T* lambda;
  T* values;
  Lid columns;
  void operator()(Stream& stream, Range range) const {
    if (gpu != nullptr) return gpu->solve_by_modes(stream, values, range);
    stream.loop(range, [own = *this](Lid begin, Lid end) {
      const FlushDenormals<T> flush;
      solve_by_modes(own.modes, own.lambda, own.values, own.columns, {begin, end});
    });
  }
};

/// Elimination where it passes through planes. Units of work: ColumnWaves::units() of each wave, and then
/// one of the constant column.
template <class T>
struct EliminateInWaves {
  DirectGpu<T>* gpu;
  LinePart<T> part;
  const T* lambda;
  ColumnRows<T> rows;
  T* ratios;
  Size stride;
  ColumnWaves waves;
  NullColumn<T>* null;

  /// The columns of a piece that are in `work`; `first`: the unit of the piece's first column.
  Range columns_in(Range work, int piece, Lid first) const {
    const Range all = waves.columns_of(piece);
    const auto column = [&](Lid unit) { return std::clamp(unit - first + all.begin, all.begin, all.end); };
    return {column(work.begin), column(work.end)};
  }
  void operator()(Stream& stream, Range work) const {
    if (work.begin >= waves.units() * waves.waves()) return null->solve(stream, gpu, rows);
    const int wave = work.begin / waves.units();
    const Lid first = wave * waves.units();
    if (gpu != nullptr) return on_gpu(stream, wave, first, work);
    stream.loop(work, [own = *this, wave, first](Lid begin, Lid end) {
      const FlushDenormals<T> flush;
      const Range up = own.columns_in({begin, end}, own.waves.piece_up(wave), first);
      if (own.waves.is_last()) return solve_last_columns(own.part, own.lambda, own.rows, up);
      eliminate_columns(own.part, own.lambda, own.rows, own.ratios, own.stride, up);
      const Range down = own.columns_in({begin, end}, own.waves.piece_down(wave), first + own.waves.room());
      substitute_columns<T>(own.part, own.lambda, own.rows, own.ratios, own.stride, down);
    });
  }
  void on_gpu(Stream& stream, int wave, Lid first, Range work) const {
    const Range up = columns_in(work, waves.piece_up(wave), first);
    if (waves.is_last()) return gpu->eliminate(stream, rows, up);
    gpu->substitute_down(stream, rows, columns_in(work, waves.piece_down(wave), first + waves.room()));
    gpu->eliminate_up(stream, rows, up);
  }
};

}  // namespace tutti::incompressible
