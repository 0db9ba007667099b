// [constants]: names that a case gives to numbers, for all its formulas.
#pragma once

#include "tutti/io/case/formula_parser.hpp"
#include "tutti/io/case/toml_value.hpp"

namespace tutti {

/// Values of the table [constants] of a whole case; each is a number or a formula of others. Error(input) names the
/// place of what is no number or formula, of a name that formulas cannot use, and of constants that go in a circle.
Constants read_constants(const TomlValue& tree);

}  // namespace tutti
