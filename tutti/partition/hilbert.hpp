// Three-dimensional Hilbert curve: points that are near on the curve are near in space.
#pragma once

#include <array>
#include <cstdint>

#include "tutti/base/types.hpp"

namespace tutti {

/// Bits a coordinate in a 64-bit key.
inline constexpr int hilbert_bits = 21;

namespace hilbert_detail {

// The curve as an automaton, after C. Hamilton, "Compact Hilbert Indices", Dalhousie University CS-2006-07, section 2:
// the state is the corner `entry` where the curve enters a cube and the axis `direction` along which it leaves. In
// every cube the eight octants are visited in the order of the reflected Gray code, turned by the state.
constexpr unsigned rotate_left(unsigned bits, unsigned by) {
  by %= 3;
  return ((bits << by) | (bits >> (3 - by))) & 7u;
}
constexpr unsigned rotate_right(unsigned bits, unsigned by) {
  return rotate_left(bits, 3 - by % 3);
}
constexpr unsigned gray(unsigned i) {
  return i ^ (i >> 1);
}
constexpr unsigned gray_inverse(unsigned g) {
  return (g ^ (g >> 1) ^ (g >> 2)) & 7u;
}
constexpr unsigned trailing_ones(unsigned i) {
  unsigned n = 0;
  for (; i & 1u; i >>= 1) ++n;
  return n;
}
/// Where the curve enters the i-th octant, and along which axis it runs through it (Hamilton, theorems 2.10 and 2.9).
constexpr unsigned entry_of(unsigned i) {
  return i == 0 ? 0u : gray((i - 1) & ~1u);
}
constexpr unsigned direction_of(unsigned i) {
  return i == 0 ? 0u : trailing_ones(i % 2 == 0 ? i - 1 : i) % 3;
}

struct Tables {
  std::array<std::uint8_t, 24 * 8> rank{};    ///< [state * 8 + octant] = next state * 8 + place of the octant
  std::array<std::uint8_t, 24 * 8> octant{};  ///< [state * 8 + place] = next state * 8 + octant
};

constexpr Tables make_tables() {
  Tables tables;
  for (unsigned entry = 0; entry < 8; ++entry) {
    for (unsigned direction = 0; direction < 3; ++direction) {
      const unsigned state = entry * 3 + direction;
      for (unsigned octant = 0; octant < 8; ++octant) {
        const unsigned place = gray_inverse(rotate_right(octant ^ entry, direction + 1));
        const unsigned next_entry = entry ^ rotate_left(entry_of(place), direction + 1);
        const unsigned next_direction = (direction + direction_of(place) + 1) % 3;
        const unsigned next = next_entry * 3 + next_direction;
        tables.rank[state * 8 + octant] = static_cast<std::uint8_t>(next * 8 + place);
        tables.octant[state * 8 + place] = static_cast<std::uint8_t>(next * 8 + octant);
      }
    }
  }
  return tables;
}
inline constexpr Tables tables = make_tables();

}  // namespace hilbert_detail

/// The same as hilbert_key, for kernels: `rank` is a copy of hilbert_detail::tables.rank that they can read.
TUTTI_HD constexpr std::uint64_t hilbert_key_by(const std::uint8_t* rank, std::uint32_t x, std::uint32_t y,
                                                std::uint32_t z, int bits = hilbert_bits) {
  std::uint64_t key = 0;
  unsigned state = 0;
  for (int b = bits - 1; b >= 0; --b) {
    const unsigned octant = ((x >> b) & 1u) | (((y >> b) & 1u) << 1) | (((z >> b) & 1u) << 2);
    const unsigned step = rank[state * 8 + octant];
    key = (key << 3) | (step & 7u);
    state = step >> 3;
  }
  return key;
}

/// Place on the curve of the lattice point (x, y, z), each in [0, 2^bits): a number in [0, 2^(3 bits)), bits <= 21.
constexpr std::uint64_t hilbert_key(std::uint32_t x, std::uint32_t y, std::uint32_t z, int bits = hilbert_bits) {
  return hilbert_key_by(hilbert_detail::tables.rank.data(), x, y, z, bits);
}

/// The inverse of hilbert_key: {x, y, z}.
constexpr std::array<std::uint32_t, 3> hilbert_point(std::uint64_t key, int bits = hilbert_bits) {
  std::array<std::uint32_t, 3> point{};
  unsigned state = 0;
  for (int b = bits - 1; b >= 0; --b) {
    const unsigned place = static_cast<unsigned>(key >> (3 * b)) & 7u;
    const unsigned step = hilbert_detail::tables.octant[state * 8 + place];
    for (unsigned axis = 0; axis < 3; ++axis) point[axis] |= ((step >> axis) & 1u) << b;
    state = step >> 3;
  }
  return point;
}

}  // namespace tutti
