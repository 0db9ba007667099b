// Results for ParaView: VTK's XML files of unstructured grids, and pieces of them.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/io/vtk/vtk_file.hpp"

namespace tutti {

/// One part's share of a mesh with its results: owned cells only.
struct VtuPiece {
  std::span<const Vec3> points;
  std::span<const std::array<Lid, 4>> tets;  ///< numbers of `points`, in VTK's order (positive volume)
  std::vector<VtkArray> cell_arrays;
};

/// Points and cells, compressed once for all outputs of a series.
class VtuGrid {
 public:
  /// Error(input): a cell names a point that is not there.
  VtuGrid(std::span<const Vec3> points, std::span<const std::array<Lid, 4>> tets, const VtkOptions& options = {});
  /// Every point is a cell (VTK_VERTEX).
  static VtuGrid of_points(std::span<const Vec3> points, const VtkOptions& options = {});
  /// Cells of any of VTK's types: the points of cell c are connectivity[ends[c - 1] .. ends[c]).
  static VtuGrid of_cells(std::span<const Vec3> points, std::span<const Lid> connectivity, std::span<const Size> ends,
                          std::span<const std::uint8_t> types, const VtkOptions& options = {});
  VtuGrid(VtuGrid&&) noexcept;
  VtuGrid& operator=(VtuGrid&&) noexcept;
  ~VtuGrid();
  Size points() const { return points_; }
  Size cells() const { return cells_; }

 private:
  friend void write_vtu(const std::filesystem::path&, const VtuGrid&, std::span<const VtkArray>,
                        std::span<const VtkArray>, const VtkOptions&);
  struct Arrays;
  VtuGrid();
  std::unique_ptr<Arrays> arrays_;
  Size points_ = 0;
  Size cells_ = 0;
};

/// Writes a .vtu: appended raw data in zlib blocks, 64-bit headers, little endian. The file appears whole or not at
/// all. Error(io) names the path, the bytes written and the cause.
void write_vtu(const std::filesystem::path& path, const VtuGrid& grid, std::span<const VtkArray> cell_arrays,
               const VtkOptions& options = {});
/// The same with arrays of points, too.
void write_vtu(const std::filesystem::path& path, const VtuGrid& grid, std::span<const VtkArray> point_arrays,
               std::span<const VtkArray> cell_arrays, const VtkOptions& options);
void write_vtu(const std::filesystem::path& path, const VtuPiece& piece, const VtkOptions& options = {});

/// Writes the .pvtu that joins pieces. `piece_files` are relative to the .pvtu's folder; `arrays` give names, types and
/// components (their values are not looked at), the same in every piece. Error(io).
void write_pvtu(const std::filesystem::path& path, std::span<const std::string> piece_files,
                std::span<const VtkArray> arrays, std::optional<double> time = {},
                std::span<const VtkArray> point_arrays = {});

/// Cells with only the points they use, in ascending order of the old numbers.
struct CompactTets {
  std::vector<Vec3> points;
  std::vector<std::array<Lid, 4>> tets;
  std::vector<Lid> old_point;  ///< old number of each point
};
CompactTets compact_tets(std::span<const Vec3> points, std::span<const std::array<Lid, 4>> tets);

}  // namespace tutti
