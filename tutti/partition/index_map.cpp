#include "tutti/partition/index_map.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "tutti/base/error.hpp"

namespace tutti {
namespace {

/// "Part `reader` reads row `row` of part `owner`."
struct Request {
  Gid row;
  std::int32_t owner;
  std::int32_t reader;
};

/// Position of each owned row, found by its global number.
class RowFinder {
 public:
  explicit RowFinder(std::span<const Gid> owned) : sorted_(owned.size()) {
    for (std::size_t i = 0; i < owned.size(); ++i) sorted_[i] = {owned[i], static_cast<Lid>(i)};
    std::sort(sorted_.begin(), sorted_.end());
  }
  Lid find(Gid row) const {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<Gid, Lid>{row, 0});
    return at != sorted_.end() && at->first == row ? at->second : no_lid;
  }

 private:
  std::vector<std::pair<Gid, Lid>> sorted_;
};

/// The readers of each separator row of one part, as (row position, readers ascending).
using Readers = std::map<Lid, std::vector<std::int32_t>>;

/// Interior in the given order, then separators by (read by another rank?, set of readers, given order).
std::vector<Lid> order_owned(Lid owned, const Readers& readers, std::span<const int> rank_of_part, int my_rank) {
  std::vector<Lid> order;
  order.reserve(static_cast<std::size_t>(owned));
  for (Lid i = 0; i < owned; ++i)
    if (!readers.contains(i)) order.push_back(i);
  std::vector<Lid> separators;
  for (const auto& [row, _] : readers) separators.push_back(row);
  const auto is_local = [&](const std::vector<std::int32_t>& parts) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](auto p) { return rank_of_part[static_cast<std::size_t>(p)] == my_rank; });
  };
  std::stable_sort(separators.begin(), separators.end(), [&](Lid a, Lid b) {
    const auto &ra = readers.at(a), &rb = readers.at(b);
    const bool la = is_local(ra), lb = is_local(rb);
    return la != lb ? lb : ra < rb;
  });
  order.insert(order.end(), separators.begin(), separators.end());
  return order;
}

Link& link_to(std::map<std::int32_t, Link>& links, std::int32_t part, std::span<const int> rank_of_part) {
  Link& link = links[part];
  link.part = part;
  link.rank = rank_of_part[static_cast<std::size_t>(part)];
  return link;
}

}  // namespace

std::vector<IndexMap> number_parts(const Comm& comm, std::span<const PartRows> mine,
                                   std::span<const int> rank_of_part) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto rank_of = [&](std::int32_t part) {
    return static_cast<std::size_t>(rank_of_part[static_cast<std::size_t>(part)]);
  };

  // 1. Readers tell owners what they read.
  std::vector<std::vector<Request>> outgoing(ranks);
  for (const PartRows& rows : mine)
    for (std::size_t g = 0; g < rows.ghosts.size(); ++g)
      outgoing[rank_of(rows.ghost_owners[g])].push_back({rows.ghosts[g], rows.ghost_owners[g], rows.part});
  const auto requests = comm.all_to_all(outgoing);

  // 2. Owners number their rows and answer with their send order.
  std::vector<IndexMap> maps(mine.size());
  std::vector<std::map<std::int32_t, Link>> links(mine.size());
  std::vector<std::vector<Request>> answers(ranks);
  for (std::size_t m = 0; m < mine.size(); ++m) {
    const PartRows& rows = mine[m];
    const RowFinder finder(rows.owned);
    Readers readers;
    for (const auto& from_rank : requests)
      for (const Request& r : from_rank)
        if (r.owner == rows.part) {
          const Lid at = finder.find(r.row);
          require(at != no_lid, "part {} asks part {} for row {}, which that part does not own", r.reader, r.owner,
                  r.row);
          readers[at].push_back(r.reader);
        }
    for (auto& [_, parts] : readers) {
      std::sort(parts.begin(), parts.end());
      // A ghost that is named twice is answered once: its reader then finds the difference.
      parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    }

    IndexMap& map = maps[m];
    map.part = rows.part;
    map.owned = static_cast<Lid>(rows.owned.size());
    map.interior = map.owned - static_cast<Lid>(readers.size());
    const auto order = order_owned(map.owned, readers, rank_of_part, comm.rank());
    for (Lid i = 0; i < map.owned; ++i) {
      const Lid old = order[static_cast<std::size_t>(i)];
      map.global.push_back(rows.owned[static_cast<std::size_t>(old)]);
      if (i < map.interior) continue;
      for (const std::int32_t reader : readers.at(old)) link_to(links[m], reader, rank_of_part).send_rows.push_back(i);
    }
    for (const auto& [reader, link] : links[m])
      for (const Lid row : link.send_rows)
        answers[rank_of(reader)].push_back({map.global[static_cast<std::size_t>(row)], rows.part, reader});
  }

  // 3. Readers number their ghosts in the owners' order, owner after owner.
  const auto ordered = comm.all_to_all(answers);
  for (std::size_t m = 0; m < mine.size(); ++m) {
    std::map<std::int32_t, std::vector<Gid>> ghosts;
    for (const auto& from_rank : ordered)
      for (const Request& r : from_rank)
        if (r.reader == mine[m].part) ghosts[r.owner].push_back(r.row);
    IndexMap& map = maps[m];
    for (const auto& [owner, rows] : ghosts) {
      const Lid begin = map.local();
      map.global.insert(map.global.end(), rows.begin(), rows.end());
      link_to(links[m], owner, rank_of_part).ghosts = {begin, map.local()};
    }
    require(map.ghosts() == static_cast<Lid>(mine[m].ghosts.size()), "part {}: a ghost is named twice", map.part);
    for (auto& [_, link] : links[m]) map.links.push_back(std::move(link));
  }
  return maps;
}

}  // namespace tutti
