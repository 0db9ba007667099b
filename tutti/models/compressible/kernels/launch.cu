// Kernels of elements. Compiles as plain C++ without CUDA.
#include "tutti/models/compressible/kernels/launch.hpp"

#include <algorithm>

#include "tutti/device/sums/reduce.hpp"
#include "tutti/models/compressible/kernels/limiter.hpp"
#include "tutti/models/compressible/kernels/quantities.hpp"
#include "tutti/models/compressible/kernels/recomputed_stage.hpp"
#include "tutti/models/compressible/kernels/straight.hpp"
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
    if (element.matrix >= 0) return;
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

/// The same of elements that are recomputed.
struct SourceOfMatrices {
  static constexpr int blocks = 2;
  PartView view;
  SourceFormulas f;
  double time;

  template <class Team>
  struct Scratch {
    recomputed::Tile<Team, Team::points> tile;
    double at[variables * Team::points];
    double moments[variables * padded(Team::bases)], sums[variables * padded(Team::bases)];
  };

  template <class Team>
  TUTTI_HD void operator()(const Team& team, Lid e, Scratch<Team>& s) const {
    const ElementRecord& element = view.elements[e];
    if (element.matrix < 0) return;
    constexpr int stride = Team::points;
    const int columns = padded(view.bases);
    set_zero(team, s.moments, variables * columns);
    set_zero(team, s.sums, variables * columns);
    for (int begin = 0; begin < element.points; begin += stride) {
      const int left = element.points - begin, count = left < stride ? left : stride;
      recomputed::set_monomials<true>(team, view, view.tables + element.places, element.points, begin, count, s.tile);
      for (int q = team.first(); q < count; q += team.step()) {
        const FormulaStep* formula = f.steps;
        for (int v = 0; v < variables; ++v) {
          s.at[v * stride + q] = view.tables[element.weights + begin + q] *
                                 evaluate_formula(formula, f.counts[v], f.places[f.first[e] + begin + q], time);
          formula += f.counts[v];
        }
      }
      team.meet();
      recomputed::add_moments<variables>(team, s.tile, view.bases, count, s.at, stride, view.bases, s.moments, columns);
      team.meet();
    }
    recomputed::add_projected<variables>(team, view, element, s.moments, columns, s.sums, columns);
    team.meet();
    double* to = f.source + Size{variables} * view.bases * e;
    for_each_value(team, variables, view.bases,
                   [&](int v, int l) { to[v * view.bases + l] = s.sums[v * columns + l]; });
    team.meet();
  }
};

struct Total {
  PartView view;
  const double* u;
  int variable;
  TUTTI_HD double operator()(Lid e) const {
    return view.elements[e].volume * u[(Size{variables} * e + variable) * view.bases];
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
  if (view.monomials.n > 0) return f(elements, TablesOrMatrices{{view.tables}});
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

/// A number of elements from OverMatrices.
struct NumberOfElement {
  const double* from;
  TUTTI_HD double operator()(Lid e) const { return from[e]; }
};
/// reduce(elements, number): of the quantity of all elements, range after range.
template <class Quantity, class Reduce>
void over_points(Stream& stream, Range elements, const PartView& view, const double* u, const Quantity& quantity,
                 const Reduce& reduce) {
  if (view.monomials.n > 0) {
    for_each_team(stream, elements, view.needs(), OverMatrices<Quantity>{view, u, quantity, view.numbers});
    return reduce(elements, NumberOfElement{view.numbers});
  }
  at_volumes(stream, elements, view, [&](Range some, const auto& volumes) {
    reduce(some, OverPoints<std::decay_t<decltype(volumes)>, Quantity>{view, volumes, u, quantity});
  });
}
template <class Quantity>
ExactSum sum_at_points(Stream& stream, Range elements, const PartView& view, const double* u,
                       const Quantity& quantity) {
  ExactSum sum;
  over_points(stream, elements, view, u, quantity,
              [&](Range some, const auto& number) { sum.merge(exact_sum(stream, some, number)); });
  return sum;
}
template <class Quantity>
double largest_at_points(Stream& stream, Range elements, const PartView& view, const double* u,
                         const Quantity& quantity) {
  double largest = -portable::infinity;
  over_points(stream, elements, view, u, quantity,
              [&](Range some, const auto& number) { largest = larger(max_value(stream, some, number), largest); });
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
  if (view.monomials.n > 0 && !elements.empty()) {
    if (!view.diffuses())
      for_each_team(stream, elements, view.needs(),
                    recomputed::Advance<false>{view, u, at_faces.flux, at_faces.jump, stage});
    else
      for_each_team(stream, elements, view.needs(),
                    recomputed::Advance<true>{view, u, at_faces.flux, at_faces.jump, stage});
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
    else if (!view.all_recomputed)
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
  if (view.monomials.n > 0) for_each_team(stream, elements, view.needs(), SourceOfMatrices{view, formulas, time});
  if (view.all_recomputed) return;
  at_volumes(stream, elements, view, [&](Range some, const auto& volumes) {
    for_each(stream, some, Source<std::decay_t<decltype(volumes)>>{view, volumes, formulas, time});
  });
}

ExactSum total_of(Stream& stream, Range elements, const PartView& view, const double* u, int variable) {
  return exact_sum(stream, elements, Total{view, u, variable});
}
ExactSum kinetic_energy_of(Stream& stream, Range elements, const PartView& view, const double* u) {
  return sum_at_points(stream, elements, view, u, KineticEnergy());
}
ExactSum enstrophy_of(Stream& stream, Range elements, const PartView& view, const double* u) {
  return sum_at_points(stream, elements, view, u, Enstrophy());
}
void rotation_of(Stream& stream, Range elements, const PartView& view, const double* u, double* to) {
  over_points(stream, elements, view, u, Rotation{to},
              [&](Range some, const auto& number) { for_each(stream, some, number); });
}
double largest_mach(Stream& stream, Range elements, const PartView& view, const double* u) {
  return largest_at_points(stream, elements, view, u, LargestMach());
}
double smallest_negated(Stream& stream, Range elements, const PartView& view, const double* u, int which) {
  return largest_at_points(stream, elements, view, u, Smallest{which});
}
double smallest_step_negated(Stream& stream, Range elements, const PartView& view, const double* u,
                             const double* projected) {
  return largest_at_points(stream, elements, view, u, SmallestStep{u, projected});
}
double largest_scaled(Stream& stream, Range elements, int bases, const double* x, const double (&scale)[variables]) {
  Scaled f{x, bases, {}};
  for (int v = 0; v < variables; ++v) f.scale[v] = scale[v];
  return max_value(stream, elements, f);
}

}  // namespace tutti::compressible
