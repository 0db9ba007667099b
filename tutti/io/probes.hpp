// Values at chosen points over time, as a CSV file.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/io/case.hpp"

namespace tutti {

/// Where every [[output.probe]] of a case is.
std::vector<Vec3> probe_points(const Case& options);
/// Place and name of every [[output.probe]], "case.toml:12:9: probe 'apex'", for messages.
std::vector<std::string> probe_labels(const Case& options);

/// A CSV file with a header "time,<name>,<name>,..." and a line for each call of `add`, written through at once so that
/// it can be followed while the run goes on. Numbers keep all their digits.
class ProbeFile {
 public:
  /// Makes or overwrites `path`; or, with `keep_bytes` > 0, goes on behind so many bytes of an earlier run's file and
  /// drops the rest. Error(io).
  ProbeFile(const std::filesystem::path& path, const std::vector<std::string>& names, Size keep_bytes = 0);
  /// One value a name. Error(io).
  void add(double time, std::span<const double> values);
  /// Length of the file so far.
  Size bytes() const { return bytes_; }

 private:
  void write_line(const std::string& line);
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::size_t columns_ = 0;
  Size bytes_ = 0;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace tutti
