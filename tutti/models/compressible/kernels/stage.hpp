// What a stage of a Runge-Kutta method does with the rate of change.
#pragma once

#include <cmath>

#include "tutti/models/compressible/flux/gas.hpp"
#include "tutti/models/compressible/kernels/team.hpp"

namespace tutti::compressible {

inline constexpr int max_terms = 4;

/// out = sum_i weight_i x_i + factor rate; where `second` is there, also second = base + second_factor out. Arrays of
/// states; `out` and `second` may be one of x, base, where elements are independent: not
/// the state of which the rate is, where kernels read neighbours (StraightView::fused). The rate is added to the sum,
/// whose fluxes come with the factor, so that it takes no array of its own.
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

/// sum[v][l], in rows of `columns`. Term after term, so that each is a loop of vectors.
template <class Team>
TUTTI_HD inline void begin_stage(const Team& team, const StageArrays& stage, Lid e, int bases, int columns,
                                 double* sum) {
  const Size row = Size{variables} * bases * e;
  for_each_value(team, variables, columns - bases, [&](int v, int l) { sum[v * columns + bases + l] = 0; });
  if (stage.count == 0) for_each_value(team, variables, bases, [&](int v, int l) { sum[v * columns + l] = 0; });
  for (int k = 0; k < stage.count; ++k) {
    const double* x = stage.x[k] + row;
    const double weight = stage.weight[k];
    if (k == 0)
      for_each_value(team, variables, bases, [=](int v, int l) { sum[v * columns + l] = weight * x[v * bases + l]; });
    else
      for_each_value(team, variables, bases, [=](int v, int l) {
        sum[v * columns + l] = std::fma(weight, x[v * bases + l], sum[v * columns + l]);
      });
  }
  if (stage.source == nullptr) return;
  const double* source = stage.source + row;
  const double factor = stage.factor;
  for_each_value(team, variables, bases, [=](int v, int l) {
    sum[v * columns + l] = std::fma(factor, source[v * bases + l], sum[v * columns + l]);
  });
}

template <class Team>
TUTTI_HD inline void end_stage(const Team& team, const StageArrays& stage, Lid e, int bases, int columns,
                               const double* sum) {
  const Size row = Size{variables} * bases * e;
  double* out = stage.out + row;
  if (stage.second == nullptr)
    return for_each_value(team, variables, bases, [=](int v, int l) { out[v * bases + l] = sum[v * columns + l]; });
  // Arrays may be the same: each value by itself.
  const double* base = stage.base + row;
  double* second = stage.second + row;
  const double factor = stage.second_factor;
  for_each_value(team, variables, bases, [=](int v, int l) {
    const double value = sum[v * columns + l];
    out[v * bases + l] = value;
    second[v * bases + l] = std::fma(factor, value, base[v * bases + l]);
  });
}

}  // namespace tutti::compressible
