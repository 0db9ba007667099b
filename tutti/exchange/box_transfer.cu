#include "tutti/exchange/box_transfer.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tutti/device/for_each.hpp"
#include "tutti/exchange/box_pieces.hpp"
#include "tutti/exchange/for_each_cell.hpp"

namespace tutti {
namespace {

/// Notes where `array` has the cells of a box that lie by `shift` beside it, x fastest.
struct NotePlaces {
  CellBox box;
  std::array<Lid, 3> shift;
  BoxArray array;
  Lid* places;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    places[BoxArray{box}.at(i, j, k)] = array.at(i - shift[0], j - shift[1], k - shift[2]);
  }
};

struct CountUp {
  Lid first;
  Lid* numbers;
  TUTTI_HD void operator()(Lid r) const { numbers[r] = first + r; }
};

/// Where arrays of a part have the cells of pieces. It is noted on the part's device: a grid that is cut another way
/// has all of its cells in them.
class Places {
 public:
  Places(Stream& stream, const BoxArray& from, const BoxArray& to) : stream_(stream), from_(from), to_(to) {}
  /// Of cells where their owner has them.
  void at_owner(const Piece& piece, Lid* places) const { note(piece.cells, piece.shift, from_, places); }
  void at_reader(const Piece& piece, Lid* places) const { note(piece.cells, {}, to_, places); }

 private:
  void note(const CellBox& box, const std::array<Lid, 3>& shift, const BoxArray& array, Lid* places) const {
    for_each_cell<double>(stream_, box, {0, static_cast<Lid>(box.cells())}, NotePlaces{box, shift, array, places});
  }
  Stream& stream_;
  const BoxArray &from_, &to_;
};

/// Numbers what parts of this rank send and receive, from boxes alone: both ends of a message go through the same
/// pieces in the same order. A cell that two parts want is there twice. Rows that go to other ranks come first, then
/// reader after reader; ghosts come owner after owner.
IndexMap number_rows(const BoxParts& parts, const std::vector<std::vector<Piece>>& pieces, std::int32_t part) {
  IndexMap map;
  map.part = part;
  const int my_rank = parts.rank_of_part[part];
  std::vector<Size> sent(pieces.size()), received(pieces.size());
  for (std::size_t other = 0; other < pieces.size(); ++other)
    for (const Piece& piece : pieces[other]) {
      if (static_cast<std::int32_t>(other) == part) {
        if (piece.owner != part) received[piece.owner] += piece.cells.cells();
      } else if (piece.owner == part) {
        sent[other] += piece.cells.cells();
      }
    }
  const Size all =
      std::accumulate(sent.begin(), sent.end(), Size{0}) + std::accumulate(received.begin(), received.end(), Size{0});
  require(all <= std::numeric_limits<Lid>::max(), "part {} sends and receives {} cells: too many for 32-bit numbers",
          part, all);
  std::vector<Lid> begin(pieces.size());
  for (const bool local : {false, true})
    for (std::size_t other = 0; other < pieces.size(); ++other)
      if ((parts.rank_of_part[other] == my_rank) == local) {
        begin[other] = map.owned;
        map.owned += static_cast<Lid>(sent[other]);
      }
  Lid ghosts = map.owned;
  for (std::size_t other = 0; other < pieces.size(); ++other) {
    if (sent[other] == 0 && received[other] == 0) continue;
    Link& link = map.links.emplace_back();
    link.part = static_cast<std::int32_t>(other);
    link.rank = parts.rank_of_part[other];
    link.send_rows.resize(sent[other]);
    std::iota(link.send_rows.begin(), link.send_rows.end(), begin[other]);
    link.ghosts = {ghosts, ghosts + static_cast<Lid>(received[other])};
    ghosts = link.ghosts.end;
  }
  map.global.resize(ghosts);  // rows of a message have no numbers in the grid
  return map;
}

template <class T>
struct PackCells {
  TransferFields<T> fields;
  const Lid* sources;
  T* rows;  ///< of the first of the fields
  Lid stride;
  TUTTI_HD void operator()(Lid r) const {
    for (int c = 0; c < fields.count; ++c) rows[static_cast<Size>(c) * stride + r] = fields.from[c][sources[r]];
  }
};

template <class T>
struct UnpackCells {
  TransferFields<T> fields;
  const Lid* targets;
  const Lid* places;
  const T* rows;  ///< of the first of the fields
  Lid stride, arrivals;
  TUTTI_HD void operator()(Lid r) const {
    for (int c = 0; c < fields.count; ++c)
      fields.to[c][targets[r]] =
          r < arrivals ? rows[static_cast<Size>(c) * stride + places[r]] : fields.from[c][places[r]];
  }
};

}  // namespace

std::vector<CellBox> ring_around(const CellBox& box) {
  if (box.empty()) return {};
  const CellBox all = grown(box, 1);
  std::vector<CellBox> ring;
  CellBox rest = all;
  for (std::size_t d = 3; d-- > 0;) {  // whole planes first; then what is between them
    CellBox lower = rest, upper = rest;
    lower.upper[d] = box.lower[d];
    upper.lower[d] = box.upper[d];
    ring.push_back(lower);
    ring.push_back(upper);
    rest.lower[d] = box.lower[d];
    rest.upper[d] = box.upper[d];
  }
  return ring;
}

std::vector<CellBox> faces_around(const CellBox& box) {
  if (box.empty()) return {};
  std::vector<CellBox> faces;
  for (std::size_t d = 0; d < 3; ++d) {
    CellBox lower = box, upper = box;
    lower.lower[d] = box.lower[d] - 1;
    lower.upper[d] = box.lower[d];
    upper.lower[d] = box.upper[d];
    upper.upper[d] = box.upper[d] + 1;
    faces.push_back(lower);
    faces.push_back(upper);
  }
  return faces;
}

template <class T>
BoxTransfer<T>::BoxTransfer(const Comm& comm, const BoxParts& parts, const std::vector<std::vector<CellBox>>& wanted,
                            std::span<const BoxArray> from, std::span<const BoxArray> to, bool same_arrays,
                            std::span<PartStreams> streams, int fields, const Routing* routing)
    : streams_(streams) {
  std::vector<std::vector<Piece>> pieces;  // that each part wants
  for (const auto& boxes : wanted) pieces.push_back(pieces_of(parts, boxes));
  for (const std::int32_t part : parts.mine) maps_.push_back(number_rows(parts, pieces, part));
  plan_ = make_plan(maps_, comm.rank());
  travels_ = !plan_.local.empty() || !plan_.outgoing.empty() || !plan_.incoming.empty();
  comm.together([&] {
    for (std::size_t p = 0; p < maps_.size(); ++p) {
      const IndexMap& map = maps_[p];
      Part& part = parts_.emplace_back();
      Stream& stream = *streams[p].compute;
      const auto is_own = [&](const Piece& piece) { return piece.owner == map.part; };
      const auto stays = [&](const Piece& piece) {
        return is_own(piece) && same_arrays && piece.shift == std::array<Lid, 3>{};
      };
      for (const Piece& piece : pieces[map.part])
        if (!stays(piece)) (is_own(piece) ? part.copies : part.arrivals) += static_cast<Lid>(piece.cells.cells());
      part.sources = Buffer<Lid>(*streams[p].device, map.owned, "cells to send");
      part.targets = Buffer<Lid>(*streams[p].device, unpacked(p), "cells to receive");
      part.places = Buffer<Lid>(*streams[p].device, unpacked(p), "rows to receive");
      const Places note(stream, from[p], to[p]);
      std::vector<Lid> next(pieces.size());  // row of the next ghost of each owner
      for (const Link& link : map.links) {
        next[link.part] = link.ghosts.begin;
        if (link.send_rows.empty()) continue;
        Lid* sources = part.sources.data() + link.send_rows.front();
        for (const Piece& piece : pieces[link.part])
          if (is_own(piece)) {
            note.at_owner(piece, sources);
            sources += piece.cells.cells();
          }
      }
      Lid arrived = 0, copied = part.arrivals;
      for (const Piece& piece : pieces[map.part]) {
        if (stays(piece)) continue;
        const auto count = static_cast<Lid>(piece.cells.cells());
        Lid& at = is_own(piece) ? copied : arrived;
        note.at_reader(piece, part.targets.data() + at);
        if (is_own(piece)) {
          note.at_owner(piece, part.places.data() + at);
        } else {
          for_each(stream, {0, count}, CountUp{next[piece.owner], part.places.data() + at});
          next[piece.owner] += count;
        }
        at += count;
      }
      stream.synchronize();
      part.rows = Field<T>(*streams[p].device, map, "cells that travel", fields);
    }
    exchange_ = std::make_unique<Exchange<T>>(comm, plan_, maps_, streams, fields, routing);
    std::vector<FieldView<T>> views;
    for (Part& part : parts_) views.push_back(part.rows.view());
    exchange_->bind(views);
  });
}

template <class T>
void BoxTransfer<T>::bind(std::size_t p, std::span<const T* const> from, std::span<T* const> to) {
  Part& part = parts_[p];
  require(from.size() == to.size() && static_cast<int>(from.size()) <= part.rows.components(),
          "{} fields to send and {} to receive; there is room for {}", from.size(), to.size(), part.rows.components());
  part.fields.clear();
  for (std::size_t first = 0; first < from.size(); first += TransferFields<T>::most) {
    const std::size_t count = std::min<std::size_t>(TransferFields<T>::most, from.size() - first);
    TransferFields<T>& fields = part.fields.emplace_back();
    fields.count = static_cast<int>(count);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), count, fields.from);
    std::copy_n(to.begin() + static_cast<std::ptrdiff_t>(first), count, fields.to);
  }
}

template <class T>
void BoxTransfer<T>::pack(std::size_t p, Stream& stream, Range range) {
  Part& part = parts_[p];
  T* rows = part.rows.data();
  for (const TransferFields<T>& fields : part.fields) {
    for_each(stream, range, PackCells<T>{fields, part.sources.data(), rows, maps_[p].local()});
    rows += static_cast<Size>(TransferFields<T>::most) * maps_[p].local();
  }
}

template <class T>
void BoxTransfer<T>::unpack(std::size_t p, Stream& stream, Range range) {
  Part& part = parts_[p];
  const T* rows = part.rows.data();
  for (const TransferFields<T>& fields : part.fields) {
    for_each(stream, range,
             UnpackCells<T>{fields, part.targets.data(), part.places.data(), rows, maps_[p].local(), part.arrivals});
    rows += static_cast<Size>(TransferFields<T>::most) * maps_[p].local();
  }
}

template <class T>
void BoxTransfer<T>::run() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    pack(p, *streams_[p].compute, {0, packed(p)});
    streams_[p].compute->synchronize();
  }
  std::vector<FieldView<T>> views;
  for (Part& part : parts_) views.push_back(part.rows.view());
  exchange_->begin(views);
  exchange_->end();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    unpack(p, *streams_[p].compute, {0, unpacked(p)});
    streams_[p].compute->synchronize();
  }
}

template class BoxTransfer<double>;
template class BoxTransfer<float>;

}  // namespace tutti
