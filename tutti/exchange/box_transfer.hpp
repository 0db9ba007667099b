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

/// A piece of what a part wants: cells of `owner`, which has them at `cells` minus `shift`.
struct Piece {
  std::int32_t owner;
  CellBox cells;
  std::array<Lid, 3> shift;
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

/// A box of cells on its way from one array to another: places of its first cell, and how far lines and planes lie
/// apart at both ends.
struct MovedBox {
  Lid first = 0;  ///< number of its first cell among those of a list of boxes
  Lid size_x = 0, size_y = 0;
  Lid from = 0, from_row = 0, from_plane = 0;
  Lid to = 0, to_row = 0, to_plane = 0;
};

/// Between devices of a rank that reach each other, a kernel of the sender stores cells from the field itself into that
/// of the receiver (RoutingKind, all but `staged`). What travels otherwise is gathered into arrays of its own, one a
/// part: cells that others want, then those that have arrived. These are the rows of an ordinary Exchange: all its ways
/// of travelling serve grids, too. One message a neighbour, whatever the number of fields.
template <class T>
class BoxTransfer {
 public:
  /// `wanted`: of all parts, boxes that do not overlap; they may reach over the ends of the grid, where it is periodic
  /// the cells at the other end are meant, else nothing. `from`, `to`: arrays of this rank's parts that hold the owned
  /// and the wanted cells; cells of its own that a part wants are copied, unless `to` is `from` and they are there.
  /// At most `fields` fields travel together. Collective. All but the vectors of boxes must outlive it. `parts` may
  /// leave out cells of the grid: of those nothing travels. `turn`: where several transfers travel at the same time.
  BoxTransfer(const Comm& comm, const BoxParts& parts, const std::vector<std::vector<CellBox>>& wanted,
              std::span<const BoxArray> from, std::span<const BoxArray> to, bool same_arrays,
              std::span<PartStreams> streams, int fields, const Routing* routing = nullptr, PlanTurn turn = {});

  /// The fields that travel next, of part p: at most so many as were said.
  void bind(std::size_t p, std::span<const T* const> from, std::span<T* const> to);
  std::span<const TransferFields<T>> bound(std::size_t p) const { return parts_[p].fields; }

  /// Values of part p that are gathered to be sent, and that are put in their place when they have arrived, or copied.
  Lid packed(std::size_t p) const { return maps_[p].owned; }
  Lid unpacked(std::size_t p) const { return parts_[p].arrivals + parts_[p].copies.cells; }
  /// Gathers what others want of part p; range of [0, packed(p)).
  void pack(std::size_t p, Stream& stream, Range range);
  /// Puts what has arrived, and what is copied, in its place; range of [0, unpacked(p)).
  void unpack(std::size_t p, Stream& stream, Range range);
  /// Those of the exchange of rows, then stores; as Exchange::operations.
  const std::vector<ExchangeOp>& operations() const { return operations_; }
  /// operations()[i] puts cells in their place: nothing is to be unpacked behind it.
  bool is_store(std::size_t i) const { return i >= exchange_->operations().size(); }
  bool disabled() const { return exchange_->disabled(); }
  ExchangeCounts counts_per_exchange() const;
  /// Is there anybody to exchange with, for a part of this rank?
  bool travels() const { return travels_; }

  /// All at once, and waits: for set-up.
  void run();

 private:
  /// Boxes that go from a part to an array of its own or of a part beside it.
  struct Moves {
    std::size_t target = 0;  ///< index among this rank's parts
    Buffer<MovedBox> boxes;
    Lid cells = 0;
  };
  struct Part {
    Buffer<Lid> sources;          ///< where the packed cells lie in `from`
    Buffer<Lid> targets, places;  ///< where cells that arrive go in `to`, and their row
    Lid arrivals = 0;
    Field<T> rows;
    Moves copies;                           ///< its own cells
    std::vector<Moves> stores;              ///< to other parts
    std::vector<TransferFields<T>> fields;  ///< all but the last of them full
  };
  void note_rows(std::size_t p, const std::vector<std::vector<Piece>>& pieces, const BoxArray& from,
                 const BoxArray& to);
  void move(std::size_t p, const Moves& moves, Stream& stream, Range range);
  void add_store(std::size_t p, std::size_t s);

  std::span<PartStreams> streams_;
  std::vector<IndexMap> maps_;
  Plan plan_;
  std::vector<Part> parts_;
  std::unique_ptr<Exchange<T>> exchange_;
  std::vector<ExchangeOp> operations_;
  Size stored_ = 0;  ///< cells of all stores
  int fields_;
  bool travels_ = false;
};

extern template class BoxTransfer<double>;
extern template class BoxTransfer<float>;

}  // namespace tutti
