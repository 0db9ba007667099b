// What a case says of its cells' reaction.
#pragma once

#include <optional>
#include <vector>

#include "tutti/io/case/case.hpp"
#include "tutti/models/diffusion/ionic/ionic_kernel.hpp"

namespace tutti::diffusion {

/// Current that is let into some cells: one pulse, or one a period.
struct Stimulus {
  Expression where;  ///< not 0: the cell with this centroid gets it
  double start = 0, duration = 0, period = 0, strength = 0;
  std::string place;  ///< in the case, for messages

  /// Its mean over [time, time + dt]: the part of that in which there is a pulse, times its strength.
  double mean(double time, double dt) const;
};

struct IonicCase {
  IonicKind kind = IonicKind::fitzhugh_nagumo;
  IonicConstants constants{};
  bool strang = false;
  Expression recovery;      ///< w or h at t = 0
  Expression layer;         ///< 0 epicardial, 1 mid-myocardial, 2 endocardial
  std::string layer_place;  ///< in the case, for messages
  std::optional<double> threshold;
  std::vector<Stimulus> stimuli;
  bool output = false;  ///< the state is a result, too

  /// Names of the variables that a cell has besides u.
  std::vector<std::string> variables() const;
  /// u of a cell at rest.
  double rest() const;
  /// The longest step that is stable.
  double largest_step() const;
  bool has_marks() const { return !stimuli.empty() || !layer.is_constant() || layer({}) != 0; }
};

/// Adds the table [ionic].
void add_ionic_keys(CaseSchema& schema);
/// Nothing where there is no reaction. Error(input): what cannot be together, or formulas that depend on t.
std::optional<IonicCase> ionic_case(const Case& options);

/// Values of a variable lie this far apart on a device: whole cache lines.
constexpr Size state_stride(Lid owned) {
  return (static_cast<Size>(owned) + 15) / 16 * 16;
}

}  // namespace tutti::diffusion
