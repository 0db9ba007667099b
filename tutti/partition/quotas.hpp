// How many rows each part is to own.
#pragma once

#include <span>
#include <vector>

#include "tutti/base/types.hpp"

namespace tutti {

/// Rows a part by the method of largest remainders: each within one row of its exact share, their sum is `rows`; a
/// target of 0 gives 0 rows. Ties go to the lower part. Errors: usage (no target, a negative or infinite one, all 0).
std::vector<Gid> row_quotas(Gid rows, std::span<const double> targets);

}  // namespace tutti
