#include "tutti/schedule/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tutti/base/error.hpp"

namespace tutti {

double rows_that_fit(const PartRoom& room, double rows) {
  const double bytes = 0.98 * static_cast<double>(room.bytes);
  const double without_ghosts = std::min(rows, bytes / room.row_bytes);
  const double ghosts = std::min(rows - without_ghosts, 12 * std::cbrt(without_ghosts * without_ghosts));
  return std::floor(std::clamp((bytes - room.ghost_bytes * ghosts) / room.row_bytes, 0.0, rows));
}

BoundWeights bound_weights(std::span<const double> weights, std::span<const double> most, double rows) {
  require(weights.size() == most.size() && rows > 0, "bound_weights: {} weights, {} rooms, {} rows", weights.size(),
          most.size(), rows);
  const std::size_t n = weights.size();
  BoundWeights bound;
  const double room = std::accumulate(most.begin(), most.end(), 0.0);
  bound.fits = room >= rows;
  if (!bound.fits) {
    for (std::size_t p = 0; p < n; ++p) {
      bound.weights.push_back(room > 0 ? most[p] / room : weights[p]);
      bound.full.push_back(static_cast<int>(p));
    }
    return bound;
  }
  std::vector<double> share(n, 0.0);
  std::vector<double> wish(weights.begin(), weights.end());
  std::vector<bool> is_full(n, false);
  double left = rows;
  // Each round fills a device, or is the last.
  for (bool again = true; again && left > 1e-9 * rows;) {
    again = false;
    double sum = 0;
    for (std::size_t p = 0; p < n; ++p) sum += is_full[p] ? 0 : wish[p];
    if (sum == 0)  // only those that were to have nothing are left
      for (std::size_t p = 0; p < n; ++p) sum += is_full[p] ? 0 : wish[p] = most[p];
    for (std::size_t p = 0; p < n; ++p)
      if (!is_full[p]) share[p] = left * wish[p] / sum;
    for (std::size_t p = 0; p < n; ++p) {
      if (is_full[p] || share[p] <= most[p] * (1 + 1e-12)) continue;
      share[p] = most[p];
      left -= most[p];
      is_full[p] = again = true;
    }
  }
  for (std::size_t p = 0; p < n; ++p) {
    bound.weights.push_back(share[p] / rows);
    if (is_full[p]) bound.full.push_back(static_cast<int>(p));
  }
  return bound;
}

}  // namespace tutti
