// What goes between two grids of a multigrid method.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "tutti/models/incompressible/multigrid_level.hpp"

namespace tutti {

/// A grid and the next coarser one. Collective; results have the same bits however the grids are cut.
template <class T>
class MultigridTransfer {
 public:
  /// Both levels outlive it.
  MultigridTransfer(const PressureProblem<T>& problem, MultigridLevel<T>& fine, MultigridLevel<T>& coarse,
                    const CoarseGrid& merged);

  /// The coarse rhs: means of what the fine p leaves, rhs - lap p, over each coarse cell. The sum over the volume stays
  /// what it is.
  void restrict_residual();
  /// Adds the coarse p, interpolated linearly in each direction between the centres of cells, to the fine one.
  void interpolate();
  void add_seconds(std::vector<PartSeconds>& seconds) const;
  void add_exchanged(ExchangeCounts& counts) const;

 private:
  /// For every fine cell of a direction, but for `first`: one entry a coarse cell and one more.
  struct Tables {
    std::array<Buffer<Lid>, 3> first, parent, neighbour;
    std::array<Buffer<T>, 3> share, parent_weight, neighbour_weight;
  };
  void make_tables(const CoarseGrid& merged);

  PressureProblem<T> problem_;
  MultigridLevel<T>& fine_;
  MultigridLevel<T>& coarse_;
  std::vector<Buffer<T>> residual_;
  std::vector<Tables> tables_;
  std::unique_ptr<BoxTransfer<T>> residual_transfer_;
  std::unique_ptr<BoxPass<T>> residual_pass_, restrict_pass_;
};

}  // namespace tutti
