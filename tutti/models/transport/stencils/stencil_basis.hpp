// What determines the weights of a stencil, besides its nodes.
#pragma once

#include <cstdint>

#include "tutti/base/types.hpp"

namespace tutti::transport {

struct StencilBasis {
  enum class Kind : std::uint8_t { gaussian, polyharmonic };
  Kind kind = Kind::polyharmonic;
  int size = 57;       ///< n: nodes of a stencil, its centre included
  double epsilon = 0;  ///< gaussian, which comes with a constant: the shape parameter, in 1 / radius of the sphere
  int exponent = 7;    ///< polyharmonic: r^exponent, odd
  int degree = 6;      ///< polyharmonic: of the polynomials in the tangent plane
  int hyper = 3;       ///< k of Delta^k
};

/// What a stencil approximates at its centre: the gradient on the sphere in Cartesian components, Laplace and
/// Beltrami's operator, and Delta^k, unsigned and unscaled.
enum StencilOperator : std::uint8_t { gradient_x, gradient_y, gradient_z, laplacian, hyper, operators };

inline constexpr int max_stencil_size = 300;
/// Rows of a system: the largest stencil, and polynomials of degree 12.
inline constexpr int max_stencil_unknowns = max_stencil_size + 91;
/// A system's rows fit the shared memory of a GPU up to this; the CPU solves larger ones.
inline constexpr int max_gpu_unknowns = 136;

/// Polynomials of a basis: one for a Gaussian, (degree+1)(degree+2)/2 else.
TUTTI_HD constexpr int polynomial_count(const StencilBasis& basis) {
  return basis.kind == StencilBasis::Kind::gaussian ? 1 : (basis.degree + 1) * (basis.degree + 2) / 2;
}
/// Rows of the linear system of a stencil.
TUTTI_HD constexpr int unknown_count(const StencilBasis& basis) {
  return basis.size + polynomial_count(basis);
}

/// Error(input), with what to do, when there are no weights for such a basis whatever the nodes.
void check_basis(const StencilBasis& basis);

}  // namespace tutti::transport
