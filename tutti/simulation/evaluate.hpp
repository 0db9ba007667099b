// Formulas of a case, evaluated at many points.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tutti/base/vec3.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/io/case/expression.hpp"

namespace tutti {

/// Values of an expression at points, on all threads of the team; `u` as in Expression::evaluate.
std::vector<double> evaluate_at(const Expression& expression, std::span<const Vec3> points, double t, Threads& threads,
                                std::span<const double> u = {});

/// Error(input) when the expression depends on t: for what is evaluated once, when the run begins. `where` is the place
/// of `key` in the case.
void require_steady(const Expression& expression, const std::string& where, const std::string& key);
/// The same where it names a [[field]]: those are known on the host only, to which a formula of t does not come back.
void require_steady_fields(const Expression& expression, const std::string& where, const std::string& key);

}  // namespace tutti
