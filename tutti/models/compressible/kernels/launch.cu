// Kernels of faces and elements. Compiles as plain C++ without CUDA.
#include "tutti/models/compressible/kernels/launch.hpp"

#include "tutti/device/reduce.hpp"
#include "tutti/models/compressible/kernels/viscous.hpp"

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
struct Source {
  PartView view;
  SourceFormulas f;
  double time;
  TUTTI_HD void operator()(Lid e) const {
    const ElementRecord& element = view.elements[e];
    double* to = f.source + Size{variables} * view.bases * e;
    for (int i = 0; i < variables * view.bases; ++i) to[i] = 0;
    const FormulaStep* formula = f.steps;
    for (int v = 0; v < variables; ++v) {
      for (int q = 0; q < element.points; ++q) {
        const double value = view.tables[element.weights + q] *
                             evaluate_formula(formula, f.counts[v], f.places[f.first[e] + q], time);
        const double* phi = view.tables + element.values + q;
        for (int l = 0; l < view.bases; ++l)
          to[v * view.bases + l] = std::fma(phi[static_cast<Size>(l) * element.points], value, to[v * view.bases + l]);
      }
      formula += f.counts[v];
    }
  }
};

/// Values of the solution at points of an element's volume, one thread an element.
struct AtPoints {
  PartView view;
  const double* u;
  TUTTI_HD void state(Lid e, int q, double* at) const {
    const ElementRecord& element = view.elements[e];
    const double* table = view.tables + element.values + q;
    const double* x = u + Size{variables} * view.bases * e;
    for (int v = 0; v < variables; ++v) {
      double sum = 0;
      for (int l = 0; l < view.bases; ++l)
        sum = std::fma(table[static_cast<Size>(l) * element.points], x[v * view.bases + l], sum);
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
struct KineticEnergy {
  AtPoints at;
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
/// Larger than any; not a number where one is none.
TUTTI_HD inline double larger(double a, double b) {
  return a > b || a != a ? a : b;
}
struct LargestMach {
  AtPoints at;
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
struct Smallest {
  AtPoints at;
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
struct SmallestStep {
  AtPoints at;
  const double* projected;
  int order;
  TUTTI_HD double operator()(Lid e) const {
    const Gas& gas = at.view.gas;
    const double* side = projected + Size{3} * e;
    const double volume = at.view.elements[e].volume;
    const double squares = side[0] * side[0] + side[1] * side[1] + side[2] * side[2];
    double largest = -portable::infinity;
    for (int q = 0; q < at.points(e); ++q) {
      double s[variables];
      at.state(e, q, s);
      const Primitive p = to_primitive(gas, s);
      const double sound = sound_speed(gas, p.rho, p.p);
      double rate = (std::fabs(p.u) + sound) * side[0] + (std::fabs(p.v) + sound) * side[1] +
                    (std::fabs(p.w) + sound) * side[2];
      if (gas.viscous()) {
        const double mu = gas.viscosity_at(p.p / (p.rho * gas.constant));
        const double shear = 4 * mu / 3, heat = gas.gamma * mu / gas.prandtl;
        rate += (shear > heat ? shear : heat) / p.rho * 3 * (2 * order + 1) / volume * squares;
      }
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

}  // namespace

void compute_fluxes(Stream& stream, Range faces, const PartView& view, const BoundaryView& boundary, double eta,
                    const double* u, const FaceArrays& at_faces) {
  if (!view.gas.viscous())
    return for_each_team(stream, faces, FaceFluxes<BoundaryView>{view, u, at_faces.flux, boundary});
  for_each_team(stream, faces, ViscousFaceFluxes<BoundaryView>{view, u, at_faces.flux, at_faces.jump, eta, boundary});
}

void advance_elements(Stream& stream, Range elements, const PartView& view, const double* u,
                      const FaceArrays& at_faces, const StageArrays& stage) {
  if (!view.gas.viscous())
    return for_each_team(stream, elements, AdvanceElements{view, u, at_faces.flux, stage});
  for_each_team(stream, elements, AdvanceViscousElements{view, u, at_faces.flux, at_faces.jump, stage});
}

void evaluate_boundary(Stream& stream, const BoundaryFormulas& formulas, double time) {
  for_each(stream, {0, formulas.points}, Evaluate{formulas, time});
}

void evaluate_source(Stream& stream, Range elements, const PartView& view, const SourceFormulas& formulas,
                     double time) {
  for_each(stream, elements, Source{view, formulas, time});
}

ExactSum total_of(Stream& stream, Range elements, const PartView& view, const double* u, int variable) {
  return exact_sum(stream, elements, Total{view, u, variable});
}
ExactSum kinetic_energy_of(Stream& stream, Range elements, const PartView& view, const double* u) {
  return exact_sum(stream, elements, KineticEnergy{{view, u}});
}
double largest_mach(Stream& stream, Range elements, const PartView& view, const double* u) {
  return max_value(stream, elements, LargestMach{{view, u}});
}
double smallest_negated(Stream& stream, Range elements, const PartView& view, const double* u, int which) {
  return max_value(stream, elements, Smallest{{view, u}, which});
}
double smallest_step_negated(Stream& stream, Range elements, const PartView& view, const double* u,
                             const double* projected, int order) {
  return max_value(stream, elements, SmallestStep{{view, u}, projected, order});
}
double largest_scaled(Stream& stream, Range elements, int bases, const double* x, const double (&scale)[variables]) {
  Scaled f{x, bases, {}};
  for (int v = 0; v < variables; ++v) f.scale[v] = scale[v];
  return max_value(stream, elements, f);
}

}  // namespace tutti::compressible
