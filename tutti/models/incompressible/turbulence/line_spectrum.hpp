// Mean squares of the modes of periodic lines.
#pragma once

#include <span>
#include <vector>

#include "tutti/models/incompressible/pressure/direct/line_transform.hpp"

namespace tutti::incompressible {

class LineSpectrum {
 public:
  /// Of lines of n values, equally spaced over a period.
  explicit LineSpectrum(Lid n);
  /// By wave number 0 .. n/2, the mean over the lines of the squares of what has this wave number: they add up to the
  /// mean of the squares of all values. `values`: whole lines, one after the other. The same bits on any machine.
  std::vector<double> operator()(std::span<const double> values) const;

 private:
  Lid n_;
  std::vector<std::size_t> wave_numbers_;  ///< of the modes of the transform
  LineTransform<double> transform_;
};

}  // namespace tutti::incompressible
