// What other programs do on the cores of this host, and how long threads wait for a core because of it.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tutti {

/// Seconds that each core has spent idle or waiting for a disk since the machine started, from the text of /proc/stat.
std::map<int, double> idle_seconds(const std::string& proc_stat);

/// Those of `cores` that worked for more than half of `interval`, while this thread sleeps. None where the system does
/// not tell.
std::vector<int> busy_cores(const std::vector<int>& cores, std::chrono::milliseconds interval);

/// How long the threads of this process wait for a core because others have it.
class CoreWait {
 public:
  /// From now on. `tasks`: for tests.
  explicit CoreWait(std::filesystem::path tasks = "/proc/self/task");
  /// Of the thread that has waited longest [s]; 0 where the system does not tell.
  double longest() const;

 private:
  std::map<std::string, double> read() const;
  std::filesystem::path tasks_;
  std::map<std::string, double> before_;
};

}  // namespace tutti
