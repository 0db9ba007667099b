// What a device can do at most: the STREAM triad, its copies, and the time of its smallest pieces of work.
#pragma once

#include <algorithm>

#include "tutti/base/types.hpp"

namespace tutti {

class Device;
class Threads;

/// Best of several repetitions; latencies are medians.
struct Bandwidth {
  double triad = 0;           ///< a = b + s c, bytes/s; 24 bytes an element as STREAM counts (no write-allocate)
  double copy_to_device = 0;  ///< pinned host memory to the device, bytes/s; on the cpu: inside its memory
  double copy_to_host = 0;
  double latency_us = 0;  ///< an 8-byte copy to the host, until it is known to be done
  double launch_us = 0;   ///< a for_each over one index, until it is known to be done
};

/// Bytes of all last-level caches of this machine; 32 MiB where the system does not say.
Size last_level_cache_bytes();

/// How long and how large a measurement may be. The default takes about a second and gives figures to publish.
struct MeasureLimits {
  double seconds = 1.0;              ///< of repetitions of one figure; at least two are made
  Size array_bytes = Size{4} << 30;  ///< one of the triad's arrays at most
  /// Fewer repetitions of smaller arrays: about 0.1 s, enough to weigh devices. Three arrays of the caches' size are
  /// still out of them; larger ones take the system seconds to hand out where the caches are of hundreds of MiB.
  static MeasureLimits quick() { return {0.02, std::clamp(last_level_cache_bytes(), Size{256} << 20, Size{1} << 30)}; }
  /// Of so many seconds, a second at most; with the smaller arrays where that is less than a tenth of one.
  static MeasureLimits within(double seconds) {
    MeasureLimits limits = seconds < 0.1 ? quick() : MeasureLimits{};
    limits.seconds = std::min(limits.seconds, seconds);
    return limits;
  }
};

/// The triad of the whole team, first touched by the thread that uses it, with plain stores: the hardware may read a
/// line before it writes it, which STREAM does not count. Arrays are 4 times the last-level caches of the team's
/// machine, or array_bytes where that is less. Error(resource) without memory.
double measure_triad(Threads& threads, const MeasureLimits& limits = {});

/// The triad of a device in what its budget has left. Error(resource) when that is next to nothing.
double measure_triad(Device& device, const MeasureLimits& limits = {});

/// All figures of a device, with arrays that fit in its budget. Error(resource) when its budget has next to nothing
/// left.
Bandwidth measure_bandwidth(Device& device, const MeasureLimits& limits = {});

/// All of them but the triad, whose arrays are by far the largest.
Bandwidth measure_copies(Device& device, const MeasureLimits& limits = {});

}  // namespace tutti
