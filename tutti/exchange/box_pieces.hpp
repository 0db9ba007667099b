// Who owns the cells that a part wants, and how many travel: counted from boxes, before anything is allocated.
#pragma once

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "tutti/exchange/box_transfer.hpp"

namespace tutti {

/// In an order that depends on the arguments alone.
std::vector<Piece> pieces_of(const BoxParts& parts, const std::vector<CellBox>& wanted);

/// What a BoxTransfer of the same arguments has to move for one part.
struct TransferCount {
  Size packed = 0;                               ///< cells that others want, once for each of them; gathered
  Size arrivals = 0, copies = 0;                 ///< places that are filled with cells of others, and with its own
  Size moved = 0;                                ///< boxes that are copied, or stored into other parts
  std::vector<std::pair<std::int32_t, Size>> to; /**< parts that it sends to, and how many cells */

  /// Of its device's memory, without what a routing takes besides (device_message_bytes).
  Size bytes(int fields, Size value_bytes) const {
    return static_cast<Size>(sizeof(Lid)) * (packed + 2 * arrivals) + static_cast<Size>(sizeof(MovedBox)) * moved +
           fields * value_bytes * (packed + arrivals);
  }
};
/// `part`: any part of any rank. stores(other): what travels between it and part `other` is stored, not gathered.
TransferCount count_transfer(
    const BoxParts& parts, const std::vector<std::vector<CellBox>>& wanted, std::int32_t part, bool same_arrays,
    const std::function<bool(std::int32_t)>& stores = [](std::int32_t) { return false; });

}  // namespace tutti
