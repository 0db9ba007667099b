// Geometric multigrid for the pressure: V-cycles with two sweeps of red-black relaxation before and after each coarser
// grid (Trottenberg, Oosterlee, Schueller, Multigrid, 2001), the coarsest solved directly.
#pragma once

#include <memory>
#include <vector>

#include "tutti/models/incompressible/pressure/direct/direct_solver.hpp"
#include "tutti/models/incompressible/pressure/multigrid_transfer.hpp"

namespace tutti::incompressible {

/// Solves on the coarsest grid: its rhs is gathered in the first part, whose rank solves directly and deals out p.
/// Members are collective.
template <class T>
class CoarsestSolver {
 public:
  CoarsestSolver(const PressureProblem<T>& problem, MultigridLevel<T>& level);
  void solve();
  std::vector<const Step*> steps() const { return {&gather_pass_->step(), &deal_pass_->step()}; }
  void add_exchanged(ExchangeCounts& counts) const;

 private:
  PressureProblem<T> problem_;
  bool mine_;  ///< this rank has the first part
  std::unique_ptr<DirectSolver<T>> direct_;
  std::vector<BoxArray> arrays_;  ///< of whole grids; all but the first part's are empty
  std::vector<Buffer<T>> values_;
  std::vector<T> host_;
  std::unique_ptr<BoxTransfer<T>> gather_, deal_;
  std::unique_ptr<Pass> gather_pass_, deal_pass_;
  Size solves_ = 0;
};

struct MultigridOptions {
  Gid coarsest = 4096;     ///< cells of the coarsest grid at most, if they can be so few
  Lid longest_line = 128;  ///< of it, as the direct solver's work grows with it
};

template <class T>
class Multigrid final : public PressureSolver<T> {
 public:
  /// Collective.
  explicit Multigrid(const PressureProblem<T>& problem, const MultigridOptions& options = {});

  /// V-cycles until the residual times `scale` is at most the case's tolerance, or no more than the rounding of p makes
  /// it; where `scale` is infinite, until it is so much smaller than the rhs. Error(numerical) after as many cycles as
  /// the case allows.
  void solve(double scale) override;
  /// One V(2,2) cycle. Ghosts of p beyond the ends of the box are not set.
  void cycle();
  /// |lap p - rhs| of largest magnitude now.
  double largest_residual() { return levels_.front()->largest_residual(); }
  /// Largest residuals of the last solve: each cycle's before it turns to the coarser grid. The last one had no need
  /// to.
  const std::vector<double>& residuals() const { return residuals_; }

  std::size_t levels() const { return levels_.size(); }
  const LevelGrid<T>& level(std::size_t l) const { return levels_[l]->level(); }
  std::string describe() const override;
  /// Of relaxation, on the finest grid.
  int sweeps() const override { return 4 * cycles() + 2; }
  std::vector<const Step*> steps() const override;
  ExchangeCounts exchanged() const override;

 private:
  int cycles() const { return static_cast<int>(residuals_.size()) - 1; }
  void smooth_before(std::size_t l);
  void correct_and_smooth(std::size_t l);
  double start_cycle();
  void finish_cycle();
  bool stalled() const;
  void fail_to_converge(double scale);

  PressureProblem<T> problem_;
  PressureEnds<T> ends_;
  std::vector<std::unique_ptr<MultigridLevel<T>>> levels_;
  std::vector<std::unique_ptr<MultigridTransfer<T>>> between_;
  std::unique_ptr<CoarsestSolver<T>> coarsest_;
  std::vector<double> residuals_{0.0};
};

}  // namespace tutti::incompressible
