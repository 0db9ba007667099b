// Results for ParaView: VTK's XML files of unstructured grids, pieces of them, and series in time.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

/// A named array with `components` values a cell, cell-major. It does not own its values.
struct VtuArray {
  std::string name;
  int components = 1;
  std::variant<std::span<const double>, std::span<const std::int64_t>, std::span<const std::int32_t>> values;
};

/// One part's share of a mesh with its results: owned cells only.
struct VtuPiece {
  std::span<const Vec3> points;
  std::span<const std::array<Lid, 4>> tets;  ///< numbers of `points`, in VTK's order (positive volume)
  std::vector<VtuArray> cell_arrays;
};

struct VtuOptions {
  int level = 1;               ///< zlib, 0 to 9
  int threads = 1;             ///< that compress
  std::optional<double> time;  ///< written into the file as TimeValue
};

/// Points and cells, compressed once for all outputs of a series.
class VtuGrid {
 public:
  /// Error(input): a cell names a point that is not there.
  VtuGrid(std::span<const Vec3> points, std::span<const std::array<Lid, 4>> tets, const VtuOptions& options = {});
  VtuGrid(VtuGrid&&) noexcept;
  VtuGrid& operator=(VtuGrid&&) noexcept;
  ~VtuGrid();
  Size points() const { return points_; }
  Size cells() const { return cells_; }

 private:
  friend void write_vtu(const std::filesystem::path&, const VtuGrid&, std::span<const VtuArray>, const VtuOptions&);
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
  Size points_ = 0;
  Size cells_ = 0;
};

/// Writes a .vtu: appended raw data in zlib blocks, 64-bit headers, little endian. The file appears whole or not at
/// all. Error(io) names the path, the bytes written and the cause.
void write_vtu(const std::filesystem::path& path, const VtuGrid& grid, std::span<const VtuArray> cell_arrays,
               const VtuOptions& options = {});
void write_vtu(const std::filesystem::path& path, const VtuPiece& piece, const VtuOptions& options = {});

/// Writes the .pvtu that joins pieces. `piece_files` are relative to the .pvtu's folder; `arrays` give names, types and
/// components (their values are not looked at), the same in every piece. Error(io).
void write_pvtu(const std::filesystem::path& path, std::span<const std::string> piece_files,
                std::span<const VtuArray> arrays, std::optional<double> time = {});

/// A .pvd: which file belongs to which time. Rewritten whole at every `add`, so it is valid while the run goes on.
class PvdSeries {
 public:
  explicit PvdSeries(std::filesystem::path path) : path_(std::move(path)) {}
  /// `file` is relative to the .pvd's folder. Error(io).
  void add(double time, const std::string& file);
  /// An entry that an earlier run has written; the next add() writes it again.
  void remember(double time, const std::string& file) { entries_.emplace_back(time, file); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::vector<std::pair<double, std::string>> entries_;
};

/// "fields/u_000050_p0003.vtu" for stem "fields/u", output 50, part 3.
std::string vtu_piece_name(const std::string& stem, Size output, int part);
/// "fields/u_000050.pvtu".
std::string pvtu_name(const std::string& stem, Size output);

/// Cells with only the points they use, in ascending order of the old numbers.
struct CompactTets {
  std::vector<Vec3> points;
  std::vector<std::array<Lid, 4>> tets;
  std::vector<Lid> old_point;  ///< old number of each point
};
CompactTets compact_tets(std::span<const Vec3> points, std::span<const std::array<Lid, 4>> tets);

}  // namespace tutti
