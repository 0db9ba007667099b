// Blocks of every kind, and a slow decoder that follows the description of the format bit by bit.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tutti/base/random.hpp"
#include "tutti/residency/zfp_block.hpp"

namespace tutti::test {

using Four = std::array<double, 4>;

inline const std::array<int, 14> zfp_rates = {4, 5, 8, 12, 16, 17, 24, 31, 32, 40, 48, 56, 63, 64};

/// Block k of many: random, smooth, with zeros, constant, few digits, of huge ranges, near the ends of the exponents,
/// with denormal numbers beside others.
inline Four zfp_values(int k) {
  Four v{};
  const auto random = [&](int i, int stream) {
    return random_unit(static_cast<std::uint64_t>(100 + stream), static_cast<std::uint64_t>(8 * k + i));
  };
  for (int i = 0; i < 4; ++i) {
    double& x = v[i];
    x = (2 * random(i, 0) - 1) * std::pow(10.0, std::floor(7 * random(i, 1)) - 3);
    switch (k % 10) {
      case 1:
        x = std::sin(0.01 * k + 0.1 * i);
        break;
      case 2:
        if (random(i, 2) < 0.5) x = i % 2 == 0 ? 0.0 : -0.0;
        break;
      case 3:
        x = v[0];
        break;
      case 4:
        x = std::floor(5 * random(i, 3)) - 2;
        break;
      case 5:
        x = std::ldexp(x, static_cast<int>(1800 * random(i, 4)) - 900);
        break;
      case 6:
        x = std::ldexp(2 * random(i, 0) - 1, 1024);
        break;
      case 7:
        x = std::ldexp(1 + random(i, 0), -962 + i);
        break;
      case 8:
        if (i > 1) x = 3e-310 * (i - 2.5);
        break;
      case 9:
        x = 1 + 1e-3 * x;
        break;
    }
  }
  return v;
}
inline constexpr int zfp_blocks = 20000;

/// One bit after the other, as the description has it.
inline Four decode_slowly(const zfp::Block& block, int bits) {
  int at = 0;
  const auto read = [&]() -> std::uint64_t {
    const int here = at++;
    return here < bits ? block.word[here / 64] >> (here % 64) & 1 : 0;
  };
  if (read() == 0) return {};
  int exponent = -1023;
  for (int i = 0; i < 11; ++i) exponent += static_cast<int>(read()) << i;
  std::array<std::uint64_t, 4> u{};
  int n = 0;
  for (int k = 63; k >= 0 && at < bits; --k) {
    std::uint64_t plane = 0;
    for (int i = 0; i < n && at < bits; ++i) plane |= read() << i;
    while (n < 4 && at < bits && read() == 1) {
      while (n < 3 && at < bits && read() == 0) ++n;
      plane |= std::uint64_t{1} << n++;
    }
    for (std::size_t i = 0; i < 4; ++i) u[i] |= (plane >> i & 1) << k;
  }
  std::array<std::uint64_t, 4> q{};
  for (std::size_t i = 0; i < 4; ++i) q[i] = (u[i] ^ 0xaaaaaaaaaaaaaaaaull) - 0xaaaaaaaaaaaaaaaaull;
  auto& [x, y, z, w] = q;
  const auto half = [](std::uint64_t v) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(v) / 2 - (static_cast<std::int64_t>(v) % 2 < 0));
  };
  y += half(w), w -= half(y);
  y += w, w -= y - w;
  z += x, x -= z - x;
  y += z, z -= y - z;
  w += x, x -= w - x;
  Four out{};
  for (std::size_t i = 0; i < 4; ++i)
    out[i] = std::ldexp(1.0, exponent - 62) * static_cast<double>(static_cast<std::int64_t>(q[i]));
  return out;
}

inline bool same_bits(const Four& a, const Four& b) {
  return std::bit_cast<std::array<std::uint64_t, 4>>(a) == std::bit_cast<std::array<std::uint64_t, 4>>(b);
}

}  // namespace tutti::test
