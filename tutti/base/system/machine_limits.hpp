// What this process may take of its machine: batch systems and containers give it a part, by control groups.
#pragma once

#include <filesystem>
#include <limits>

#include "tutti/base/types.hpp"

namespace tutti {

struct MachineLimits {
  Size memory = 0;     ///< bytes in all
  Size available = 0;  ///< bytes that can still be taken; caches of files that the system can drop are counted in
  /// Cores' worth of time that all processes of the group get together, though they may run on any core.
  double cores = std::numeric_limits<double>::infinity();
  /// Whole cores: at least 1, at most `there`.
  int whole_cores(int there) const;
};

/// The least of the machine (/proc/meminfo) and of the control groups that this process lies in, their parents included
/// (cgroups of version 1 and 2, Slurm, Kubernetes, Docker). What cannot be read sets no limit. `root`: of the files,
/// for tests.
MachineLimits read_machine_limits(const std::filesystem::path& root = "/");

}  // namespace tutti
