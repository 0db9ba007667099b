// Values at chosen points over time, as a CSV file.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/line_file.hpp"

namespace tutti {

/// Where every [[output.probe]] of a case is.
std::vector<Vec3> probe_points(const Case& options);
/// Place and name of every [[output.probe]], "case.toml:12:9: probe 'apex'", for messages.
std::vector<std::string> probe_labels(const Case& options);

/// A CSV file with a header "time,<name>,<name>,..." and a line for each call of `add`, written through at once so that
/// it can be followed while the run goes on. Numbers keep all their digits.
class ProbeFile {
 public:
  /// Makes or overwrites `path`; or goes on with an earlier run's file (see LineFile). Error(io).
  ProbeFile(const std::filesystem::path& path, const std::vector<std::string>& names,
            const std::optional<EarlierLines>& earlier = std::nullopt);
  /// One value a name. Error(io).
  void add(double time, std::span<const double> values);
  /// What is written is on the disk on return. Error(io).
  void sync() { file_->sync(); }
  Size bytes() const { return file_->bytes(); }  ///< so far
  Size lines() const { return file_->lines(); }  ///< without the header

 private:
  std::size_t columns_;
  std::optional<LineFile> file_;
};

}  // namespace tutti
