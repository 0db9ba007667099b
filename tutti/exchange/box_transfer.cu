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

/// Copies numbered cells of boxes, all fields.
template <class T>
struct MoveCells {
  TransferFields<T> fields;
  const MovedBox* boxes;
  int count;
  TUTTI_HD const MovedBox& box_of(Lid r) const {
    int b = count - 1;
    while (boxes[b].first > r) --b;
    return boxes[b];
  }
  TUTTI_HD void operator()(Lid r) const {
    const MovedBox& box = box_of(r);
    const auto cell = static_cast<std::uint32_t>(r - box.first), nx = static_cast<std::uint32_t>(box.size_x),
               ny = static_cast<std::uint32_t>(box.size_y);
    const std::uint32_t line = cell / nx, plane = line / ny;
    const auto i = static_cast<Lid>(cell - line * nx), j = static_cast<Lid>(line - plane * ny),
               k = static_cast<Lid>(plane);
    const Lid from = box.from + i + j * box.from_row + k * box.from_plane;
    const Lid to = box.to + i + j * box.to_row + k * box.to_plane;
    for (int c = 0; c < fields.count; ++c) fields.to[c][to] = fields.from[c][from];
  }
  /// The same line by line.
  void move(Lid begin, Lid end) const {
    while (begin < end) {
      const MovedBox& box = box_of(begin);
      const Lid line = (begin - box.first) / box.size_x, i = (begin - box.first) % box.size_x;
      const Lid cells = std::min(box.size_x - i, end - begin), j = line % box.size_y, k = line / box.size_y;
      for (int c = 0; c < fields.count; ++c)
        std::copy_n(fields.from[c] + box.from + i + j * box.from_row + k * box.from_plane, cells,
                    fields.to[c] + box.to + i + j * box.to_row + k * box.to_plane);
      begin += cells;
    }
  }
};

/// `at`: where the owner of the piece has its first cell, and where the reader has it.
MovedBox moved_box(const Piece& piece, const BoxArray& from, const BoxArray& to, Lid first) {
  const auto& [x, y, z] = piece.cells.lower;
  return {first,
          piece.cells.size(0),
          piece.cells.size(1),
          from.at(x - piece.shift[0], y - piece.shift[1], z - piece.shift[2]),
          from.row(),
          from.plane(),
          to.at(x, y, z),
          to.row(),
          to.plane()};
}

/// What of a box lies in one piece at both ends: lines, or planes where these have no gaps, all at the same distance
/// one from the other.
struct BoxLines {
  Lid from, from_stride, to, to_stride, cells, count;
};

/// All boxes as such lines; nothing where one of them has more than one distance, or so short lines that a kernel is
/// quicker.
std::vector<BoxLines> lines_of(std::span<const MovedBox> boxes, Lid cells, Size value_bytes) {
  constexpr Size shortest_line = 256;  // bytes
  std::vector<BoxLines> lines;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const MovedBox& box = boxes[b];
    const Lid all = (b + 1 < boxes.size() ? boxes[b + 1].first : cells) - box.first;
    const Lid planes = all / (box.size_x * box.size_y);
    const bool no_gaps = box.from_row == box.size_x && box.to_row == box.size_x;
    if (box.size_x * value_bytes < shortest_line) return {};
    if (planes > 1 && (no_gaps || box.size_y == 1))
      lines.push_back({box.from, box.from_plane, box.to, box.to_plane, box.size_x * box.size_y, planes});
    else if (planes == 1)
      lines.push_back({box.from, box.from_row, box.to, box.to_row, box.size_x, box.size_y});
    else
      return {};
  }
  return lines;
}

/// Enqueues the copy of lines into the memory of a peer.
template <class T>
void copy_lines(Stream& stream, const BoxLines& lines, const T* from, T* to) {
  from += lines.from;
  to += lines.to;
  const std::size_t bytes = static_cast<std::size_t>(lines.cells) * sizeof(T);
#if defined(__CUDACC__)
  if (stream.kind() == DeviceKind::cuda) {
    const cuda::CurrentDevice current(stream.device().index());
    TUTTI_CUDA_CHECK(cudaMemcpy2DAsync(to, static_cast<std::size_t>(lines.to_stride) * sizeof(T), from,
                                       static_cast<std::size_t>(lines.from_stride) * sizeof(T), bytes,
                                       static_cast<std::size_t>(lines.count), cudaMemcpyDefault,
                                       static_cast<cudaStream_t>(stream.native())));
    stream.device().counts().peer_bytes += static_cast<Size>(bytes) * lines.count;
    stream.device().counts().copies += 1;
    return;
  }
#endif
  for (Lid n = 0; n < lines.count; ++n, from += lines.from_stride, to += lines.to_stride)
    stream.copy(to, from, bytes, CopyDirection::peer);
}

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

/// Numbers what parts of this rank send and receive as rows, from boxes alone: both ends of a message go through the
/// same pieces in the same order. A cell that two parts want is there twice. Rows that go to other ranks come first,
/// then reader after reader; ghosts come owner after owner. `stored`: of all parts, with which nothing travels so.
IndexMap number_rows(const BoxParts& parts, const std::vector<std::vector<Piece>>& pieces, std::int32_t part,
                     const std::vector<char>& stored) {
  IndexMap map;
  map.part = part;
  const int my_rank = parts.rank_of_part[part];
  std::vector<Size> sent(pieces.size()), received(pieces.size());
  for (std::size_t other = 0; other < pieces.size(); ++other)
    for (const Piece& piece : pieces[other]) {
      if (static_cast<std::int32_t>(other) == part) {
        if (piece.owner != part && stored[piece.owner] == 0) received[piece.owner] += piece.cells.cells();
      } else if (piece.owner == part && stored[other] == 0) {
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
  Lid stride;
  TUTTI_HD void operator()(Lid r) const {
    for (int c = 0; c < fields.count; ++c) fields.to[c][targets[r]] = rows[static_cast<Size>(c) * stride + places[r]];
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
                            std::span<PartStreams> streams, int fields, const Routing* routing, PlanTurn turn)
    : streams_(streams), fields_(fields) {
  static const Routing automatic;
  std::vector<std::vector<Piece>> pieces;  // that each part wants
  for (const auto& boxes : wanted) pieces.push_back(pieces_of(parts, boxes));
  const std::size_t mine = parts.mine.size();
  std::vector<std::vector<char>> stored(mine, std::vector<char>(pieces.size()));
  for (std::size_t p = 0; p < mine; ++p)
    for (std::size_t q = 0; q < mine; ++q)
      stored[p][parts.mine[q]] =
          p != q && reach_each_other(routing != nullptr ? *routing : automatic, streams[p], streams[q]) ? 1 : 0;
  for (std::size_t p = 0; p < mine; ++p) maps_.push_back(number_rows(parts, pieces, parts.mine[p], stored[p]));
  plan_ = make_plan(maps_, comm.rank(), turn);
  comm.together([&] {
    parts_.resize(mine);
    for (std::size_t p = 0; p < mine; ++p) {
      // Its own cells that lie elsewhere, and what it stores into others.
      const auto moves_to = [&](std::size_t q) {
        Moves moves;
        std::vector<MovedBox> boxes;
        Size cells = 0;
        for (const Piece& piece : pieces[parts.mine[q]]) {
          const bool stays = p == q && same_arrays && piece.shift == std::array<Lid, 3>{};
          if (piece.owner != parts.mine[p] || stays) continue;
          boxes.push_back(moved_box(piece, from[p], to[q], static_cast<Lid>(cells)));
          cells += piece.cells.cells();
          require(cells <= std::numeric_limits<Lid>::max(), "part {} moves too many cells for 32-bit numbers",
                  parts.mine[p]);
        }
        moves.target = q;
        moves.cells = static_cast<Lid>(cells);
        moves.boxes = make_buffer(*streams[p].compute, std::span<const MovedBox>(boxes), "boxes that travel");
        return moves;
      };
      Part& part = parts_[p];
      part.copies = moves_to(p);
      for (std::size_t q = 0; q < mine; ++q)
        if (stored[p][parts.mine[q]] != 0)
          if (Moves moves = moves_to(q); moves.cells > 0) part.stores.push_back(std::move(moves));
      note_rows(p, pieces, from[p], to[p]);
      part.rows = Field<T>(*streams[p].device, maps_[p], "cells that travel", fields);
    }
    exchange_ = std::make_unique<Exchange<T>>(comm, plan_, maps_, streams, fields, routing);
    std::vector<FieldView<T>> views;
    for (Part& part : parts_) views.push_back(part.rows.view());
    exchange_->bind(views);
  });
  operations_ = exchange_->operations();
  const bool may_copy = routing == nullptr || routing->kind != RoutingKind::direct;
  // A halo that is copied needs no multiprocessor, so that the interior keeps all of them; beside a cut another way
  // nothing runs, and a copy must be long to be as quick.
  const Lid most_stored = (same_arrays ? 4 : 128) * (routing != nullptr ? *routing : automatic).most_stored;
  for (std::size_t p = 0; p < mine; ++p)
    for (std::size_t s = 0; s < parts_[p].stores.size(); ++s) {
      add_store(p, s);
      const Moves& moves = parts_[p].stores[s];
      if (!may_copy || moves.cells <= most_stored) continue;
      std::vector<MovedBox> boxes(moves.boxes.size());
      download(*streams[p].compute, std::span<MovedBox>(boxes), moves.boxes);
      const std::vector<BoxLines> lines = lines_of(boxes, moves.cells, sizeof(T));
      if (lines.empty()) continue;
      operations_.back().by_kernel = false;
      operations_.back().enqueue = [this, p, q = moves.target, lines](Stream& stream) {
        for (std::size_t f = 0; f < parts_[p].fields.size(); ++f)
          for (int c = 0; c < parts_[p].fields[f].count; ++c)
            for (const BoxLines& one : lines)
              copy_lines(stream, one, parts_[p].fields[f].from[c], parts_[q].fields[f].to[c]);
      };
    }
  travels_ = !operations_.empty();
}

/// Where a part has the cells that are sent and received as rows.
template <class T>
void BoxTransfer<T>::note_rows(std::size_t p, const std::vector<std::vector<Piece>>& pieces, const BoxArray& from,
                               const BoxArray& to) {
  const IndexMap& map = maps_[p];
  Part& part = parts_[p];
  Stream& stream = *streams_[p].compute;
  const Places note(stream, from, to);
  part.arrivals = map.ghosts();
  part.sources = Buffer<Lid>(*streams_[p].device, map.owned, "cells to send");
  part.targets = Buffer<Lid>(*streams_[p].device, part.arrivals, "cells to receive");
  part.places = Buffer<Lid>(*streams_[p].device, part.arrivals, "rows to receive");
  std::vector<Lid> next(pieces.size(), no_lid);  // row of the next ghost of each owner
  for (const Link& link : map.links) {
    next[link.part] = link.ghosts.begin;
    if (link.send_rows.empty()) continue;
    Lid* sources = part.sources.data() + link.send_rows.front();
    for (const Piece& piece : pieces[link.part])
      if (piece.owner == map.part) {
        note.at_owner(piece, sources);
        sources += piece.cells.cells();
      }
  }
  Lid at = 0;
  for (const Piece& piece : pieces[map.part]) {
    if (next[piece.owner] == no_lid) continue;
    const auto count = static_cast<Lid>(piece.cells.cells());
    note.at_reader(piece, part.targets.data() + at);
    for_each(stream, {0, count}, CountUp{next[piece.owner], part.places.data() + at});
    next[piece.owner] += count;
    at += count;
  }
  stream.synchronize();
}

/// The s-th of part p.
template <class T>
void BoxTransfer<T>::add_store(std::size_t p, std::size_t s) {
  const Moves& moves = parts_[p].stores[s];
  const int source = static_cast<int>(p), target = static_cast<int>(moves.target);
  ExchangeOp op;
  op.kind = ExchangeOp::Kind::outgoing_copy;
  op.name = fmt::format("store {}>{}", maps_[p].part, maps_[moves.target].part);
  op.part = source;
  op.after_separators_of = {source};
  op.fills = {target};
  op.overwrites = true;
  op.bytes = static_cast<Size>(moves.cells) * fields_ * static_cast<Size>(sizeof(T));
  op.by_kernel = true;
  op.enqueue = [this, p, s](Stream& stream) {
    const Moves& to = parts_[p].stores[s];
    move(p, to, stream, {0, to.cells});
  };
  stored_ += moves.cells;
  operations_.push_back(std::move(op));
}

template <class T>
void BoxTransfer<T>::move(std::size_t p, const Moves& moves, Stream& stream, Range range) {
  if (range.empty()) return;
  const std::size_t q = moves.target;
  for (std::size_t f = 0; f < parts_[p].fields.size(); ++f) {
    TransferFields<T> fields = parts_[p].fields[f];
    std::copy_n(parts_[q].fields[f].to, fields.count, fields.to);
    if (p != q)
      for (int c = 0; c < fields.count; ++c)
        stream.reach(fields.to[c], static_cast<std::size_t>(moves.cells) * sizeof(T));
    const MoveCells<T> kernel{fields, moves.boxes.data(), static_cast<int>(moves.boxes.size())};
    if (stream.kind() == DeviceKind::cuda)
      for_each(stream, range, kernel);
    else
      stream.loop(range, [kernel](Lid begin, Lid end) { kernel.move(begin, end); });
  }
}

template <class T>
ExchangeCounts BoxTransfer<T>::counts_per_exchange() const {
  ExchangeCounts counts = exchange_->counts_per_exchange();
  if (!disabled()) counts.bytes += stored_ * fields_ * static_cast<Size>(sizeof(T));
  return counts;
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
  const Range arrived{range.begin, std::min(range.end, part.arrivals)};
  for (const TransferFields<T>& fields : part.fields) {
    if (arrived.end > arrived.begin)
      for_each(stream, arrived,
               UnpackCells<T>{fields, part.targets.data(), part.places.data(), rows, maps_[p].local()});
    rows += static_cast<Size>(TransferFields<T>::most) * maps_[p].local();
  }
  const Lid first = std::max(range.begin, part.arrivals);
  if (first < range.end) move(p, part.copies, stream, {first - part.arrivals, range.end - part.arrivals});
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
  for (std::size_t i = exchange_->operations().size(); i < operations_.size(); ++i)
    operations_[i].enqueue(*streams_[operations_[i].part].outgoing);
  exchange_->end();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    unpack(p, *streams_[p].compute, {0, unpacked(p)});
    streams_[p].compute->synchronize();
    streams_[p].outgoing->synchronize();
  }
}

template class BoxTransfer<double>;
template class BoxTransfer<float>;

}  // namespace tutti
