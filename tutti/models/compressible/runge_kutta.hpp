// The stages of the time methods.
#pragma once

#include <span>
#include <vector>

#include "tutti/models/compressible/compressible_case.hpp"

namespace tutti::compressible {

/// out = sum_i weight_i u[array_i] + factor dt L(u[from]); where `second` >= 0 also
/// u[second] = u[from] + second_factor out. Arrays by number; 0 is the solution.
struct Stage {
  int from = 0, out = 0;
  struct Term {
    int array;
    double weight;
  };
  std::vector<Term> terms;
  double factor = 1;
  double time = 0;  ///< of L, in steps
  int second = -1;
  double second_factor = 0;
  int target() const { return second >= 0 ? second : out; }  ///< the new state
};

struct TimeScheme {
  std::vector<Stage> stages;
  int arrays = 3;
  int result = 0;          ///< array that holds the new solution
  double step_factor = 1;  ///< how much longer its stable steps are than those of the method of three stages
};

/// Shu and Osher (J. Comput. Phys. 77, 1988); Spiteri and Ruuth (SIAM J. Numer. Anal. 40, 2002); Carpenter and Kennedy
/// (NASA TM 109112, 1994).
const TimeScheme& time_scheme(TimeMethod method);
/// No method: L(u) once, into an array of its own, to time it; the solution stays.
const TimeScheme& right_hand_side_alone();

}  // namespace tutti::compressible
