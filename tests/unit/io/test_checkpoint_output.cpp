// A checkpoint's file: any bytes at any place, past the system's cache or through it.
#include "tutti/io/checkpoint/checkpoint_output.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/support/own_folder.hpp"
#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"

namespace tutti {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t block = CheckpointOutput::block;
constexpr std::size_t mib = std::size_t{1} << 20;

std::vector<char> some_bytes(std::size_t count) {
  std::vector<char> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(random_bits(1, i / 8) >> (i % 8 * 8));
  return bytes;
}

std::vector<char> content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool disk_can_pass_cache(const fs::path& folder) {
  const int file = ::open((folder / "probe").c_str(), O_WRONLY | O_CREAT | O_DIRECT | O_CLOEXEC, 0666);
  if (file >= 0) ::close(file);
  return file >= 0;
}

struct Layout {
  std::size_t bytes;
  std::size_t offset;   ///< in the file
  std::size_t address;  ///< from a whole block, in memory
};

class Layouts : public testing::TestWithParam<Layout> {};

TEST_P(Layouts, AreWrittenAsTheyAre) {
  const fs::path& folder = test::own_folder();
  const fs::path path = folder / "file";
  fs::remove(path);
  std::ofstream(path).flush();
  const auto [bytes, offset, address] = GetParam();
  const auto all = some_bytes(bytes + 2 * block);
  std::vector<char> memory(bytes + 2 * block);
  const std::size_t shift = (block - reinterpret_cast<std::uintptr_t>(memory.data()) % block) % block + address;
  const std::span<char> values(memory.data() + shift, bytes);
  std::copy_n(all.begin(), bytes, values.begin());

  std::vector<char> seen;
  Size past = 0;
  {
    CheckpointOutput file(path, O_RDWR);
    // Neighbours write what lies before and behind, in the same blocks.
    const std::vector<char> before(offset, 'b'), behind(100, 'e');
    file.write(behind, static_cast<Size>(offset + bytes));
    file.write_large(values, static_cast<Size>(offset),
                     [&](std::span<const char> piece) { seen.insert(seen.end(), piece.begin(), piece.end()); });
    file.write(before, 0);
    past = file.bytes_past_cache();
    std::vector<char> back(bytes);
    file.read(back, static_cast<Size>(offset));
    EXPECT_TRUE(std::equal(back.begin(), back.end(), values.begin()));
    file.sync(static_cast<Size>(bytes));
    file.close(static_cast<Size>(bytes));
  }
  EXPECT_TRUE(std::equal(seen.begin(), seen.end(), values.begin(), values.end()))
      << "every byte is looked at, in order";
  const auto found = content(path);
  ASSERT_EQ(found.size(), offset + bytes + 100);
  EXPECT_TRUE(
      std::all_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(offset), [](char c) { return c == 'b'; }));
  EXPECT_TRUE(std::equal(values.begin(), values.end(), found.begin() + static_cast<std::ptrdiff_t>(offset)));
  EXPECT_TRUE(std::all_of(found.end() - 100, found.end(), [](char c) { return c == 'e'; }));

  // All whole blocks of a long run go past the cache, none of a short one.
  const std::size_t head = (block - offset % block) % block;
  const bool is_long = bytes >= head + mib && disk_can_pass_cache(folder);
  EXPECT_EQ(past, is_long ? static_cast<Size>((bytes - head) / block * block) : 0);
}

INSTANTIATE_TEST_SUITE_P(CheckpointOutput, Layouts,
                         testing::Values(Layout{0, 0, 0}, Layout{8, 512, 8}, Layout{mib - 8, 0, 0}, Layout{mib, 0, 0},
                                         Layout{mib, block, 16}, Layout{mib + block, 8, 8},
                                         Layout{5 * mib + 3 * block + 24, 3 * block + 512, 512},
                                         Layout{9 * mib + 8, 520, 16}, Layout{9 * mib + 8, 2 * block - 8, block - 8}));

TEST(CheckpointOutput, AMissingFileIsNamed) {
  const fs::path& folder = test::own_folder();
  try {
    const CheckpointOutput file(folder / "none", O_WRONLY);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_THAT(error.what(), testing::HasSubstr((folder / "none").string() + ": cannot be opened: No such file"));
  }
}

TEST(CheckpointOutput, BytesThatAreNotTakenAreCounted) {
  // A file that takes nothing, as on a full disk.
  const fs::path path = test::own_folder() / "full";
  std::ofstream(path).flush();
  CheckpointOutput file(path, O_WRONLY);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit nothing{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &nothing), 0);
  for (const std::size_t bytes : {std::size_t{100}, 2 * mib}) try {
      file.write_large(std::vector<char>(bytes), 0, [](std::span<const char>) {});
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_THAT(error.what(),
                  testing::MatchesRegex(".*/full: [0-9]+ bytes are not written at byte [0-9]+: File too large.*"));
    }
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
}

}  // namespace
}  // namespace tutti
