// The encoder, and the table that both decoders use.
#include "tutti/residency/zfp_block.hpp"

#include <algorithm>
#include <array>

namespace tutti::zfp {
namespace {

/// Writes bits one after the other, until there are `bits` of them.
class Writer {
 public:
  Writer(Block& block, int bits) : block_(block), bits_(bits) {}
  bool full() const { return at_ >= bits_; }
  void put(std::uint64_t bit) {
    block_.word[at_ >> 6] |= (bit & 1) << (at_ & 63);
    ++at_;
  }
  void put(std::uint64_t value, int count) {
    for (int i = 0; i < count && !full(); ++i) put(value >> i);
  }

 private:
  Block& block_;
  int bits_;
  int at_ = 0;
};

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
  int exponent = 0;
  std::frexp(largest, &exponent);
  if (largest == 0 || exponent < least_exponent) return;
  Writer to(block, bits);
  to.put(1);
  to.put(static_cast<std::uint64_t>(exponent + exponent_bias), 11);

  std::array<std::int64_t, 4> q{};
  const double scale = std::ldexp(1.0, 62 - exponent);
  for (std::size_t i = 0; i < 4; ++i) q[i] = static_cast<std::int64_t>(scale * values[i]);
  auto u = forward_transform(q);
  for (auto& v : u) v = to_negabinary(v);

  int n = 0;  // values that are significant
  for (int k = 63; k >= 0 && !to.full(); --k) {
    std::uint64_t plane = 0;
    for (std::size_t i = 0; i < 4; ++i) plane |= (u[i] >> k & 1) << i;
    to.put(plane, n);
    plane >>= n;
    while (n < 4 && !to.full()) {
      to.put(plane != 0 ? 1 : 0);
      if (plane == 0) break;
      while (n < 3 && !to.full()) {
        const std::uint64_t found = plane & 1;
        to.put(found);
        if (found != 0) break;
        plane >>= 1;
        ++n;
      }
      plane >>= 1;
      ++n;
    }
  }
}

}  // namespace tutti::zfp
