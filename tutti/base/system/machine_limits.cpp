#include "tutti/base/system/machine_limits.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// A controller's tree as it is mounted, and where this process lies in it.
struct Tree {
  fs::path mounted;  ///< folder
  fs::path group;    ///< folder, `mounted` or below
};

/// The first number of a file; none where it is not there or says "max".
std::optional<double> number_of(const fs::path& file) {
  std::ifstream in(file);
  double value = 0;
  return in >> value ? std::optional(value) : std::nullopt;
}

/// The number behind `name` in lines "name value".
std::optional<double> entry_of(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  std::string word;
  double value = 0;
  while (in >> word >> value)
    if (word == name) return value;
  return {};
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, at);) words.push_back(word);
  return words;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Octal escapes of /proc/self/mountinfo: "\040" is a space.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size();
    plain +=
        escape ? static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')) : text[i];
    if (escape) i += 3;
  }
  return plain;
}

/// This process's group in a controller's hierarchy, as /proc/self/cgroup names it; "": of version 2.
std::optional<std::string> group_of(const fs::path& root, const std::string& controller) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // "4:cpu,cpuacct:/slurm/job_1", "0::/user.slice"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has(split(controllers, ','), controller))
      return line.substr(second + 1);
  }
  return {};
}

/// Where a controller's hierarchy is mounted; "": version 2.
std::optional<Tree> find_tree(const fs::path& root, const std::string& controller) {
  const auto group = group_of(root, controller);
  if (!group) return {};
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    // "32 31 0:29 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"
    const auto words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (dash - words.begin() < 6 || words.end() - dash < 4) continue;
    if (controller.empty() ? dash[1] != "cgroup2" : dash[1] != "cgroup" || !has(split(dash[3], ','), controller))
      continue;
    const std::string inside = unescaped(words[3]);  // the group that is mounted: in a container not the uppermost
    const fs::path mounted = root / fs::path(unescaped(words[4])).relative_path();
    // A path that does not begin with it is seen from another place: then the mounted one is all that is known.
    const bool below = inside == "/" || *group == inside || group->starts_with(inside + "/");
    const fs::path rest =
        below ? fs::path(group->substr(inside == "/" ? 0 : inside.size())).relative_path() : fs::path();
    const bool leads_out = has(split(rest.string(), '/'), "..");
    return Tree{mounted, leads_out || rest.empty() ? mounted : mounted / rest};
  }
  return {};
}

/// look(folder) for the process's group and every one above it, as far as they are mounted.
template <class Look>
void look_upwards(const std::optional<Tree>& tree, Look&& look) {
  if (!tree) return;
  for (fs::path at = tree->group;; at = at.parent_path()) {
    look(at);
    if (at == tree->mounted || !at.has_relative_path()) return;
  }
}

/// One group's limit; `dropped`: what of `used` the system can drop.
void limit_memory(MachineLimits& limits, double most, double used, double dropped) {
  constexpr double none = 4e18;  // version 1 writes such a number for no limit
  if (!(most < none)) return;
  limits.memory = std::min(limits.memory, static_cast<Size>(most));
  limits.available = std::min(limits.available, static_cast<Size>(std::max(most - std::max(used - dropped, 0.0), 0.0)));
}

void limit_cores(MachineLimits& limits, double time, double period) {
  if (time > 0 && period > 0) limits.cores = std::min(limits.cores, time / period);
}

}  // namespace

int MachineLimits::whole_cores(int there) const {
  return cores < there ? std::max(1, static_cast<int>(cores)) : there;
}

MachineLimits read_machine_limits(const fs::path& root) {
  MachineLimits limits;
  limits.memory = limits.available = Size{1} << 30;  // where nothing says how much there is
  std::ifstream meminfo(root / "proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    std::istringstream words(line);
    std::string name;
    double kib = 0;
    words >> name >> kib;
    if (name == "MemTotal:") limits.memory = static_cast<Size>(kib * 1024);
    if (name == "MemAvailable:") limits.available = static_cast<Size>(kib * 1024);
  }
  look_upwards(find_tree(root, ""), [&](const fs::path& group) {
    const double used = number_of(group / "memory.current").value_or(0);
    const double dropped = entry_of(group / "memory.stat", "inactive_file").value_or(0);
    // Above memory.high a group is slowed down until it has less.
    for (const char* file : {"memory.max", "memory.high"})
      if (const auto most = number_of(group / file)) limit_memory(limits, *most, used, dropped);
    std::ifstream cpu(group / "cpu.max");
    double time = 0, period = 0;
    if (cpu >> time >> period) limit_cores(limits, time, period);
  });
  look_upwards(find_tree(root, "memory"), [&](const fs::path& group) {
    if (const auto most = number_of(group / "memory.limit_in_bytes"))
      limit_memory(limits, *most, number_of(group / "memory.usage_in_bytes").value_or(0),
                   entry_of(group / "memory.stat", "total_inactive_file").value_or(0));
  });
  look_upwards(find_tree(root, "cpu"), [&](const fs::path& group) {
    limit_cores(limits, number_of(group / "cpu.cfs_quota_us").value_or(0),
                number_of(group / "cpu.cfs_period_us").value_or(0));
  });
  return limits;
}

}  // namespace tutti
