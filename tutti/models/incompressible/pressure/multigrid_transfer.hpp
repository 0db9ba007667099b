// What goes between two grids of a multigrid method.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tutti/models/incompressible/pressure/multigrid_level.hpp"

namespace tutti::incompressible {

/// A grid and the next coarser one. Collective; results have the same bits however the grids are cut.
template <class T>
class MultigridTransfer {
 public:
  /// Both levels outlive it.
  MultigridTransfer(const PressureProblem<T>& problem, MultigridLevel<T>& fine, MultigridLevel<T>& coarse,
                    const CoarseGrid& merged);

  /// The coarse rhs = what the fine p leaves, rhs - lap p, as the mean over each coarse cell; where cells are merged in
  /// one direction only, by the adjoint of the interpolation.
  void restrict_residual();
  /// In two halves: what is left, the largest magnitude of it over all parts of all ranks in between.
  void store_residual();
  double largest_residual();
  void restrict_stored();
  /// Adds the coarse p, interpolated linearly in each direction between the centres of cells, to the fine one.
  void interpolate();
  std::vector<const Step*> steps() const { return {&residual_pass_->step(), &restrict_pass_->step()}; }
  void add_exchanged(ExchangeCounts& counts) const;

 private:
  /// Of every line, coarse cells for the restriction and fine ones for the interpolation.
  struct Tables {
    std::array<Buffer<Lid>, 3> cell, parent, neighbour;
    std::array<Buffer<T>, 3> weight, parent_weight, neighbour_weight;
  };
  void make_lines(const CoarseGrid& merged);
  void make_tables();
  void make_passes();

  PressureProblem<T> problem_;
  MultigridLevel<T>& fine_;
  MultigridLevel<T>& coarse_;
  std::array<LineRestriction, 3> restriction_;
  std::array<LineInterpolation, 3> interpolation_;
  std::vector<BoxArray> residual_arrays_;
  std::vector<Buffer<T>> residual_;
  std::vector<Tables> tables_;
  std::unique_ptr<BoxTransfer<T>> residual_transfer_;
  std::unique_ptr<Pass> residual_pass_, restrict_pass_;
};

}  // namespace tutti::incompressible
