// Timing and the printed line of the GPU benchmarks.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "tutti/base/log.hpp"
#include "tutti/device/device.hpp"

namespace tutti {

/// Seconds of one call: the best of batches that are long enough to hide the launch.
template <class F>
double time_of(Stream& stream, double seconds, const F& call, int batch = 50) {
  using Clock = std::chrono::steady_clock;
  for (int k = 0; k < std::min(batch, 10); ++k) call();
  stream.synchronize();
  double best = 1e30;
  const auto start = Clock::now();
  do {
    const auto begin = Clock::now();
    for (int k = 0; k < batch; ++k) call();
    stream.synchronize();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / batch);
  } while (std::chrono::duration<double>(Clock::now() - start).count() < seconds);
  return best;
}

/// A line of figures: P = 33/216 x triad (Langguth 2015, eq. 3), so a fraction of P is one of 216 bytes a row.
struct Printer {
  double rows, triad;  ///< triad: bytes/s
  void operator()(const std::string& name, double seconds, double bytes_a_row) const {
    fmt::print("{:<44} {:>8.4f} ms  {:>6.1f} B per row  {:>6.3f} of the triad  {:>6.3f} of P\n", name, 1e3 * seconds,
               bytes_a_row, bytes_a_row * rows / seconds / triad, 216 * rows / seconds / triad);
  }
};

}  // namespace tutti
