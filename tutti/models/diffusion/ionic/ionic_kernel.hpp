// A step of the reaction in every cell of a part, on its device.
#pragma once

#include <utility>

#include "tutti/device/device.hpp"
#include "tutti/models/diffusion/ionic/ten_tusscher.hpp"

namespace tutti::diffusion {

enum class IonicKind : std::uint8_t { fitzhugh_nagumo, mitchell_schaeffer, ten_tusscher };

inline constexpr int most_stimuli = 8;
/// Bits of a cell's mark: bit k, stimulus k reaches it; above, its layer. As wide as a double, for vectors of both.
inline constexpr std::int64_t mark_endo = 1 << 8, mark_mid = 1 << 9;

/// Constants of the two small models, in the order of their members; ten Tusscher's has none.
struct IonicConstants {
  double value[5];
};

/// For Kernels: u and state of some rows by dt. Device pointers.
struct IonicKernel {
  IonicKind kind;
  bool second_order;  ///< with rates from half a step ahead (Sundnes, Artebrant, Skavhaug, Tveito, IEEE TBME 56, 2009)
  IonicConstants constants;
  double* u;
  double* state;  ///< variable k > 0 of row i at [(k - 1) * stride + i]
  Size stride;
  const std::int64_t* marks;      ///< null: no cell has one
  double strength[most_stimuli];  ///< of each stimulus, its mean in this step [u/time]
  double dt;
  void operator()(Stream& stream, Range rows) const;
};

/// For Kernels: notes in which of the last dt cells came up through the threshold, for the first time; `before` becomes
/// u. Between steps u is taken to be linear.
struct ActivationKernel {
  const double* u;
  double* before;
  double* activation;  ///< -1: not yet
  double threshold, time, dt;
  void operator()(Stream& stream, Range rows) const;
};

/// The step of one row.
template <class Cell, bool second_order, bool marked>
struct IonicStep {
  Cell cell;
  double* __restrict__ u;
  double* __restrict__ state;
  Size stride;
  const std::int64_t* marks;
  double strength[most_stimuli];
  double dt;

  TUTTI_HD void operator()(Lid i) const {
    advance(i, std::make_integer_sequence<int, Cell::State::size - 1>(),
            std::make_integer_sequence<int, most_stimuli>());
  }

 private:
  /// All loops of a cell are written out, so that the one over cells becomes vectors.
  template <int... k, int... s>
  TUTTI_HD void advance(Lid i, std::integer_sequence<int, k...>, std::integer_sequence<int, s...>) const {
    typename Cell::State now;
    now[0] = u[i];
    ((now[k + 1] = state[k * stride + i]), ...);
    CellInput in{dt};
    if constexpr (marked) {
      const std::int64_t mark = marks[i];
      ((in.stimulus += (mark >> s & 1) != 0 ? strength[s] : 0), ...);
      in.endo = (mark & mark_endo) != 0 ? 1 : 0;
      in.mid = (mark & mark_mid) != 0 ? 1 : 0;
    }
    typename Cell::State at = now;
    if constexpr (second_order) {
      CellInput half = in;
      half.dt = 0.5 * dt;
      at = cell.advance(now, now, half);
    }
    const typename Cell::State next = cell.advance(now, at, in);
    u[i] = next[0];
    ((state[k * stride + i] = next[k + 1]), ...);
  }
};

/// use(step) with the IonicStep that a kernel means.
template <class Cell, class Use>
void with_step(const IonicKernel& k, const Cell& cell, const Use& use) {
  const auto of = [&]<bool second, bool marked>() {
    IonicStep<Cell, second, marked> step{cell, k.u, k.state, k.stride, k.marks, {}, k.dt};
    for (int s = 0; s < most_stimuli; ++s) step.strength[s] = k.strength[s];
    use(step);
  };
  if (k.second_order)
    k.marks != nullptr ? of.template operator()<true, true>() : of.template operator()<true, false>();
  else
    k.marks != nullptr ? of.template operator()<false, true>() : of.template operator()<false, false>();
}
template <class Use>
void with_step(const IonicKernel& k, const Use& use) {
  const double* c = k.constants.value;
  switch (k.kind) {
    case IonicKind::fitzhugh_nagumo:
      return with_step(k, FitzHughNagumo{c[0], c[1], c[2], c[3]}, use);
    case IonicKind::mitchell_schaeffer:
      return with_step(k, MitchellSchaeffer{c[0], c[1], c[2], c[3], c[4]}, use);
    default:
      return with_step(k, TenTusscher{}, use);
  }
}

/// The same rows by the vectors of a CPU.
void ionic_rows_on_host(const IonicKernel& kernel, Lid begin, Lid end);

}  // namespace tutti::diffusion
