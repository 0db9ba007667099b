#include "tutti/exchange/box_transfer.hpp"

#include <algorithm>

#include "tutti/device/for_each.hpp"
#include "tutti/exchange/box_pieces.hpp"

namespace tutti {
namespace {

std::vector<CellBox> without_empty(std::vector<CellBox> boxes) {
  std::erase_if(boxes, [](const CellBox& box) { return box.empty(); });
  return boxes;
}

template <class F>
void for_cells(const CellBox& box, const F& f) {
  for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
      for (Lid i = box.lower[0]; i < box.upper[0]; ++i) f(i, j, k);
}

std::vector<Gid> numbers_of(const BoxParts& parts, const Piece& piece) {
  std::vector<Gid> numbers;
  for_cells(piece.cells, [&](Lid i, Lid j, Lid k) {
    numbers.push_back(parts.number({i - piece.shift[0], j - piece.shift[1], k - piece.shift[2]}));
  });
  return numbers;
}

void sort_unique(std::vector<Gid>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// What a part sends and receives, as number_parts wants to know it.
PartRows rows_of(const BoxParts& parts, const std::vector<std::vector<CellBox>>& wanted, std::int32_t part,
                 const std::vector<Piece>& pieces) {
  PartRows rows;
  rows.part = part;
  for (std::size_t other = 0; other < wanted.size(); ++other) {
    if (static_cast<std::int32_t>(other) == part) continue;
    for (const Piece& piece : pieces_of(parts, wanted[other]))
      if (piece.owner == part) {
        const auto numbers = numbers_of(parts, piece);
        rows.owned.insert(rows.owned.end(), numbers.begin(), numbers.end());
      }
  }
  sort_unique(rows.owned);
  std::vector<std::vector<Gid>> of_owner(parts.boxes.size());
  for (const Piece& piece : pieces) {
    if (piece.owner == part) continue;
    auto& list = of_owner[static_cast<std::size_t>(piece.owner)];
    const auto numbers = numbers_of(parts, piece);
    list.insert(list.end(), numbers.begin(), numbers.end());
  }
  for (std::size_t owner = 0; owner < of_owner.size(); ++owner) {
    sort_unique(of_owner[owner]);
    rows.ghosts.insert(rows.ghosts.end(), of_owner[owner].begin(), of_owner[owner].end());
    rows.ghost_owners.insert(rows.ghost_owners.end(), of_owner[owner].size(), static_cast<std::int32_t>(owner));
  }
  return rows;
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
                            std::span<PartStreams> streams, int fields, const Transport* transport)
    : streams_(streams) {
  std::vector<std::vector<Piece>> pieces;
  std::vector<PartRows> rows;
  for (const std::int32_t part : parts.mine) {
    pieces.push_back(pieces_of(parts, without_empty(wanted[static_cast<std::size_t>(part)])));
    rows.push_back(rows_of(parts, wanted, part, pieces.back()));
  }
  maps_ = number_parts(comm, rows, parts.rank_of_part);
  plan_ = make_plan(maps_, comm.rank());
  travels_ = !plan_.local.empty() || !plan_.outgoing.empty() || !plan_.incoming.empty();
  comm.together([&] {
    for (std::size_t p = 0; p < maps_.size(); ++p) {
      const IndexMap& map = maps_[p];
      Part& part = parts_.emplace_back();
      Stream& stream = *streams[p].compute;
      std::vector<Lid> sources, targets, places, own_targets, own_places;
      for (Lid r = 0; r < map.owned; ++r) {
        const Gid n = map.global[static_cast<std::size_t>(r)];
        sources.push_back(from[p].at(static_cast<Lid>(n % parts.cells[0]),
                                     static_cast<Lid>(n / parts.cells[0] % parts.cells[1]),
                                     static_cast<Lid>(n / parts.cells[0] / parts.cells[1])));
      }
      std::vector<std::pair<Gid, Lid>> row_of;
      for (Lid r = map.owned; r < map.local(); ++r) row_of.emplace_back(map.global[static_cast<std::size_t>(r)], r);
      std::sort(row_of.begin(), row_of.end());
      for (const Piece& piece : pieces[p]) {
        const bool own = piece.owner == map.part;
        if (own && same_arrays && piece.shift == std::array<Lid, 3>{}) continue;
        for_cells(piece.cells, [&](Lid i, Lid j, Lid k) {
          const Lid x = i - piece.shift[0], y = j - piece.shift[1], z = k - piece.shift[2];
          (own ? own_targets : targets).push_back(to[p].at(i, j, k));
          if (own)
            own_places.push_back(from[p].at(x, y, z));
          else
            places.push_back(
                std::lower_bound(row_of.begin(), row_of.end(), std::pair{parts.number({x, y, z}), Lid{0}})->second);
        });
      }
      part.arrivals = static_cast<Lid>(targets.size());
      part.copies = static_cast<Lid>(own_targets.size());
      targets.insert(targets.end(), own_targets.begin(), own_targets.end());
      places.insert(places.end(), own_places.begin(), own_places.end());
      part.sources = make_buffer(stream, std::span<const Lid>(sources), "cells to send");
      part.targets = make_buffer(stream, std::span<const Lid>(targets), "cells to receive");
      part.places = make_buffer(stream, std::span<const Lid>(places), "rows to receive");
      part.rows = Field<T>(*streams[p].device, map, "cells that travel", fields);
    }
    exchange_ = std::make_unique<Exchange<T>>(comm, plan_, maps_, streams, fields, transport);
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
