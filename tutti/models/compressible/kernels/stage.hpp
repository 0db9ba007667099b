// What a stage of a Runge-Kutta method does with the rate of change.
#pragma once

#include <cmath>

#include "tutti/models/compressible/flux/gas.hpp"

namespace tutti::compressible {

inline constexpr int max_terms = 4;

/// out = sum_i weight_i x_i + factor rate; where `second` is there, also second = base + second_factor out. Arrays of
/// states; `out` and `second` may be one of x, base: elements are independent. The rate is added to the sum, whose
/// fluxes come with the factor, so that it takes no array of its own.
struct StageArrays {
  int count = 0;
  const double* x[max_terms] = {};
  double weight[max_terms] = {};
  double factor = 1;
  double* out = nullptr;
  const double* base = nullptr;
  double* second = nullptr;
  double second_factor = 0;
  const double* source = nullptr;  ///< of the state, counts as part of the rate
};

/// sum[v][l], in rows of `columns`.
template <class Team>
TUTTI_HD inline void begin_stage(const Team& team, const StageArrays& stage, Lid e, int bases, int columns,
                                 double* sum) {
  const Size row = Size{variables} * bases * e;
  for (int i = team.first(); i < variables * columns; i += team.step()) {
    const int v = i / columns, l = i % columns;
    double total = 0;
    if (l < bases) {
      const Size at = row + v * bases + l;
      for (int k = 0; k < stage.count; ++k)
        total = k == 0 ? stage.weight[0] * stage.x[0][at] : std::fma(stage.weight[k], stage.x[k][at], total);
    }
    if (l < bases && stage.source != nullptr) total = std::fma(stage.factor, stage.source[row + v * bases + l], total);
    sum[i] = total;
  }
}

template <class Team>
TUTTI_HD inline void end_stage(const Team& team, const StageArrays& stage, Lid e, int bases, int columns,
                               const double* sum) {
  const Size row = Size{variables} * bases * e;
  for (int i = team.first(); i < variables * columns; i += team.step()) {
    const int v = i / columns, l = i % columns;
    if (l >= bases) continue;
    const Size at = row + v * bases + l;
    const double value = sum[i];
    stage.out[at] = value;
    if (stage.second != nullptr) stage.second[at] = std::fma(stage.second_factor, value, stage.base[at]);
  }
}

}  // namespace tutti::compressible
