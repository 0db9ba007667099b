#include "tutti/models/diffusion/ionic/ionic_part.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/simulation/evaluate.hpp"

namespace tutti::diffusion {

IonicPart::IonicPart(Stream& stream, Threads& threads, const IonicCase& ionic, std::span<const Vec3> centroids)
    : rows_(static_cast<Lid>(centroids.size())), variables_(static_cast<int>(ionic.variables().size())) {
  const auto rows = static_cast<std::size_t>(rows_);
  const auto stride = static_cast<std::size_t>(state_stride(rows_));
  std::vector<double> state(stride * static_cast<std::size_t>(variables_));
  for (int k = 0; k < variables_; ++k) {
    const auto begin = state.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(k) * stride);
    if (ionic.kind == IonicKind::ten_tusscher)
      std::fill_n(begin, stride, TenTusscher::rest()[k + 1]);
    else
      std::ranges::copy(evaluate_at(ionic.recovery, centroids, 0, threads), begin);
  }
  state_ = make_buffer(stream, std::span<const double>(state), "ionic state");
  if (ionic.has_marks()) {
    std::vector<std::int64_t> marks(rows);
    for (std::size_t k = 0; k < ionic.stimuli.size(); ++k) {
      const auto inside = evaluate_at(ionic.stimuli[k].where, centroids, 0, threads);
      for (std::size_t i = 0; i < rows; ++i) {
        if (inside[i] == 0) continue;
        marks[i] |= std::int64_t{1} << k;
        ++reached_[k];
      }
    }
    const auto layers = evaluate_at(ionic.layer, centroids, 0, threads);
    for (std::size_t i = 0; i < rows; ++i) {
      if (layers[i] != 0 && layers[i] != 1 && layers[i] != 2)
        fail(ErrorKind::input, "{}: ionic.layer is {:g} in the cell at ({:.6g}, {:.6g}, {:.6g}); it must be 0, 1 or 2",
             ionic.layer_place, layers[i], centroids[i].x, centroids[i].y, centroids[i].z);
      if (layers[i] == 0) continue;
      marks[i] |= layers[i] == 1 ? mark_mid : mark_endo;
      layered_ = true;
    }
    marks_ = make_buffer(stream, std::span<const std::int64_t>(marks), "ionic marks");
  }
  if (!ionic.threshold) return;
  before_ = Buffer<double>(stream.device(), rows_, "ionic potential before");
  activation_ = make_buffer(stream, std::span<const double>(std::vector<double>(rows, -1)), "ionic activation");
}

IonicKernel IonicPart::kernel(const IonicCase& ionic, double* u, double time, double dt) {
  IonicKernel kernel{ionic.kind, ionic.strang, ionic.constants, u, state_.data(), state_stride(rows_), nullptr, {}, dt};
  bool acts = false;
  for (std::size_t k = 0; k < ionic.stimuli.size(); ++k) {
    kernel.strength[k] = ionic.stimuli[k].mean(time, dt);
    acts = acts || kernel.strength[k] != 0;
  }
  if (acts || layered_) kernel.marks = marks_.data();
  return kernel;
}

ActivationKernel IonicPart::activation_kernel(const IonicCase& ionic, const double* u, double time, double dt) {
  return {u, before_.data(), activation_.data(), *ionic.threshold, time, dt};
}

void IonicPart::forget(Stream& stream, const double* u) {
  if (before_.empty()) return;
  stream.copy(before_.data(), u, static_cast<std::size_t>(before_.bytes()), CopyDirection::local);
  stream.synchronize();
}

void IonicPart::read_state(Stream& stream, Range rows, std::span<double> to) const {
  std::vector<double> one(static_cast<std::size_t>(rows.size()));
  const auto variables = static_cast<std::size_t>(variables_);
  for (std::size_t k = 0; k < variables; ++k) {
    download(stream, std::span<double>(one), state_.data() + static_cast<Size>(k) * state_stride(rows_) + rows.begin);
    for (std::size_t i = 0; i < one.size(); ++i) to[i * variables + k] = one[i];
  }
}

void IonicPart::write_state(Stream& stream, std::span<const double> from) {
  const auto variables = static_cast<std::size_t>(variables_), rows = static_cast<std::size_t>(rows_);
  const auto stride = static_cast<std::size_t>(state_stride(rows_));
  std::vector<double> state(variables * stride);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < variables; ++k) state[k * stride + i] = from[i * variables + k];
  upload(stream, state_, std::span<const double>(state));
}

Size IonicPart::bytes() const {
  return 16 * static_cast<Size>(rows_) * (variables_ + 1) + (layered_ ? marks_.bytes() : 0) +
         (before_.empty() ? 0 : 32 * static_cast<Size>(rows_));
}

}  // namespace tutti::diffusion
