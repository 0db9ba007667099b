// The text of a formula, read into a flat program.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/formula.hpp"

namespace tutti {

struct ParsedFormula {
  std::vector<FormulaStep> steps;  ///< one constant where no name of x, y, z, t is used
  bool uses_time = false;          ///< the text names t
  bool uses_space = false;         ///< the text names x, y or z
};

/// Reads `text`, which is not blank. From loosest to tightest: c ? a : b (to the right), ||, &&, comparisons, + and -,
/// * and /, one sign, ^ (to the right, its exponent may have a sign: -2^-2 = -(2^(-2))); all others to the left.
/// Subexpressions without x, y, z, t are evaluated here. `where` begins every message. Error(input) names the place in
/// the text: unknown names and characters, what does not fit the grammar, more than formula_depth values that wait for
/// each other.
ParsedFormula parse_formula(const std::string& text, const std::string& where);

/// All functions of formulas, in alphabetical order.
std::vector<std::string> formula_functions();

}  // namespace tutti
