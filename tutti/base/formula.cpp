#include "tutti/base/formula.hpp"

#include <algorithm>

namespace tutti {
namespace {

/// Enough to forget the cost of choosing a step's function; the stack stays in the nearest cache.
constexpr std::size_t block = 64;

void evaluate_block(const FormulaStep* steps, int count, const Vec3* points, double t, double* out, std::size_t n,
                    const double* u) {
  double stack[formula_depth][block];
  int depth = 0;
  for (int i = 0; i < count; ++i) {
    const FormulaStep& s = steps[i];
    const int operands = formula_operands(s.op);
    depth += 1 - operands;
    double* a = stack[depth - 1];
    if (s.op == FormulaOp::constant || s.op == FormulaOp::t) {
      std::fill_n(a, n, s.op == FormulaOp::t ? t : s.value);
    } else if (s.op == FormulaOp::u) {
      std::copy_n(u, n, a);
    } else if (operands == 0) {
      const int axis = static_cast<int>(s.op) - static_cast<int>(FormulaOp::x);
      for (std::size_t k = 0; k < n; ++k) a[k] = points[k][axis];
    } else if (s.op == FormulaOp::table) {
      const int rows = static_cast<int>(s.value);
      for (std::size_t k = 0; k < n; ++k) a[k] = table_value(steps + i + 1, rows, a[k]);
      i += 2 * rows;
    } else if (operands == 1) {
      with_unary(s.op, [&](auto f) {
        for (std::size_t k = 0; k < n; ++k) a[k] = f(a[k]);
      });
    } else if (operands == 2) {
      const double* b = stack[depth];
      with_binary(s.op, [&](auto f) {
        for (std::size_t k = 0; k < n; ++k) a[k] = f(a[k], b[k]);
      });
    } else {
      const double *b = stack[depth], *c = stack[depth + 1];
      for (std::size_t k = 0; k < n; ++k) a[k] = a[k] != 0 ? b[k] : c[k];
    }
  }
  std::copy_n(stack[0], n, out);
}

}  // namespace

void evaluate_formula(const FormulaStep* steps, int count, const Vec3* points, double t, double* out, std::size_t n,
                      const double* u) {
  for (std::size_t first = 0; first < n; first += block)
    evaluate_block(steps, count, points + first, t, out + first, std::min(block, n - first),
                   u == nullptr ? nullptr : u + first);
}

}  // namespace tutti
