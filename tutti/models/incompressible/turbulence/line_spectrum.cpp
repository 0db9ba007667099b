#include "tutti/models/incompressible/turbulence/line_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tutti::incompressible {
namespace {

LineModes periodic_modes(Lid n) {
  return line_modes(uniform_line(n, 1, LineEnd::periodic, LineEnd::periodic));
}

}  // namespace

LineSpectrum::LineSpectrum(Lid n) : n_(n), transform_(periodic_modes(n), Transform::to_modes, LineAxis::x) {
  // The second difference of a wave of number m is -(2 n sin(pi m / n))^2 times it.
  for (const double eigenvalue : periodic_modes(n).eigenvalues) {
    const double sine = std::min(1.0, std::sqrt(-eigenvalue) / (2 * n));
    wave_numbers_.push_back(static_cast<std::size_t>(std::lround(n / std::numbers::pi * std::asin(sine))));
  }
}

std::vector<double> LineSpectrum::operator()(std::span<const double> values) const {
  const auto n = static_cast<std::size_t>(n_), lines = values.size() / n;
  std::vector<double> modes(values.size()), energy(n / 2 + 1, 0.0);
  transform_x(transform_.view(), values.data(), modes.data(), {0, static_cast<Lid>(lines)});
  for (std::size_t k = 0; k < n; ++k) {
    double sum = 0;  // the transform is orthogonal
    for (std::size_t l = 0; l < lines; ++l) sum += modes[l * n + k] * modes[l * n + k];
    energy[wave_numbers_[k]] += sum / static_cast<double>(values.size());
  }
  return energy;
}

}  // namespace tutti::incompressible
