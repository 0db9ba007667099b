// Blocks of zfp: four doubles in a fixed number of bits, bit for bit as libzfp's one-dimensional fixed-rate mode has
// them.
//
// Lindstrom, Fixed-rate compressed floating-point arrays, IEEE TVCG 20 (2014); the format is that of libzfp 1.0. A
// block is one bit "not zero", 11 bits of the common exponent, and bit planes of the transformed integers in
// negabinary, from the highest on. Of each plane the bits of values that are already significant come as they are (n of
// them); then a group test says whether any of the others becomes significant, followed by zeros up to the one that
// does. Once all four are significant, a plane is a plain nibble.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "tutti/base/types.hpp"

namespace tutti::zfp {

inline constexpr int header_bits = 12;
inline constexpr int exponent_bias = 1023;
inline constexpr int least_rate = 4;  ///< bits a value; libzfp takes 3, too
inline constexpr int most_rate = 64;
inline constexpr std::uint64_t negabinary = 0xaaaaaaaaaaaaaaaaull;
/// Blocks whose values are all below 2^least_exponent are stored as zeros: the scale of libzfp's encoder overflows
/// there.
inline constexpr int least_exponent = -961;

/// The bits of a block, the first one lowest in word 0; zeros beyond its end.
struct Block {
  std::uint64_t word[4] = {0, 0, 0, 0};

  /// Bits first .. first + 63.
  TUTTI_HD std::uint64_t from(int first) const {
    const int w = first >> 6, shift = first & 63;
    const std::uint64_t low = w < 4 ? word[w] >> shift : 0;
    return shift != 0 && w + 1 < 4 ? low | word[w + 1] << (64 - shift) : low;
  }
};

/// What one plane of values says, by the number n of significant ones before it and the next 7 bits:
/// table[n * 128 + bits] = bits used | plane << 4 | significant values after it << 8. Planes take 7 bits at most.
inline constexpr int table_size = 512;
void fill_plane_table(std::uint16_t* table);

/// Encodes finite values; block.word must be zero. 4 * rate = bits.
void encode_block(const double values[4], int bits, Block& block);

namespace detail {

/// 2^e times; e >= -1074, else 0.
TUTTI_HD inline double power_of_two(int e) {
  const std::uint64_t bits = e >= -1022   ? static_cast<std::uint64_t>(e + 1023) << 52
                             : e >= -1074 ? std::uint64_t{1} << (e + 1074)
                                          : 0;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// Of 16 nibbles, the first lowest: bit 0 of each, the first one highest, in 16 bits.
TUTTI_HD inline std::uint64_t first_bits_reversed(std::uint64_t x) {
  x &= 0x1111111111111111ull;
  // Nibbles change places with their neighbours, then pairs and so on, while they move together.
  x = (x & 0x0101010101010101ull) << 1 | (x & 0x1010101010101010ull) >> 4;
  x = (x & 0x0003000300030003ull) << 2 | (x & 0x0300030003000300ull) >> 8;
  x = (x & 0x0000000f0000000full) << 4 | (x & 0x000f0000000f0000ull) >> 16;
  return (x & 0xff) << 8 | x >> 32;
}

/// Negabinary values to doubles: libzfp's inverse transform, lifted (as 1/4 [4 6 -4 -1; 4 2 4 5; 4 -2 4 -5; 4 -6 -4
/// 1]). Sums wrap around, as they may for streams that no encoder writes.
TUTTI_HD inline void inverse_transform(const std::uint64_t u[4], int exponent, double out[4]) {
  std::uint64_t x = (u[0] ^ negabinary) - negabinary, y = (u[1] ^ negabinary) - negabinary;
  std::uint64_t z = (u[2] ^ negabinary) - negabinary, w = (u[3] ^ negabinary) - negabinary;
  const auto half = [](std::uint64_t v) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(v) >> 1); };
  y += half(w), w -= half(y);
  y += w, w = 2 * w - y;
  z += x, x = 2 * x - z;
  y += z, z = 2 * z - y;
  w += x, x = 2 * x - w;
  const double scale = power_of_two(exponent - 62);
  out[0] = scale * static_cast<double>(static_cast<std::int64_t>(x));
  out[1] = scale * static_cast<double>(static_cast<std::int64_t>(y));
  out[2] = scale * static_cast<double>(static_cast<std::int64_t>(z));
  out[3] = scale * static_cast<double>(static_cast<std::int64_t>(w));
}

}  // namespace detail

/// Any block of `bits` bits (at most 256).
TUTTI_HD inline void decode_block(const Block& block, int bits, const std::uint16_t* table, double out[4]) {
  if ((block.word[0] & 1) == 0) {
    out[0] = out[1] = out[2] = out[3] = 0;
    return;
  }
  const int exponent = static_cast<int>(block.word[0] >> 1 & 2047) - exponent_bias;
  std::uint64_t u[4] = {0, 0, 0, 0};
  int at = header_bits, n = 0, k = 64;
  const auto add_plane = [&](std::uint32_t plane) {
    for (int i = 0; i < 4; ++i) u[i] |= static_cast<std::uint64_t>(plane >> i & 1) << k;
  };
  while (n < 4 && k > 0 && at + 7 <= bits) {
    const std::uint32_t entry = table[n * 128 + static_cast<int>(block.from(at) & 127)];
    --k;
    add_plane(entry >> 4 & 15);
    at += static_cast<int>(entry & 15);
    n = static_cast<int>(entry >> 8);
  }
  // The last bits, where a plane may be cut anywhere.
  while (n < 4 && k > 0 && at < bits) {
    const auto bit = [&] { return static_cast<std::uint32_t>(block.from(at++) & 1); };
    --k;
    std::uint32_t plane = 0;
    for (int i = 0; i < n && at < bits; ++i) plane |= bit() << i;
    while (n < 4 && at < bits && bit() != 0) {
      while (n < 3 && at < bits && bit() == 0) ++n;
      plane |= 1u << n++;
    }
    add_plane(plane);
  }
  for (; k > 0 && at < bits; at += 64) {  // sixteen planes at a time; beyond the end they are zero
    const std::uint64_t nibbles = block.from(at);
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t planes = detail::first_bits_reversed(nibbles >> i);
      u[i] |= k >= 16 ? planes << (k - 16) : planes >> (16 - k);
    }
    k = k >= 16 ? k - 16 : 0;
  }
  detail::inverse_transform(u, exponent, out);
}

}  // namespace tutti::zfp
