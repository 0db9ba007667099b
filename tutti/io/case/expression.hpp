// Formulas of x, y, z and t as they stand in case files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tutti/base/formula.hpp"
#include "tutti/base/types.hpp"
#include "tutti/base/vec3.hpp"
#include "tutti/io/case/formula_parser.hpp"

namespace tutti {

/// A function of position and time, written as text: "exp(-(x^2+y^2)) * (t < 1 ? 1 : 0)".
///
/// Names: x, y, z (the mesh's unit of length), lon, lat (radians, of the place as seen from the origin), t (s), pi, e,
/// u (the solution, where it may stand), and what `names` give.
/// Operators: + - * / ^ < <= > >= == != && || and c ? a : b. Functions: see function_names(). Numbers are written with
/// a point, whatever the locale. Nothing but arithmetic is possible: no assignment, no text, no files.
///
/// Values have the same bits on every machine and device (base/portable_math.hpp), and the parser's order of operations
/// (formula_parser.hpp). Objects do not change; threads may share them.
class Expression {
 public:
  /// The constant 0.
  Expression();
  Expression(double value);  // NOLINT: a number is an expression
  /// Parses `text`. `where` ("case.toml:12:5") begins every message about it. Error(input) names the place in the text,
  /// and for an unknown name the nearest known one.
  explicit Expression(const std::string& text, std::string where = "", const FormulaNames& names = {});

  /// Value at point p and time t, where the solution is u. Error(input) with point and text when it is not finite.
  double operator()(Vec3 p, double t = 0, double u = 0) const;
  /// out[i] = value at points[i]; both have the same length. So has `u`, or it is empty where the formula does not name
  /// it.
  void evaluate(std::span<const Vec3> points, double t, std::span<double> out, std::span<const double> u = {}) const;

  /// The same with t = 0.
  Expression at_start() const;
  /// Names none of x, y, z, t, u.
  bool is_constant() const { return !uses_time_ && !uses_space_ && !uses_solution_; }
  bool depends_on_time() const { return uses_time_; }
  bool depends_on_space() const { return uses_space_; }
  bool depends_on_solution() const { return uses_solution_; }
  const std::string& text() const { return text_; }
  const std::string& where() const { return where_; }

  /// Names a field that only the host knows: steps() are not for kernels.
  bool is_sampled() const { return !samples_.empty(); }
  /// What evaluate_formula takes; values may be anything, finite or not.
  std::span<const FormulaStep> steps() const { return steps_; }

  /// "sin", "cos", ... all functions an expression may call, in alphabetical order.
  static std::vector<std::string> function_names();

 private:
  double finite(double value, Vec3 p, double t, double u) const;
  double sampled(Vec3 p, double t, double u) const;

  std::string text_;
  std::string where_;
  std::vector<FormulaStep> steps_;  ///< one for a constant
  std::vector<std::pair<std::size_t, std::shared_ptr<const SampledField>>> samples_;
  bool uses_time_ = false;
  bool uses_space_ = false;
  bool uses_solution_ = false;
};

}  // namespace tutti
