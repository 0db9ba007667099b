// Output of models on structured grids that are cut into boxes: fields for ParaView.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/io/vti.hpp"
#include "tutti/simulation/result_series.hpp"

namespace tutti {

/// One field's values in the owned cells, part after part of this rank: x fastest, then y, then z; components belong
/// together cell by cell. Doubles or floats, the same on every rank (also on one without parts).
struct BoxFieldValues {
  std::string name;
  int components = 1;  ///< 1, or 3 for a vector
  std::variant<std::vector<std::vector<double>>, std::vector<std::vector<float>>> parts;
};

/// The box of one part.
struct BoxPiece {
  int part = 0;
  CellBox box;
};

/// Writes <folder>/results.pvd, or another series, with, for each time, one .pvti and a .vti of every part that has
/// cells
/// (.pvtr and .vtr where the grid is stretched). Collective.
class BoxResults {
 public:
  /// `mine`: the pieces of this rank. `all`: the box of every part, by number, looked at on the root only; together
  /// they must be the grid, without overlap (else std::logic_error). `before`: times that an earlier run has written
  /// into the same folder; the series goes on behind them. Error(io).
  BoxResults(const Comm& comm, BoxGridShape grid, std::vector<BoxPiece> mine, std::vector<CellBox> all,
             const std::filesystem::path& folder, int compress, int threads, std::span<const double> before = {},
             const SeriesNames& names = {});
  /// fields[f].parts[p] are the values in the cells of mine[p]. Error(io).
  void write(double time, const std::vector<BoxFieldValues>& fields);

 private:
  BoxGridShape grid_;
  std::vector<BoxPiece> mine_;
  std::vector<CellBox> all_;
  std::vector<std::vector<std::int32_t>> owner_;  ///< mine: constant cell array
  VtkOptions options_;
  ResultSeries series_;
};

}  // namespace tutti
