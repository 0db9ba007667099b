#include <metis.h>

#include <algorithm>
#include <mutex>

#include "tutti/base/error.hpp"
#include "tutti/partition/graph_split.hpp"
#include "tutti/partition/library_index.hpp"

namespace tutti {
namespace {

// METIS draws from the C library's rand(), which is one for the process.
std::mutex one_at_a_time;

const char* metis_error(int status) {
  switch (status) {
    case METIS_ERROR_INPUT:
      return "it rejects its input";
    case METIS_ERROR_MEMORY:
      return "it ran out of memory";
    default:
      return "it failed without a reason";
  }
}

}  // namespace

void metis_split(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, std::span<std::int32_t> part) {
  require(quotas.size() >= 2 && !graph.columns.empty(), "metis_split: {} parts, {} edges", quotas.size(),
          graph.columns.size());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  // In thousandths above the target. What is left is for rebalance().
  options[METIS_OPTION_UFACTOR] = 5;

  std::vector<real_t> shares;
  for (const std::int32_t q : quotas) {
    shares.push_back(static_cast<real_t>(static_cast<double>(q) / static_cast<double>(graph.rows())));
  }
  idx_t rows = graph.rows(), constraints = 1, parts = static_cast<idx_t>(quotas.size()), cut = 0;
  LibraryIndices<idx_t> offsets(graph.offsets), columns(graph.columns);
  std::vector<idx_t> owner(part.size(), 0);
  const std::lock_guard lock(one_at_a_time);
  const int status = METIS_PartGraphKway(&rows, &constraints, offsets.data(), columns.data(), nullptr, nullptr, nullptr,
                                         &parts, shares.data(), nullptr, options, &cut, owner.data());
  if (status != METIS_OK) {
    fail(ErrorKind::resource, "METIS could not split {} rows with {} neighbours into {} parts: {}; use \"hilbert\"",
         graph.rows(), graph.columns.size(), quotas.size(), metis_error(status));
  }
  for (std::size_t i = 0; i < part.size(); ++i) {
    part[i] = std::clamp(static_cast<std::int32_t>(owner[i]), 0, static_cast<std::int32_t>(parts) - 1);
  }
}

}  // namespace tutti
