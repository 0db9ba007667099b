#include "tutti/io/case/constants.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "tutti/base/error.hpp"
#include "tutti/io/case/expression.hpp"

namespace tutti {
namespace {

struct Reader {
  const TomlValue::Table& table;
  Constants found = {};
  std::set<std::string> open = {};  ///< whose formulas are being read

  void read(const std::string& name, const TomlValue& value) {
    if (found.contains(name)) return;
    if (!may_name_constant(name))
      fail(ErrorKind::input,
           "{}: '{}' cannot name a constant; take letters, digits and _, and no name that formulas know already, "
           "such as x, t, pi and sin",
           value.key_place.line_text(), name);
    if (const auto* text = value.as<std::string>()) {
      found[name] = formula(name, *text, value);
    } else if (const auto* integer = value.as<std::int64_t>()) {
      found[name] = static_cast<double>(*integer);
    } else if (const auto* number = value.as<double>(); number != nullptr && std::isfinite(*number)) {
      found[name] = *number;
    } else {
      fail(ErrorKind::input, "{}: 'constants.{}' must be a number or a formula of other constants, found {}",
           value.place.column_text(), name, describe(value));
    }
  }

  double formula(const std::string& name, const std::string& text, const TomlValue& value) {
    const std::string where = value.place.column_text();
    if (!open.insert(name).second)
      fail(ErrorKind::input, "{}: the constant '{}' is made of itself; give one of its circle as a number", where,
           name);
    for (const auto& used : names_in_formula(text))
      if (const auto at = table.find(used); at != table.end()) read(used, at->second);
    open.erase(name);
    const Expression expression(text, where, FormulaNames{found, {}, {}});
    if (!expression.is_constant())
      fail(ErrorKind::input, "{}: the constant '{}' depends on position or time; write it as a formula of constants",
           where, name);
    return expression({});
  }
};

}  // namespace

Constants read_constants(const TomlValue& tree) {
  const auto& entries = *tree.as<TomlValue::Table>();
  const auto at = entries.find("constants");
  const auto* table = at == entries.end() ? nullptr : at->second.as<TomlValue::Table>();
  if (table == nullptr) return {};
  Reader reader{*table};
  for (const auto& [name, value] : *table) reader.read(name, value);
  return reader.found;
}

}  // namespace tutti
