// Viscosity and conduction by Crank-Nicolson: (1 - a lap) q = b with a = diffusivity dt / 2, for velocity and
// scalars together, by Chebyshev's iteration. See docs/adr/0016-implicit-diffusion.md.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tutti/models/incompressible/pressure/pressure.hpp"
#include "tutti/models/incompressible/viscous/chebyshev.hpp"
#include "tutti/models/incompressible/viscous/diffusion_bounds.hpp"

namespace tutti::incompressible {

/// A field that diffuses.
template <class T>
struct DiffusedField {
  int component = at_centres;
  std::size_t scalar = 0;  ///< of the case, where the component is at_centres
  double diffusivity = 0;
  /// q at the start of the step, with its ghosts. Work space from then on.
  std::function<Buffer<T>&(FlowPart<T>&)> before;
  /// q plus what is explicit in the step; then q at the end of it.
  std::function<Buffer<T>&(FlowPart<T>&)> result;
};

/// LineWeights of a part's cells, stored ones first to last; those around the owned ones have 0.
template <class T>
struct DiffusionLine {
  Buffer<T> lower, upper;
};

template <class T>
class ImplicitDiffusion {
 public:
  /// What of a step is explicit: adds kernels that fill the `result` of all fields of a part.
  using Explicit = std::function<void(std::size_t p, Kernels& to)>;

  /// Collective.
  ImplicitDiffusion(const PressureProblem<T>& problem, std::vector<DiffusedField<T>> fields);
  /// A step of length dt to `time`. The results have ghosts on the faces of the cells: velocity as u*, which at walls
  /// is w + dt grad p along them, with the p of the step before (Kim and Moin, J. Comput. Phys. 59, 1985): the
  /// projection takes it away again. Collective.
  void solve(double time, double dt, const Explicit& explicit_part);
  /// The pressure from the potential p of a step of length dt, to FlowPart::rhs: viscosity acts on u* = u + dt grad p,
  /// so that the pressure is p - viscosity dt / 2 lap p (Brown, Cortez and Minion, J. Comput. Phys. 168, 2001).
  void pressure_of_potential(double dt);

  std::vector<const Step*> steps() const { return {&local_->step(), &sweep_->step()}; }
  /// Of all solves.
  ExchangeCounts exchanged() const;
  /// A cell, that all solves had to read or write.
  Size values() const { return values_; }

 private:
  struct Part {
    DiffusionLine<T> line[2][3];   ///< by kind (0: values at centres, 1: at faces) and direction
    std::vector<Buffer<T>> right;  ///< by field
  };
  void add_part(std::size_t p);
  void add_diffusion(double dt, const Explicit& explicit_part);
  void begin(double time, double dt);
  /// What travels behind a pass.
  void bind(Buffer<T>& (ImplicitDiffusion::*array)(std::size_t f, std::size_t p));
  void sweep(double time, double dt, const std::vector<ChebyshevWeights>& weights, bool last);
  Buffer<T>& before(std::size_t f, std::size_t p) { return fields_[f].before(problem_.parts[p]); }
  Buffer<T>& result(std::size_t f, std::size_t p) { return fields_[f].result(problem_.parts[p]); }
  void fill(Kernels& to, std::size_t f, std::size_t p, int d, T* q, double time, double dt);
  void carry(Kernels& to, std::size_t p, int d, bool scalars);

  PressureProblem<T> problem_;
  std::vector<DiffusedField<T>> fields_;
  std::vector<double> largest_;  ///< eigenvalue, by field
  std::vector<Part> parts_;
  /// Ends for flow through them: also of a part that has the last cell but one. The face at the end is in a cell of the
  /// next part, which has not filled it when its cells travel.
  std::vector<BoundaryConditions> through_;
  std::unique_ptr<BoxTransfer<T>> halo_;
  std::unique_ptr<Pass> local_, sweep_;
  Size values_ = 0;
};

}  // namespace tutti::incompressible
