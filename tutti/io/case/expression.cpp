#include "tutti/io/case/expression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"

namespace tutti {

Expression::Expression() : Expression(0.0) {}

Expression::Expression(double value) : text_(fmt::format("{}", value)), steps_{{FormulaOp::constant, value}} {
  if (!std::isfinite(value))
    fail(ErrorKind::input, "'{}' is not a valid expression; a finite number is expected", value);
}

Expression::Expression(const std::string& text, std::string where, const FormulaNames& names)
    : text_(text), where_(std::move(where)) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    const std::string prefix = where_.empty() ? "" : where_ + ": ";
    fail(ErrorKind::input, "{}the expression is empty; write a number or a formula of x, y, z and t", prefix);
  }
  ParsedFormula formula = parse_formula(text, where_, names);
  steps_ = std::move(formula.steps);
  samples_ = std::move(formula.samples);
  uses_time_ = formula.uses_time;
  uses_space_ = formula.uses_space;
  uses_solution_ = formula.uses_solution;
  if (is_constant()) finite(steps_[0].value, {}, 0, 0);
}

double Expression::finite(double value, Vec3 p, double t, double u) const {
  if (std::isfinite(value)) return value;
  const std::string prefix = where_.empty() ? "" : where_ + ": ";
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();  // its sign differs between processors
  if (is_constant()) fail(ErrorKind::input, "{}the expression \"{}\" is {}; it must be finite", prefix, text_, value);
  fail(ErrorKind::input, "{}the expression \"{}\" is {} at x = {}, y = {}, z = {}, t = {}{}; it must be finite", prefix,
       text_, value, p.x, p.y, p.z, t, uses_solution_ ? fmt::format(", u = {}", u) : "");
}

double Expression::operator()(Vec3 p, double t, double u) const {
  if (is_constant()) return steps_[0].value;
  if (is_sampled()) return finite(sampled(p, t), p, t, u);
  return finite(evaluate_formula(steps_.data(), static_cast<int>(steps_.size()), p, t, u), p, t, u);
}

double Expression::sampled(Vec3 p, double t) const {
  std::vector<FormulaStep> steps = steps_;
  for (const auto& [at, field] : samples_) steps[at] = {FormulaOp::constant, field->at(p)};
  return evaluate_formula(steps.data(), static_cast<int>(steps.size()), p, t);
}

void Expression::evaluate(std::span<const Vec3> points, double t, std::span<double> out,
                          std::span<const double> u) const {
  require(points.size() == out.size(), "Expression::evaluate: {} points, {} values", points.size(), out.size());
  if (points.empty()) return;
  require(!uses_solution_ || u.size() == points.size(), "{}: {} points, {} values of u", text_, points.size(),
          u.size());
  if (!uses_space_ && !uses_solution_) {
    std::fill(out.begin(), out.end(), (*this)(points[0], t));
    return;
  }
  if (is_sampled())
    std::transform(points.begin(), points.end(), out.begin(), [&](Vec3 p) { return sampled(p, t); });
  else
    evaluate_formula(steps_.data(), static_cast<int>(steps_.size()), points.data(), t, out.data(), points.size(),
                     u.data());
  const auto bad = std::find_if(out.begin(), out.end(), [](double v) { return !std::isfinite(v); });
  if (bad != out.end()) finite(*bad, points[bad - out.begin()], t, u.empty() ? 0 : u[bad - out.begin()]);
}

Expression Expression::at_start() const {
  Expression start = *this;
  for (FormulaStep& step : start.steps_)
    if (step.op == FormulaOp::t) step = {FormulaOp::constant, 0};
  start.uses_time_ = false;
  if (start.is_constant() && start.steps_.size() > 1) start.steps_ = {{FormulaOp::constant, (*this)({}, 0)}};
  return start;
}

std::vector<std::string> Expression::function_names() {
  return formula_functions();
}

}  // namespace tutti
