#include "tutti/io/case/toml_value.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "tutti/base/error.hpp"

namespace tutti {

std::string TomlPlace::line_text() const {
  return line > 0 ? fmt::format("{}:{}", file, line) : file;
}
std::string TomlPlace::column_text() const {
  return line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file;
}

namespace {

TomlPlace place_of(const toml::source_region& region, const std::string& name) {
  return {name, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

/// A copy, since public headers need no toml++, and its nodes take no place of their own (--set) and lose theirs where
/// they are copied.
TomlValue convert(const toml::node& node, const std::string& name) {
  TomlValue value;
  value.place = place_of(node.source(), name);
  if (const auto* table = node.as_table()) {
    TomlValue::Table entries;
    for (const auto& [key, child] : *table) {
      TomlValue entry = convert(child, name);
      entry.key_place = place_of(key.source(), name);
      entries.emplace(std::string(key.str()), std::move(entry));
    }
    value.data = std::move(entries);
  } else if (const auto* list = node.as_array()) {
    TomlValue::List entries;
    for (const auto& child : *list) entries.push_back(convert(child, name));
    value.data = std::move(entries);
  } else if (const auto* flag = node.as_boolean()) {
    value.data = flag->get();
  } else if (const auto* integer = node.as_integer()) {
    value.data = std::int64_t{integer->get()};
  } else if (const auto* number = node.as_floating_point()) {
    value.data = number->get();
  } else if (const auto* text = node.as_string()) {
    value.data = text->get();
  } else {
    fail(ErrorKind::input, "{}: dates and times are not used in case files; put a text between quotes",
         value.place.column_text());
  }
  return value;
}

void move_place(TomlValue& value, const TomlPlace& place) {
  value.place = place;
  value.key_place = place;
  if (auto* list = value.as<TomlValue::List>())
    for (auto& entry : *list) move_place(entry, place);
  if (auto* table = value.as<TomlValue::Table>())
    for (auto& entry : *table) move_place(entry.second, place);
}

/// TOML is UTF-8; what is typed or names a file on the disk may be any bytes.
bool is_toml_text(const std::string& text) {
  try {
    return toml::parse("text = " + quote_toml(text)).size() == 1;
  } catch (const toml::parse_error&) {
    return false;
  }
}

/// Deeper than any key of any model. TOML's trees are made and taken apart by recursion, here and in toml++, so their
/// depth is bounded before there is one: a key has at most so many parts, and so many brackets are open at most.
constexpr int deepest = 16;

/// Behind the text that begins at `at` with a quote: a text of one line ends at the line's end at the latest.
std::size_t end_of_text(const std::string& text, std::size_t at) {
  const char quote = text[at];
  const bool lines = text.compare(at, 3, std::string(3, quote)) == 0;
  for (at += lines ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\n' && !lines) return at;
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == quote && !lines) {
      return at + 1;
    } else if (text[at] == quote && text.compare(at, 3, std::string(3, quote)) == 0) {
      // One or two quotes before the three belong to the text.
      for (at += 3; at < text.size() && text[at] == quote;) ++at;
      return at;
    }
  }
  return text.size();
}

/// The first line whose keys or brackets go too deep; 0: none. A text that is no TOML is read as far as toml++ reads
/// it.
int too_deep_line(const std::string& text) {
  int line = 1, dots = 0, open = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_text(text, at);
      line += static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                          text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
      at = end - 1;
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
      continue;
    }
    if (c == '\n') ++line;
    if (c == '.' ? ++dots >= deepest : c == '[' || c == '{' ? ++open > deepest : false) return line;
    if (c == ']' || c == '}') open = std::max(open - 1, 0);
    if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') dots = 0;
  }
  return 0;
}

}  // namespace

TomlValue parse_toml(const std::string& text, const std::string& name) {
  if (const int line = too_deep_line(text); line > 0)
    fail(ErrorKind::input,
         "{}: a key of more than {} parts, or as many nested lists and tables; write it flatter: no key of tutti is "
         "nested so deeply",
         TomlPlace{name, line, 0}.line_text(), deepest);
  try {
    const toml::table table = toml::parse(text, name);
    return convert(table, name);
  } catch (const toml::parse_error& error) {
    fail(ErrorKind::input, "{}: not valid TOML: {}; write keys as name = value, tables as [name], texts between quotes",
         place_of(error.source(), name).column_text(), std::string(error.description()));
  }
}

TomlValue parse_typed_value(const std::string& typed, const std::string& option) {
  TomlValue value;
  value.data = typed;
  if (typed.find('\n') == std::string::npos && too_deep_line(typed) == 0) {
    try {
      const toml::table table = toml::parse("value = " + typed);
      if (const auto* node = table.get("value"); node != nullptr && table.size() == 1) value = convert(*node, option);
    } catch (const toml::parse_error&) {  // a bare word or a formula: the text itself
    } catch (const Error&) {              // a date: the text itself
    }
  }
  move_place(value, {option, 0, 0});
  if (value.as<std::string>() != nullptr && !is_toml_text(*value.as<std::string>()))
    fail(ErrorKind::usage, "{}: the value is not UTF-8; only text in UTF-8 can stand in a case file", option);
  return value;
}

std::string describe(const TomlValue& value) {
  if (const auto* table = value.as<TomlValue::Table>())
    return table->empty() ? "an empty table" : "a table with the key '" + table->begin()->first + "'";
  if (const auto* list = value.as<TomlValue::List>()) return fmt::format("a list of {}", list->size());
  if (const auto* text = value.as<std::string>()) {
    return fmt::format("the text {}", quote_toml(text->size() > 60 ? text->substr(0, 57) + "..." : *text));
  }
  if (value.as<bool>() != nullptr) return to_toml(value);
  return fmt::format("the {} {}", value.as<std::int64_t>() != nullptr ? "integer" : "number", to_toml(value));
}

std::string quote_toml(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04X}", static_cast<unsigned>(byte));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

namespace {
std::string number_to_toml(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";  // 'n': inf and nan
  return text;
}
}  // namespace

std::string to_toml(const TomlValue& value) {
  if (const auto* flag = value.as<bool>()) return *flag ? "true" : "false";
  if (const auto* integer = value.as<std::int64_t>()) return fmt::format("{}", *integer);
  if (const auto* number = value.as<double>()) return number_to_toml(*number);
  if (const auto* text = value.as<std::string>()) return quote_toml(*text);
  std::string inside;
  if (const auto* list = value.as<TomlValue::List>()) {
    for (const auto& entry : *list) inside += (inside.empty() ? "" : ", ") + to_toml(entry);
    return "[" + inside + "]";
  }
  for (const auto& [key, entry] : *value.as<TomlValue::Table>())
    inside += (inside.empty() ? "" : ", ") + quote_toml(key) + " = " + to_toml(entry);
  return "{" + inside + "}";
}

}  // namespace tutti
