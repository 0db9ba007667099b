// The encoder, and the table that both decoders use.
#include "tutti/residency/zfp_block.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tutti::zfp {
namespace {

/// Writes bits one after the other; what goes beyond the block is dropped.
class Writer {
 public:
  explicit Writer(Block& block) : block_(block) {}
  int written() const { return at_; }
  /// value < 2^count, count < 64 or a whole word
  void put(std::uint64_t value, int count) {
    const int w = at_ >> 6, shift = at_ & 63;
    if (w < 4) block_.word[w] |= value << shift;
    if (shift + count > 64 && w + 1 < 4) block_.word[w + 1] |= value >> (64 - shift);
    at_ += count;
  }

 private:
  Block& block_;
  int at_ = 0;
};

/// What is written of a plane, by the number n of significant values before it: the reverse of fill_plane_table.
struct PlaneCode {
  std::uint8_t bits, count, after;
};
using PlaneCodes = std::array<std::array<PlaneCode, 16>, 4>;

PlaneCodes make_plane_codes() {
  std::array<std::uint16_t, table_size> table{};
  fill_plane_table(table.data());
  PlaneCodes codes{};
  for (std::size_t k = 0; k < table.size(); ++k) {
    const unsigned entry = table[k], used = entry & 15;
    codes[k / 128][entry >> 4 & 15] = {static_cast<std::uint8_t>(k % 128 & ((1u << used) - 1)),
                                       static_cast<std::uint8_t>(used), static_cast<std::uint8_t>(entry >> 8)};
  }
  return codes;
}

/// 16 bits, the highest first, to bit 0 of 16 nibbles: the reverse of detail::first_bits_reversed.
std::uint64_t spread_reversed(std::uint64_t x) {
  x = (x >> 8 & 0xff) | (x & 0xff) << 32;
  x = (x >> 4 & 0x0000000f0000000full) | (x & 0x0000000f0000000full) << 16;
  x = (x >> 2 & 0x0003000300030003ull) | (x & 0x0003000300030003ull) << 8;
  return (x >> 1 & 0x0101010101010101ull) | (x & 0x0101010101010101ull) << 4;
}

std::uint64_t to_negabinary(std::uint64_t two_complement) {
  return (two_complement + negabinary) ^ negabinary;
}

/// 1/16 [4 4 4 4; 5 1 -1 -5; -4 4 4 -4; -2 6 -6 2], lifted.
std::array<std::uint64_t, 4> forward_transform(const std::array<std::int64_t, 4>& q) {
  auto [x, y, z, w] = q;
  x += w, x >>= 1, w -= x;
  z += y, z >>= 1, y -= z;
  x += z, x >>= 1, z -= x;
  w += y, w >>= 1, y -= w;
  w += y >> 1, y -= w >> 1;
  return {static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y), static_cast<std::uint64_t>(z),
          static_cast<std::uint64_t>(w)};
}

}  // namespace

void fill_plane_table(std::uint16_t* table) {
  for (int before = 0; before < 4; ++before)
    for (int bits = 0; bits < 128; ++bits) {
      int n = before, used = before;
      int plane = bits & ((1 << n) - 1);
      const auto next = [&] { return bits >> used++ & 1; };
      while (n < 4 && next() != 0) {
        while (n < 3 && next() == 0) ++n;
        plane |= 1 << n++;
      }
      table[before * 128 + bits] = static_cast<std::uint16_t>(used | plane << 4 | n << 8);
    }
}

void encode_block(const double values[4], int bits, Block& block) {
  double largest = 0;
  for (int i = 0; i < 4; ++i) largest = std::max(largest, std::abs(values[i]));
  if (largest < detail::power_of_two(least_exponent - 1)) return;
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, &largest, sizeof pattern);
  const int exponent = static_cast<int>(pattern >> 52) - (exponent_bias - 1);  // largest < 2^exponent
  Writer to(block);
  to.put(2 * static_cast<std::uint64_t>(exponent + exponent_bias) + 1, header_bits);

  std::array<std::int64_t, 4> q{};
  const double scale = detail::power_of_two(62 - exponent);
  for (std::size_t i = 0; i < 4; ++i) q[i] = static_cast<std::int64_t>(scale * values[i]);
  auto u = forward_transform(q);
  for (auto& v : u) v = to_negabinary(v);

  // A plane that does not fit is cut off where the block ends, as its bits do not depend on that.
  static const PlaneCodes codes = make_plane_codes();
  std::size_t n = 0;  // values that are significant
  int k = 64;
  while (n < 4 && k > 0 && to.written() < bits) {
    --k;
    const std::uint64_t plane = (u[0] >> k & 1) | (u[1] >> k & 1) << 1 | (u[2] >> k & 1) << 2 | (u[3] >> k & 1) << 3;
    const PlaneCode code = codes[n][plane];
    to.put(code.bits, code.count);
    n = code.after;
  }
  for (; k > 0 && to.written() < bits; k -= 16) {  // sixteen planes at a time; below the last one they are zero
    std::uint64_t nibbles = 0;
    for (std::size_t i = 0; i < 4; ++i)
      nibbles |= spread_reversed((k >= 16 ? u[i] >> (k - 16) : u[i] << (16 - k)) & 0xffff) << i;
    to.put(nibbles, 64);
  }
  for (int w = 0; w < 4; ++w) {
    const int left = bits - 64 * w;
    if (left < 64) block.word[w] &= left > 0 ? (std::uint64_t{1} << left) - 1 : 0;
  }
}

}  // namespace tutti::zfp
