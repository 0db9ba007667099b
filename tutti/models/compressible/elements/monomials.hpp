// The monomials of total degree <= p that bases are made of, in their order: by degree, then by the power of r, then by
// that of s.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/models/compressible/elements/basis.hpp"

namespace tutti::compressible {

/// What kernels look up of monomial k, k = 0 .. n - 1.
struct Monomials {
  const std::uint8_t* table = nullptr;
  int n = 0;
  static constexpr int none = 255, entries = 9;

  /// d m_k / d r_d = power m_lower; power 0: there is no such monomial.
  TUTTI_HD int power(int d, int k) const { return table[d * n + k]; }
  TUTTI_HD int lower(int d, int k) const { return table[(3 + d) * n + k]; }
  /// m_k times r_d, of lower degree than p.
  TUTTI_HD int higher(int d, int k) const { return table[(6 + d) * n + k]; }
};

/// The table of all of an order.
std::vector<std::uint8_t> make_monomials(int order);

}  // namespace tutti::compressible
