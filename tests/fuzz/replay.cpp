// Runs a fuzz target without libFuzzer: on every file of some folders, and on damaged copies of each.
// Memory is limited to 1 GiB and an input to 20 s, so that a huge allocation and a hang end the test, too.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz.hpp"

namespace {

constexpr std::size_t largest_seed = 64 << 10;  // as libFuzzer's -max_len in scripts/fuzz.sh

std::vector<std::string> read_seeds(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (seeds.back().size() > largest_seed) seeds.pop_back();
  }
  return seeds;
}

void run(const std::string& bytes) {
  ::alarm(20);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  ::alarm(0);
}

/// Every third copy is cut off, the others have one to three bits flipped.
std::string damage(std::string bytes, int number, std::mt19937& random) {
  if (bytes.empty()) return bytes;
  if (number % 3 == 0) return bytes.substr(0, random() % bytes.size());
  const int flips = 1 + static_cast<int>(random() % 3);
  for (int k = 0; k < flips; ++k) bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
  return bytes;
}

void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) tutti::fuzz::finding("the memory cannot be limited");
#endif
}

}  // namespace

int main(int argc, char** argv) {
  int mutations = 0;
  std::vector<std::string> seeds;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      mutations = std::atoi(argv[++i]);
      continue;
    }
    const auto more = read_seeds(argument);
    seeds.insert(seeds.end(), more.begin(), more.end());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "usage: %s [--mutations N] FOLDER...\nno files found\n", argv[0]);
    return 2;
  }
  limit_memory();
  std::mt19937 random(1);
  for (const std::string& seed : seeds) {
    run(seed);
    for (int k = 0; k < mutations; ++k) run(damage(seed, k, random));
  }
  std::printf("%zu files, %d damaged copies of each\n", seeds.size(), mutations);
}
