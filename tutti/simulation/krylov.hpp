// Eigenvalues of a model's linear operator, matrix-free: Arnoldi's method with a polynomial filter (Saad, Math. Comp.
// 42, 1984), on the vectors of all parts of all ranks.
#pragma once

#include <complex>
#include <functional>
#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/parallel.hpp"

namespace tutti {

/// How eigenvalues are sought in a model: one vector stands in the model, on its devices; owned values only.
struct KrylovVector {
  std::vector<Size> lengths;  ///< of each part of this rank
  std::function<void(std::size_t p, std::span<const double>)> write;
  std::function<void(std::size_t p, std::span<double>)> read;
  std::function<void()> apply;   ///< vector = A vector
  std::function<void()> filter;  ///< vector = p(A) vector, with p large where eigenvalues are wanted
};

/// An approximation x of an eigenvector, |x| = 1, and of its eigenvalue.
struct RitzPair {
  std::complex<double> value;
  double residual = -1;  ///< |A x - value x|; < 0: not computed
};

/// Which eigenvalues come first.
enum class Wanted : std::uint8_t { rightmost, largest };

/// A Krylov space of p(A), kept on the host. Sums are exact and the small problem is solved alike on all ranks, so the
/// results have the same bits on every device and for every partition. All members are collective.
class Krylov {
 public:
  Krylov(const Comm& comm, KrylovVector vector, int dimension, ParallelFor parallel = {},
         Wanted wanted = Wanted::rightmost);
  /// Builds the space from the vector that stands in the model, which must be finite and not 0. The Ritz pairs of A in
  /// it, the wanted ones first; the first with its residual where `accurate` (2 to 4 applications more). Empty:
  /// something was not finite. Puts the sum of the first Ritz vectors into the model, to go on from.
  std::vector<RitzPair> cycle(bool accurate = true);
  /// The moduli of the entries of the first Ritz vector, of each part.
  const std::vector<std::vector<double>>& mode() const { return mode_; }

 private:
  using Parts = std::vector<std::vector<double>>;
  Parts read() const;
  void write(const Parts& x) const;
  double product(const Parts& a, const Parts& b) const;
  void add(Parts& y, double factor, const Parts& x) const;
  Parts combine(const std::vector<double>& weights) const;
  Parts applied(const Parts& x) const;

  const Comm& comm_;
  KrylovVector vector_;
  int dimension_;
  ParallelFor parallel_;
  Wanted wanted_;
  std::vector<Parts> basis_;
  Parts mode_;
};

/// The logarithm of the largest eigenvalue's modulus, where that is above 1 + slow: of a linear step (`apply`;
/// `filter`: some of them), from the noise that stands in the model. 0: none was found in so many cycles whose residual
/// is small beside what it is above 1. Infinity: noise did not stay finite.
double growth_of_steps(const Comm& comm, const KrylovVector& vector, int cycles, const ParallelFor& parallel,
                       double slow = 1e-7);

/// The ellipse of a filter: its right end is 0, its centre -half_length.
struct FilterEllipse {
  double half_length = 0, half_height = 0;
};
/// An ellipse around what is left of 0 of these values, with the spectral radius rho.
FilterEllipse ellipse_around(std::span<const RitzPair> values, double rho);

/// Chebyshev's polynomials of an ellipse, p_k(0) = 1, small inside: p_1(A) v = v + first A v, then
/// p_{k+1}(A) v = (1 - before) p_k(A) v + before p_{k-1}(A) v + rate A p_k(A) v.
class EllipseFilter {
 public:
  explicit EllipseFilter(const FilterEllipse& ellipse);
  double first() const { return 1 / centre_; }
  struct Weights {
    double before, rate;
  };
  Weights next();

 private:
  double centre_, focus_, sigma_;
};

}  // namespace tutti
