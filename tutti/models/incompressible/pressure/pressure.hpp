// Solvers of Poisson's equation for the pressure: lap p = div u* / dt.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/domain/box_domain.hpp"
#include "tutti/models/incompressible/boundary_conditions.hpp"
#include "tutti/models/incompressible/pressure/direct/line_operator.hpp"
#include "tutti/schedule/pass.hpp"

namespace tutti::incompressible {

/// What all solvers work on. All of it outlives them.
template <class T>
struct PressureProblem {
  const Comm& comm;
  Threads& threads;
  BoxDomain& domain;
  const FlowCase& flow;
  std::span<FlowPart<T>> parts;
  std::span<BoundaryConditions> ends;
  Overlap overlap;
  bool dt_changes = false;  ///< every few steps: then what depends on it is not worth a captured graph
};

/// Reads FlowPart::rhs and brings FlowPart::p up to date, ghosts included. What p was before is where an iteration
/// begins. Where no outflow fixes it, p is known but for a constant. All members are collective.
template <class T>
class PressureSolver {
 public:
  virtual ~PressureSolver() = default;
  /// `scale`: times what is left of lap p - rhs it is the divergence that the tolerance is for.
  virtual void solve(double scale) = 0;
  /// Is it to find div u* / dt itself, where it reads it? u* has its ghosts then, and FlowPart::rhs stays as it is.
  virtual bool divides() const { return false; }
  virtual void solve_divided(T dt) { (void)dt; }
  virtual std::string describe() const = 0;
  /// Sweeps of the last solve; 0: it makes none.
  virtual int sweeps() const { return 0; }
  /// The graphs that a solve runs.
  virtual std::vector<const Step*> steps() const = 0;
  /// Of all solves.
  virtual ExchangeCounts exchanged() const = 0;
};

/// Sets p beyond the ends of the grid, also beside what other parts own: what flows out there reads it.
template <class T>
class PressureEnds {
 public:
  explicit PressureEnds(const PressureProblem<T>& problem);
  void fill();
  const Step& step() const { return pass_.step(); }

 private:
  PressureProblem<T> problem_;
  Pass pass_;
};

template <class T>
std::unique_ptr<PressureSolver<T>> make_pressure_solver(const PressureProblem<T>& problem);

/// lap p - rhs of largest magnitude, of all parts of all ranks. Collective.
template <class T>
double largest_residual(const PressureProblem<T>& problem);

template <class T>
std::unique_ptr<PressureSolver<T>> make_relaxation(const PressureProblem<T>& problem);
template <class T>
std::unique_ptr<PressureSolver<T>> make_direct(const PressureProblem<T>& problem);
template <class T>
std::unique_ptr<PressureSolver<T>> make_multigrid(const PressureProblem<T>& problem);

extern template class PressureEnds<double>;
extern template class PressureEnds<float>;

}  // namespace tutti::incompressible
