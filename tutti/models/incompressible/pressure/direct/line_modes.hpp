// Eigenvalues and eigenvectors of the second difference along a line: L = Q diag(lambda) Q^-1.
//
// With H = diag(h) the matrix H^1/2 L H^-1/2 is symmetric, V diag(lambda) V^T, so that Q = H^-1/2 V and Q^-1 = V^T
// H^1/2 (Lynch, Rice, Thomas, Numer. Math. 6, 1964). On equal cells V is made of cosines and sines (Schumann and Sweet,
// J. Comput. Phys. 75, 1988, list those for cell centres), here exact to rounding and the same on every machine.
//
// Where the line is the same from both ends, modes are even or odd, and half the multiplications do: a line of values
// is folded to its sums s_i = f_i + f_{n-1-i} and differences t_i = f_i - f_{n-1-i}, i < n/2 (the cell in the middle,
// if there is one, belongs to the sums as it is), even modes come from s and odd ones from t.
#pragma once

#include <vector>

#include "tutti/models/incompressible/pressure/direct/fast_line.hpp"
#include "tutti/models/incompressible/pressure/direct/line_operator.hpp"

namespace tutti::incompressible {

/// A square matrix; of a line that is the same from both ends, its two halves (row-major).
struct LineMatrix {
  std::vector<double> even;  ///< even_size x even_size
  std::vector<double> odd;   ///< odd_size x odd_size; empty where nothing is folded
};

struct LineModes {
  Lid size = 0;
  bool split = false;               ///< modes are even or odd
  std::vector<double> eigenvalues;  ///< lambda <= 0; the even modes first; 0 exactly for the constant, which is mode 0
  LineMatrix to_modes;              ///< Q^-1: rows are modes. If split: from sums and differences
  LineMatrix from_modes;            ///< Q: columns are modes. If split: p_i = e_i + o_i, p_{n-1-i} = e_i - o_i
  FastLine fast;                    ///< Q^-1; where its size is not 0 there are no matrices

  Lid even_size() const { return split ? size - size / 2 : size; }
  Lid odd_size() const { return size - even_size(); }
};

enum class LineMethod : std::uint8_t {
  matrices,
  automatic,  ///< a fast transform where there is one
};

/// Error(input) as line_operator. Takes some n^3 operations for n cells of different widths.
LineModes line_modes(const Line& line, LineMethod method = LineMethod::automatic);

}  // namespace tutti::incompressible
