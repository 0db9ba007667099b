// Linear advection on tetrahedra, du/dt + div(v u) = 0: finite volumes, first-order upwind, forward Euler.
#pragma once

#include <memory>
#include <tutti/simulation/tet_model.hpp>
#include <vector>

#include "kernel.hpp"

namespace advection {

void add_keys(tutti::CaseSchema& schema);

class Advection final : public tutti::TetModel {
 public:
  explicit Advection(const tutti::ModelSetup& setup);
  void step(double time, double dt) override;
  std::vector<const tutti::Step*> schedules() const override { return {step_.get()}; }

 private:
  struct Part {
    tutti::Buffer<tutti::Lid> upwind;  // these four: see Rows
    tutti::Buffer<double> inflow, loss, gain;
    // On the host, for each face where something enters the domain: where, how fast, and into which row.
    std::vector<tutti::Vec3> entry_points;
    std::vector<double> entry_inflow;
    std::vector<tutti::Lid> entry_rows;
  };
  double assemble(int p);
  void update_gain(double time);
  void build_step();
  tutti::Size bytes_a_step(int part) const override;

  tutti::Expression inflow_;
  std::vector<Part> parts_;
  std::unique_ptr<tutti::Step> step_;
  double dt_now_ = 0;
};

}  // namespace advection
