// What a stream does to a body, in the numbers of the field: drag, lift, and how often the lift turns.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/vec3.hpp"
#include "tutti/io/checkpoint/checkpoint.hpp"

namespace tutti::compressible {

/// The case's table [forces].
struct ForceOptions {
  std::string surface;  ///< empty: there is none
  int every = 10;       ///< steps between two looks
  double from = 0;      ///< means begin
  double rho = 1, speed = 1, area = 1, length = 1;
  Vec3 drag{1, 0, 0}, lift{0, 1, 0};  ///< directions

  /// A force over the stream's pressure and the area.
  double coefficient(Vec3 force, Vec3 direction) const {
    return dot(force, direction) / (0.5 * rho * speed * speed * area);
  }
};

struct ForceCoefficients {
  double seconds = 0;  ///< that the means are of
  double drag = 0, lift = 0, lift_rms = 0;
  Size periods = 0;
  double strouhal = 0;  ///< 0: not known yet
};

/// Means of drag and lift over whole periods: from one rise of the lift through its mean to another. Samples are taken
/// in one after the other and not kept, so that a run can go on from a few numbers. The level that counts as mean is
/// that of the samples so far, after a first period that of the last one; the first two only find the level. A rise
/// counts where the lift was well above and then well below the level since the one before.
class LiftPeriods {
 public:
  /// At a later time than the last one.
  void add(double time, double drag, double lift);
  /// Of all whole periods, or of all samples where there is none.
  ForceCoefficients coefficients(double length, double speed) const;
  std::vector<StateNumber> numbers();

 private:
  struct Integrals {
    double time = 0, drag = 0, lift = 0, squares = 0;
    void add(double dt, double drag0, double drag1, double lift0, double lift1);
    void add(const Integrals& other);
  };
  void cross();

  double samples_ = 0, periods_ = -3;  ///< -3: the lift has not risen yet, -2: once
  double swing_ = 0;                   ///< since the last rise, 1: it was well above the level, 2: and then below
  double time_ = 0, drag_ = 0, lift_ = 0, level_ = 0;
  Integrals all_, whole_, open_;  ///< of all samples, whole periods, and the one under way
};

}  // namespace tutti::compressible
