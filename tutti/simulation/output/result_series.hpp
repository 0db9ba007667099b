// A series in time, and a file of every part at every time.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/vtk/vtk_file.hpp"

namespace tutti {

/// How the files of a series are called, from a folder on.
struct SeriesNames {
  std::string series = "results.pvd";
  std::string stem = "fields/fields";  ///< of the files at a time
};

/// <folder>/<series> with, for each time, <stem>_<output>.p<suffix> and the pieces that it joins. Collective.
class ResultSeries {
 public:
  /// `before`: times that an earlier run has written into the same folder; the series goes on behind them. Error(io).
  ResultSeries(const Comm& comm, const std::filesystem::path& folder, std::string suffix,
               std::span<const double> before, const SeriesNames& names = {});

  /// Writes piece p, which belongs to part `mine[p]` of this rank.
  using WritePiece = std::function<void(std::size_t p, const std::filesystem::path& path)>;
  /// Writes the file that joins `files` (relative to it), those of the parts `all`; on the root only.
  using WriteJoined = std::function<void(const std::filesystem::path& path, const std::vector<std::string>& files)>;
  /// `all` matters on the root only. A time is in the series once all its files are there.
  void write(double time, std::span<const int> mine, std::span<const int> all, const WritePiece& write_piece,
             const WriteJoined& write_joined);

 private:
  const Comm& comm_;
  std::filesystem::path folder_;
  std::string stem_, suffix_;
  PvdSeries series_;
  Size outputs_ = 0;
};

}  // namespace tutti
