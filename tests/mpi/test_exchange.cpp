// Plan and Exchange on random directed graphs, owners and devices, on any number of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tests/support/rank_parts.hpp"
#include "tests/support/shared_link.hpp"

namespace tutti {
namespace {

using test::Dice;
using test::random_parts;
using test::RandomParts;
using test::RankParts;

const Comm& world() {
  static const Comm comm;
  return comm;
}

/// A message as both of its ranks should see it.
struct Ticket {
  std::int32_t from, to;
  int from_rank, to_rank, tag;
  Lid count;
  friend auto operator<=>(const Ticket&, const Ticket&) = default;
};

std::vector<Ticket> everyones(const std::vector<Message>& messages) {
  std::vector<Ticket> mine;
  for (const Message& m : messages) mine.push_back({m.from, m.to, m.from_rank, m.to_rank, m.tag, m.count});
  auto all = world().all_gather(std::span<const Ticket>(mine));
  std::sort(all.begin(), all.end());
  return all;
}

/// How many rows each part must send to each other one.
std::map<std::pair<std::int32_t, std::int32_t>, Lid> rows_between(const RandomParts& problem) {
  std::map<std::pair<std::int32_t, std::int32_t>, Lid> rows;
  for (Gid row = 0; row < problem.rows(); ++row)
    for (const std::int32_t reader : problem.readers(row)) ++rows[{problem.owner_of(row), reader}];
  return rows;
}

TEST(Plan, NumbersAndMessagesOfRandomDirectedGraphs) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomParts problem = random_parts(seed, world().size());
    const auto maps = number_parts(world(), problem.parts_of(world().rank()), problem.rank_of_part);
    for (const IndexMap& map : maps) test::expect_good_map(problem, map, world().rank());

    const Plan plan = make_plan(maps, world().rank());
    const auto sent = everyones(plan.outgoing);
    EXPECT_EQ(sent, everyones(plan.incoming)) << "the two ends of a message disagree";
    std::set<std::tuple<int, int, int>> tags;
    for (const Ticket& t : sent)
      EXPECT_TRUE(tags.insert({t.from_rank, t.to_rank, t.tag}).second) << "a tag is there twice";

    // One message a pair of parts, with exactly the rows that are read.
    std::map<std::pair<std::int32_t, std::int32_t>, Lid> found;
    for (const Ticket& t : sent) {
      EXPECT_NE(t.from_rank, t.to_rank);
      EXPECT_TRUE(found.insert({{t.from, t.to}, t.count}).second);
    }
    for (const Ticket& t : everyones(plan.local)) EXPECT_TRUE(found.insert({{t.from, t.to}, t.count}).second);
    EXPECT_EQ(found, rows_between(problem));
  }
}

/// Three exchanges of one problem: begin and end.
template <class T>
void exchange_and_look(std::uint64_t seed, int components, RoutingKind kind, Size& packed_bytes) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(components) + " components, transport " +
               routing_name(kind));
  const RandomParts problem = random_parts(seed, world().size());
  const bool any_device = kind != RoutingKind::device && kind != RoutingKind::nccl;
  RankParts rank(world(), problem, seed, 1, any_device ? 0.6 : 0.8, kind == RoutingKind::device);
  const auto devices = std::count_if(rank.streams.begin(), rank.streams.end(), [](auto& s) { return !s.is_host(); });
  if (!any_device && world().sum(devices) == 0) return;  // refused, and another test's business
  const auto padding = static_cast<Lid>(Dice(seed + 77).roll(0, 5));
  Routing routing = test::make_fake_routing(world(), kind, rank.maps, rank.streams, static_cast<Lid>(problem.rows()));
  if (seed % 2 == 0) routing.most_stored = 0;
  Exchange<T> exchange(world(), rank.plan, rank.maps, rank.streams, components, &routing);
  for (std::size_t p = 0; p < rank.maps.size(); ++p)
    packed_bytes += device_message_bytes(rank.plan, routing, rank.streams, static_cast<int>(p), components, sizeof(T));
  auto fields = test::make_fields<T>(rank, components, padding), others = test::make_fields<T>(rank, components, 0);

  for (int round = 0; round < 3; ++round) {
    // The same exchange serves any field: the second round is on another one.
    auto& used = round == 1 ? others : fields;
    const auto value = [round](Gid row, int c) { return test::value_of<T>(row, c, round); };
    for (std::size_t p = 0; p < used.size(); ++p) used[p].fill(rank.maps[p], value);
    exchange.begin(test::views_of(used));
    exchange.end();
    for (std::size_t p = 0; p < used.size(); ++p) used[p].expect(rank.maps[p], value);
  }
  for (std::size_t p = 0; p < others.size(); ++p)
    others[p].expect(rank.maps[p], [](Gid row, int c) { return test::value_of<T>(row, c, 1); });

  // Messages: one a neighbour on another rank, whatever the components.
  const auto& operations = exchange.operations();
  const auto count = [&](ExchangeOp::Kind wanted) {
    return std::count_if(operations.begin(), operations.end(), [&](const ExchangeOp& op) { return op.kind == wanted; });
  };
  const auto by_mpi = [&](const std::vector<Message>& messages) {
    return std::count_if(messages.begin(), messages.end(),
                         [&](const Message& m) { return route_of(m, routing, rank.streams) != Route::link; });
  };
  EXPECT_EQ(count(ExchangeOp::Kind::send), by_mpi(rank.plan.outgoing));
  EXPECT_EQ(count(ExchangeOp::Kind::receive), by_mpi(rank.plan.incoming));
  EXPECT_EQ(exchange.counts_per_exchange().messages, static_cast<Size>(rank.plan.outgoing.size()));
  EXPECT_EQ(exchange.counts_per_exchange().bytes, rank.plan.rows_sent() * components * static_cast<Size>(sizeof(T)));
  for (std::size_t i = 0; i < operations.size(); ++i)
    for (const int before : operations[i].after) EXPECT_LT(before, static_cast<int>(i)) << operations[i].name;
}

TEST(Exchange, EveryGhostIsItsOwnersValue) {
  for (const RoutingKind kind :
       {RoutingKind::automatic, RoutingKind::direct, RoutingKind::staged, RoutingKind::device, RoutingKind::nccl}) {
    Size packed_bytes = 0;
    for (std::uint64_t seed = 1; seed <= (kind == RoutingKind::automatic ? 40 : 12); ++seed) {
      exchange_and_look<double>(seed, 1, kind, packed_bytes);
      exchange_and_look<double>(seed, 3, kind, packed_bytes);
      exchange_and_look<float>(seed, 1, kind, packed_bytes);
      exchange_and_look<float>(seed, 3, kind, packed_bytes);
    }
    packed_bytes = world().sum(packed_bytes);
    // Three parts, as many as a rank has, send nothing that is scattered; by the host nothing is packed on a device.
    if (kind == RoutingKind::staged || world().size() == 1) {
      EXPECT_EQ(packed_bytes, 0) << routing_name(kind);
    } else if (kind == RoutingKind::device || kind == RoutingKind::nccl || world().size() > 2) {
      EXPECT_GT(packed_bytes, 0) << routing_name(kind);
    }
  }
}

TEST(Exchange, NothingGoesThroughTheHostByALink) {
  for (std::uint64_t seed = 301; seed <= 315; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomParts problem = random_parts(seed, world().size());
    RankParts rank(world(), problem, 2 * seed, 1, 1.0);
    const Routing routing =
        test::make_fake_routing(world(), RoutingKind::nccl, rank.maps, rank.streams, static_cast<Lid>(problem.rows()));
    const Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, 2, &routing);
    for (const ExchangeOp& op : exchange.operations()) {
      const bool peers = rank.streams.size() < 2 || rank.streams[1].device->can_copy_from(*rank.streams[0].device);
      EXPECT_TRUE(!peers || op.kind == ExchangeOp::Kind::outgoing_copy || op.kind == ExchangeOp::Kind::incoming_copy)
          << op.name;
      EXPECT_NE(op.kind, ExchangeOp::Kind::send) << op.name;
      EXPECT_NE(op.kind, ExchangeOp::Kind::receive) << op.name;
    }
  }
}

/// What is thrown, on all ranks.
void expect_refused(RoutingKind kind, RankParts& rank, const std::string& part_of_text) {
  try {
    make_routing(world(), kind, rank.maps, rank.streams);
    ADD_FAILURE() << routing_name(kind) << " was not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
    EXPECT_NE(std::string(error.what()).find(part_of_text), std::string::npos) << error.what();
  }
}

TEST(Exchange, TransportsThatAreNotThereAreRefusedOnAllRanks) {
  const RandomParts problem = random_parts(7, world().size());
  RankParts on_cpu(world(), problem, 7, 1, 0.0), closed(world(), problem, 7, 1, 1.0);
  expect_refused(RoutingKind::device, on_cpu, "no rank has a GPU");
  expect_refused(RoutingKind::device, closed, "CUDA-aware");
  expect_refused(RoutingKind::nccl, on_cpu, "no rank has a CUDA GPU");
  expect_refused(RoutingKind::nccl, closed, "no rank has a CUDA GPU");
}

TEST(Exchange, TwoExchangesMayBeUnderWayAtOnce) {
  // Two fields of the same plan: their messages have the same tags and must still find their field, because both
  // ranks start them in the same order.
  for (std::uint64_t seed = 201; seed <= 220; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomParts problem = random_parts(seed, world().size());
    RankParts rank(world(), problem, seed);
    Exchange<double> first(world(), rank.plan, rank.maps, rank.streams, 1),
        second(world(), rank.plan, rank.maps, rank.streams, 1);
    auto a = test::make_fields<double>(rank, 1, 0), b = test::make_fields<double>(rank, 1, 0);
    const auto value_a = [](Gid row, int c) { return test::value_of<double>(row, c, 5); };
    const auto value_b = [](Gid row, int c) { return test::value_of<double>(row, c, 6); };
    for (std::size_t p = 0; p < a.size(); ++p) {
      a[p].fill(rank.maps[p], value_a);
      b[p].fill(rank.maps[p], value_b);
    }
    first.begin(test::views_of(a));
    second.begin(test::views_of(b));
    first.end();
    second.end();
    for (std::size_t p = 0; p < a.size(); ++p) {
      a[p].expect(rank.maps[p], value_a);
      b[p].expect(rank.maps[p], value_b);
    }
  }
}

}  // namespace
}  // namespace tutti
