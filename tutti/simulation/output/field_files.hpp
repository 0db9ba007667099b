// The fields of a model over time, in files for ParaView.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "tutti/domain/domain.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/simulation/model_field.hpp"
#include "tutti/simulation/output/result_series.hpp"

namespace tutti {

/// How the case wants files to be written.
VtkOptions vtk_options(const Case& options, int threads);

/// Writes <folder>/results.vtkhdf: one file, in which a field grows with every time. All values travel to the root, and
/// stand in the order of the rows' numbers, whatever the partition. Collective.
class HdfFieldFile {
 public:
  /// Goes on behind `times` times that an earlier run has written into it; 0: makes it. Errors as VtkhdfFile.
  HdfFieldFile(const Comm& comm, const Domain& domain, const VtkOptions& options, const std::filesystem::path& folder,
               Size times);
  /// Writes those of `fields` that are output. Errors as VtkhdfFile.
  void write(double time, std::span<const ModelField> fields);

 private:
  const Comm& comm_;
  std::unique_ptr<Pieces> pieces_;
  std::vector<Gid> rows_;  ///< their numbers as they come to the root
  VtkhdfFile file_;
};

/// Writes <folder>/<series> with, for each time, a file of every part and one that joins them. Collective.
class FieldFiles {
 public:
  /// `before`: times that an earlier run has written into the same folder; the series goes on behind them. Error(io).
  FieldFiles(const Comm& comm, std::unique_ptr<Pieces> pieces, const std::filesystem::path& folder,
             const VtkOptions& options, std::span<const double> before = {}, const SeriesNames& names = {});
  /// Writes those of `fields` that are output. Error(io).
  void write(double time, std::span<const ModelField> fields);

 private:
  std::unique_ptr<Pieces> pieces_;
  VtkOptions options_;
  std::vector<int> mine_;
  ResultSeries series_;
};

}  // namespace tutti
