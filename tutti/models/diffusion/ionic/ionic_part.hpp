// The cells of one part, on its device.
#pragma once

#include <array>
#include <span>

#include "tutti/device/buffer.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/diffusion/ionic/ionic_case.hpp"
#include "tutti/simulation/model_field.hpp"

namespace tutti::diffusion {

/// Device memory is charged to the budget (plan_ionic_arrays counts it). Nothing is copied in a step.
class IonicPart {
 public:
  /// All cells at rest. `centroids`: of the owned cells.
  IonicPart(Stream& stream, Threads& threads, const IonicCase& ionic, std::span<const Vec3> centroids);

  /// The reaction of u from `time` to `time + dt`.
  IonicKernel kernel(const IonicCase& ionic, double* u, double time, double dt);
  /// What notes the activation by a step that has led to u.
  ActivationKernel activation_kernel(const IonicCase& ionic, const double* u, double time, double dt);
  /// u is what it is now, and has not come up to it.
  void forget(Stream& stream, const double* u);
  /// Cells of each stimulus.
  const std::array<Size, most_stimuli>& reached() const { return reached_; }
  Lid rows() const { return rows_; }

  /// All variables of rows of the part: [row][variable].
  void read_state(Stream& stream, Range rows, std::span<double> to) const;
  void write_state(Stream& stream, std::span<const double> from);
  Buffer<double>& activation() { return activation_; }
  /// Bytes that a step reads and writes.
  Size bytes() const;

 private:
  Lid rows_ = 0;
  int variables_ = 0;
  Buffer<double> state_;        ///< see IonicKernel
  Buffer<std::int64_t> marks_;  ///< empty: no cell has one
  bool layered_ = false;
  Buffer<double> before_, activation_;  ///< empty without a threshold
  std::array<Size, most_stimuli> reached_{};
};

}  // namespace tutti::diffusion
