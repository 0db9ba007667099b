// Small dense systems with many right-hand sides: Gaussian elimination with partial pivoting.
//
// Entry (i, j) becomes fma(-l_ik, u_kj, a_ij) for k = 0, 1, 2, ... in turn, l_ik = a_ik (1 / u_kk), and the pivot of a
// column is the first of its largest entries. That fixes every bit of the result: however the loops are cut, and on a
// GPU, it is the same (stencil_weights.cu holds to it).
#pragma once

#include <vector>

namespace tutti::transport::dense {

/// Right-hand sides that a row has room for.
inline constexpr int side_places = 8;

/// Rows of an augmented matrix (A | B): `size` rows of A, `sides` columns of B, `stride` values from row to row. Behind
/// A each row has side_places values; those behind B are 0.
struct Augmented {
  double* values;
  int size, sides, stride;
  double* row(int i) const { return values + static_cast<long>(i) * stride; }
};

/// A = P L U in place, and B becomes L^-1 P^T B. pivots[k]: the row that changed places with row k. False: a pivot is 0
/// or no finite number, and what is in the matrix is of no use.
bool eliminate(const Augmented& a, int* pivots);

/// After eliminate: B becomes A^-1 P^T ... B, the solutions.
void substitute_back(const Augmented& a);

/// After eliminate: x[size] becomes A^-1 x.
void solve_again(const Augmented& a, const int* pivots, double* x);

}  // namespace tutti::transport::dense
