// What a multigrid method does between the cells, which are on all devices of all ranks, and its coarse levels.
//
// Cells are taken together by boxes of a grid over the whole mesh, and by region, so that neither coarse unknowns nor
// their equations depend on the split. Sums over the cells of a box are sums of integers.
#pragma once

#include <set>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/models/diffusion/implicit/coarse_levels.hpp"
#include "tutti/models/diffusion/implicit/solver_problem.hpp"

namespace tutti::diffusion {

/// All members are collective.
class CoarseCorrection {
 public:
  /// Uses up the parts' `kept` rows.
  CoarseCorrection(const SolverProblem& problem, const std::set<std::int32_t>& regions, const ParallelFor& parallel);
  std::size_t size() const { return levels_.size(); }
  /// A copy of u becomes about (sigma - L)^-1 right, on the coarse levels, with its ghosts. right(p): of owned rows.
  void apply(double sigma, const std::function<const double*(std::size_t p)>& right, int copy);

 private:
  struct Part {
    Buffer<Lid> boxes;  ///< of each owned row
    Buffer<std::int64_t> sums;
    Buffer<double> values;  ///< of each box
  };
  const SolverProblem& problem_;
  std::vector<Part> parts_;
  CoarseLevels levels_;
};

}  // namespace tutti::diffusion
