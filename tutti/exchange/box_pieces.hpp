// Who owns the cells that a part wants, and how many travel: counted from boxes, before anything is allocated.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "tutti/exchange/box_transfer.hpp"

namespace tutti {

/// A piece of what a part wants: cells of `owner`, which has them at `cells` minus `shift`.
struct Piece {
  std::int32_t owner;
  CellBox cells;
  std::array<Lid, 3> shift;
};
/// In an order that depends on the arguments alone.
std::vector<Piece> pieces_of(const BoxParts& parts, const std::vector<CellBox>& wanted);

/// What a BoxTransfer of the same arguments has to move for one part.
struct TransferCount {
  Size packed = 0;                               ///< cells that others want, once for each of them
  Size arrivals = 0, copies = 0;                 ///< places that are filled with cells of others, and with its own
  std::vector<std::pair<std::int32_t, Size>> to; /**< parts that it sends to, and how many cells */

  /// Of its device's memory, without what a routing takes besides (device_message_bytes).
  Size bytes(int fields, Size value_bytes) const {
    return static_cast<Size>(sizeof(Lid)) * (packed + 2 * (arrivals + copies)) +
           fields * value_bytes * (packed + arrivals);
  }
};
/// `part`: any part of any rank.
TransferCount count_transfer(const BoxParts& parts, const std::vector<std::vector<CellBox>>& wanted, std::int32_t part,
                             bool same_arrays);

}  // namespace tutti
