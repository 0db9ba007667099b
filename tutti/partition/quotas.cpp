#include "tutti/partition/quotas.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

void check_targets(std::span<const double> targets) {
  if (targets.empty()) fail(ErrorKind::usage, "a partition needs at least one part: give a weight per part");
  for (std::size_t p = 0; p < targets.size(); ++p) {
    if (!std::isfinite(targets[p]) || targets[p] < 0) {
      fail(ErrorKind::usage, "weight {} of the partition is {}: weights must be finite and not negative", p,
           targets[p]);
    }
  }
  if (*std::max_element(targets.begin(), targets.end()) == 0) {
    fail(ErrorKind::usage, "all {} weights of the partition are 0: at least one part must take rows", targets.size());
  }
}

}  // namespace

std::vector<Gid> row_quotas(Gid rows, std::span<const double> targets) {
  require(rows >= 0, "row_quotas: {} rows", rows);
  check_targets(targets);
  // Scaled by the largest, so that the sum cannot overflow.
  const double largest = *std::max_element(targets.begin(), targets.end());
  double sum = 0;
  for (const double t : targets) sum += t / largest;

  std::vector<Gid> quotas(targets.size());
  std::vector<double> remainders(targets.size());
  for (std::size_t p = 0; p < targets.size(); ++p) {
    const double share = static_cast<double>(rows) * (targets[p] / largest / sum);
    quotas[p] = static_cast<Gid>(std::floor(share));
    remainders[p] = share - std::floor(share);
  }
  std::vector<std::size_t> order;
  for (std::size_t p = 0; p < targets.size(); ++p) {
    if (targets[p] > 0) order.push_back(p);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  Gid left = rows - std::accumulate(quotas.begin(), quotas.end(), Gid{0});
  for (std::size_t k = 0; left > 0; k = (k + 1) % order.size(), --left) ++quotas[order[k]];
  // Rounding can hand out a row too many; the largest part misses it least.
  for (; left < 0; ++left) --*std::max_element(quotas.begin(), quotas.end());
  return quotas;
}

}  // namespace tutti
