// What a result came from: for run.log, summary.json and checkpoints.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// Name and value: "commit" (of the sources), "host", "command" (its words as a shell takes them), "folder" (the
/// current one), "mpi", "hdf5", "cuda", "compiler". Of this process.
std::vector<std::pair<std::string, std::string>> provenance();

/// Words as a shell takes them.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace tutti
