// The text of a formula, read into a flat program.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tutti/base/formula.hpp"

namespace tutti {

/// Names that a case gives to numbers.
using Constants = std::map<std::string, double, std::less<>>;

/// A function of one number: its values at x, which ascends.
struct FormulaTable {
  std::vector<double> x, y;
};

/// A function of position that only the host knows. Threads may share it.
class SampledField {
 public:
  virtual ~SampledField() = default;
  virtual double at(Vec3 place) const = 0;
};

/// What the formulas of a case can name besides what all can.
struct FormulaNames {
  Constants constants;
  std::map<std::string, FormulaTable, std::less<>> tables;
  /// null: it is known, and must not stand in this formula.
  std::map<std::string, std::shared_ptr<const SampledField>, std::less<>> fields;
  bool solution = false;  ///< u, the solution
};

struct ParsedFormula {
  std::vector<FormulaStep> steps;  ///< one constant where no name of x, y, z, t, u is used
  bool uses_time = false;          ///< the text names t
  bool uses_space = false;         ///< the text names x, y, z or a field
  bool uses_solution = false;      ///< the text names u
  /// Which steps have to be filled in, and with what.
  std::vector<std::pair<std::size_t, std::shared_ptr<const SampledField>>> samples;
};

/// Reads `text`, which is not blank. From loosest to tightest: c ? a : b (to the right), ||, &&, comparisons, + and -,
/// * and /, one sign, ^ (to the right, its exponent may have a sign: -2^-2 = -(2^(-2))); all others to the left.
/// Subexpressions without x, y, z, t are evaluated here. `where` begins every message. Error(input) names the place in
/// the text: unknown names and characters, what does not fit the grammar, more than formula_depth values that wait for
/// each other.
ParsedFormula parse_formula(const std::string& text, const std::string& where, const FormulaNames& names = {});

/// All functions of formulas, in alphabetical order.
std::vector<std::string> formula_functions();

/// What a constant, a table or a field may be called: letters, digits and _, no digit first, and none of the formulas'
/// own names.
bool may_name_constant(const std::string& name);
/// The names in a text, in order, whatever they mean.
std::vector<std::string> names_in_formula(const std::string& text);

}  // namespace tutti
