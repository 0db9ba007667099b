// How an exchange moves what it moves: routings, packing, copies, and mistakes that must be found. Whether every
// ghost is right on random problems is the business of tests/mpi/test_exchange.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "tests/support/rank_parts.hpp"
#include "tests/unit/base/mpi_environment.hpp"

namespace tutti {
namespace {

using test::world;

/// A line of rows, each reading its neighbours, cut into parts of `sizes` rows.
std::vector<PartRows> line(const std::vector<Gid>& sizes) {
  std::vector<PartRows> parts;
  Gid begin = 0;
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    PartRows& part = parts.emplace_back();
    part.part = static_cast<std::int32_t>(p);
    for (Gid i = begin; i < begin + sizes[p]; ++i) part.owned.push_back(i);
    if (p > 0) {
      part.ghosts.push_back(begin - 1);
      part.ghost_owners.push_back(part.part - 1);
    }
    begin += sizes[p];
    if (p + 1 < sizes.size()) {
      part.ghosts.push_back(begin);
      part.ghost_owners.push_back(part.part + 1);
    }
  }
  return parts;
}

/// Parts on one rank: "cpu" or "fake" each.
struct OneRank {
  OneRank(const std::vector<PartRows>& rows, const std::vector<DeviceKind>& kinds, bool peer = true) {
    devices.push_back(make_host_device(threads, Size{1} << 30));
    maps = number_parts(world(), rows, std::vector<int>(rows.size(), 0));
    for (std::size_t p = 0; p < rows.size(); ++p) {
      if (kinds[p] == DeviceKind::host) {
        streams.emplace_back(*devices[0]);
        continue;
      }
      FakeOptions options;
      options.seed = p + 1;
      options.peer = peer;
      devices.push_back(make_fake_device(static_cast<int>(p), options));
      streams.emplace_back(*devices.back());
    }
    plan = make_plan(maps, 0);
  }
  Threads threads{1};
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<IndexMap> maps;
  std::vector<PartStreams> streams;
  Plan plan;
};

constexpr DeviceKind cpu = DeviceKind::host, fake = DeviceKind::fake;

/// Sets up fields with the row's number in each owned row, exchanges them once and looks.
void exchange_line(OneRank& rank, int components, const Routing& routing = {}) {
  Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, components, &routing);
  std::vector<test::PaddedField<double>> fields;
  const auto value = [](Gid row, int c) { return 100.0 * c + static_cast<double>(row); };
  for (std::size_t p = 0; p < rank.maps.size(); ++p) {
    fields.emplace_back(rank.streams[p], rank.maps[p], components, 2);
    fields.back().fill(rank.maps[p], value);
  }
  for (auto& device : rank.devices) {
    CopyCounts& counts = device->counts();
    for (auto* counter :
         {&counts.to_device_bytes, &counts.to_host_bytes, &counts.peer_bytes, &counts.local_bytes, &counts.copies})
      *counter = 0;
  }
  exchange.begin(test::views_of(fields));
  exchange.end();
  for (std::size_t p = 0; p < fields.size(); ++p) fields[p].expect(rank.maps[p], value);
}

Size copies_of(const OneRank& rank, std::size_t device) {
  return rank.devices[device]->counts().copies;
}

TEST(Exchange, BetweenPartsOfTheCpuNothingIsCopiedTwice) {
  OneRank rank(line({5, 4, 3}), {cpu, cpu, cpu});
  Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, 3);
  EXPECT_EQ(exchange.operations().size(), 4u) << "one gather a pair of neighbours and direction";
  for (const ExchangeOp& op : exchange.operations()) EXPECT_EQ(op.kind, ExchangeOp::Kind::host) << op.name;
  EXPECT_EQ(exchange.counts_per_exchange().messages, 0);
  EXPECT_EQ(exchange.counts_per_exchange().bytes, 4 * 3 * 8);
  exchange_line(rank, 3);
}

TEST(Exchange, ADevicePartSendsItsSeparatorsOnceForAllNeighbours) {
  // The middle part is on a device and has two neighbours on the CPU.
  OneRank rank(line({5, 4, 3}), {cpu, fake, cpu});
  Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, 1);
  std::map<ExchangeOp::Kind, int> kinds;
  for (const ExchangeOp& op : exchange.operations()) ++kinds[op.kind];
  EXPECT_EQ(kinds[ExchangeOp::Kind::outgoing_copy], 1);
  EXPECT_EQ(kinds[ExchangeOp::Kind::incoming_copy], 2);
  exchange_line(rank, 1);
}

TEST(Exchange, CopiesOfADeviceAreCountedAComponent) {
  OneRank rank(line({5, 4}), {cpu, fake});
  exchange_line(rank, 2);
  const CopyCounts& counts = rank.devices[1]->counts();
  // Two components of one separator out and of one ghost in; the look at the end is one more copy out.
  EXPECT_EQ(counts.to_device_bytes, 2 * 8);
  EXPECT_EQ(counts.to_host_bytes, 2 * 8 + 2 * (4 + 1 + 2) * 8);
  EXPECT_EQ(counts.peer_bytes, 0);
}

TEST(Exchange, PeersStoreShortMessagesAndCopyLongOnes) {
  for (const Lid most_stored : {0, 1}) {
    OneRank rank(line({5, 4}), {fake, fake}, true);
    Routing routing;
    routing.most_stored = most_stored;
    exchange_line(rank, 1, routing);
    for (const std::size_t d : {1u, 2u}) {
      EXPECT_EQ(rank.devices[d]->counts().peer_bytes, 8);
      EXPECT_EQ(rank.devices[d]->counts().to_device_bytes, 0);
      EXPECT_EQ(copies_of(rank, d), most_stored > 0 ? 1 : 2) << "the look at the end, and the peer copy";
    }
    routing.kind = RoutingKind::direct;
    exchange_line(rank, 1, routing);
    EXPECT_EQ(copies_of(rank, 1), 1) << "direct: nothing is copied";
  }
}

TEST(Exchange, WithoutPeerAccessTheHostIsInBetween) {
  OneRank rank(line({5, 4}), {fake, fake}, false);
  exchange_line(rank, 1);
  for (const std::size_t d : {1u, 2u}) {
    EXPECT_EQ(rank.devices[d]->counts().peer_bytes, 0);
    EXPECT_EQ(rank.devices[d]->counts().to_device_bytes, 8);
  }
}

TEST(Exchange, PeersStoreWhatIsScattered) {
  // Rows of part 0 by their readers: {1, 3}, {1, 2}, {2, 3}. In whatever order, one reader's two sets are apart.
  const std::vector<PartRows> rows{
      {.part = 0, .owned = {0, 1, 2}, .ghosts = {}, .ghost_owners = {}},
      {.part = 1, .owned = {3}, .ghosts = {0, 1}, .ghost_owners = {0, 0}},
      {.part = 2, .owned = {4}, .ghosts = {1, 2}, .ghost_owners = {0, 0}},
      {.part = 3, .owned = {5}, .ghosts = {0, 2}, .ghost_owners = {0, 0}},
  };
  OneRank rank(rows, {fake, fake, fake, fake});
  int scattered = 0;
  for (const Message& m : rank.plan.local) scattered += m.contiguous() ? 0 : 1;
  EXPECT_GE(scattered, 1) << "the sets of readers form a circle";
  Routing routing;
  routing.most_stored = 0;
  const Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, 2, &routing);
  int stores = 0;
  for (const ExchangeOp& op : exchange.operations()) {
    EXPECT_NE(op.kind, ExchangeOp::Kind::host) << op.name;
    stores += op.kind == ExchangeOp::Kind::outgoing_copy ? 1 : 0;
  }
  EXPECT_EQ(stores, scattered) << "what lies in one piece is copied from where it is";
  const Size used = rank.devices[1]->budget().used();
  EXPECT_EQ(used, device_message_bytes(rank.plan, routing, rank.streams, 0, 2, sizeof(double)));
  EXPECT_EQ(used, scattered * 2 * 4) << "the numbers of two rows per message";
  exchange_line(rank, 2, routing);
  for (const std::size_t d : {1u, 2u, 3u, 4u}) EXPECT_EQ(rank.devices[d]->counts().to_device_bytes, 0);
}

TEST(Exchange, StagedMessagesAllGoThroughTheHost) {
  OneRank rank(line({5, 4}), {fake, fake}, true);
  Routing routing;
  routing.kind = RoutingKind::staged;
  const Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, 1, &routing);
  std::map<ExchangeOp::Kind, int> kinds;
  for (const ExchangeOp& op : exchange.operations()) ++kinds[op.kind];
  EXPECT_EQ(kinds[ExchangeOp::Kind::outgoing_copy], 2);
  EXPECT_EQ(kinds[ExchangeOp::Kind::host], 2);
  EXPECT_EQ(kinds[ExchangeOp::Kind::incoming_copy], 2);
}

TEST(Exchange, TransportsHaveNames) {
  for (const RoutingKind kind :
       {RoutingKind::automatic, RoutingKind::direct, RoutingKind::staged, RoutingKind::device, RoutingKind::nccl})
    EXPECT_EQ(parse_routing(routing_name(kind)), kind);
  try {
    parse_routing("pigeon");
    ADD_FAILURE() << "pigeon is a transport";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
  }
}

TEST(Exchange, AnUnreadDevicePartMovesNothing) {
  // Part 1 reads part 0; nobody reads part 1.
  const std::vector<PartRows> rows{{.part = 0, .owned = {0, 1}, .ghosts = {}, .ghost_owners = {}},
                                   {.part = 1, .owned = {2}, .ghosts = {1}, .ghost_owners = {0}}};
  OneRank rank(rows, {cpu, fake});
  Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, 1);
  ASSERT_EQ(exchange.operations().size(), 2u);
  EXPECT_EQ(exchange.operations()[0].kind, ExchangeOp::Kind::host);
  EXPECT_EQ(exchange.operations()[1].kind, ExchangeOp::Kind::incoming_copy);
  exchange_line(rank, 1);
}

TEST(Exchange, OfNothingIsNothing) {
  OneRank alone(line({7}), {fake});
  exchange_line(alone, 1);
  Exchange<double> exchange(world(), alone.plan, alone.maps, alone.streams, 1);
  EXPECT_TRUE(exchange.operations().empty());

  OneRank empty(line({0}), {cpu});
  exchange_line(empty, 3);
}

TEST(Exchange, AFieldHasOneBlockAComponent) {
  OneRank rank(line({5, 4}), {cpu, fake});
  Field<float> field(*rank.devices[1], rank.maps[1], "velocity", 3);
  EXPECT_EQ(field.view().stride, rank.maps[1].local());
  EXPECT_EQ(field.view().components, 3);
  EXPECT_EQ(field.buffer().size(), 3 * rank.maps[1].local());
  EXPECT_EQ(field.name(), "velocity");
}

TEST(Exchange, AForgottenFieldIsFound) {
  OneRank rank(line({5, 4}), {cpu, cpu});
  Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, 1);
  std::vector<FieldView<double>> one(1);
  EXPECT_THROW(exchange.bind(one), std::logic_error);
}

TEST(Exchange, AMessageTooLongForMpiIsAnError) {
  OneRank rank(line({5}), {cpu});
  Plan plan;
  Message& message = plan.incoming.emplace_back();
  message.from = 1;
  message.to = 0;
  message.target = 0;
  message.count = (Lid{1} << 28) + 1;
  EXPECT_THROW(Exchange<double>(world(), plan, rank.maps, rank.streams, 1), std::logic_error);
}

TEST(Exchange, AForgottenCopyLeavesNaN) {
  // A test of the tests: the same operations without the copy of the ghosts to the device.
  OneRank rank(line({5, 4}), {cpu, fake});
  Exchange<double> exchange(world(), rank.plan, rank.maps, rank.streams, 1);
  std::vector<Field<double>> fields;
  std::vector<FieldView<double>> views;
  for (std::size_t p = 0; p < 2; ++p) {
    fields.emplace_back(*rank.streams[p].device, rank.maps[p], "u");
    std::vector<double> own(rank.maps[p].owned);
    std::iota(own.begin(), own.end(), 1.0);
    upload(*rank.streams[p].compute, fields.back().buffer(), std::span<const double>(own));
    views.push_back(fields.back().view());
  }
  exchange.bind(views);
  for (const ExchangeOp& op : exchange.operations()) {
    if (op.kind == ExchangeOp::Kind::incoming_copy) continue;
    if (op.work) op.work();
    if (op.enqueue) {
      PartStreams& part = rank.streams[op.part];
      op.enqueue(*part.outgoing);
      part.outgoing->synchronize();
    }
  }
  std::vector<double> all(rank.maps[1].local());
  download(*rank.streams[1].compute, std::span<double>(all), fields[1].buffer());
  EXPECT_TRUE(std::isnan(all.back()));
}

}  // namespace
}  // namespace tutti
