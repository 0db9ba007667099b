// A formula of x, y, z, t and u as a flat program: plain data that is evaluated on the host and in kernels, with the
// same bits (portable_math.hpp). io/case/expression.hpp makes it from text.
#pragma once

#include "tutti/base/portable_math.hpp"
#include "tutti/base/vec3.hpp"

namespace tutti {

/// What a step does with the stack of values. The first row pushes one; the second replaces the last; the third takes
/// two and leaves one; `choose` takes three: condition, a, b. `sample` is a constant that has to be filled in before,
/// `table` looks the last value up in the `value` rows of `data` behind it: first where, then what.
enum class FormulaOp : std::uint8_t {
  // clang-format off
  constant, x, y, z, t, u, sample,
  negate, square, cube, fourth, abs, acos, asin, atan, ceil, cos, cosh, erf, exp, floor, log, log10, sign, sin, sinh,
  sqrt, step, tan, tanh, table,
  add, subtract, multiply, divide, power, less, less_equal, greater, greater_equal, equal, not_equal, both, either, min,
  max, atan2,
  choose, data,
  // clang-format on
};

struct FormulaStep {
  FormulaOp op = FormulaOp::constant;
  double value = 0;  ///< of a constant
};

/// Most values that wait on the stack at a time.
inline constexpr int formula_depth = 32;

/// How many values a step takes: 0 to 3.
TUTTI_HD inline int formula_operands(FormulaOp op) {
  return op < FormulaOp::negate ? 0 : op < FormulaOp::add ? 1 : op < FormulaOp::choose ? 2 : 3;
}

/// Calls `use(f)` with the function f(a) of a step that takes one value.
template <class Use>
TUTTI_HD inline void with_unary(FormulaOp op, const Use& use) {
  switch (op) {
    case FormulaOp::negate:
      return use([](double a) { return -a; });
    case FormulaOp::square:
      return use([](double a) { return a * a; });
    case FormulaOp::cube:
      return use([](double a) { return a * a * a; });
    case FormulaOp::fourth:
      return use([](double a) { return a * a * a * a; });
    case FormulaOp::abs:
      return use([](double a) { return portable::magnitude(a); });
    case FormulaOp::acos:
      return use([](double a) { return portable::acos(a); });
    case FormulaOp::asin:
      return use([](double a) { return portable::asin(a); });
    case FormulaOp::atan:
      return use([](double a) { return portable::atan(a); });
    case FormulaOp::ceil:
      return use([](double a) { return std::ceil(a); });
    case FormulaOp::cos:
      return use([](double a) { return portable::cos(a); });
    case FormulaOp::cosh:
      return use([](double a) { return portable::cosh(a); });
    case FormulaOp::erf:
      return use([](double a) { return portable::erf(a); });
    case FormulaOp::exp:
      return use([](double a) { return portable::exp(a); });
    case FormulaOp::floor:
      return use([](double a) { return std::floor(a); });
    case FormulaOp::log:
      return use([](double a) { return portable::log(a); });
    case FormulaOp::log10:
      return use([](double a) { return portable::log10(a); });
    case FormulaOp::sign:
      return use([](double a) { return a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0; });
    case FormulaOp::sin:
      return use([](double a) { return portable::sin(a); });
    case FormulaOp::sinh:
      return use([](double a) { return portable::sinh(a); });
    case FormulaOp::sqrt:
      return use([](double a) { return std::sqrt(a); });
    case FormulaOp::step:
      return use([](double a) { return a >= 0 ? 1.0 : 0.0; });
    case FormulaOp::tan:
      return use([](double a) { return portable::tan(a); });
    case FormulaOp::tanh:
      return use([](double a) { return portable::tanh(a); });
    default:
      return;
  }
}

/// Calls `use(f)` with the function f(a, b) of a step that takes two values.
template <class Use>
TUTTI_HD inline void with_binary(FormulaOp op, const Use& use) {
  switch (op) {
    case FormulaOp::add:
      return use([](double a, double b) { return a + b; });
    case FormulaOp::subtract:
      return use([](double a, double b) { return a - b; });
    case FormulaOp::multiply:
      return use([](double a, double b) { return a * b; });
    case FormulaOp::divide:
      return use([](double a, double b) { return a / b; });
    case FormulaOp::power:
      return use([](double a, double b) { return portable::pow(a, b); });
    case FormulaOp::less:
      return use([](double a, double b) { return a < b ? 1.0 : 0.0; });
    case FormulaOp::less_equal:
      return use([](double a, double b) { return a <= b ? 1.0 : 0.0; });
    case FormulaOp::greater:
      return use([](double a, double b) { return a > b ? 1.0 : 0.0; });
    case FormulaOp::greater_equal:
      return use([](double a, double b) { return a >= b ? 1.0 : 0.0; });
    case FormulaOp::equal:
      return use([](double a, double b) { return a == b ? 1.0 : 0.0; });
    case FormulaOp::not_equal:
      return use([](double a, double b) { return a != b ? 1.0 : 0.0; });
    case FormulaOp::both:
      return use([](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; });
    case FormulaOp::either:
      return use([](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; });
    case FormulaOp::min:
      return use([](double a, double b) { return b < a ? b : a; });
    case FormulaOp::max:
      return use([](double a, double b) { return a < b ? b : a; });
    case FormulaOp::atan2:
      return use([](double a, double b) { return portable::atan2(a, b); });
    default:
      return;
  }
}

/// A line through the rows of a table, whose first n values ascend; before the first and behind the last row it is
/// constant.
TUTTI_HD inline double table_value(const FormulaStep* data, int n, double at) {
  if (at != at) return at;
  if (at <= data[0].value) return data[n].value;
  if (at >= data[n - 1].value) return data[2 * n - 1].value;
  int low = 0, high = n - 1;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (data[middle].value <= at ? low : high) = middle;
  }
  const double share = (at - data[low].value) / (data[high].value - data[low].value);
  return data[n + low].value + share * (data[n + high].value - data[n + low].value);
}

/// The formula's value at a point and time, where the solution is u: steps[0, count) leave one value.
TUTTI_HD inline double evaluate_formula(const FormulaStep* steps, int count, Vec3 p, double t, double u = 0) {
  double stack[formula_depth];  // but for the last value
  double last = 0;
  int below = -1;  // values below the last
  for (int i = 0; i < count; ++i) {
    const FormulaStep& s = steps[i];
    const int operands = formula_operands(s.op);
    if (operands == 0) {
      if (below >= 0) stack[below] = last;
      ++below;
      last = s.op == FormulaOp::constant ? s.value
             : s.op == FormulaOp::t      ? t
             : s.op == FormulaOp::u      ? u
                                         : p[static_cast<int>(s.op) - static_cast<int>(FormulaOp::x)];
    } else if (s.op == FormulaOp::table) {
      const int rows = static_cast<int>(s.value);
      last = table_value(steps + i + 1, rows, last);
      i += 2 * rows;
    } else if (operands == 1) {
      with_unary(s.op, [&](auto f) { last = f(last); });
    } else if (operands == 2) {
      --below;
      with_binary(s.op, [&](auto f) { last = f(stack[below], last); });
    } else {
      below -= 2;
      last = stack[below] != 0 ? stack[below + 1] : last;
    }
  }
  return last;
}

/// The same at n points on the host, step after step for a block of points. `u`: one a point, or null where the formula
/// does not name it.
void evaluate_formula(const FormulaStep* steps, int count, const Vec3* points, double t, double* out, std::size_t n,
                      const double* u = nullptr);

}  // namespace tutti
