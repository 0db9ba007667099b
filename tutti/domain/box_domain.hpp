// A grid of cells, split over all devices of all ranks and ready for a model.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "tutti/domain/domain.hpp"
#include "tutti/exchange/box_transfer.hpp"
#include "tutti/mesh/box_grid.hpp"
#include "tutti/partition/split_box.hpp"

namespace tutti {

/// Cells of a grid are the rows. Vectors have one entry a part of this rank. Maps are of owned cells, x fastest, as
/// they stand in checkpoints.
class BoxDomain final : public Domain {
 public:
  BoxGrid grid;
  BoxParts parts;
  std::vector<BoxArray> arrays;  ///< of fields: the owned cells and one layer around them

  /// cut_order: as split_box. count_only: without maps and routing, which take memory and time: to see what a run would
  /// need.
  explicit BoxDomain(BoxGrid of, const std::array<int, 3>& cut_order = z_first, bool count_only = false)
      : grid(std::move(of)), cut_order_(cut_order), count_only_(count_only) {}
  const CellBox& box(std::size_t p) const { return parts.box(p); }

  RowSet owned(std::size_t p) const override { return {{0, static_cast<Lid>(box(p).cells())}, box(p)}; }
  Gid owned_count(std::size_t p) const override { return box(p).cells(); }
  RowWords words() const override { return {"cells", "a smaller grid"}; }
  bool only_counted() const override { return count_only_; }
  void load(const ModelSetup& setup) override;
  void cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition* stored) override;
  /// A cell reads its neighbours across faces.
  WholeRows take_whole(const ModelSetup& setup) override;
  /// A point on a plane between cells belongs to the upper one.
  std::vector<RowPlace> locate(const Comm& comm, std::span<const Vec3> points,
                               std::span<const std::string> labels) const override;
  RowSet one_row(std::size_t p, Lid row) const override;
  /// Between the middles of the cells around the point, linear in each direction; beyond the last one at an end as
  /// between it and the one before it: what holds at the end is not used.
  std::vector<WeightedRow> around(std::size_t p, const RowSet& row, Vec3 point) const override;
  std::vector<Vec3> middles(std::size_t p) const override;
  /// The ends, x-lower to z-upper.
  Groups boundaries() const override;
  std::unique_ptr<Pieces> pieces(const VtkOptions& options) const override;
  /// Layers of cells across an axis, each a grid of its own, one cell thick. Error(input): a position outside the box.
  std::vector<std::unique_ptr<Pieces>> slices(const Case& options) const override;

 private:
  std::array<int, 3> cut_order_;
  bool count_only_;
};

/// As make_domain. Error(input) where the grid has fewer planes than it is to be cut into.
BoxDomain make_box_domain(const ModelSetup& setup, BoxGrid grid, const Sharing& sharing = {},
                          const std::array<int, 3>& cut_order = z_first);

/// Values of the cells in a box, x fastest, from an array that holds them, as the owned ones, with a layer around them;
/// and back.
template <class T>
void take_owned(Stream& stream, const Buffer<T>& buffer, const BoxArray& array, const CellBox& box,
                std::span<double> values);
template <class T>
void put_owned(Stream& stream, Buffer<T>& buffer, const BoxArray& array, const CellBox& box,
               std::span<const double> values);

}  // namespace tutti
