#include "tutti/partition/index_map.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"

namespace tutti {
namespace {

/// "Part `reader` reads row `row` of part `owner`."
struct Request {
  Gid row;
  std::int32_t owner;
  std::int32_t reader;
};

/// A separator row of a part (its position) and a part that reads it.
using Reading = std::pair<Lid, std::int32_t>;

/// A separator row with all its readers.
struct Separator {
  Lid row = 0;
  std::span<const Reading> readings;
  bool local = false;  ///< read by parts of this rank only

  bool same_readers(const Separator& other) const {
    return std::equal(readings.begin(), readings.end(), other.readings.begin(), other.readings.end(),
                      [](const Reading& a, const Reading& b) { return a.second == b.second; });
  }
  /// By (read by another rank?, set of readers).
  bool operator<(const Separator& other) const {
    if (local != other.local) return other.local;
    return std::lexicographical_compare(readings.begin(), readings.end(), other.readings.begin(), other.readings.end(),
                                        [](const Reading& a, const Reading& b) { return a.second < b.second; });
  }
};

/// Who reads which of the part's rows, ascending and each once: a ghost that is named twice is answered once, and its
/// reader then finds the difference.
std::vector<Reading> find_readings(const PartRows& rows, std::span<const std::vector<Request>> requests,
                                   const ParallelFor& parallel) {
  std::vector<std::pair<Gid, std::int32_t>> wanted;  // row, reader
  for (const auto& from_rank : requests)
    for (const Request& r : from_rank)
      if (r.owner == rows.part) wanted.emplace_back(r.row, r.reader);
  if (wanted.empty()) return {};
  // Of one reader that names its ghosts in order they come sorted.
  if (!std::is_sorted(wanted.begin(), wanted.end())) std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  // Few rows are wanted of many: most are told apart by a bit, without a search.
  const std::uint64_t mask = std::bit_ceil(16 * wanted.size()) - 1;
  const auto bit_of = [mask](Gid row) {
    return static_cast<std::size_t>(mix64(static_cast<std::uint64_t>(row)) & mask);
  };
  std::vector<bool> maybe(mask + 1);
  for (const auto& [row, _] : wanted) maybe[bit_of(row)] = true;

  const Blocks blocks(static_cast<Size>(rows.owned.size()), 16384);
  std::vector<std::vector<Reading>> found(blocks.number);
  blocks.run(parallel, [&](Size block, Size begin, Size end) {
    auto& mine = found[block];
    for (Size i = begin; i < end; ++i) {
      const Gid row = rows.owned[i];
      if (!maybe[bit_of(row)]) continue;
      auto at = std::lower_bound(wanted.begin(), wanted.end(), std::pair<Gid, std::int32_t>{row, -1});
      for (; at != wanted.end() && at->first == row; ++at) mine.emplace_back(static_cast<Lid>(i), at->second);
    }
  });
  std::vector<Reading> readings;
  for (const auto& mine : found) readings.insert(readings.end(), mine.begin(), mine.end());
  if (readings.size() != wanted.size()) {
    std::vector<Gid> owned(rows.owned);
    std::sort(owned.begin(), owned.end());
    for (const auto& [row, reader] : wanted)
      require(std::binary_search(owned.begin(), owned.end(), row),
              "part {} asks part {} for row {}, which that part does not own", reader, rows.part, row);
    require(false, "part {} owns a row twice", rows.part);
  }
  return readings;
}

/// The separators in their order: by (read by another rank?, set of readers, given order).
std::vector<Separator> order_separators(std::span<const Reading> readings, std::span<const int> rank_of_part,
                                        int my_rank) {
  std::vector<Separator> separators;
  for (std::size_t i = 0; i < readings.size();) {
    std::size_t end = i;
    bool local = true;
    for (; end < readings.size() && readings[end].first == readings[i].first; ++end)
      local = local && rank_of_part[readings[end].second] == my_rank;
    separators.push_back({readings[i].first, readings.subspan(i, end - i), local});
    i = end;
  }
  if (!std::is_sorted(separators.begin(), separators.end())) std::stable_sort(separators.begin(), separators.end());
  return separators;
}

Link& link_to(std::map<std::int32_t, Link>& links, std::int32_t part, std::span<const int> rank_of_part) {
  Link& link = links[part];
  link.part = part;
  link.rank = rank_of_part[part];
  return link;
}

}  // namespace

std::vector<IndexMap> number_parts(const Comm& comm, std::span<const PartRows> mine, std::span<const int> rank_of_part,
                                   const ParallelFor& parallel) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto rank_of = [&](std::int32_t part) { return static_cast<std::size_t>(rank_of_part[part]); };

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
    const auto readings = find_readings(rows, requests, parallel);
    const auto separators = order_separators(readings, rank_of_part, comm.rank());

    IndexMap& map = maps[m];
    map.part = rows.part;
    map.owned = static_cast<Lid>(rows.owned.size());
    map.independent = map.interior = map.owned - static_cast<Lid>(separators.size());
    map.global.reserve(rows.owned.size() + rows.ghosts.size());
    std::vector<char> is_separator(rows.owned.size(), 0);
    for (const Separator& s : separators) is_separator[s.row] = 1;
    for (std::size_t i = 0; i < rows.owned.size(); ++i)
      if (!is_separator[i]) map.global.push_back(rows.owned[i]);
    for (const Separator& s : separators) map.global.push_back(rows.owned[s.row]);
    // Rows with the same readers follow each other: they go into their links together.
    for (std::size_t i = 0, end = 0; i < separators.size(); i = end) {
      while (end < separators.size() && separators[end].same_readers(separators[i])) ++end;
      for (const auto& [_, reader] : separators[i].readings) {
        auto& send_rows = link_to(links[m], reader, rank_of_part).send_rows;
        for (std::size_t k = i; k < end; ++k) send_rows.push_back(map.interior + static_cast<Lid>(k));
      }
    }
    for (const auto& [reader, link] : links[m])
      for (const Lid row : link.send_rows) answers[rank_of(reader)].push_back({map.global[row], rows.part, reader});
  }

  // 3. Readers number their ghosts in the owners' order, owner after owner. An owner's answers come one after another.
  const auto ordered = comm.all_to_all(answers);
  for (std::size_t m = 0; m < mine.size(); ++m) {
    std::map<std::int32_t, std::vector<Gid>> ghosts;
    for (const auto& from_rank : ordered) {
      std::vector<Gid>* rows = nullptr;
      std::int32_t owner = -1;
      for (const Request& r : from_rank) {
        if (r.reader != mine[m].part) continue;
        if (rows == nullptr || r.owner != owner) rows = &ghosts[owner = r.owner];
        rows->push_back(r.row);
      }
    }
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

IndexMap with_components(const IndexMap& map, int components) {
  IndexMap wide;
  wide.part = map.part;
  wide.independent = map.independent * components;
  wide.interior = map.interior * components;
  wide.owned = map.owned * components;
  for (const Gid g : map.global)
    for (int c = 0; c < components; ++c) wide.global.push_back(g * components + c);
  for (const Link& link : map.links) {
    Link& other = wide.links.emplace_back();
    other.part = link.part;
    other.rank = link.rank;
    other.ghosts = {link.ghosts.begin * components, link.ghosts.end * components};
    for (const Lid row : link.send_rows)
      for (int c = 0; c < components; ++c) other.send_rows.push_back(row * components + c);
  }
  return wide;
}

}  // namespace tutti
