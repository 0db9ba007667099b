// Values beyond the ends of the box. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/boundary_conditions.hpp"

#include <type_traits>

#include "tutti/device/for_each.hpp"

namespace tutti::incompressible {
namespace {

/// A cell beyond an end and its neighbour inside.
struct EndCell {
  int end;
  Lid at[3];         ///< of the cell beyond
  Lid ghost, inner;  ///< places in the arrays
};

/// `around`: as cells_around() counts. The direction is known to the compiler: a GPU
/// would have an array with an index that is not in slow memory.
template <int d>
TUTTI_HD inline EndCell end_cell_along(const BoxArray& array, const EndsView& ends, Lid r, bool around) {
  constexpr int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
  const Lid size_a = array.stored.size(a), plane = size_a * array.stored.size(b);
  const Range &in_a = ends.known[0], &in_b = ends.known[1];
  const Lid each = around ? plane - in_a.size() * in_b.size() : plane;
  EndCell cell;
  cell.end = r < each ? 0 : 1;
  const Lid rest = r < each ? r : r - each;
  Lid at_b = rest / size_a, at_a = rest - at_b * size_a;
  if (around) {
    // Whole lines first, then what is left of the others.
    const Lid lines = array.stored.size(b) - in_b.size(), left = size_a - in_a.size(), behind = rest - lines * size_a;
    if (behind < 0) {
      if (at_b >= in_b.begin) at_b += in_b.size();
    } else {
      at_b = in_b.begin + behind / left;
      at_a = behind % left;
      if (at_a >= in_a.begin) at_a += in_a.size();
    }
  }
  cell.at[a] = array.stored.lower[a] + at_a;
  cell.at[b] = array.stored.lower[b] + at_b;
  cell.at[d] = ends.end[cell.end].inner;
  cell.inner = array.at(cell.at[0], cell.at[1], cell.at[2]);
  cell.at[d] = ends.end[cell.end].ghost;
  cell.ghost = array.at(cell.at[0], cell.at[1], cell.at[2]);
  return cell;
}

TUTTI_HD inline EndCell end_cell(const BoxArray& array, const EndsView& ends, Lid r, bool around = false) {
  return ends.direction == 0   ? end_cell_along<0>(array, ends, r, around)
         : ends.direction == 1 ? end_cell_along<1>(array, ends, r, around)
                               : end_cell_along<2>(array, ends, r, around);
}
/// use(direction, cell) for cell r of those beyond all ends; `direction`: a std::integral_constant.
template <class Use>
TUTTI_HD inline void with_end_cell(const BoxArray& array, const BoxEndsView& ends, Lid r, const Use& use) {
  if (r < ends.cells[0])
    return use(std::integral_constant<int, 0>(), end_cell_along<0>(array, ends.along[0], r, false));
  r -= ends.cells[0];
  if (r < ends.cells[1])
    return use(std::integral_constant<int, 1>(), end_cell_along<1>(array, ends.along[1], r, false));
  use(std::integral_constant<int, 2>(), end_cell_along<2>(array, ends.along[2], r - ends.cells[1], false));
}
/// The end in a direction that cell i is beyond; -1: none.
TUTTI_HD inline int end_before(const EndsView& ends, Lid i) {
  for (int e = 0; e < ends.count; ++e)
    if (i == ends.end[e].ghost) return e;
  return -1;
}

/// The datum at the end, where component c lies (-1: a scalar).
TUTTI_HD inline double value_at(const BoxArray& array, const EndsView& ends, const EndCell& cell, const EndValue& value,
                                int c, double time) {
  if (value.count == 0) return value.constant;
  Vec3 at;
  for (int d = 0; d < 3; ++d) {
    const Lid i = cell.at[d] - array.stored.lower[d];
    at[d] = d == ends.direction ? ends.end[cell.end].position : d == c ? ends.faces[d][i] : ends.centres[d][i];
  }
  return evaluate_formula(ends.steps + value.first, value.count, at, time);
}

TUTTI_HD inline bool is_wall(VelocityEnd kind) {
  return kind == VelocityEnd::no_slip || kind == VelocityEnd::free_slip;
}

/// The velocity through the end, where it is given: on the face itself.
template <class T>
TUTTI_HD inline T through(const BoxArray& array, const EndsView& ends, const EndCell& cell, double time) {
  const EndView& end = ends.end[cell.end];
  if (is_wall(end.velocity)) return T(0);
  return static_cast<T>(value_at(array, ends, cell, end.value[ends.direction], ends.direction, time));
}

/// A scalar and what holds for it at the ends.
template <class T>
struct EndScalar {
  ScalarEndsView at_ends;
  T* s = nullptr;
  T diffusivity = 0;
  TUTTI_HD void fill(const BoxArray& array, const EndsView& ends, const EndCell& cell, double time) const {
    const T inner = s[cell.inner];
    const ScalarEnd kind = at_ends.kind[cell.end];
    if (kind == ScalarEnd::no_flux) {
      s[cell.ghost] = inner;
      return;
    }
    const T value = static_cast<T>(value_at(array, ends, cell, at_ends.value[cell.end], -1, time));
    s[cell.ghost] = kind == ScalarEnd::fixed
                        ? T(2) * value - inner
                        : inner + value * static_cast<T>(ends.end[cell.end].distance) / diffusivity;
  }
};

template <class T>
struct FillPredicted {
  BoxArray array;
  BoxEndsView ends;
  VelocityView<T> u;
  double time;
  TUTTI_HD void operator()(Lid r) const {
    with_end_cell(array, ends, r, [this](auto d, const EndCell& cell) {
      const EndView& end = ends.along[d].end[cell.end];
      const bool open = end.velocity == VelocityEnd::outflow;
      const Lid face = end.upper ? cell.inner : cell.ghost,
                before = end.upper ? cell.inner - array.stride(d) : cell.inner;
      u.c[d][face] = open ? u.c[d][before] : through<T>(array, ends.along[d], cell, time);
    });
  }
};

template <class T>
struct FillScalar {
  BoxArray array;
  EndsView ends;
  EndScalar<T> scalar;
  double time;
  TUTTI_HD void operator()(Lid r) const { scalar.fill(array, ends, end_cell(array, ends, r), time); }
};

template <class T>
struct FillVelocity {
  BoxArray array;
  EndsView ends;
  VelocityView<T> u;
  const T *intermediate, *p;  ///< intermediate: its normal component
  Lid stride;
  double time;
  T dt;
  bool around;
  TUTTI_HD void operator()(Lid r) const {
    const EndCell cell = end_cell(array, ends, r, around);
    const EndView& end = ends.end[cell.end];
    const bool open = end.velocity == VelocityEnd::outflow;
    for (int c = 0; c < 3; ++c) {
      T* q = u.c[c];
      if (c == ends.direction) {
        if (end.upper) {
          if (!open) q[cell.inner] = through<T>(array, ends, cell, time);
          q[cell.ghost] = q[cell.inner];
        } else if (open) {
          q[cell.ghost] =
              intermediate[cell.ghost] - dt * (p[cell.inner] - p[cell.ghost]) / static_cast<T>(end.distance);
        } else {
          q[cell.ghost] = through<T>(array, ends, cell, time);
        }
      } else if (end.velocity == VelocityEnd::free_slip || open) {
        q[cell.ghost] = q[cell.inner];
      } else {
        const T value = static_cast<T>(value_at(array, ends, cell, end.value[c], c, time));
        q[cell.ghost] = T(2) * value - q[cell.inner];
      }
    }
  }
};

template <class T>
struct FillUnprojected {
  GridView<T> g;
  EndsView ends;
  int c;
  T* q;
  const T* p;
  double time;
  T dt;
  TUTTI_HD void operator()(Lid r) const {
    const EndCell cell = end_cell(g.array, ends, r);
    const EndView& end = ends.end[cell.end];
    const bool open = end.velocity == VelocityEnd::outflow;
    const Lid stride = g.stride(c);
    if (c == ends.direction) {
      const Lid face = end.upper ? cell.inner : cell.ghost, before = end.upper ? cell.inner - stride : cell.inner;
      q[face] = open ? q[before] : through<T>(g.array, ends, cell, time);
    } else if (end.velocity == VelocityEnd::free_slip || open) {
      q[cell.ghost] = q[cell.inner];
    } else {
      const T value = static_cast<T>(value_at(g.array, ends, cell, end.value[c], c, time));
      // The last layer has no neighbour, and no owned cell looks at it.
      const bool inside = cell.at[c] + 1 < g.array.stored.upper[c];
      const T slip = inside ? dt * (p[cell.inner + stride] - p[cell.inner]) * g.line[c].distance(cell.at[c]) : T(0);
      q[cell.ghost] = T(2) * (value + slip) - q[cell.inner];
    }
  }
};

/// What holds for a field at an end: through it, the value on the face or that of the face before; else the value on
/// the end, which is a mean, or the slope there.
enum class CarriedEnd : std::uint8_t { nothing, face, open_face, mean, slope };

/// `scalar`: what holds for it, where `component` is -1.
CarriedEnd carried_end(const EndView& end, ScalarEnd scalar, int direction, int component, bool own) {
  const bool open = end.velocity == VelocityEnd::outflow;
  if (component == direction) return open ? CarriedEnd::open_face : CarriedEnd::face;
  if (!own) return CarriedEnd::nothing;
  const bool sloped = component >= 0 ? open || end.velocity == VelocityEnd::free_slip : scalar != ScalarEnd::fixed;
  return sloped ? CarriedEnd::slope : CarriedEnd::mean;
}

template <class T>
struct CarryEnds {
  BoxArray array;
  EndsView ends;
  CarriedFields<T> fields;
  CarriedEnd kind[2][CarriedFields<T>::most];
  TUTTI_HD void operator()(Lid r) const {
    const EndCell cell = end_cell(array, ends, r);
    const bool upper = ends.end[cell.end].upper;
    const Lid face = upper ? cell.inner : cell.ghost;
    const Lid before = upper ? cell.inner - array.stride(ends.direction) : cell.inner;
    for (int f = 0; f < fields.count; ++f) {
      const T* const from = fields.from[f];
      T* const to = fields.to[f];
      switch (kind[cell.end][f]) {
        case CarriedEnd::nothing:
          break;
        case CarriedEnd::face:
          to[face] = from[face];
          break;
        case CarriedEnd::open_face:
          to[face] = to[before];
          break;
        case CarriedEnd::mean:
          to[cell.ghost] = (from[cell.ghost] + from[cell.inner]) - to[cell.inner];
          break;
        case CarriedEnd::slope:
          to[cell.ghost] = to[cell.inner] + (from[cell.ghost] - from[cell.inner]);
          break;
      }
    }
  }
};

/// The values before the ends, negated at those of a kind.
template <class T>
struct FillMirrored {
  BoxArray array;
  BoxEndsView ends;
  T* values;
  VelocityEnd negated;
  TUTTI_HD void operator()(Lid r) const {
    with_end_cell(array, ends, r, [this](auto counted, const EndCell& cell) {
      Lid at[3] = {cell.at[0], cell.at[1], cell.at[2]};
      bool negative = false;
      for (int d = 0; d < 3; ++d) {
        const int e = end_before(ends.along[d], at[d]);
        if (e < 0) continue;
        if (d > counted) return;  // one beyond several ends is set where it is counted last
        at[d] = ends.along[d].end[e].inner;
        negative = negative != (ends.along[d].end[e].velocity == negated);
      }
      const T inner = values[array.at(at[0], at[1], at[2])];
      values[cell.ghost] = negative ? -inner : inner;
    });
  }
};

struct Lines {
  const double* at[3];
};

template <class T>
struct EvaluateField {
  BoxArray array;
  const FormulaStep* steps;
  int count;
  Lines lines;
  double time;
  T* values;
  TUTTI_HD void operator()(Lid r) const {
    const Lid nx = array.stored.size(0), ny = array.stored.size(1);
    const Vec3 at{lines.at[0][r % nx], lines.at[1][r / nx % ny], lines.at[2][r / nx / ny]};
    values[r] = static_cast<T>(evaluate_formula(steps, count, at, time));
  }
};

std::vector<double> coordinates(const GridLine& line, Lid begin, Lid end, bool upper_faces) {
  std::vector<double> at;
  for (Lid i = begin; i < end; ++i) at.push_back(upper_faces ? line.centre(i) + 0.5 * line.width(i) : line.centre(i));
  return at;
}

EndValue add_formula(const Expression& formula, std::vector<FormulaStep>& steps) {
  if (formula.is_constant()) return {0, 0, formula({0, 0, 0})};
  const EndValue value{static_cast<Lid>(steps.size()), static_cast<Lid>(formula.steps().size()), 0};
  steps.insert(steps.end(), formula.steps().begin(), formula.steps().end());
  return value;
}

}  // namespace

BoundaryConditions::BoundaryConditions(Stream& stream, const FlowCase& flow, const CellBox& box, const BoxArray& array)
    : array_(array) {
  scalars_.resize(flow.scalars.size());
  if (box.empty()) return;
  std::vector<FormulaStep> steps;
  for (std::size_t d = 0; d < 3; ++d) {
    const GridLine& line = flow.grid.lines[d];
    EndsView& view = views_[d];
    view.direction = static_cast<int>(d);
    for (std::size_t o = 0, other = 0; o < 3; ++o)
      if (o != d) {
        const Lid from = array.stored.lower[o];
        Range& known = view.known[other++];
        known = {box.lower[o] - from, box.upper[o] - from};
        const GridLine& across = flow.grid.lines[o];
        if (o < d || across.periodic) continue;
        if (box.lower[o] == 0) --known.begin;
        if (box.upper[o] == across.cells()) ++known.end;
      }
    for (const bool upper : {false, true}) {
      if (line.periodic || (upper ? box.upper[d] != line.cells() : box.lower[d] != 0)) continue;
      const FlowEnd& from = flow.ends[2 * d + (upper ? 1 : 0)];
      for (std::size_t s = 0; s < scalars_.size(); ++s) {
        const FlowScalarEnd& of_scalar = flow.scalars[s].ends[2 * d + (upper ? 1 : 0)];
        scalars_[s][d].kind[view.count] = of_scalar.kind;
        scalars_[s][d].value[view.count] = add_formula(of_scalar.value, steps);
      }
      EndView& end = view.end[view.count++];
      end.velocity = from.velocity;
      for (std::size_t c = 0; c < 3; ++c) end.value[c] = add_formula(from.value[c], steps);
      end.upper = upper;
      end.ghost = upper ? line.cells() : -1;
      end.inner = upper ? line.cells() - 1 : 0;
      end.position = upper ? line.faces.back() : line.faces.front();
      end.distance = line.distance(upper ? line.cells() - 1 : -1);
    }
    const Lid begin = array.stored.lower[d], after = array.stored.upper[d];
    centres_[d] = make_buffer(stream, std::span<const double>(coordinates(line, begin, after, false)), "cell centres");
    faces_[d] = make_buffer(stream, std::span<const double>(coordinates(line, begin, after, true)), "cell faces");
  }
  steps_ = make_buffer(stream, std::span<const FormulaStep>(steps), "formulas at the ends");
  for (EndsView& view : views_) {
    view.steps = steps_.data();
    for (std::size_t d = 0; d < 3; ++d) {
      view.centres[d] = centres_[d].data();
      view.faces[d] = faces_[d].data();
    }
  }
}

Lid BoundaryConditions::cells(int d) const {
  const EndsView& ends = view(d);
  if (ends.count == 0) return 0;
  const int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
  return ends.count * array_.stored.size(a) * array_.stored.size(b);
}

Lid BoundaryConditions::cells_around(int d) const {
  const EndsView& ends = view(d);
  return cells(d) - ends.count * ends.known[0].size() * ends.known[1].size();
}

BoxEndsView BoundaryConditions::all() const {
  BoxEndsView ends;
  for (int d = 0; d < 3; ++d) {
    ends.along[d] = view(d);
    ends.cells[d] = cells(d);
  }
  return ends;
}

template <class T>
RowEnds<T> BoundaryConditions::row_ends() const {
  RowEnds<T> rows;
  const EndsView& ends = view(0);
  for (int e = 0; e < ends.count; ++e) {
    const EndView& end = ends.end[e];
    if (end.velocity == VelocityEnd::outflow) return {};
    for (const EndValue& value : end.value)
      if (value.count > 0) return {};
    RowEnd<T>& row = end.upper ? rows.upper : rows.lower;
    row.cell = end.inner;
    row.through = is_wall(end.velocity) ? T(0) : static_cast<T>(end.value[0].constant);
    row.given = end.velocity != VelocityEnd::free_slip;
    for (int c = 1; c < 3; ++c) row.along[c - 1] = static_cast<T>(end.value[c].constant);
  }
  return rows;
}

template <class T>
void fill_intermediate(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends, double time, bool x_done) {
  BoxEndsView all = ends.all();
  if (x_done) all.cells[0] = 0;
  to.add(on_rows(FillPredicted<T>{part.grid.array, all, part.intermediate_velocity(), time}, all.count()));
}

template <class T>
void fill_velocity(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends, int d, double time, T dt,
                   bool around) {
  to.add(on_rows(FillVelocity<T>{part.grid.array, ends.view(d), part.velocity(), part.intermediate[d].data(),
                                 part.p.data(), part.grid.array.stride(d), time, dt, around},
                 around ? ends.cells_around(d) : ends.cells(d)));
}

template <class T>
void fill_scalars(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends, int d, double time, bool next) {
  for (std::size_t s = 0; s < part.scalars.size(); ++s)
    fill_scalar(to, part, s, (next ? part.scalars[s].next : part.scalars[s].now).data(), ends, d, time);
}

template <class T>
void fill_scalar(Kernels& to, FlowPart<T>& part, std::size_t s, T* values, const BoundaryConditions& ends, int d,
                 double time) {
  const EndScalar<T> scalar{ends.scalar(s, d), values, part.scalars[s].diffusivity};
  to.add(on_rows(FillScalar<T>{part.grid.array, ends.view(d), scalar, time}, ends.cells(d)));
}

template <class T>
void fill_unprojected(Kernels& to, FlowPart<T>& part, int c, T* values, const BoundaryConditions& ends, int d,
                      double time, T dt) {
  to.add(
      on_rows(FillUnprojected<T>{part.grid.view(), ends.view(d), c, values, part.p.data(), time, dt}, ends.cells(d)));
}

template <class T>
void carry_ends(Kernels& to, const BoxArray& array, const CarriedFields<T>& fields, const BoundaryConditions& ends,
                int d, int own) {
  CarryEnds<T> carry{array, ends.view(d), fields, {}};
  for (int e = 0; e < ends.view(d).count; ++e)
    for (int f = 0; f < fields.count; ++f) {
      const bool of_scalar = fields.component[f] < 0;
      const ScalarEnd scalar = of_scalar ? ends.scalar(fields.scalar[f], d).kind[e] : ScalarEnd::no_flux;
      carry.kind[e][f] = carried_end(ends.view(d).end[e], scalar, d, fields.component[f], e < own);
    }
  to.add(on_rows(carry));
}

template <class T>
void fill_pressure(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends) {
  to.add(on_rows(FillMirrored<T>{part.grid.array, ends.all(), part.p.data(), VelocityEnd::outflow}, ends.cells()));
}

template <class T>
void fill_eddy_viscosity(Kernels& to, FlowPart<T>& part, const BoundaryConditions& ends) {
  to.add(on_rows(FillMirrored<T>{part.grid.array, ends.all(), part.eddy_viscosity.data(), VelocityEnd::no_slip},
                 ends.cells()));
}

template <class T>
void evaluate_field(Stream& stream, const BoxGrid& grid, const BoxArray& array, const CellBox& box,
                    const Expression& formula, int component, double time, Buffer<T>& values) {
  if (box.empty()) return;
  std::array<Buffer<double>, 3> at;
  std::array<std::vector<double>, 3> lists;
  for (std::size_t d = 0; d < 3; ++d) {
    lists[d] =
        coordinates(grid.lines[d], array.stored.lower[d], array.stored.upper[d], component == static_cast<int>(d));
    at[d] = make_buffer(stream, std::span<const double>(lists[d]), "coordinates");
  }
  if (formula.is_sampled()) {
    std::vector<T> sampled;
    for (const double z : lists[2])
      for (const double y : lists[1])
        for (const double x : lists[0]) sampled.push_back(static_cast<T>(formula({x, y, z}, time)));
    sampled.resize(values.size());
    upload(stream, values, std::span<const T>(sampled));
    return;
  }
  const auto steps = make_buffer(stream, formula.steps(), "formula");
  for_each(stream, {0, static_cast<Lid>(values.size())},
           EvaluateField<T>{array,
                            steps.data(),
                            static_cast<int>(steps.size()),
                            {{at[0].data(), at[1].data(), at[2].data()}},
                            time,
                            values.data()});
  stream.synchronize();
}

#define TUTTI_INSTANTIATE(T)                                                                                         \
  template void fill_intermediate(Kernels&, FlowPart<T>&, const BoundaryConditions&, double, bool);                  \
  template void fill_velocity(Kernels&, FlowPart<T>&, const BoundaryConditions&, int, double, T, bool);              \
  template RowEnds<T> BoundaryConditions::row_ends() const;                                                          \
  template void fill_scalars(Kernels&, FlowPart<T>&, const BoundaryConditions&, int, double, bool);                  \
  template void fill_scalar(Kernels&, FlowPart<T>&, std::size_t, T*, const BoundaryConditions&, int, double);        \
  template void fill_unprojected(Kernels&, FlowPart<T>&, int, T*, const BoundaryConditions&, int, double, T);        \
  template void carry_ends(Kernels&, const BoxArray&, const CarriedFields<T>&, const BoundaryConditions&, int, int); \
  template void fill_pressure(Kernels&, FlowPart<T>&, const BoundaryConditions&);                                    \
  template void fill_eddy_viscosity(Kernels&, FlowPart<T>&, const BoundaryConditions&);                              \
  template void evaluate_field(Stream&, const BoxGrid&, const BoxArray&, const CellBox&, const Expression&, int,     \
                               double, Buffer<T>&);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(float)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::incompressible
