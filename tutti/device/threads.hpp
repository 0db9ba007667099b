// The CPU team of a rank: a fixed number of threads, each pinned to a core.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tutti/base/parallel.hpp"
#include "tutti/base/types.hpp"

namespace tutti {

/// A team of OpenMP threads (plain threads in a ThreadSanitizer build). One team runs at a time; the calling thread is
/// member 0.
class Threads {
 public:
  /// `cores`: member i is pinned to cores[i]; empty: not pinned. count >= 1. Error(resource) when OpenMP
  /// is not allowed so many threads (OMP_THREAD_LIMIT).
  explicit Threads(int count, std::vector<int> cores = {});
  int count() const { return count_; }
  const std::vector<int>& cores() const { return cores_; }

  /// work(member) once on every member, or on the first so many (1 to count()). Rethrows the first exception after all
  /// have returned.
  void run(const std::function<void(int)>& work) { run(count_, work); }
  void run(int members, const std::function<void(int)>& work);
  /// body(begin, end) over [0, n) in contiguous pieces, one a member; serial when called from inside run().
  void for_range(Size n, const std::function<void(Size, Size)>& body);

 private:
  int count_;
  std::vector<int> cores_;
};

/// The hook of floors that know no team. The team outlives it.
inline ParallelFor parallel_for(Threads& threads) {
  return [&threads](Size count, const std::function<void(Size, Size)>& body) { threads.for_range(count, body); };
}

/// The cores this process may run on, ascending: its affinity mask at program start, whatever was pinned since.
const std::vector<int>& allowed_cores();
/// Lets the calling thread run on all allowed cores again: a thread inherits the pinning of the one that started it.
void release_cores();
/// "0-3,8" of {0,1,2,3,8}.
std::string format_cores(const std::vector<int>& cores);

}  // namespace tutti
