#include "tutti/models/compressible/force_coefficients.hpp"

#include <cmath>

namespace tutti::compressible {

/// The trapezoidal rule.
void LiftPeriods::Integrals::add(double dt, double drag0, double drag1, double lift0, double lift1) {
  time += dt;
  drag += 0.5 * dt * (drag0 + drag1);
  lift += 0.5 * dt * (lift0 + lift1);
  squares += dt * (lift0 * lift0 + lift0 * lift1 + lift1 * lift1) / 3;
}

void LiftPeriods::Integrals::add(const Integrals& other) {
  time += other.time;
  drag += other.drag;
  lift += other.lift;
  squares += other.squares;
}

void LiftPeriods::cross() {
  if (periods_ >= 0) whole_.add(open_);
  if (periods_ >= -2) level_ = open_.lift / open_.time;
  periods_ += 1;
  swing_ = 0;
  open_ = {};
}

void LiftPeriods::add(double time, double drag, double lift) {
  if (samples_ == 0) level_ = lift;
  if (samples_ > 0) {
    const double dt = time - time_;
    all_.add(dt, drag_, drag, lift_, lift);
    const bool rises = swing_ == 2 && lift_ < level_ && lift >= level_;
    const double share = rises ? (level_ - lift_) / (lift - lift_) : 0;
    if (rises) {
      const double drag_there = drag_ + share * (drag - drag_), lift_there = level_;
      open_.add(share * dt, drag_, drag_there, lift_, lift_there);
      cross();
      open_.add((1 - share) * dt, drag_there, drag, lift_there, lift);
    } else {
      open_.add(dt, drag_, drag, lift_, lift);
    }
    if (periods_ < -2) level_ = all_.lift / all_.time;
    const double mean = all_.lift / all_.time, variance = all_.squares / all_.time - mean * mean;
    const double well = 0.3 * std::sqrt(variance > 0 ? variance : 0);
    if (swing_ == 0 && lift > level_ + well) swing_ = 1;
    if (swing_ == 1 && lift < level_ - well) swing_ = 2;
  }
  samples_ += 1;
  time_ = time;
  drag_ = drag;
  lift_ = lift;
}

ForceCoefficients LiftPeriods::coefficients(double length, double speed) const {
  ForceCoefficients result;
  const bool periodic = periods_ >= 1;
  const Integrals& over = periodic ? whole_ : all_;
  result.seconds = over.time;
  result.drag = over.time > 0 ? over.drag / over.time : drag_;
  result.lift = over.time > 0 ? over.lift / over.time : lift_;
  const double variance = over.time > 0 ? over.squares / over.time - result.lift * result.lift : 0;
  result.lift_rms = std::sqrt(variance > 0 ? variance : 0);
  if (!periodic) return result;
  result.periods = static_cast<Size>(periods_);
  result.strouhal = periods_ / over.time * length / speed;
  return result;
}

std::vector<StateNumber> LiftPeriods::numbers() {
  std::vector<StateNumber> all = {{"force_samples", &samples_}, {"force_periods", &periods_}, {"force_swing", &swing_},
                                  {"force_time", &time_},       {"force_drag", &drag_},       {"force_lift", &lift_},
                                  {"force_level", &level_}};
  const auto add = [&](const std::string& name, Integrals& of) {
    all.push_back({"force_" + name + "_time", &of.time});
    all.push_back({"force_" + name + "_drag", &of.drag});
    all.push_back({"force_" + name + "_lift", &of.lift});
    all.push_back({"force_" + name + "_squares", &of.squares});
  };
  add("all", all_);
  add("whole", whole_);
  add("open", open_);
  return all;
}

}  // namespace tutti::compressible
