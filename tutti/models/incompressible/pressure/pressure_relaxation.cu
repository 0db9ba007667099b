// Jacobi sweeps as in Jacobsen 2010 (ghosts of the sweep before), and red-black relaxation. Compiles as plain C++
// without CUDA.
#include <cmath>
#include <optional>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/device/sums/reduce.hpp"
#include "tutti/device/zeros.hpp"
#include "tutti/models/incompressible/pressure/jacobi_pass.hpp"
#include "tutti/models/incompressible/pressure/pressure.hpp"
#include "tutti/models/incompressible/pressure/relaxation_kernel.hpp"

namespace tutti::incompressible {
namespace {

template <class T>
Mirrors<T> mirrors(const FlowCase& flow) {
  const auto factor = [](const FlowEnd& end) {
    return T(end.velocity == VelocityEnd::periodic ? 0 : end.velocity == VelocityEnd::outflow ? -1 : 1);
  };
  Mirrors<T> m;
  for (std::size_t d = 0; d < 3; ++d) {
    m.lower[d] = factor(flow.ends[2 * d]);
    m.upper[d] = factor(flow.ends[2 * d + 1]);
    m.last[d] = flow.grid.lines[d].cells() - 1;
  }
  return m;
}

/// Sweeps over all parts, whose ghosts travel behind each.
template <class T>
class Relaxation final : public PressureSolver<T> {
 public:
  explicit Relaxation(const PressureProblem<T>& problem)
      : problem_(problem), jacobi_(problem.flow.pressure == PressureMethod::jacobi), ends_(problem) {
    BoxDomain& domain = problem.domain;
    std::vector<std::vector<CellBox>> wanted;
    for (const CellBox& box : domain.parts.boxes) wanted.push_back(faces_around(box));
    transfer_ = std::make_unique<BoxTransfer<T>>(problem.comm, domain.parts, wanted, domain.arrays, domain.arrays, true,
                                                 domain.streams, 1, &domain.routing);
    const auto cells = [this](std::size_t p, int d) { return jacobi_ || d > 0 ? 0 : problem_.ends[p].cells(); };
    sweep_ = std::make_unique<Pass>(jacobi_ ? "Jacobi" : "red-black", problem.threads, domain.streams,
                                    box_pass_parts(domain.parts, cells), transfer_.get(), problem.overlap);
    mirrors_ = mirrors<T>(problem.flow);
    if (has_equal_cells(domain.grid)) uniform_ = uniform_stencil<T>(domain.grid);
    for (std::size_t p = 0; p < domain.mine() && jacobi_; ++p) {
      next_.push_back(make_zeros<T>(*domain.streams[p].compute, problem.parts[p].p.size(), "p, next"));
    }
    omega_ = jacobi_ ? jacobi_omega() : problem.flow.omega > 0 ? problem.flow.omega : best_omega();
  }

  void solve(double scale) override {
    sweeps_ = 0;
    if (jacobi_) {
      for (; sweeps_ < problem_.flow.sweeps; ++sweeps_) jacobi_sweep();
      ends_.fill();
      return;
    }
    constexpr int between_looks = 10;
    while (sweeps_ < problem_.flow.sweeps) {
      for (int k = 0; k < between_looks && sweeps_ < problem_.flow.sweeps; ++k, ++sweeps_)
        for (const Lid colour : {0, 1}) red_black_sweep(colour);
      const double left = largest_residual(problem_) * scale;
      if (!(left > problem_.flow.tolerance)) return;
    }
    fail_to_converge(scale);
  }
  int sweeps() const override { return sweeps_; }
  std::string describe() const override {
    return jacobi_ ? fmt::format("{} Jacobi sweeps per step{}", problem_.flow.sweeps,
                                 omega_ < 1 ? fmt::format(", damped by {:g}", omega_) : "")
                   : fmt::format("red-black relaxation, omega {:.4g}", omega_);
  }
  std::vector<const Step*> steps() const override { return {&sweep_->step(), &ends_.step()}; }
  ExchangeCounts exchanged() const override {
    ExchangeCounts counts;
    add_counts(counts, transfer_->counts_per_exchange(), sweep_->runs());
    return counts;
  }

 private:
  /// An undamped sweep turns a checkerboard over and leaves it as large. A wall's or inflow's ghosts, which are those
  /// of the sweep before, damp it; periods and outflows do not.
  double jacobi_omega() const {
    for (std::size_t f = 0; f < 6; ++f) {
      const VelocityEnd end = problem_.flow.ends[f].velocity;
      const bool open = end == VelocityEnd::periodic || end == VelocityEnd::outflow;
      if (!open && problem_.domain.grid.lines[f / 2].cells() > 1) return 1;
    }
    return 0.8;
  }

  /// Of the slowest mode on a uniform grid (Young 1954): rho is the spectral radius of a Jacobi sweep on it.
  double best_omega() const {
    double diagonal = 0, slowest = 0;
    for (int d = 0; d < 3; ++d) {
      const GridLine& line = problem_.domain.grid.lines[d];
      if (line.cells() == 1) continue;
      const double width = line.length() / line.cells(), weight = 2 / (width * width);
      diagonal += weight;
      const double decay = weight * (1 - std::cos((line.periodic ? 2 : 1) * std::acos(-1.0) / line.cells()));
      if (slowest == 0 || decay < slowest) slowest = decay;
    }
    if (diagonal == 0) return 1;
    const double rho = 1 - slowest / diagonal;
    return 2 / (1 + std::sqrt(1 - rho * rho));
  }

  void bind(const std::function<T*(std::size_t)>& array) {
    for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
      T* const to = array(p);
      const T* const from = to;
      transfer_->bind(p, std::span<const T* const>(&from, 1), std::span<T* const>(&to, 1));
    }
  }

  void jacobi_sweep() {
    bind([&](std::size_t p) { return next_[p].data(); });
    sweep_->run([this](std::size_t p, Kernels& to) {
      FlowPart<T>& part = problem_.parts[p];
      const auto add = [&]<template <class> class Stencil>(const Stencil<T>& stencil) {
        to.add(JacobiPass<T, Stencil>{{part.grid.array, stencil, part.p.data(), part.rhs.data(), next_[p].data(),
                                       static_cast<T>(omega_), mirrors_}});
      };
      uniform_ ? add(*uniform_) : add(metric_stencil(part.grid.view()));
    });
    for (std::size_t p = 0; p < next_.size(); ++p) next_[p].swap(problem_.parts[p].p);
  }

  void red_black_sweep(Lid colour) {
    bind([&](std::size_t p) { return problem_.parts[p].p.data(); });
    sweep_->run(
        [&](std::size_t p, Kernels& to) {
          FlowPart<T>& part = problem_.parts[p];
          to.add(on_cells<T>(RedBlackSweep<T, GridView>{part.grid.view(), part.p.data(), part.rhs.data(),
                                                        static_cast<T>(omega_), colour}));
        },
        [&](std::size_t p, int, Kernels& to) { fill_pressure(to, problem_.parts[p], problem_.ends[p]); });
  }

  void fail_to_converge(double scale) {
    const double left = largest_residual(problem_) * scale;
    problem_.comm.together([&] {
      fail(ErrorKind::numerical,
           "the pressure does not converge: after {} sweeps a divergence of {:.3g} is left, pressure.tolerance is "
           "{:.3g}; raise pressure.sweeps, or use pressure.solver = \"direct\"",
           sweeps_, left, problem_.flow.tolerance);
    });
  }

  PressureProblem<T> problem_;
  bool jacobi_;
  double omega_ = 1;
  Mirrors<T> mirrors_;
  std::optional<UniformStencil<T>> uniform_;  ///< where all cells of the whole grid are equal
  int sweeps_ = 0;
  PressureEnds<T> ends_;
  std::vector<Buffer<T>> next_;
  std::unique_ptr<BoxTransfer<T>> transfer_;
  std::unique_ptr<Pass> sweep_;  // goes first: sweeps may be held back until then
};

}  // namespace

template <class T>
double largest_residual(const PressureProblem<T>& problem) {
  double largest = 0;
  for (std::size_t p = 0; p < problem.parts.size(); ++p) {
    FlowPart<T>& part = problem.parts[p];
    if (part.box.empty()) continue;
    const double mine = max_value(*problem.domain.streams[p].compute, Range{0, static_cast<Lid>(part.box.cells())},
                                  Residual<T, GridView>{part.grid.view(), part.box, part.p.data(), part.rhs.data()});
    largest = std::isnan(mine) || mine > largest ? mine : largest;
  }
  return max_over_ranks(problem.comm, largest);
}

template <class T>
std::unique_ptr<PressureSolver<T>> make_relaxation(const PressureProblem<T>& problem) {
  return std::make_unique<Relaxation<T>>(problem);
}

template double largest_residual(const PressureProblem<double>&);
template double largest_residual(const PressureProblem<float>&);
template std::unique_ptr<PressureSolver<double>> make_relaxation(const PressureProblem<double>&);
template std::unique_ptr<PressureSolver<float>> make_relaxation(const PressureProblem<float>&);

}  // namespace tutti::incompressible
