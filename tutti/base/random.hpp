// Counter-based random numbers: the value depends on (seed, counter) only, so any rank, thread or device draws the
// same.
#pragma once

#include "tutti/base/types.hpp"

namespace tutti {

/// SplitMix64's output function (Steele, Lea, Flood 2014): a bijective 64-bit mix.
TUTTI_HD inline std::uint64_t mix64(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/// 64 random bits for (seed, counter).
TUTTI_HD inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  return mix64(mix64(seed) ^ counter);
}

/// Uniform double in [0, 1) for (seed, counter).
TUTTI_HD inline double random_unit(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(random_bits(seed, counter) >> 11) * 0x1p-53;
}

}  // namespace tutti
