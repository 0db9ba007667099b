// The second difference along one direction of a box, p at the centres of the cells:
// (L p)_i = (1/h_i) [ (p_{i+1} - p_i) / d_{i+1} - (p_i - p_{i-1}) / d_i ], d_i the distance across face i, i = 0..n.
#pragma once

#include <vector>

#include "tutti/base/types.hpp"

namespace tutti::incompressible {

/// What holds on the face at an end of a line.
enum class LineEnd : std::uint8_t {
  periodic,   ///< the other end follows; then both ends are periodic
  neumann,    ///< no flux
  dirichlet,  ///< p = 0 on the face, half a cell away
};

/// The cells of a box along one direction. Widths that are equal, or the same from both ends, to within a few units in
/// the last place are taken as such where that makes a solver faster.
struct Line {
  std::vector<double> widths;  ///< h_i > 0, one a cell
  LineEnd low = LineEnd::neumann, high = LineEnd::neumann;

  Lid size() const { return static_cast<Lid>(widths.size()); }
  bool periodic() const { return low == LineEnd::periodic; }
};

/// `size` cells of length / size each.
Line uniform_line(Lid size, double length, LineEnd low, LineEnd high);
/// All widths equal.
bool is_uniform(const Line& line);
/// Ends and widths are the same from both ends.
bool is_symmetric(const Line& line);

/// L as a matrix: row i is lower_i p_{i-1} + diagonal_i p_i + upper_i p_{i+1}.
struct LineOperator {
  std::vector<double> widths;
  std::vector<double> conductance;             ///< 1 / d_i of faces 0..n; 0 where nothing flows
  std::vector<double> lower, diagonal, upper;  ///< 0 where there is no neighbour, but for a cyclic line
  bool cyclic = false;    ///< cells 0 and n-1 are neighbours; false for a periodic line of one cell, whose L is 0
  bool singular = false;  ///< L 1 = 0: no end is Dirichlet

  Lid size() const { return static_cast<Lid>(widths.size()); }
};

/// Error(input) when there is no cell, a width is not a positive number, or one end only is periodic.
LineOperator line_operator(const Line& line);

}  // namespace tutti::incompressible
