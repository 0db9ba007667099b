// Runs on one rank under CTest and on any number by hand: mpirun -n 3 test_base --gtest_filter='Comm*'
#include <gtest/gtest.h>

#include <new>
#include <numeric>

#include "mpi_environment.hpp"
#include "tutti/base/comm.hpp"

namespace tutti {
namespace {

using test::world;

/// Sets the piece size for one test: 3 bytes cut everything, 2^30 nothing.
class Comms : public ::testing::TestWithParam<Size> {
 protected:
  void SetUp() override {
    world();
    before_ = set_message_chunk(GetParam());
  }
  void TearDown() override { set_message_chunk(before_); }

 private:
  Size before_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Pieces, Comms, ::testing::Values(Size{3}, Size{64}, Size{1} << 30));

TEST_P(Comms, SumsAndMaxima) {
  const Comm& comm = world();
  std::vector<std::int64_t> values(10);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = comm.rank() * 100 + static_cast<std::int64_t>(i);
  comm.sum(values);
  const std::int64_t ranks = comm.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 100 * ranks * (ranks - 1) / 2 + ranks * static_cast<std::int64_t>(i));
  EXPECT_EQ(comm.sum(std::int64_t{1} << 40), ranks << 40);
  EXPECT_EQ(comm.max(-1.0 - comm.rank()), -1.0);
}

TEST_P(Comms, AllGatherKeepsRankOrderWithEmptyRanks) {
  const Comm& comm = world();
  // Rank r gives r values, rank 0 none.
  const std::vector<double> mine(comm.rank(), comm.rank() + 0.5);
  const auto all = comm.all_gather(std::span<const double>(mine));
  std::vector<double> expected;
  for (int r = 0; r < comm.size(); ++r) expected.insert(expected.end(), static_cast<std::size_t>(r), r + 0.5);
  EXPECT_EQ(all, expected);
}

TEST_P(Comms, AllToAllDeliversToTheRightRank) {
  const Comm& comm = world();
  struct Item {
    int from, to;
    double value;
  };
  std::vector<std::vector<Item>> outgoing(comm.size());
  for (int r = 0; r < comm.size(); ++r) outgoing[r].assign((comm.rank() + 2 * r) % 4, {comm.rank(), r, 0.25});
  const auto incoming = comm.all_to_all(outgoing);
  ASSERT_EQ(incoming.size(), outgoing.size());
  for (int r = 0; r < comm.size(); ++r) {
    const auto& items = incoming[r];
    EXPECT_EQ(static_cast<int>(items.size()), (r + 2 * comm.rank()) % 4);
    for (const Item& item : items) {
      EXPECT_EQ(item.from, r);
      EXPECT_EQ(item.to, comm.rank());
      EXPECT_EQ(item.value, 0.25);
    }
  }
}

TEST_P(Comms, BroadcastsTextAndValues) {
  const Comm& comm = world();
  const int root = comm.size() - 1;
  std::string text = comm.rank() == root ? "a text with \0 no end" : "old";
  comm.broadcast(text, root);
  EXPECT_EQ(text, "a text with ");
  std::vector<Gid> values(comm.rank() == root ? 5 : 99, Gid{1} << 50);
  comm.broadcast(values, root);
  EXPECT_EQ(values, std::vector<Gid>(5, Gid{1} << 50));
  text = "left over";
  if (comm.rank() == root) text.clear();
  comm.broadcast(text, root);
  EXPECT_TRUE(text.empty());
}

TEST_P(Comms, SendsBytesRound) {
  const Comm& comm = world();
  if (comm.size() == 1) GTEST_SKIP() << "needs two ranks";
  if (comm.rank() > 1) return;
  std::vector<char> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), char{0});
  if (comm.rank() == 0) {
    send_bytes(comm, bytes, 1, 7);
    send_bytes(comm, {}, 1, 7);
    EXPECT_EQ(receive_bytes(comm, 1, 8), bytes);
  } else {
    const auto got = receive_bytes(comm, 0, 7);
    EXPECT_EQ(got, bytes);
    EXPECT_TRUE(receive_bytes(comm, 0, 7).empty());
    send_bytes(comm, got, 0, 8);
  }
}

TEST_P(Comms, TogetherThrowsTheLowestRanksError) {
  const Comm& comm = world();
  int calls = 0;
  comm.together([&] { ++calls; });
  EXPECT_EQ(calls, 1);
  // Every rank but 0 fails (on one rank: rank 0).
  const int first = comm.size() > 1 ? 1 : 0;
  try {
    comm.together([&] {
      if (comm.rank() >= first) fail(ErrorKind::input, "rank {} saw a hole", comm.rank());
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(std::string(error.what()), "rank " + std::to_string(first) + " saw a hole");
  }
  comm.barrier();
}

TEST_P(Comms, TogetherSharesOtherExceptionsToo) {
  const Comm& comm = world();
  const int last = comm.size() - 1;
  EXPECT_THROW(comm.together([&] { require(comm.rank() != last, "a bug"); }), std::logic_error);
  try {
    comm.together([&] {
      if (comm.rank() == last) throw std::bad_alloc();
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::resource);
  }
}

}  // namespace
}  // namespace tutti
