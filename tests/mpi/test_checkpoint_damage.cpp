// A damaged checkpoint is found out before anything else looks at it, by all ranks: cut off anywhere, any bit turned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>

#include "tests/support/checkpoint_state.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using test::CheckpointState;
using test::message_of;
using testing::AnyOf;
using testing::HasSubstr;

const Comm& world() {
  static const Comm comm;
  return comm;
}

/// A checkpoint of many segments and many blocks of 4 KiB, in a folder that goes with the test.
class CheckpointDamage : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::fresh_folder(world(), "damage");
    CheckpointState state(world(), 1, 1500, 2 * world().size());
    state.fill(1);
    CheckpointWriter writer(world(), state.state(), folder_, 2, "1.2.3");
    writer.begin(1, 0, "{\"some\": \"text\"}");
    writer.finish();
    path_ = find_checkpoints(folder_).at(0);
    size_ = static_cast<Size>(fs::file_size(path_));
    ASSERT_GT(size_, 20 * 4096);
    world().barrier();
  }
  void TearDown() override {
    world().barrier();
    std::error_code ignored;
    if (world().is_root()) fs::remove_all(folder_, ignored);
  }
  /// What the reader says; empty: it took the file.
  std::string verdict() const {
    try {
      const CheckpointReader reader(world(), path_);
    } catch (const SharedError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
      return error.what();
    }
    return "";
  }
  /// On the root, before all go on.
  void change(const std::function<void(int)>& work) const {
    if (world().is_root()) {
      const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
      work(file);
      ::close(file);
    }
    world().barrier();
  }
  void turn_bit(Size bit) const {
    change([&](int file) {
      char byte = 0;
      ASSERT_EQ(::pread(file, &byte, 1, bit / 8), 1);
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      ASSERT_EQ(::pwrite(file, &byte, 1, bit / 8), 1);
    });
  }

  fs::path folder_, path_;
  Size size_ = 0;
};

TEST_F(CheckpointDamage, ItIsWholeAtFirst) {
  EXPECT_EQ(verdict(), "");
}

TEST_F(CheckpointDamage, CutOffAtEvery4KiB) {
  // The last byte first: the file only becomes shorter.
  std::vector<Size> lengths{size_ - 1, size_ - 23, size_ - 24};
  for (Size length = (size_ - 25) / 4096 * 4096; length >= 0; length -= 4096) lengths.push_back(length);
  lengths.insert(lengths.end() - 1, {checkpoint_header_bytes, checkpoint_header_bytes - 1, 100, 1});
  for (const Size length : lengths) {
    change([&](int file) { ASSERT_EQ(::ftruncate(file, length), 0); });
    const std::string found = verdict();
    EXPECT_THAT(found, HasSubstr(path_.string())) << length;
    EXPECT_THAT(found, AnyOf(HasSubstr("is truncated"), HasSubstr("not a checkpoint"))) << length;
    world().barrier();
  }
}

TEST_F(CheckpointDamage, TooLong) {
  change([&](int file) { ASSERT_EQ(::ftruncate(file, size_ + 1), 0); });
  EXPECT_THAT(verdict(), HasSubstr("has grown"));
}

TEST_F(CheckpointDamage, TurnedBits) {
  test::Dice dice(20);
  const int turns = world().size() == 1 ? 2000 : 300;  // ranks that share a core wait for each other
  int of_header = 0, of_table = 0, of_data = 0;
  for (int k = 0; k < turns; ++k) {
    // All bits of the header's text are more than its share of the file; so are those of the table.
    Size bit = dice.roll(0, 8 * size_ - 1);
    if (k % 10 == 0) bit = dice.roll(0, 8 * checkpoint_header_bytes - 1);
    if (k % 10 == 1) bit = dice.roll(8 * (size_ - 1000), 8 * size_ - 1);
    turn_bit(bit);
    const std::string found = verdict();
    ASSERT_THAT(found, HasSubstr(path_.string())) << "bit " << bit % 8 << " of byte " << bit / 8 << " was not missed";
    of_header += found.find("header") != std::string::npos || found.find("not a checkpoint") != std::string::npos ||
                         found.find("has format") != std::string::npos
                     ? 1
                     : 0;
    of_table += found.find("table of checksums") != std::string::npos ? 1 : 0;
    of_data += found.find("have another checksum") != std::string::npos ? 1 : 0;
    world().barrier();
    turn_bit(bit);
  }
  EXPECT_EQ(of_header + of_table + of_data, turns);
  EXPECT_GT(of_header, turns / 20);
  EXPECT_GT(of_table, turns / 200);
  EXPECT_GT(of_data, turns / 2);
  EXPECT_EQ(verdict(), "") << "the last bit was put back";
}

TEST_F(CheckpointDamage, PiecesOfOthers) {
  // Whole blocks of zeros (a disk that lost a write), and two blocks that changed places.
  for (const Size at : {Size{0}, Size{4096}, size_ / 2 / 4096 * 4096, (size_ - 1) / 4096 * 4096}) {
    const auto length = static_cast<std::size_t>(std::min<Size>(4096, size_ - at));
    std::vector<char> before(length), zeros(length);
    change([&](int file) {
      ASSERT_EQ(::pread(file, before.data(), length, at), static_cast<ssize_t>(length));
      ASSERT_EQ(::pwrite(file, zeros.data(), length, at), static_cast<ssize_t>(length));
    });
    EXPECT_NE(verdict(), "") << "zeros at byte " << at;
    world().barrier();
    change([&](int file) { ASSERT_EQ(::pwrite(file, before.data(), length, at), static_cast<ssize_t>(length)); });
  }
  EXPECT_EQ(verdict(), "");
  world().barrier();
  change([&](int file) {
    std::vector<char> a(4096), b(4096);
    ASSERT_EQ(::pread(file, a.data(), 4096, 8192), 4096);
    ASSERT_EQ(::pread(file, b.data(), 4096, 65536), 4096);
    ASSERT_NE(a, b);
    ASSERT_EQ(::pwrite(file, b.data(), 4096, 8192), 4096);
    ASSERT_EQ(::pwrite(file, a.data(), 4096, 65536), 4096);
  });
  EXPECT_THAT(verdict(), HasSubstr("have another checksum"));
}

TEST_F(CheckpointDamage, NotThere) {
  world().barrier();
  if (world().is_root()) fs::remove(path_);
  world().barrier();
  EXPECT_THAT(message_of(ErrorKind::io, [&] { const CheckpointReader reader(world(), path_); }),
              HasSubstr(path_.string()));
}

}  // namespace
}  // namespace tutti
