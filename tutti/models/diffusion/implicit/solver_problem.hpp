// What the solver of implicit diffusion works on.
#pragma once

#include <functional>
#include <span>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/domain/tet_domain.hpp"
#include "tutti/schedule/kernels.hpp"

namespace tutti::diffusion {

struct DiffusionPart;

struct SolverProblem {
  const Comm& comm;
  const TetDomain& domain;
  std::span<DiffusionPart> parts;
  std::function<const double*(std::size_t p)> volumes;  ///< of owned cells
  /// A pass over the rows of all parts; then the ghosts of this copy of u follow (copy < 0: none).
  std::function<void(int copy, const std::function<void(std::size_t p, Kernels&)>& add)> run;
  std::function<void(std::size_t copy)> exchange;  ///< the ghosts of a copy, now

  Stream& stream(std::size_t p) const { return *domain.streams[p].compute; }
  Range rows(std::size_t p) const { return domain.maps[p].owned_rows(); }
};

}  // namespace tutti::diffusion
