#include "tutti/base/mpi/over_ranks.hpp"

#include <cmath>
#include <limits>

namespace tutti {

double sum_over_ranks(const Comm& comm, ExactSum& sum) {
  sum.normalise();
  comm.sum(sum.words());
  return sum.value();
}

double max_over_ranks(const Comm& comm, double mine) {
  // MPI's maximum does not promise anything about NaN.
  const double any_nan = comm.max(std::isnan(mine) ? 1.0 : 0.0);
  const double largest = comm.max(std::isnan(mine) ? -std::numeric_limits<double>::infinity() : mine);
  return any_nan > 0 ? std::numeric_limits<double>::quiet_NaN() : largest;
}

}  // namespace tutti
