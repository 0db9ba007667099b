// zfp's codec, bit for bit: against libzfp where it is installed, and against a slow decoder.
#include <gtest/gtest.h>

#include <cstring>

#include "tutti/residency/row_access.hpp"
#include "tutti/residency/row_codec.hpp"
#include "tutti/residency/zfp_short_block.hpp"
#include "zfp_blocks.hpp"

#if defined(TUTTI_HAVE_ZFP)
#include <zfp.h>
#endif

namespace tutti {
namespace {

using test::Four;

Four decode(const zfp::Block& block, int bits) {
  Four out{};
  zfp::decode_block(block, bits, host_plane_table(), out.data());
  return out;
}

Four decode_short(const zfp::Block& block, int bits) {
  std::uint32_t words[4];
  std::memcpy(words, block.word, sizeof words);
  Four out{};
  zfp::decode_short_block(words, bits, host_plane_table(), out.data());
  return out;
}

TEST(ZfpBlock, BothDecodersFollowTheDescription) {
  for (const int rate : test::zfp_rates)
    for (int k = 0; k < test::zfp_blocks; ++k) {
      zfp::Block block;
      zfp::encode_block(test::zfp_values(k).data(), 4 * rate, block);
      const Four expected = test::decode_slowly(block, 4 * rate);
      ASSERT_TRUE(test::same_bits(decode(block, 4 * rate), expected)) << "rate " << rate << ", block " << k;
      if (rate > 32) continue;
      ASSERT_TRUE(test::same_bits(decode_short(block, 4 * rate), expected)) << "rate " << rate << ", block " << k;
    }
}

/// Streams that no encoder writes must not differ either, unless sums overflow, or libzfp's scale is below all numbers.
TEST(ZfpBlock, DecodersAgreeOnAnyBits) {
  for (const int rate : test::zfp_rates)
    for (std::uint64_t k = 0; k < 5000; ++k) {
      zfp::Block block;
      for (std::uint64_t b = 0; b < static_cast<std::uint64_t>(4 * rate); ++b)
        block.word[b / 64] |= (random_bits(7, 256 * k + b) >> 13 & 1) << b % 64;
      block.word[0] |= 1;
      const Four expected = test::decode_slowly(block, 4 * rate);
      ASSERT_TRUE(test::same_bits(decode(block, 4 * rate), expected)) << "rate " << rate << ", block " << k;
      if (rate > 32) continue;
      block.word[0] &= ~(std::uint64_t{7} << 12);  // three planes of zeros: nothing overflows
      block.word[0] |= std::uint64_t{1} << 11;     // exponents above 0
      ASSERT_TRUE(test::same_bits(decode_short(block, 4 * rate), test::decode_slowly(block, 4 * rate)))
          << "rate " << rate << ", block " << k;
    }
}

TEST(ZfpBlock, NibblesAreTransposed) {
  for (std::uint64_t k = 0; k < 1000; ++k) {
    std::uint32_t w[4], expected[4] = {0, 0, 0, 0};
    for (std::uint64_t j = 0; j < 4; ++j) w[j] = static_cast<std::uint32_t>(random_bits(3, 4 * k + j));
    for (int s = 0; s < 32; ++s)
      for (int i = 0; i < 4; ++i) expected[i] |= (w[s / 8] >> (4 * (s % 8) + i) & 1) << (31 - s);
    zfp::detail::transpose_nibbles(w);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(w[i], expected[i]) << "bit " << i;
  }
}

TEST(ZfpBlock, ErrorsShrinkWithTheRate) {
  // A block of exponent e keeps at least (4 rate - 12 - 7) / 4 planes of 64 below 2^(e + 1); the transform adds to
  // them.
  for (const int rate : test::zfp_rates) {
    if (rate < 8) continue;
    for (int k = 0; k < test::zfp_blocks; ++k) {
      const Four v = test::zfp_values(k);
      double largest = 0;
      for (const double x : v) largest = std::max(largest, std::abs(x));
      zfp::Block block;
      zfp::encode_block(v.data(), 4 * rate, block);
      const Four back = decode(block, 4 * rate);
      if (largest > 1e300 && !std::isfinite(back[0] + back[1] + back[2] + back[3])) continue;  // rounded up to infinity
      const double bound = std::max(std::ldexp(largest, 8 - std::min(rate, 60)), 4e-290);
      for (std::size_t i = 0; i < 4; ++i)
        ASSERT_LE(std::abs(back[i] - v[i]), bound) << "rate " << rate << ", block " << k << ", value " << i;
    }
  }
}

TEST(ZfpBlock, TinyBlocksAreZero) {
  for (const double tiny : {0.0, -0.0, 5e-324, 1e-310, std::ldexp(0.99, -962)}) {
    const Four v = {tiny, -tiny, 0, tiny / 2};
    zfp::Block block;
    zfp::encode_block(v.data(), 128, block);
    EXPECT_EQ(block.word[0] | block.word[1], 0u) << tiny;
    EXPECT_TRUE(test::same_bits(decode(block, 128), Four{}));
    EXPECT_TRUE(test::same_bits(decode_short(block, 128), Four{}));
  }
}

#if defined(TUTTI_HAVE_ZFP)

/// libzfp's stream over some words.
class LibraryStream {
 public:
  LibraryStream(std::vector<std::uint64_t>& words, int rate)
      : bits_(stream_open(words.data(), words.size() * 8)), zfp_(zfp_stream_open(bits_)) {
    zfp_stream_set_rate(zfp_, rate, zfp_type_double, 1, 0);
  }
  ~LibraryStream() {
    zfp_stream_close(zfp_);
    stream_close(bits_);
  }
  zfp_stream* operator()() {
    zfp_stream_rewind(zfp_);
    return zfp_;
  }

 private:
  bitstream* bits_;
  zfp_stream* zfp_;
};

TEST(ZfpBlock, HasTheBitsOfLibzfp) {
  for (const int rate : test::zfp_rates) {
    std::vector<std::uint64_t> words(8);
    LibraryStream library(words, rate);
    for (int k = 0; k < test::zfp_blocks; ++k) {
      const Four v = test::zfp_values(k);
      std::fill(words.begin(), words.end(), 0);
      zfp_stream* stream = library();
      zfp_encode_block_double_1(stream, v.data());
      zfp_stream_flush(stream);
      zfp::Block block;
      zfp::encode_block(v.data(), 4 * rate, block);
      for (std::size_t w = 0; w < 4; ++w) ASSERT_EQ(block.word[w], words[w]) << "rate " << rate << ", block " << k;
      Four expected{};
      zfp_decode_block_double_1(library(), expected.data());
      ASSERT_TRUE(test::same_bits(decode(block, 4 * rate), expected)) << "rate " << rate << ", block " << k;
      if (rate > 32) continue;
      ASSERT_TRUE(test::same_bits(decode_short(block, 4 * rate), expected)) << "rate " << rate << ", block " << k;
    }
  }
}

TEST(ZfpRows, AreWhatLibzfpMakesOfEachRow) {
  for (const int rate : test::zfp_rates)
    for (const int length : {1, 2, 3, 4, 5, 11, 64}) {
      const RowLayout layout = make_row_layout(ValueFormat::zfp, length, rate);
      const Lid number = 20;
      std::vector<double> values;
      for (int k = 0; k < number * length; ++k) values.push_back(test::zfp_values(10 * (k % 700) + 1)[k % 4] + 0.1 * k);
      std::vector<std::byte> bytes(layout.bytes(number));
      SquaredLoss loss;
      encode_rows(layout, "test", 0, values, bytes, loss);
      const ZfpRows access{
          {bytes.data(), layout.row_bytes, 0, layout.stride, 0, layout.block_bits(), host_plane_table()}};
      for (Lid r = 0; r < number; ++r) {
        double* const row = values.data() + r * length;
        std::vector<std::uint64_t> words(static_cast<std::size_t>(layout.row_bytes / 8) + 1);
        LibraryStream library(words, rate);
        zfp_field* field = zfp_field_1d(row, zfp_type_double, static_cast<std::size_t>(length));
        ASSERT_GT(zfp_compress(library(), field), 0u);
        ASSERT_EQ(std::memcmp(words.data(), bytes.data() + layout.bytes(r), static_cast<std::size_t>(layout.row_bytes)),
                  0)
            << "rate " << rate << ", length " << length << ", row " << r;
        std::vector<double> expected(length);
        zfp_field_set_pointer(field, expected.data());
        ASSERT_GT(zfp_decompress(library(), field), 0u);
        zfp_field_free(field);
        for (int i = 0; i < length; ++i) {
          const double got = access(r, i);
          ASSERT_EQ(std::bit_cast<std::uint64_t>(got), std::bit_cast<std::uint64_t>(expected[i]));
        }
      }
    }
}

#else

TEST(ZfpBlock, HasTheBitsOfLibzfp) {
  GTEST_SKIP() << "libzfp was not found at configuration (Debian: libzfp-dev)";
}

#endif

}  // namespace
}  // namespace tutti
