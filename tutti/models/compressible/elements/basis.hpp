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
/// Where there are elements with a symmetric basis, a checkpoint has a number of this name, so that no coefficients are
/// taken for those of the basis before: the name counts the changes.
inline constexpr const char* basis_name = "basis_2";
/// (p + 1)(p + 2)(p + 3)/6: 1, 4, 10, 20, 35, 56, 84.
constexpr int basis_size(int order) {
  return (order + 1) * (order + 2) * (order + 3) / 6;
}
inline constexpr int max_basis = basis_size(max_order);

/// The rule of an element's volume. Straight elements (`affine`): degree 2p. Others have p + 2 points per direction, so
/// that the discrete divergence of a constant flux vanishes on curved elements of second order, too; so have straight
/// ones but tetrahedra in the stored form, which is that of Choi, Kim and Yeom, 2019.
Quadrature volume_rule(ElementType type, int order, bool affine, bool stored);
/// The rule of a face of 3 or 4 corners; `affine`: one of its elements is.
Quadrature face_rule(int corners, int order, bool affine, bool stored);
/// Which point of a face's rule is which of its right element's: q of that order is point turned[q] of the left's.
/// Empty: the rule is not symmetric.
std::vector<std::uint8_t> turned_points(const Quadrature& rule, int corners, int orientation);

/// Gradients of straight tetrahedra up to p = 3 are made at the volume's points from the state and the jumps, all in
/// reference coordinates: no coefficients of theirs. Their faces have symmetric rules.
constexpr bool have_slopes(ElementType type, bool affine, int order) {
  return type == ElementType::tetrahedron && affine && order >= 1 && order <= 3;
}

/// Points of an element's rule in physical space, and w_q |J_q|.
struct MappedRule {
  std::vector<double> places;  ///< x, y and z of all points: rows of padded(weights.size()), padding as the first one
  std::vector<double> weights;
  std::size_t row() const { return places.size() / 3; }
  Vec3 at(std::size_t q) const { return {places[q], places[row() + q], places[2 * row() + q]}; }
  /// Without padding.
  std::vector<Vec3> points() const {
    std::vector<Vec3> all(weights.size());
    for (std::size_t q = 0; q < all.size(); ++q) all[q] = at(q);
    return all;
  }
};

/// A rule of reference elements with its shape functions: elements are mapped one after the other.
struct ElementRule {
  ElementRule(ElementType type, Quadrature points);
  MappedRule map(const ElementMap& map) const;

  Quadrature rule;
  ShapeTable shapes[2];  ///< of geometry of first and second order, at the points and padding
};

/// Numbers as small as the rounding of the largest become the zeros that they stand for. Many of a reference element's
/// functions lack monomials, and so do not change along a direction: kernels leave zeros out.
void clear_rounding(std::span<double> numbers);

/// The coordinates that an element's monomials are made of: r = G (x - origin).
struct LocalFrame {
  /// In the middle of an element, with the inverse Jacobian there.
  explicit LocalFrame(const ElementMap& map);
  Vec3 at(Vec3 x) const {
    const Vec3 d = x - origin;
    return {dot(axes[0], d), dot(axes[1], d), dot(axes[2], d)};
  }
  /// The same of so many places, a multiple of 4: x, y and z in rows, `stride` apart; so are the results, which may
  /// take their place.
  void at(const double* places, std::size_t count, std::size_t stride, double* to) const;

  Vec3 origin;
  std::array<Vec3, 3> axes;  ///< rows of G
};

/// phi = C m(r(x)): monomials m of total degree <= p in a local frame, made orthonormal in the element's mean, one
/// after the other:
///   1/V sum_q w_q |J_q| phi_l phi_m = delta_lm.
/// phi_0 = 1: the first coefficient is the mean. C, which is lower triangular, is what the method of Gram and Schmidt
/// gives; here it follows from the Cholesky factor of all products together, which vector units do several times
/// faster. As the paper's it is run again on what it gave, unless that has only rounding left to mend.
class Basis {
 public:
  /// near: a basis of the same order to begin from, best of an element whose shape in its own frame is almost this
  /// one's in `frame`.
  Basis(const LocalFrame& frame, int order, const MappedRule& rule, const Basis* near = nullptr);
  int size() const { return size_; }
  double volume() const { return volume_; }
  /// At places in physical space. to[l * stride + q]; stride: their number, a multiple of 4.
  void values_by_function(std::span<const Vec3> at, double* to, int stride) const;
  /// factors[q] phi_l(at[q]) in rows of padded(size()) values.
  void values_by_point(std::span<const Vec3> at, std::span<const double> factors, double* to) const;
  /// C, then C^T, in rows of padded(size()) values.
  std::span<const double> matrices() const { return c_; }
  /// factors[q] d_d phi_l(at[q]), the same: rows of x, of y and of z, one behind the other.
  void gradients_by_point(std::span<const Vec3> at, std::span<const double> factors, double* to) const;

 private:
  void monomials(Vec3 x, double* to) const;
  /// to[k * stride + q] for so many places, in rows `stride` apart, of monomials' coordinates.
  void monomial_rows(const double* local, int count, int stride, double* to) const;
  /// Rows of C m, m in rows of size() values.
  void combine(const double* rows, int count, double* to) const;

  int size_ = 0, order_ = 0;
  LocalFrame frame_;
  double volume_ = 0;
  const double* transposed() const { return c_.data() + c_.size() / 2; }
  std::vector<double> c_;  ///< of matrices()
};

}  // namespace tutti::compressible
