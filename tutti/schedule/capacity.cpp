#include "tutti/schedule/capacity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tutti/base/error.hpp"

namespace tutti {

double rows_that_fit(const PartRoom& room, double rows) {
  const double bytes = 0.98 * static_cast<double>(std::max(Size{0}, room.bytes - room.buffers));
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

double seconds_of(const PartPace& pace, double rows) {
  const double kernel = rows / pace.rate;
  if (rows <= pace.held) return kernel;
  const double copies = std::min(rows, (rows - pace.held) * pace.pushed_out) * pace.copy_seconds;
  return pace.behind ? std::max(kernel, copies) : kernel + copies;
}

namespace {

/// The most rows that a part does in so many seconds.
double rows_in(const PartPace& pace, double seconds) {
  if (pace.rate <= 0) return 0;
  double low = 0, high = std::min(pace.most, seconds * pace.rate);
  if (seconds_of(pace, high) <= seconds) return high;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (seconds_of(pace, middle) <= seconds ? low : high) = middle;
  }
  return low;
}

}  // namespace

PacedShares share_by_pace(std::span<const PartPace> paces, double rows) {
  const auto done_in = [&](double seconds) {
    double sum = 0;
    for (const PartPace& pace : paces) sum += rows_in(pace, seconds);
    return sum;
  };
  double low = 0, high = 1e-9;
  while (done_in(high) < rows * (1 - 1e-12)) {
    high *= 2;
    require(high < 1e12, "parts have no room for {} rows", rows);
  }
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (done_in(middle) < rows * (1 - 1e-12) ? low : high) = middle;
  }
  PacedShares shares;
  shares.seconds = high;
  const double all = done_in(high);
  for (const PartPace& pace : paces) shares.rows.push_back(rows_in(pace, high) * rows / all);
  return shares;
}

}  // namespace tutti
