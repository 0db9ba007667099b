#include "tutti/models/incompressible/pressure/direct/line_modes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tutti/base/dense_matrix.hpp"
#include "tutti/base/error.hpp"
#include "tutti/models/incompressible/pressure/direct/whole_turns.hpp"

namespace tutti::incompressible {
namespace {

// More digits than the result has: the matrices are right to rounding, and no vector instruction changes their bits.
using Real = long double;
using Matrix = SquareMatrix<Real>;

/// Modes of one parity, or all: column k of V, cells 0 .. cells-1, behind column k - 1.
struct Modes {
  std::vector<double> eigenvalues;
  Size cells = 0;
  std::vector<Real> vectors;
  Real& of(Size mode, Size cell) { return vectors[static_cast<std::size_t>(mode * cells + cell)]; }
  Real of(Size mode, Size cell) const { return vectors[static_cast<std::size_t>(mode * cells + cell)]; }
  Size count() const { return std::ssize(eigenvalues); }
};

/// cos or sin of pi m (2 i + 1) / (4 n) in cell i: an eigenvector for lambda = -(4 / h^2) sin^2(pi m / (4 n)).
struct Wave {
  bool cosine;
  Size m;
  bool even() const { return cosine == (m % 4 == 0); }  ///< m is even on lines that are the same from both ends
};

std::vector<Wave> waves(const Line& line) {
  const Size n = line.size();
  std::vector<Wave> result;
  if (line.periodic()) {
    for (Size k = 0; 2 * k < n; ++k) result.push_back({true, 4 * k});
    for (Size k = 1; 2 * k <= n; ++k) result.push_back({false, 4 * k});
    return result;
  }
  const bool cosine = line.low == LineEnd::neumann;
  for (Size k = 0; k < n; ++k) {
    const Size m = line.low != line.high ? 2 * k + 1 : cosine ? 2 * k : 2 * k + 2;
    result.push_back({cosine, m});
  }
  return result;
}

/// Cells 0 .. cells-1 of the vectors.
Modes wave_modes(const std::vector<Wave>& chosen, Size n, double h, Lid cells) {
  Modes modes;
  modes.cells = cells;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const auto [cosine, m] = chosen[k];
    const double s = sin_pi(m, 4 * n);
    modes.eigenvalues.push_back(m == 0 ? 0 : -4 * (s / h) * (s / h));
    const Real scale = std::sqrt(static_cast<Real>(m == 0 || m == 2 * n ? 1 : 2) / static_cast<Real>(n));
    for (Lid i = 0; i < cells; ++i) {
      const Size turns = m * (2 * Size{i} + 1);
      modes.vectors.push_back(scale * static_cast<Real>(cosine ? cos_pi(turns, 4 * n) : sin_pi(turns, 4 * n)));
    }
  }
  return modes;
}

/// Eigenvectors of a symmetric positive (semi)definite matrix; those of the lowest eigenvalues first.
Modes eigen_modes(const Matrix& a) {
  const std::optional<SymmetricEigenpairs> pairs = find_symmetric_eigenpairs(a, true);
  require(pairs.has_value(), "no eigenvectors of {} cells", a.n);
  Modes modes;
  for (const Real value : pairs->values) modes.eigenvalues.push_back(-static_cast<double>(value));
  modes.cells = a.n;
  modes.vectors = pairs->vectors.values;
  return modes;
}

/// -H^1/2 L H^-1/2.
Matrix symmetric_matrix(const LineOperator& op) {
  const Lid n = op.size();
  const auto at = [](const std::vector<double>& values, Lid i) { return static_cast<Real>(values[i]); };
  Matrix a(n);
  for (Lid i = 0; i < n; ++i) a(i, i) = (at(op.conductance, i) + at(op.conductance, i + 1)) / at(op.widths, i);
  const auto couple = [&](Lid i, Lid j, Real conductance) {
    const Real value = conductance / std::sqrt(at(op.widths, i) * at(op.widths, j));
    a(i, j) -= value;  // two cells that are periodic meet twice
    a(j, i) -= value;
  };
  for (Lid i = 1; i < n; ++i) couple(i - 1, i, at(op.conductance, i));
  if (op.cyclic) couple(n - 1, 0, at(op.conductance, 0));
  return a;
}

/// Modes of one parity of a matrix that is the same from both ends, in the basis (e_i +- e_{n-1-i}) / sqrt 2 and the
/// cell in the middle. The corners of a cyclic line come to lie on the diagonal.
Modes half_modes(const Matrix& a, bool even) {
  const Size n = a.n, pairs = n / 2, cells = even ? n - pairs : pairs;
  const Real root = std::sqrt(Real{2});
  Matrix half(cells);
  for (Size i = 0; i < pairs; ++i)
    for (Size j = 0; j < pairs; ++j) half(i, j) = a(i, j) + (even ? a(i, n - 1 - j) : -a(i, n - 1 - j));
  if (cells > pairs) {
    half(pairs, pairs) = a(pairs, pairs);
    for (Size i = 0; i < pairs; ++i) half(i, pairs) = half(pairs, i) = root * a(i, pairs);
  }
  Modes modes = eigen_modes(half);
  for (Size k = 0; k < cells; ++k)
    for (Size i = 0; i < pairs; ++i) modes.of(k, i) /= root;
  return modes;
}

/// The constant: its eigenvalue is 0 and its vector the roots of the widths, exactly.
void set_constant(Modes& modes, const std::vector<double>& widths) {
  Real length = 0;
  for (const double h : widths) length += static_cast<Real>(h);
  modes.eigenvalues[0] = 0;
  for (Size i = 0; i < modes.cells; ++i)
    modes.of(0, i) = std::sqrt(static_cast<Real>(widths[static_cast<std::size_t>(i)]) / length);
}

/// Appends Q^-1 = V^T H^1/2 and Q = H^-1/2 V of these modes, row-major.
void append(const Modes& modes, const std::vector<Real>& roots, std::vector<double>& to, std::vector<double>& from) {
  for (Size k = 0; k < modes.count(); ++k)
    for (Size i = 0; i < modes.cells; ++i)
      to.push_back(static_cast<double>(modes.of(k, i) * roots[static_cast<std::size_t>(i)]));
  for (Size i = 0; i < modes.cells; ++i)
    for (Size k = 0; k < modes.count(); ++k)
      from.push_back(static_cast<double>(modes.of(k, i) / roots[static_cast<std::size_t>(i)]));
}

}  // namespace

LineModes line_modes(const Line& line, LineMethod method) {
  const LineOperator op = line_operator(line);
  const bool uniform = is_uniform(line);
  LineModes result;
  result.size = line.size();
  if (result.size == 1) return {1, false, {op.diagonal[0]}, {{1}, {}}, {{1}, {}}, {}};
  const bool fast = method == LineMethod::automatic && has_fast_transform(line);
  if (fast) result.fast = fast_line(line);
  result.split = is_symmetric(line);

  std::vector<Modes> parts;
  if (uniform) {
    std::vector<Wave> even, odd;
    for (const Wave& wave : waves(line)) (!result.split || wave.even() ? even : odd).push_back(wave);
    for (const auto* chosen : {&even, &odd})
      parts.push_back(wave_modes(*chosen, result.size, line.widths[0],
                                 fast              ? 0
                                 : chosen == &even ? result.even_size()
                                                   : result.odd_size()));
  } else {
    const Matrix a = symmetric_matrix(op);
    if (result.split)
      parts = {half_modes(a, true), half_modes(a, false)};
    else
      parts = {eigen_modes(a), {}};
    if (op.singular) set_constant(parts[0], line.widths);
  }

  // Equal widths cancel.
  std::vector<Real> roots(line.widths.size(), 1);
  if (!uniform)
    for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = std::sqrt(static_cast<Real>(line.widths[i]));
  append(parts[0], roots, result.to_modes.even, result.from_modes.even);
  append(parts[1], roots, result.to_modes.odd, result.from_modes.odd);
  for (const Modes& part : parts)
    result.eigenvalues.insert(result.eigenvalues.end(), part.eigenvalues.begin(), part.eigenvalues.end());
  return result;
}

}  // namespace tutti::incompressible
