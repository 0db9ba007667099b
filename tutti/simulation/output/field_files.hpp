// The fields of a model over time, in files for ParaView.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "tutti/domain/pieces.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/simulation/model_field.hpp"
#include "tutti/simulation/output/result_series.hpp"

namespace tutti {

/// How the case wants files to be written.
VtkOptions vtk_options(const Case& options, int threads);

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
