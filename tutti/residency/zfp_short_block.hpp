// A faster decoder of zfp's blocks of up to 128 bits, made for GPUs: bit for bit that of zfp_block.hpp.
//
// The planes before all four values are significant are looked up one by one and put, as nibbles, before those that
// follow as nibbles anyway. Two tricks then do the rest without a loop: the 32 nibbles are transposed to four words of
// 32 bits by exchanges between words, and as no lower plane is there, all integers of the inverse transform are
// multiples of 2^32, so that doubles do it exactly. Blocks of another kind (a value that never becomes significant,
// more than 32 planes) go the general way, as do those of less than 32 bits: with fewer than five planes, libzfp's
// integers may overflow.
#pragma once

#include "tutti/residency/zfp_block.hpp"

namespace tutti::zfp {
namespace detail {

/// Bytes of b:a (bytes 7 to 0), chosen by the four nibbles of `select`.
TUTTI_HD inline std::uint32_t choose_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t select) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(a, b, select);
#else
  const std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<std::uint32_t>(both >> 8 * (select >> 4 * i & 7) & 255) << 8 * i;
  return result;
#endif
}

/// Bits shift .. shift + 31 of high:low, shift < 32.
TUTTI_HD inline std::uint32_t funnel(std::uint32_t low, std::uint32_t high, int shift) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(low, high, static_cast<std::uint32_t>(shift));
#else
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(high) << 32 | low) >> shift);
#endif
}

/// A 32-bit integer as double by one addition: GPUs convert at a quarter of that rate.
TUTTI_HD inline double to_double(std::uint32_t v) {
#if defined(__CUDA_ARCH__)
  return __hiloint2double(0x43300000, static_cast<int>(v ^ 0x80000000u)) - 0x1.000008p52;
#else
  return static_cast<double>(static_cast<std::int32_t>(v));
#endif
}

/// Exchanges the bit of the words' number with bit log2(shift) of the bits' number, which it enters inverted.
TUTTI_HD inline void exchange(std::uint32_t& low, std::uint32_t& high, int shift, std::uint32_t mask) {
  const std::uint32_t first = (low & mask) << shift | (high & mask);
  high = (low & ~mask) | (high >> shift & mask);
  low = first;
}

/// 32 nibbles, the first lowest in w[0], to four words: word i has bit i of each, the first one highest.
/// In numbers of bits: nibble (j1 j0 s2 s1 s0), bit (i1 i0) of it. First bytes go from word j to word (s2 s1); then
/// word bits change places with s0, i0, i1 in turn.
TUTTI_HD inline void transpose_nibbles(std::uint32_t w[4]) {
  const std::uint32_t a = choose_bytes(w[0], w[1], 0x0415), b = choose_bytes(w[0], w[1], 0x2637);
  const std::uint32_t c = choose_bytes(w[2], w[3], 0x0415), d = choose_bytes(w[2], w[3], 0x2637);
  std::uint32_t v0 = choose_bytes(c, a, 0x7632), v1 = choose_bytes(c, a, 0x5410);
  std::uint32_t v2 = choose_bytes(d, b, 0x7632), v3 = choose_bytes(d, b, 0x5410);
  exchange(v0, v2, 4, 0x0f0f0f0fu);  // s2 and s0: words (s0 s1)
  exchange(v1, v3, 4, 0x0f0f0f0fu);
  exchange(v0, v2, 1, 0x55555555u);  // s0 and i0: words (i0 s1)
  exchange(v1, v3, 1, 0x55555555u);
  exchange(v0, v1, 2, 0x33333333u);  // s1 and i1: words (i0 i1)
  exchange(v2, v3, 2, 0x33333333u);
  w[0] = v0, w[1] = v2, w[2] = v1, w[3] = v3;
}

/// libzfp's inverse transform of the upper words of four negabinary integers whose lower words are zero.
TUTTI_HD inline void inverse_transform_upper(const std::uint32_t u[4], int exponent, double out[4]) {
  constexpr std::uint32_t mask = 0xaaaaaaaau;
  const double x = to_double((u[0] ^ mask) - mask), y = to_double((u[1] ^ mask) - mask);
  const double z = to_double((u[2] ^ mask) - mask), w = to_double((u[3] ^ mask) - mask);
  const double sum = x + z, difference = x - z;
  const double outer = std::fma(1.5, y, -0.25 * w), inner = std::fma(0.5, y, 1.25 * w);
  const double scale = power_of_two(exponent - 30);
  out[0] = scale * (difference + outer);
  out[1] = scale * (sum + inner);
  out[2] = scale * (sum - inner);
  out[3] = scale * (difference - outer);
}

struct FourValues {
  double value[4];
};

/// The general way, as a call: inlined, it would take registers and a stack from every kernel that seldom needs it.
#if defined(__CUDACC__)
__noinline__
#endif
    TUTTI_HD inline FourValues
    decode_apart(std::uint64_t low, std::uint64_t high, int bits, const std::uint16_t* table) {
  Block block;
  block.word[0] = low;
  block.word[1] = high;
  FourValues result;
  decode_block(block, bits, table, result.value);
  return result;
}

}  // namespace detail

/// A block of `bits` <= 128 bits in four words; what lies beyond its end must be zero.
TUTTI_HD inline void decode_short_block(const std::uint32_t words[4], int bits, const std::uint16_t* table,
                                        double out[4]) {
  const int exponent = static_cast<int>(words[0] >> 1 & 2047) - exponent_bias;
  std::uint64_t window = (static_cast<std::uint64_t>(words[1]) << 32 | words[0]) >> header_bits |
                         static_cast<std::uint64_t>(words[2]) << (64 - header_bits);
  // A plane needs up to 7 bits, all in the window of 64 and in the block.
  const int last = (bits - header_bits < 64 ? bits - header_bits : 64) - 7;
  std::uint32_t nibbles = 0, entry = 0;
  int used = 0, planes = 0;
  while (entry < 4u << 8 && planes < 7 && used <= last) {
    entry = table[(entry >> 1 & 0x180) + static_cast<std::uint32_t>(window & 127)];
    const int count = static_cast<int>(entry & 15);
    window >>= count;
    used += count;
    nibbles |= (entry >> 4 & 15) << 4 * planes;
    ++planes;
  }
  const bool is_zero = (words[0] & 1) == 0;
  const int rest = (bits - header_bits - used + 3) / 4;  // planes that follow as nibbles
  if (is_zero || bits < 32 || entry < 4u << 8 || planes + rest > 32) {
    const detail::FourValues four =
        detail::decode_apart(static_cast<std::uint64_t>(words[1]) << 32 | words[0],
                             static_cast<std::uint64_t>(words[3]) << 32 | words[2], bits, table);
    for (int i = 0; i < 4; ++i) out[i] = four.value[i];
    return;
  }
  // The nibbles that follow, from bit header + used on, with the first ones put before them.
  std::uint32_t w[4] = {words[0], words[1], words[2], words[3]};
  int shift = header_bits + used;
  if (shift >= 64) w[0] = w[2], w[1] = w[3], w[2] = w[3] = 0, shift -= 64;
  if (shift >= 32) w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = 0, shift -= 32;
  for (int i = 0; i < 3; ++i) w[i] = detail::funnel(w[i], w[i + 1], shift);
  w[3] >>= shift;
  const int back = 32 - 4 * planes;  // 4 to 28: planes is 1 to 7
  for (int i = 3; i > 0; --i) w[i] = detail::funnel(w[i - 1], w[i], back);
  w[0] = w[0] << 4 * planes | nibbles;
  detail::transpose_nibbles(w);
  detail::inverse_transform_upper(w, exponent, out);
}

}  // namespace tutti::zfp
