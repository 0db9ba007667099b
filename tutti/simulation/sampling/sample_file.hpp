// A table of samples over time: at each time of the fields a row for every place.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/io/probes.hpp"
#include "tutti/simulation/observer.hpp"

namespace tutti {

/// <folder>/<file>, a CSV file with `rows` rows a time: time, then the columns. Collective, written by the root.
class SampleFile {
 public:
  SampleFile(std::string file, std::vector<std::string> columns, std::size_t rows)
      : file_(std::move(file)), columns_(std::move(columns)), rows_(rows) {}
  const std::string& file() const { return file_; }
  /// Opens it; true: the time at which the run starts is to be added. `when`: as output.every and the like say.
  bool start(Run& run, const Occasions& when);
  /// All rows of run.time, on the root.
  void add(Run& run, std::span<const double> values);
  void describe(RunState& state);

 private:
  std::string file_;
  std::vector<std::string> columns_;
  std::size_t rows_;
  std::unique_ptr<ProbeFile> csv_;  ///< on the root
};

/// The name of a table of the case that also names files: letters, digits, - and _. Error(input), also where one of
/// the tables before it has the same.
std::string file_name_of(const Case& options, const std::string& list, int table);

}  // namespace tutti
