#include "tutti/io/provenance.hpp"

#include <fmt/core.h>
#include <hdf5.h>  // its version only: a call would come before what tutti tells the library at its start
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tutti/base/version.hpp"

namespace tutti {

std::string shell_words(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    constexpr auto plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./,:@%";
    if (!all.empty()) all += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      all += word;
      continue;
    }
    all += '\'';
    for (const char c : word) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
    all += '\'';
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> provenance() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  std::vector<std::string> words;
  std::ifstream command("/proc/self/cmdline");
  for (std::string word; std::getline(command, word, '\0');) words.push_back(word);
  std::error_code error;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> mpi{};
  int length = 0;
  MPI_Get_library_version(mpi.data(), &length);
  const std::string library(mpi.data(), static_cast<std::size_t>(length));
  return {{"commit", commit()},
          {"host", host.data()},
          {"command", shell_words(words)},
          {"folder", std::filesystem::current_path(error).string()},
          {"mpi", library.substr(0, library.find_first_of(",\n"))},
          {"hdf5", fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE)},
          {"cuda", cuda_version()},
          {"compiler", __VERSION__}};
}

}  // namespace tutti
