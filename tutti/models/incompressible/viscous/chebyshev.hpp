// Chebyshev's iteration for A q = b with the eigenvalues of A known to lie in [1, 1 + bound] (Saad, Iterative Methods
// for Sparse Linear Systems, 2003, algorithm 12.1). It needs no sums over the grid: nothing waits, and the bits of q do
// not depend on who computes which part of it.
#pragma once

namespace tutti::incompressible {

/// q_{k+1} = q_k + carry (q_k - q_{k-1}) + gain (b - A q_k).
struct ChebyshevWeights {
  double carry = 0, gain = 1;
};

/// The weights of one sweep after the other.
class ChebyshevIteration {
 public:
  /// `bound` >= 0; with 0, A is 1 and one sweep is all.
  explicit ChebyshevIteration(double bound) : theta_(1 + bound / 2), delta_(bound / 2) {}
  ChebyshevWeights next();

 private:
  double theta_, delta_;
  double rho_ = -1;  ///< T_{k-1}(theta / delta) / T_k(theta / delta); -1: there was no sweep
};

/// Sweeps that leave `tolerance` (between 0 and 1) of the error, in the norm in which A is symmetric: the least n with
/// 1 / T_n(1 + 2 / bound) <= tolerance, about ln(2 / tolerance) sqrt(1 + bound) / 2. At least 1.
int chebyshev_sweeps(double bound, double tolerance);

}  // namespace tutti::incompressible
