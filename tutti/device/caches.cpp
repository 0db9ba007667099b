// Sizes of caches, as Linux tells them.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "tutti/device/triad.hpp"

namespace tutti {
namespace {

/// "32768K" in bytes; 0 when it is something else.
Size cache_size(const std::string& text) {
  char unit = 0;
  long value = 0;
  if (std::sscanf(text.c_str(), "%ld%c", &value, &unit) < 1 || value < 0) return 0;
  return static_cast<Size>(value) << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

Size last_level_cache_bytes() {
  std::map<std::string, Size> caches;  // by the cores that share it
  for (int core = 0;; ++core) {
    std::string deepest;
    for (int index = 0; index < 8; ++index) {
      const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", core, index);
      if (!line_of(folder + "size").empty()) deepest = folder;
    }
    if (deepest.empty()) break;
    caches[line_of(deepest + "shared_cpu_list")] = cache_size(line_of(deepest + "size"));
  }
  Size total = 0;
  for (const auto& [cores, bytes] : caches) total += bytes;
  return total > 0 ? total : Size{32} << 20;
}

}  // namespace tutti
