// From a case file's text and the command line's --set to one tree of values.
#pragma once

#include <span>
#include <string>

#include "tutti/io/case/toml_value.hpp"

namespace tutti {

/// The document with every "a.b[0].c=value" applied in order; "a.b=" takes a.b out. Errors: input (bad TOML), usage (a
/// malformed `--set`, or one that goes through a value that is no table).
TomlValue parse_case_tree(const std::string& text, const std::string& name, std::span<const std::string> sets);

}  // namespace tutti
