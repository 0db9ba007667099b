// Sums and largest values over all ranks that do not depend on how rows are split.
#pragma once

#include "tutti/base/exact_sum.hpp"
#include "tutti/base/mpi/comm.hpp"

namespace tutti {

/// The sum over all ranks of what each has added up; the same bits for every split. Collective. `sum` is used up.
double sum_over_ranks(const Comm& comm, ExactSum& sum);
/// The largest value of all ranks, NaN if there is one. Collective.
double max_over_ranks(const Comm& comm, double mine);

}  // namespace tutti
