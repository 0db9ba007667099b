// Polynomials of total degree <= p in physical space, whatever the element [Choi 2019, 2.2].
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tutti/base/vec3.hpp"
#include "tutti/models/compressible/elements/element_map.hpp"
#include "tutti/models/compressible/elements/quadrature.hpp"

namespace tutti::compressible {

inline constexpr int max_order = 6;
/// (p + 1)(p + 2)(p + 3)/6: 1, 4, 10, 20, 35, 56, 84.
constexpr int basis_size(int order) {
  return (order + 1) * (order + 2) * (order + 3) / 6;
}
inline constexpr int max_basis = basis_size(max_order);

/// The rule of an element's volume. Straight tetrahedra: degree 2p. Others have p + 2 points a direction, so that the
/// discrete divergence of a constant flux vanishes on curved elements of second order, too.
Quadrature volume_rule(ElementType type, int order, bool affine);
/// The rule of a face of 3 or 4 corners; `affine`: one of its elements is.
Quadrature face_rule(int corners, int order, bool affine);
/// Which point of a face's rule is which of its right element's: q of that order is point turned[q] of the left's.
/// Empty: the rule is not symmetric.
std::vector<std::uint8_t> turned_points(const Quadrature& rule, int corners, int orientation);

/// phi = C m(r(x)): monomials m of total degree <= p of r = G (x - centre), G the inverse Jacobian in the element's
/// middle, made orthonormal by the modified Gram-Schmidt method in the element's mean:
///   1/V sum_q w_q |J_q| phi_l phi_m = delta_lm.
/// phi_0 = 1: the first coefficient is the mean. The method is run three times, which leaves rounding only.
class Basis {
 public:
  Basis(const ElementMap& map, int order, const Quadrature& rule);
  int size() const { return size_; }
  double volume() const { return volume_; }
  std::vector<double> values(Vec3 x) const;
  std::vector<Vec3> gradients(Vec3 x) const;

 private:
  std::vector<double> monomials(Vec3 x) const;

  int size_ = 0, order_ = 0;
  Vec3 centre_;
  std::array<Vec3, 3> inverse_;
  double volume_ = 0;
  std::vector<double> c_;  ///< lower triangular, row after row
};

}  // namespace tutti::compressible
