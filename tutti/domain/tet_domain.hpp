// A tetrahedral mesh, read or generated, split over all devices of all ranks, numbered and ready for a model.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tutti/domain/domain.hpp"
#include "tutti/io/distribute.hpp"

namespace tutti {

struct TetOptions {
  /// Layers of face neighbours that a cell reads: 1 (4 cells) or 2 (4 + 12). The halo and the stencil graph follow.
  int layers = 2;
  /// > 0: interior rows of like length are brought together within windows of this many rows (the sigma of
  /// SELL-C-sigma).
  Lid similar_rows = 0;
};

/// Cells of a tetrahedral mesh are the rows.
class TetDomain final : public Domain {
 public:
  std::map<std::int32_t, std::string> region_names, boundary_names;
  std::set<std::int32_t> region_tags, boundary_tags;  ///< in use
  std::vector<LocalTetMesh> meshes;                   ///< mine; in the order of the map

  explicit TetDomain(TetOptions options) : options_(options) {}
  RowWords words() const override { return {"cells", "a smaller mesh"}; }
  double row_length() const override { return row_length_; }
  void load(const ModelSetup& setup) override;
  void cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition* stored) override;
  WholeRows take_whole(const ModelSetup& setup) override;
  /// A point on a face belongs to the cell with the lower global number.
  std::vector<RowPlace> locate(const Comm& comm, std::span<const Vec3> points,
                               std::span<const std::string> labels) const override;
  /// By the cell, its face neighbours and theirs.
  std::vector<WeightedRow> around(std::size_t p, const RowSet& row, Vec3 point) const override;
  std::vector<Vec3> middles(std::size_t p) const override;
  Groups regions() const override { return {region_names, region_tags}; }
  Groups boundaries() const override { return {boundary_names, boundary_tags}; }
  std::vector<std::int32_t> region_of_rows(std::size_t p) const override;
  std::unique_ptr<Pieces> pieces(const VtkOptions& options) const override;

 private:
  TetOptions options_;
  WholeMesh whole_;        ///< on the reader, until it is distributed
  double row_length_ = 0;  ///< on the reader
};

/// The mesh of [mesh]: a file, or a generator (its files go to `work_dir`), refined. On the reader only.
TetMesh load_mesh(const Case& options, const std::filesystem::path& work_dir, const ParallelFor& parallel = {});

/// As make_domain.
TetDomain make_tet_domain(const ModelSetup& setup, const TetOptions& options, const Sharing& sharing = {});

}  // namespace tutti
