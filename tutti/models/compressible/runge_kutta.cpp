#include "tutti/models/compressible/runge_kutta.hpp"

#include <array>

namespace tutti::compressible {
namespace {

TimeScheme ssp_rk3() {
  TimeScheme scheme;
  scheme.stages = {{0, 1, {{0, 1.0}}, 1.0, 0.0},
                   {1, 2, {{0, 0.75}, {1, 0.25}}, 0.25, 1.0},
                   {2, 0, {{0, 1.0 / 3}, {2, 2.0 / 3}}, 2.0 / 3, 0.5}};
  return scheme;
}

/// u1 = array 1, u2 = 2, u3 = 1, u4 = 3. The rate of the fourth stage, which the last one takes once more, is
/// (u4 - a u - b u3) / c: it needs no array.
TimeScheme ssp_rk54() {
  constexpr double a = 0.178079954393132, b = 0.821920045606868, c = 0.544974750228521, rest = 0.063692468666290 / c;
  TimeScheme scheme;
  scheme.arrays = 4;
  scheme.step_factor = 1.5;
  scheme.stages = {
      {0, 1, {{0, 1.0}}, 0.391752226571890, 0.0},
      {1, 2, {{0, 0.444370493651235}, {1, 0.555629506348765}}, 0.368410593050371, 0.39175222700392},
      {2, 1, {{0, 0.620101851488403}, {2, 0.379898148511597}}, 0.251891774271694, 0.58607968896779},
      {1, 3, {{0, a}, {1, b}}, c, 0.47454236302687},
      {3,
       0,
       {{2, 0.517231671970585}, {1, 0.096059710526147 - rest * b}, {3, 0.386708617503269 + rest}, {0, -rest * a}},
       0.226007483236906,
       0.93501063100924}};
  return scheme;
}

/// Arrays 0 and 1 hold the solution in turn, 2 the register.
TimeScheme low_storage() {
  constexpr std::array<double, 5> a = {0, -567301805773.0 / 1357537059087, -2404267990393.0 / 2016746695238,
                                       -3550918686646.0 / 2091501179385, -1275806237668.0 / 842570457699};
  constexpr std::array<double, 5> b = {1432997174477.0 / 9575080441755, 5161836677717.0 / 13612068292357,
                                       1720146321549.0 / 2090206949498, 3134564353537.0 / 4481467310338,
                                       2277821191437.0 / 14882151754819};
  constexpr std::array<double, 5> c = {0, 1432997174477.0 / 9575080441755, 2526269341429.0 / 6820363962896,
                                       2006345519317.0 / 3224310063776, 2802321613138.0 / 2924317926251};
  TimeScheme scheme;
  scheme.result = 1;
  scheme.step_factor = 1.5;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const int from = static_cast<int>(k % 2);
    Stage stage{from, 2, {}, 1.0, c[k], 1 - from, b[k]};
    if (k > 0) stage.terms.push_back({2, a[k]});
    scheme.stages.push_back(std::move(stage));
  }
  return scheme;
}

}  // namespace

const TimeScheme& time_scheme(TimeMethod method) {
  static const TimeScheme three = ssp_rk3(), five = ssp_rk54(), low = low_storage();
  return method == TimeMethod::ssp_rk3 ? three : method == TimeMethod::ssp_rk54 ? five : low;
}

const TimeScheme& right_hand_side_alone() {
  static const TimeScheme scheme{{{0, 1, {}, 1.0, 0.0}}};
  return scheme;
}

}  // namespace tutti::compressible
