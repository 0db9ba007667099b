#include "tutti/models/incompressible/pressure/direct/line_operator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/error.hpp"

namespace tutti::incompressible {
namespace {

void check(const Line& line) {
  if (line.widths.empty()) fail(ErrorKind::input, "box: a direction has no cell; give it one or more");
  for (const double h : line.widths)
    if (!(h > 0) || !std::isfinite(h)) fail(ErrorKind::input, "box: a cell is {} wide; give a positive width", h);
  if ((line.low == LineEnd::periodic) != (line.high == LineEnd::periodic))
    fail(ErrorKind::input, "box: one end of a direction is periodic and the other is not; both must be, or none");
}

bool equal_but_for_rounding(double a, double b) {
  return std::abs(a - b) <= 8 * std::numeric_limits<double>::epsilon() * std::max(a, b);
}

double end_conductance(LineEnd end, double width) {
  return end == LineEnd::dirichlet ? 2 / width : 0;
}

}  // namespace

Line uniform_line(Lid size, double length, LineEnd low, LineEnd high) {
  return {std::vector<double>(size, length / size), low, high};
}

bool is_uniform(const Line& line) {
  return std::ranges::all_of(line.widths, [&](double h) { return equal_but_for_rounding(h, line.widths[0]); });
}

bool is_symmetric(const Line& line) {
  return line.low == line.high && (is_uniform(line) || std::equal(line.widths.begin(), line.widths.end(),
                                                                  line.widths.rbegin(), equal_but_for_rounding));
}

LineOperator line_operator(const Line& line) {
  check(line);
  const std::vector<double>& h = line.widths;
  const std::size_t n = h.size();
  LineOperator op;
  op.widths = h;
  op.cyclic = line.periodic() && n > 1;
  op.singular = line.low != LineEnd::dirichlet && line.high != LineEnd::dirichlet;

  op.conductance.resize(n + 1);
  for (std::size_t i = 1; i < n; ++i) op.conductance[i] = 2 / (h[i - 1] + h[i]);
  op.conductance[0] = op.cyclic ? 2 / (h[n - 1] + h[0]) : end_conductance(line.low, h[0]);
  op.conductance[n] = op.cyclic ? op.conductance[0] : end_conductance(line.high, h[n - 1]);

  op.lower.resize(n);
  op.diagonal.resize(n);
  op.upper.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    op.lower[i] = i > 0 || op.cyclic ? op.conductance[i] / h[i] : 0;
    op.upper[i] = i + 1 < n || op.cyclic ? op.conductance[i + 1] / h[i] : 0;
    op.diagonal[i] = -(op.conductance[i] / h[i] + op.conductance[i + 1] / h[i]);
  }
  return op;
}

}  // namespace tutti::incompressible
