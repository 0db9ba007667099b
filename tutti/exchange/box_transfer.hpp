// Cells of a grid that parts own, brought to where other parts want them: halos, and whole grids cut another way.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tutti/exchange/exchange.hpp"
#include "tutti/partition/cell_box.hpp"

namespace tutti {

/// A grid cut into boxes, seen from one rank.
struct BoxParts {
  std::array<Lid, 3> cells{};      ///< of the grid
  std::array<bool, 3> periodic{};  ///< cell n is cell 0
  std::vector<CellBox> boxes;      ///< of all parts; they cover the grid, each cell once
  std::vector<int> rank_of_part;   ///< of all parts
  std::vector<std::int32_t> mine;  ///< numbers of this rank's parts
  const CellBox& box(std::size_t p) const { return boxes[mine[p]]; }  ///< of my p-th part
  Gid number(const std::array<Lid, 3>& cell) const { return (Gid{cell[2]} * cells[1] + cell[1]) * cells[0] + cell[0]; }
};

/// The layer of cells around a box, in boxes that do not overlap: with edges and corners, or behind its faces only.
std::vector<CellBox> ring_around(const CellBox& box);
std::vector<CellBox> faces_around(const CellBox& box);

/// Fields that travel together, on a part's device: as many as one launch gathers.
template <class T>
struct TransferFields {
  static constexpr int most = 8;
  int count = 0;
  const T* from[most] = {};
  T* to[most] = {};
};

/// What travels is gathered into arrays of its own, one a part: cells that others want, then those that have arrived.
/// These are the rows of an ordinary Exchange: all its ways of travelling serve grids, too. One message a neighbour,
/// whatever the number of fields.
template <class T>
class BoxTransfer {
 public:
  /// `wanted`: of all parts, boxes that do not overlap; they may reach over the ends of the grid, where it is periodic
  /// the cells at the other end are meant, else nothing. `from`, `to`: arrays of this rank's parts that hold the owned
  /// and the wanted cells; cells of its own that a part wants are copied, unless `to` is `from` and they are there.
  /// At most `fields` fields travel together. Collective. All but the vectors of boxes must outlive it.
  BoxTransfer(const Comm& comm, const BoxParts& parts, const std::vector<std::vector<CellBox>>& wanted,
              std::span<const BoxArray> from, std::span<const BoxArray> to, bool same_arrays,
              std::span<PartStreams> streams, int fields, const Routing* routing = nullptr);

  /// The fields that travel next, of part p: at most so many as were said.
  void bind(std::size_t p, std::span<const T* const> from, std::span<T* const> to);
  std::span<const TransferFields<T>> bound(std::size_t p) const { return parts_[p].fields; }

  /// Values that part p sends, and that it receives or copies.
  Lid packed(std::size_t p) const { return maps_[p].owned; }
  Lid unpacked(std::size_t p) const { return parts_[p].arrivals + parts_[p].copies; }
  /// Gathers what others want of part p; range of [0, packed(p)).
  void pack(std::size_t p, Stream& stream, Range range);
  /// Puts what has arrived, and what is copied, in its place; range of [0, unpacked(p)).
  void unpack(std::size_t p, Stream& stream, Range range);
  const Exchange<T>& exchange() const { return *exchange_; }
  /// Is there anybody to exchange with, for a part of this rank?
  bool travels() const { return travels_; }

  /// All at once, and waits: for set-up.
  void run();

 private:
  struct Part {
    Buffer<Lid> sources;          ///< where the packed cells lie in `from`
    Buffer<Lid> targets, places;  ///< where cells go in `to`; their row, or where they lie in `from`
    Lid arrivals = 0, copies = 0;
    Field<T> rows;
    std::vector<TransferFields<T>> fields;  ///< all but the last of them full
  };

  std::span<PartStreams> streams_;
  std::vector<IndexMap> maps_;
  Plan plan_;
  std::vector<Part> parts_;
  std::unique_ptr<Exchange<T>> exchange_;
  bool travels_ = false;
};

extern template class BoxTransfer<double>;
extern template class BoxTransfer<float>;

}  // namespace tutti
