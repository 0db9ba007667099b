// One arc of an R-MAT graph, from its number alone.
#pragma once

#include "tutti/base/random.hpp"
#include "tutti/models/graph/generate.hpp"

namespace tutti::graph {

/// Makes arc i and its weight. Any thread or device makes the same.
struct RmatArc {
  double a, b, c, noise;
  int scale;
  std::uint64_t seed;
  std::uint64_t factor[4], shift[4];  ///< of the new names

  explicit RmatArc(const RmatSpec& spec)
      : a(spec.a), b(spec.b), c(spec.c), noise(spec.noise), scale(spec.scale), seed(mix64(spec.seed)) {
    for (std::uint64_t round = 0; round < 4; ++round) {
      factor[round] = random_bits(seed, ~round) | 1;
      shift[round] = random_bits(seed, ~(round + 4));
    }
  }

  /// 53 bits of one number decide on the quarter, four times 16 of another one on the noise.
  TUTTI_HD Arc arc(Size i) const {
    double p[4] = {a, b, c, 1 - a - b - c};
    std::uint64_t from = 0, to = 0;
    const std::uint64_t mine = mix64(seed ^ static_cast<std::uint64_t>(i));
    for (int level = 0; level < scale; ++level) {
      if (noise > 0 && level > 0) vary(p, random_bits(mine, 2 * static_cast<std::uint64_t>(level) + 1));
      const double r = random_unit(mine, 2 * static_cast<std::uint64_t>(level));
      const bool right = r >= p[0] && (r < p[0] + p[1] || r >= p[0] + p[1] + p[2]);
      const bool lower = r >= p[0] + p[1];
      from = 2 * from + (lower ? 1 : 0);
      to = 2 * to + (right ? 1 : 0);
    }
    return {renamed(from), renamed(to)};
  }

  TUTTI_HD double weight(Size i) const {
    const std::uint64_t mask = (std::uint64_t{1} << scale) - 1;
    return 1.0 + static_cast<double>(random_bits(seed ^ 0x5eed0fe16475ull, static_cast<std::uint64_t>(i)) & mask);
  }

  /// A permutation of 0 to 2^scale - 1: sums, products with odd numbers and shifts to the right can all be undone.
  TUTTI_HD Vertex renamed(std::uint64_t v) const {
    const std::uint64_t mask = (std::uint64_t{1} << scale) - 1;
    const int half = scale / 2 + 1;
    for (int round = 0; round < 4; ++round) {
      v = (v * factor[round] + shift[round]) & mask;
      v ^= v >> half;
    }
    return static_cast<Vertex>(v);
  }

 private:
  TUTTI_HD void vary(double (&p)[4], std::uint64_t bits) const {
    double sum = 0;
    for (int k = 0; k < 4; ++k) {
      p[k] *= 1 - noise + 2 * noise * (static_cast<double>(bits >> (16 * k) & 0xffff) * 0x1p-16);
      sum += p[k];
    }
    for (double& q : p) q /= sum;
  }
};

}  // namespace tutti::graph
