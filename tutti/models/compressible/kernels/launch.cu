// Kernels of elements. Compiles as plain C++ without CUDA.
#include "tutti/models/compressible/kernels/launch.hpp"

#include <algorithm>

#include "tutti/device/sums/reduce.hpp"
#include "tutti/models/compressible/kernels/limiter.hpp"
#include "tutti/models/compressible/kernels/straight.hpp"
#include "tutti/models/compressible/kernels/viscous.hpp"
#include "tutti/residency/residency.hpp"

namespace tutti::compressible {
namespace {

struct Evaluate {
  BoundaryFormulas f;
  double time;
  TUTTI_HD void operator()(Lid i) const {
    for (int k = 0; k < f.count; ++k) {
      const BoundaryFormula& formula = f.formulas[k];
      if (formula.condition != f.conditions[i]) continue;
      f.values[static_cast<Size>(formula.value) * f.points + i] =
          evaluate_formula(f.steps + formula.first, formula.count, f.places[i], time);
    }
  }
};

/// The projection of formulas. Of orthonormal bases it needs no mass matrix.
template <class Volumes>
struct Source {
  PartView view;
  Volumes volumes;
  SourceFormulas f;
  double time;
  TUTTI_HD void operator()(Lid e) const {
    const ElementRecord& element = view.elements[e];
    double* to = f.source + Size{variables} * view.bases * e;
    for (int i = 0; i < variables * view.bases; ++i) to[i] = 0;
    const FormulaStep* formula = f.steps;
    for (int v = 0; v < variables; ++v) {
      for (int q = 0; q < element.points; ++q) {
        const double value =
            view.tables[element.weights + q] * evaluate_formula(formula, f.counts[v], f.places[f.first[e] + q], time);
        for (int l = 0; l < view.bases; ++l)
          to[v * view.bases + l] = std::fma(volumes(e, element.values + q + static_cast<Size>(l) * element.points),
                                            value, to[v * view.bases + l]);
      }
      formula += f.counts[v];
    }
  }
};

/// Values of the solution at points of an element's volume, one thread an element.
template <class Volumes>
struct AtPoints {
  PartView view;
  Volumes volumes;
  const double* u;
  TUTTI_HD void state(Lid e, int q, double* at) const {
    const ElementRecord& element = view.elements[e];
    const Size first = element.values + q;
    const double* x = u + Size{variables} * view.bases * e;
    for (int v = 0; v < variables; ++v) {
      double sum = 0;
      for (int l = 0; l < view.bases; ++l)
        sum = std::fma(volumes(e, first + static_cast<Size>(l) * element.points), x[v * view.bases + l], sum);
      at[v] = sum;
    }
  }
  TUTTI_HD double weight(Lid e, int q) const { return view.tables[view.elements[e].weights + q]; }
  TUTTI_HD int points(Lid e) const { return view.elements[e].points; }
};

struct Total {
  PartView view;
  const double* u;
  int variable;
  TUTTI_HD double operator()(Lid e) const {
    return view.elements[e].volume * u[(Size{variables} * e + variable) * view.bases];
  }
};
template <class Volumes>
struct KineticEnergy {
  AtPoints<Volumes> at;
  TUTTI_HD double operator()(Lid e) const {
    double sum = 0;
    for (int q = 0; q < at.points(e); ++q) {
      double s[variables];
      at.state(e, q, s);
      sum += at.weight(e, q) * (0.5 / s[0]) * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]);
    }
    return at.view.elements[e].volume * sum;
  }
};
/// The velocity's gradient g[d][i] = du_i/dx_d at a point, from the projection's table: its rows are w/V grad phi.
template <class Volumes>
struct Gradient {
  AtPoints<Volumes> at;
  TUTTI_HD void operator()(Lid e, int q, const double* state, double (*g)[3]) const {
    const PartView& view = at.view;
    const ElementRecord& element = view.elements[e];
    const int columns = padded(view.bases), chunk = q / chunk_points * chunk_points;
    const int count = element.points - chunk < chunk_points ? element.points - chunk : chunk_points;
    const double* x = at.u + Size{variables} * view.bases * e;
    double slope[3][4];
    for (int d = 0; d < 3; ++d) {
      const Size row = element.projection + Size{3 * chunk + d * count + (q - chunk)} * columns;
      for (int v = 0; v < 4; ++v) {
        double sum = 0;
        for (int l = 0; l < view.bases; ++l) sum = std::fma(at.volumes(e, row + l), x[v * view.bases + l], sum);
        slope[d][v] = sum / at.weight(e, q);
      }
    }
    const double* m = view.metric + Size{9} * e;
    for (int d = 0; d < 3; ++d) {
      double physical[4];
      for (int v = 0; v < 4; ++v)
        physical[v] =
            element.affine != 0 ? m[d] * slope[0][v] + m[3 + d] * slope[1][v] + m[6 + d] * slope[2][v] : slope[d][v];
      for (int i = 0; i < 3; ++i) g[d][i] = (physical[1 + i] - state[1 + i] / state[0] * physical[0]) / state[0];
    }
  }
};
template <class Volumes>
struct Enstrophy {
  AtPoints<Volumes> at;
  TUTTI_HD double operator()(Lid e) const {
    double sum = 0;
    for (int q = 0; q < at.points(e); ++q) {
      if (at.weight(e, q) == 0) continue;  // padding
      double s[variables], g[3][3];
      at.state(e, q, s);
      Gradient<Volumes>{at}(e, q, s, g);
      const double x = g[1][2] - g[2][1], y = g[2][0] - g[0][2], z = g[0][1] - g[1][0];
      sum += at.weight(e, q) * 0.5 * s[0] * (x * x + y * y + z * z);
    }
    return at.view.elements[e].volume * sum;
  }
};
template <class Volumes>
struct Rotation {
  AtPoints<Volumes> at;
  double* to;
  TUTTI_HD void operator()(Lid e) const {
    double mean[4] = {};
    for (int q = 0; q < at.points(e); ++q) {
      const double w = at.weight(e, q);
      if (w == 0) continue;
      double s[variables], g[3][3];
      at.state(e, q, s);
      Gradient<Volumes>{at}(e, q, s, g);
      mean[0] += w * (g[1][2] - g[2][1]);
      mean[1] += w * (g[2][0] - g[0][2]);
      mean[2] += w * (g[0][1] - g[1][0]);
      double product = 0;  // Q = -1/2 du_i/dx_j du_j/dx_i
      for (int d = 0; d < 3; ++d)
        for (int i = 0; i < 3; ++i) product += g[d][i] * g[i][d];
      mean[3] -= w * 0.5 * product;
    }
    for (int k = 0; k < 4; ++k) to[Size{4} * e + k] = mean[k];
  }
};
/// Larger than any; not a number where one is none.
TUTTI_HD inline double larger(double a, double b) {
  return a > b || a != a ? a : b;
}
template <class Volumes>
struct LargestMach {
  AtPoints<Volumes> at;
  TUTTI_HD double operator()(Lid e) const {
    double largest = 0;
    for (int q = 0; q < at.points(e); ++q) {
      double s[variables];
      at.state(e, q, s);
      const Primitive p = to_primitive(at.view.gas, s);
      largest = larger(std::sqrt(p.u * p.u + p.v * p.v + p.w * p.w) / sound_speed(at.view.gas, p.rho, p.p), largest);
    }
    return largest;
  }
};
template <class Volumes>
struct Smallest {
  AtPoints<Volumes> at;
  int which;
  TUTTI_HD double operator()(Lid e) const {
    double largest = -portable::infinity;
    for (int q = 0; q < at.points(e); ++q) {
      double s[variables];
      at.state(e, q, s);
      largest = larger(which == 0 ? -s[0] : -pressure(at.view.gas, s), largest);
    }
    return largest;
  }
};
template <class Volumes>
struct SmallestStep {
  AtPoints<Volumes> at;
  const double* projected;
  int order;
  TUTTI_HD double operator()(Lid e) const {
    const Gas& gas = at.view.gas;
    const double* side = projected + Size{3} * e;
    const double volume = at.view.elements[e].volume;
    const double squares = side[0] * side[0] + side[1] * side[1] + side[2] * side[2];
    const double artificial = at.view.sensor.on() ? artificial_viscosity(at.view, e, at.u) : 0;
    double largest = -portable::infinity;
    for (int q = 0; q < at.points(e); ++q) {
      double s[variables];
      at.state(e, q, s);
      const Primitive p = to_primitive(gas, s);
      const double sound = sound_speed(gas, p.rho, p.p);
      double rate =
          (std::fabs(p.u) + sound) * side[0] + (std::fabs(p.v) + sound) * side[1] + (std::fabs(p.w) + sound) * side[2];
      double diffusivity = artificial;
      if (gas.viscous()) {
        const double mu = gas.viscosity_at(p.p / (p.rho * gas.constant));
        const double shear = 4 * mu / 3, heat = gas.gamma * mu / gas.prandtl;
        diffusivity += (shear > heat ? shear : heat) / p.rho;
      }
      if (diffusivity > 0) rate += diffusivity * 3 * (2 * order + 1) / volume * squares;
      largest = larger(-volume / rate, largest);
    }
    return largest;
  }
};
struct Scaled {
  const double* x;
  int bases;
  double scale[variables];
  TUTTI_HD double operator()(Lid e) const {
    double largest = 0;
    for (int i = 0; i < variables * bases; ++i)
      largest = larger(portable::magnitude(x[Size{variables} * bases * e + i]) / scale[i / bases], largest);
    return largest;
  }
};

/// f(elements, volumes) for those elements, where their tables are: for kernels that a step is made of.
template <class F>
void with_volumes(Stream& stream, Range elements, const PartView& view, const F& f) {
  if (view.volumes == nullptr) return f(elements, TablesInPlace{view.tables});
  if (!elements.empty()) for_each_chunk(*view.volumes, stream, elements, f);
}
/// The same for other kernels: f is made for two kinds of volumes only.
template <class F>
void at_volumes(Stream& stream, Range elements, const PartView& view, const F& f) {
  if (view.volumes == nullptr) return f(elements, TablesInPlace{view.tables});
  if (!elements.empty())
    for_each_chunk(*view.volumes, stream, elements, [&](Range some, const auto& rows) {
      f(some, AnyRows{rows, rows.format});
    });
}

template <template <class> class Kernel>
ExactSum sum_at_points(Stream& stream, Range elements, const PartView& view, const double* u) {
  ExactSum sum;
  at_volumes(stream, elements, view, [&](Range some, const auto& volumes) {
    sum.merge(exact_sum(stream, some, Kernel<std::decay_t<decltype(volumes)>>{{view, volumes, u}}));
  });
  return sum;
}
template <template <class> class Kernel, class... More>
double largest_at_points(Stream& stream, Range elements, const PartView& view, const double* u, const More&... more) {
  double largest = -portable::infinity;
  at_volumes(stream, elements, view, [&](Range some, const auto& volumes) {
    largest =
        larger(max_value(stream, some, Kernel<std::decay_t<decltype(volumes)>>{{view, volumes, u}, more...}), largest);
  });
  return largest;
}

}  // namespace

void advance_elements(Stream& stream, Range elements, const PartView& view, const double* u, const FaceArrays& at_faces,
                      const StageArrays& stage, double* keep_positive) {
  if (view.straight != nullptr) {
#if defined(__CUDACC__)
    if (stream.kind() == DeviceKind::cuda)
      advance_straight(stream, elements, view, u, at_faces, stage);
    else
#endif
      advance_in_lanes(stream, elements, view, u, at_faces, stage);
    if (keep_positive != nullptr) compressible::keep_positive(stream, elements, view, keep_positive);
    return;
  }
  with_volumes(stream, elements, view, [&](Range some, const auto& volumes) {
    using Volumes = std::decay_t<decltype(volumes)>;
    // Small teams have no memory for tiles that are decoded.
    constexpr bool several = in_place<Volumes>;
    const auto advance = [&](const auto teams, const auto factored) {
      if (!view.diffuses())
        for_each_team<teams()>(stream, some, view.needs(),
                               AdvanceElements<Volumes, factored()>{view, volumes, u, at_faces.flux, stage});
      else
        for_each_team<teams()>(
            stream, some, view.needs(),
            AdvanceViscousElements<Volumes, factored()>{view, volumes, u, at_faces.flux, at_faces.jump, stage});
    };
    if (view.lines != nullptr)
      advance(std::false_type(), std::true_type());
    else
      advance(std::bool_constant<several>(), std::false_type());
    if (keep_positive != nullptr)
      for_each_team<false>(stream, some, view.needs(), KeepPositive<Volumes>{view, volumes, keep_positive});
  });
}

void keep_positive(Stream& stream, Range elements, const PartView& view, double* u) {
  with_volumes(stream, elements, view, [&](Range some, const auto& volumes) {
    using Volumes = std::decay_t<decltype(volumes)>;
    for_each_team<false>(stream, some, view.needs(), KeepPositive<Volumes>{view, volumes, u});
  });
}

void evaluate_boundary(Stream& stream, const BoundaryFormulas& formulas, double time) {
  for_each(stream, {0, formulas.points}, Evaluate{formulas, time});
}

void evaluate_source(Stream& stream, Range elements, const PartView& view, const SourceFormulas& formulas,
                     double time) {
  at_volumes(stream, elements, view, [&](Range some, const auto& volumes) {
    for_each(stream, some, Source<std::decay_t<decltype(volumes)>>{view, volumes, formulas, time});
  });
}

ExactSum total_of(Stream& stream, Range elements, const PartView& view, const double* u, int variable) {
  return exact_sum(stream, elements, Total{view, u, variable});
}
ExactSum kinetic_energy_of(Stream& stream, Range elements, const PartView& view, const double* u) {
  return sum_at_points<KineticEnergy>(stream, elements, view, u);
}
ExactSum enstrophy_of(Stream& stream, Range elements, const PartView& view, const double* u) {
  return sum_at_points<Enstrophy>(stream, elements, view, u);
}
void rotation_of(Stream& stream, Range elements, const PartView& view, const double* u, double* to) {
  at_volumes(stream, elements, view, [&](Range some, const auto& volumes) {
    for_each(stream, some, Rotation<std::decay_t<decltype(volumes)>>{{view, volumes, u}, to});
  });
}
double largest_mach(Stream& stream, Range elements, const PartView& view, const double* u) {
  return largest_at_points<LargestMach>(stream, elements, view, u);
}
double smallest_negated(Stream& stream, Range elements, const PartView& view, const double* u, int which) {
  return largest_at_points<Smallest>(stream, elements, view, u, which);
}
double smallest_step_negated(Stream& stream, Range elements, const PartView& view, const double* u,
                             const double* projected, int order) {
  return largest_at_points<SmallestStep>(stream, elements, view, u, projected, order);
}
double largest_scaled(Stream& stream, Range elements, int bases, const double* x, const double (&scale)[variables]) {
  Scaled f{x, bases, {}};
  for (int v = 0; v < variables; ++v) f.scale[v] = scale[v];
  return max_value(stream, elements, f);
}

}  // namespace tutti::compressible
