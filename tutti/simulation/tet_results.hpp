// Output of models on tetrahedra: fields for ParaView, values at points.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/io/probes.hpp"
#include "tutti/io/vtu.hpp"
#include "tutti/simulation/result_series.hpp"
#include "tutti/simulation/tet_domain.hpp"

namespace tutti {

/// One field's owned values, part after part of this rank; components belong together cell by cell.
struct TetFieldValues {
  std::string name;
  int components = 1;
  std::vector<std::vector<double>> parts;
};

/// Writes <folder>/results.pvd with one .pvtu a time and one .vtu a part. Collective.
class TetResults {
 public:
  /// `before`: times that an earlier run has written into the same folder; the series goes on behind them.
  TetResults(const Comm& comm, const TetDomain& domain, const std::filesystem::path& folder, int compress, int threads,
             std::span<const double> before = {});
  void write(double time, const std::vector<TetFieldValues>& fields);

 private:
  std::vector<int> mine_, all_;  ///< parts
  VtkOptions options_;
  std::vector<VtuGrid> grids_;                             ///< mine
  std::vector<std::vector<std::int32_t>> owner_, region_;  ///< mine: constant cell arrays
  ResultSeries series_;
};

/// Points whose cells are looked up once and read often.
class TetProbes {
 public:
  TetProbes() = default;
  /// Error(input) on all ranks for a point in no cell, which begins with its label. A point on a face belongs to the
  /// cell with the lower global number.
  TetProbes(const Comm& comm, const TetDomain& domain, std::vector<Vec3> points, std::vector<std::string> labels);
  /// value(part of this rank, row) of every probe's cell, on all ranks.
  std::vector<double> sample(const Comm& comm, const std::function<double(int, Lid)>& value) const;

 private:
  struct Place {
    int part = -1;  ///< of this rank, or -1
    Lid row = -1;
  };
  std::vector<Place> places_;
};

}  // namespace tutti
