#include "tutti/device/host/core_load.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>

namespace tutti {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::map<int, double> idle_seconds(const std::string& proc_stat) {
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  std::map<int, double> idle;
  std::istringstream lines(proc_stat);
  for (std::string line; std::getline(lines, line);) {
    // cpu3 user nice system idle iowait ...
    std::istringstream words(line);
    std::string name;
    double user = 0, nice = 0, system = 0, rest = 0, disk = 0;
    if (!(words >> name >> user >> nice >> system >> rest >> disk) || name.size() < 4 || !name.starts_with("cpu"))
      continue;
    if (name.find_first_not_of("0123456789", 3) == std::string::npos && name.size() < 9)
      idle[std::stoi(name.substr(3))] = (rest + disk) / tick;
  }
  return idle;
}

std::vector<int> busy_cores(const std::vector<int>& cores, std::chrono::milliseconds interval) {
  using Clock = std::chrono::steady_clock;
  const auto before = idle_seconds(text_of("/proc/stat"));
  const auto start = Clock::now();
  std::this_thread::sleep_for(interval);
  const auto after = idle_seconds(text_of("/proc/stat"));
  const double passed = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<int> busy;
  for (const int core : cores) {
    const auto then = before.find(core), now = after.find(core);
    if (then != before.end() && now != after.end() && now->second - then->second < 0.5 * passed) busy.push_back(core);
  }
  return busy;
}

CoreWait::CoreWait(std::filesystem::path tasks) : tasks_(std::move(tasks)), before_(read()) {}

std::map<std::string, double> CoreWait::read() const {
  std::map<std::string, double> waited;
  std::error_code error;
  for (std::filesystem::directory_iterator it(tasks_, error), end; !error && it != end; it.increment(error)) {
    // Nanoseconds on a core, nanoseconds ready to run without one, turns.
    std::istringstream words(text_of(it->path() / "schedstat"));
    double ran = 0, wait = 0;
    if (words >> ran >> wait) waited[it->path().filename().string()] = wait * 1e-9;
  }
  return waited;
}

double CoreWait::longest() const {
  double longest = 0;
  for (const auto& [task, seconds] : read()) {
    const auto then = before_.find(task);
    longest = std::max(longest, seconds - (then == before_.end() ? 0 : then->second));
  }
  return longest;
}

}  // namespace tutti
