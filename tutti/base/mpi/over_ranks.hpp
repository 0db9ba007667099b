// Sums and largest values over all ranks that do not depend on how rows are split.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/exact_sum.hpp"
#include "tutti/base/mpi/comm.hpp"

namespace tutti {

/// The sum over all ranks of what each has added up; the same bits for every split. Collective. `sum` is used up.
double sum_over_ranks(const Comm& comm, ExactSum& sum);
/// The largest value of all ranks, NaN if there is one. Collective.
double max_over_ranks(const Comm& comm, double mine);

/// Everyone's values on the root, rank after rank; nothing on the others. Collective.
template <class T>
std::vector<T> on_root(const Comm& comm, std::span<const T> mine) {
  std::vector<std::vector<T>> outgoing(static_cast<std::size_t>(comm.size()));
  outgoing[0].assign(mine.begin(), mine.end());
  std::vector<T> all;
  for (const auto& part : comm.all_to_all(outgoing)) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace tutti
