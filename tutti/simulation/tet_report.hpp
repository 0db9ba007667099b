// What models on tetrahedra report of a run: sums over all parts, and the parts themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tutti/base/comm.hpp"
#include "tutti/base/exact_sum.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/io/checkpoint.hpp"
#include "tutti/io/summary.hpp"
#include "tutti/schedule/step.hpp"
#include "tutti/simulation/tet_domain.hpp"

namespace tutti {

/// The sum over all ranks of what each has added up; the same bits for every split. Collective. `sum` is used up.
double sum_over_ranks(const Comm& comm, ExactSum& sum);

/// The largest value of all ranks, NaN if there is one. Collective.
double max_over_ranks(const Comm& comm, double mine);

/// What a summary says of part p of this rank; `bytes` were moved by its kernels.
PartSummary describe_part(const Comm& comm, const IndexMap& map, const Device& device, double weight,
                          const PartSeconds& seconds, Size bytes);
PartSummary describe_part(const Comm& comm, const TetDomain& domain, std::size_t p, const PartSeconds& seconds,
                          Size bytes);

/// This part's share of the checksum of a field: the values of its owned cells (the first of `values`). The shares of
/// all parts, added up, are the same for every split, and differ when two cells change places.
std::uint64_t checksum_of(const IndexMap& map, std::span<const double> values);

/// What a checkpoint keeps of a model with one value a tetrahedron: `buffer(p)` holds it for part p of this rank, own
/// cells first.
ModelState state_of(TetDomain& domain, const std::string& name,
                    const std::function<Buffer<double>&(std::size_t p)>& buffer);

}  // namespace tutti
