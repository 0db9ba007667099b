// Layers of cells of a grid that is cut into boxes, written more often than the whole.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/simulation/box_domain.hpp"
#include "tutti/simulation/box_results.hpp"

namespace tutti {

/// A layer of cells across an axis.
struct BoxSlice {
  std::string name;
  std::size_t axis = 0;
  Lid layer = 0;
};

/// The tables [[output.slice]] of a case. Error(input): a name twice, or one that cannot be part of a file's name; a
/// position outside the box.
std::vector<BoxSlice> read_slices(const Case& options, const BoxGrid& grid);

/// Writes <folder>/slices/slice-<name>.pvd with, for each time, the layer as a grid of its own, one cell thick, in a
/// piece of every part that has cells of it (as BoxResults). Collective.
class BoxSlices {
 public:
  /// The slices of the case. `before[i]`: times of slice i that an earlier run has written into the same folder; the
  /// series goes on behind them. Error(input), as read_slices; Error(io).
  BoxSlices(const Comm& comm, const BoxDomain& domain, const Case& options, const std::filesystem::path& folder,
            int threads, std::span<const std::vector<double>> before);

  /// The fields in these cells, one box a part of this rank, of which some may be empty.
  using FieldsIn = std::function<std::vector<BoxFieldValues>(std::span<const CellBox>)>;
  /// Error(io).
  void write(std::size_t slice, double time, const FieldsIn& fields_in);

 private:
  struct Series {
    std::vector<CellBox> boxes;  ///< what the parts of this rank have of the layer
    BoxResults results;
  };
  std::vector<Series> slices_;
};

}  // namespace tutti
