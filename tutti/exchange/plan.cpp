#include <algorithm>
#include <map>
#include <tuple>

#include "tutti/exchange/exchange.hpp"

namespace tutti {
namespace {

/// Both ends number the messages of their pair of ranks alike: by (from, to).
void number_tags(std::vector<Message>& messages, bool outgoing, PlanTurn turn) {
  std::sort(messages.begin(), messages.end(),
            [](const Message& a, const Message& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); });
  std::map<int, int> next;
  for (Message& m : messages) m.tag = turn.number + turn.of * next[outgoing ? m.to_rank : m.from_rank]++;
}

}  // namespace

Plan make_plan(std::span<const IndexMap> maps, int my_rank, PlanTurn turn) {
  Plan plan;
  std::map<std::int32_t, int> index_of;
  for (std::size_t m = 0; m < maps.size(); ++m) index_of[maps[m].part] = static_cast<int>(m);

  for (std::size_t m = 0; m < maps.size(); ++m) {
    const IndexMap& map = maps[m];
    for (const Link& link : map.links) {
      if (!link.send_rows.empty()) {
        Message message;
        message.from = map.part;
        message.to = link.part;
        message.from_rank = my_rank;
        message.to_rank = link.rank;
        message.source = static_cast<int>(m);
        message.rows = link.send_rows;
        message.count = static_cast<Lid>(link.send_rows.size());
        if (link.rank != my_rank) {
          plan.outgoing.push_back(std::move(message));
        } else {
          message.target = index_of.at(link.part);
          const auto& back = maps[message.target].links;
          const auto other = std::find_if(back.begin(), back.end(), [&](const Link& l) { return l.part == map.part; });
          require(other != back.end() && other->ghosts.size() == message.count, "parts {} and {} disagree", map.part,
                  link.part);
          message.ghosts = other->ghosts;
          plan.local.push_back(std::move(message));
        }
      }
      if (!link.ghosts.empty() && link.rank != my_rank) {
        Message message;
        message.from = link.part;
        message.to = map.part;
        message.from_rank = link.rank;
        message.to_rank = my_rank;
        message.target = static_cast<int>(m);
        message.ghosts = link.ghosts;
        message.count = link.ghosts.size();
        plan.incoming.push_back(std::move(message));
      }
    }
  }
  number_tags(plan.outgoing, true, turn);
  number_tags(plan.incoming, false, turn);
  return plan;
}

Size Plan::rows_sent() const {
  Size rows = 0;
  for (const Message& m : local) rows += m.count;
  for (const Message& m : outgoing) rows += m.count;
  return rows;
}

}  // namespace tutti
