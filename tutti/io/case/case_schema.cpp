#include "tutti/io/case/case_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/case/expression.hpp"

namespace tutti {

std::string key_pattern(const std::string& path) {
  std::string pattern;
  bool inside = false;
  for (const char c : path) {
    if (c == ']') inside = false;
    if (!inside) pattern += c;
    if (c == '[') inside = true;
  }
  return pattern;
}

std::string parent_table(const std::string& path) {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

void CaseSchema::begin_group(const std::string& name) {
  group_ = name;
}

void CaseSchema::describe_table(const std::string& path, const std::string& description) {
  table_descriptions_[path] = description;
}

void CaseSchema::leave_out(const std::string& path, const std::string& reason) {
  left_out_[path] = reason;
}

void CaseSchema::add(KeyDoc key) {
  require(find(key.path) == nullptr, "the key '{}' is declared twice", key.path);
  require(!key.description.empty(), "the key '{}' has no description", key.path);
  require(key.type != KeyType::choice || !key.choices.empty(), "the key '{}' has no choices", key.path);
  const auto brackets = key.path.find("[]");
  require(brackets == std::string::npos || key.path.find('.', brackets + 3) == std::string::npos,
          "the key '{}' lies too deep in a list of tables", key.path);
  key.group = group_;
  if (!key.exact.empty()) key.choices = {"exact"};
  if (!key.default_value.empty()) {
    try {
      auto document = parse_toml("value = " + key.default_value, "default of " + key.path);
      key.default_parsed = document.as<TomlValue::Table>()->at("value");
      check_value(key, key.default_parsed, key.path);
    } catch (const Error& error) {
      require(false, "the default of '{}' is wrong: {}", key.path, error.what());
    }
  }
  keys_.push_back(std::move(key));
}

void CaseSchema::narrow(const std::string& path, const KeyCondition& condition) {
  const auto key = std::find_if(keys_.begin(), keys_.end(), [&](const KeyDoc& k) { return k.path == path; });
  require(key != keys_.end() && key->only_if.path.empty(), "there is no key '{}', or it has a condition", path);
  key->only_if = condition;
}

void CaseSchema::at_most_one_of(std::vector<std::string> paths) {
  rules_.push_back({std::move(paths), false});
}
void CaseSchema::exactly_one_of(std::vector<std::string> paths) {
  rules_.push_back({std::move(paths), true});
}

const KeyDoc* CaseSchema::find(const std::string& path) const {
  const auto it = std::find_if(keys_.begin(), keys_.end(), [&](const KeyDoc& k) {
    return k.path == path || (has_any_name(k) && parent_table(k.path) == parent_table(path));
  });
  return it == keys_.end() ? nullptr : &*it;
}

bool has_any_name(const KeyDoc& key) {
  return key.path.ends_with(".<name>");
}

bool CaseSchema::is_table(const std::string& path) const {
  if (path.empty()) return true;
  return std::any_of(keys_.begin(), keys_.end(), [&](const KeyDoc& k) { return k.path.starts_with(path + "."); });
}

bool CaseSchema::is_table_list(const std::string& path) const {
  return std::any_of(keys_.begin(), keys_.end(), [&](const KeyDoc& k) { return k.path.starts_with(path + "[]."); });
}

std::vector<std::string> CaseSchema::tables() const {
  std::vector<std::string> tables = {""};
  for (const auto& key : keys_) {
    const auto table = parent_table(key.path);
    if (std::find(tables.begin(), tables.end(), table) == tables.end()) tables.push_back(table);
  }
  return tables;
}

std::string CaseSchema::table_description(const std::string& path) const {
  const auto it = table_descriptions_.find(path);
  return it == table_descriptions_.end() ? "" : it->second;
}

std::string CaseSchema::reason_left_out(const std::string& path) const {
  const auto it = left_out_.find(path);
  return it == left_out_.end() ? "" : it->second;
}

std::string CaseSchema::nearest(const std::string& path) const {
  const auto last = [](const std::string& p) { return p.substr(p.rfind('.') + 1); };
  const std::string word = last(path);
  std::vector<std::string> candidates;
  for (const auto& key : keys_)
    if (!has_any_name(key)) candidates.push_back(key.path);
  for (const auto& table : tables()) {
    if (!table.empty()) candidates.push_back(table.ends_with("[]") ? table.substr(0, table.size() - 2) : table);
  }
  std::string best;
  int best_distance = 2 + static_cast<int>(word.size()) / 3;
  for (const auto& candidate : candidates) {
    // The same word in another table is a likely slip, too.
    const bool same_table = parent_table(candidate) == parent_table(path);
    const int distance =
        std::min(edit_distance(path, candidate), edit_distance(word, last(candidate)) + (same_table ? 0 : 1));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

namespace {

std::string quoted_words(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += quote_toml(words[i]);
  }
  return text;
}

std::string range_text(const KeyDoc& key) {
  if (std::isfinite(key.min) && std::isfinite(key.max))
    return fmt::format(" in {}{}, {}]", key.above_min ? '(' : '[', key.min, key.max);
  if (std::isfinite(key.min)) return fmt::format(" {} {}", key.above_min ? ">" : ">=", key.min);
  if (std::isfinite(key.max)) return fmt::format(" <= {}", key.max);
  return "";
}

std::string list_text(const KeyDoc& key, const std::string& entries) {
  return key.length > 0 ? fmt::format("a list of {} {}", key.length, entries) : "a list of " + entries;
}

std::string type_text(const KeyDoc& key) {
  switch (key.type) {
    case KeyType::boolean:
      return "true or false";
    case KeyType::integer:
      return "an integer" + range_text(key);
    case KeyType::number:
      return "a number" + range_text(key);
    case KeyType::text:
      return "a text";
    case KeyType::choice:
      return quoted_words(key.choices);
    case KeyType::file:
      return "a file name";
    case KeyType::bytes:
      return "a number of bytes like 4096 or \"512M\"";
    case KeyType::expression:
      return "a number or an expression";
    case KeyType::integers:
      return list_text(key, "integers") + range_text(key);
    case KeyType::numbers:
      return list_text(key, "numbers") + range_text(key);
    case KeyType::texts:
      return list_text(key, key.choices.empty() ? "texts" : "words of " + quoted_words(key.choices));
    case KeyType::expressions:
      return list_text(key, "numbers or expressions");
    case KeyType::tensor:
      return "an expression, a list of 3 (the diagonal) or 3 lists of 3";
  }
  return "";
}

bool has_word_choices(const KeyDoc& key) {
  return !key.choices.empty() && key.type != KeyType::choice && key.type != KeyType::texts;
}

[[noreturn]] void fail_value(const KeyDoc& key, const TomlValue& value, const std::string& path,
                             const std::string& found) {
  fail(ErrorKind::input, "{}: '{}' must be {}, found {}", value.place.column_text(), path, expected_text(key), found);
}

bool is_whole(const TomlValue& value) {
  if (value.as<std::int64_t>() != nullptr) return true;
  const auto* number = value.as<double>();
  return number != nullptr && std::abs(*number) <= 0x1p53 && std::floor(*number) == *number;
}

bool in_range(const KeyDoc& key, const TomlValue& value) {
  const auto* integer = value.as<std::int64_t>();
  const double number = integer != nullptr ? static_cast<double>(*integer) : *value.as<double>();
  return std::isfinite(number) && number <= key.max && (key.above_min ? number > key.min : number >= key.min);
}

/// One number, integer, text or expression; `entry` is the key's value or one entry of it.
bool scalar_fits(KeyType type, const KeyDoc& key, const TomlValue& entry, const FormulaNames& names) {
  const bool numeric = entry.as<std::int64_t>() != nullptr || entry.as<double>() != nullptr;
  switch (type) {
    case KeyType::integer:
      return is_whole(entry) && in_range(key, entry);
    case KeyType::number:
      return numeric && in_range(key, entry);
    case KeyType::text:
      return entry.as<std::string>() != nullptr;
    case KeyType::expression: {
      if (const auto* text = entry.as<std::string>()) {
        // throws with the place in the text
        [[maybe_unused]] const Expression parsed(*text, entry.place.column_text(), names);
        return true;
      }
      return numeric && (entry.as<double>() == nullptr || std::isfinite(*entry.as<double>()));
    }
    default:
      return false;
  }
}

void check_list(KeyType type, int length, const KeyDoc& key, const TomlValue& value, const std::string& path,
                const FormulaNames& names = {}) {
  const auto* list = value.as<TomlValue::List>();
  if (list == nullptr) fail_value(key, value, path, describe(value));
  if (length > 0 && list->size() != static_cast<std::size_t>(length)) fail_value(key, value, path, describe(value));
  for (const auto& entry : *list) {
    if (!scalar_fits(type, key, entry, names)) fail_value(key, entry, path, describe(entry) + " in the list");
  }
}

void check_choice(const KeyDoc& key, const TomlValue& value, const std::string& path) {
  const auto* text = value.as<std::string>();
  if (text != nullptr && std::find(key.choices.begin(), key.choices.end(), *text) != key.choices.end()) return;
  const std::string nearest = text != nullptr ? nearest_name(*text, key.choices) : "";
  fail_value(key, value, path, describe(value) + (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
}

void check_bytes(const KeyDoc& key, const TomlValue& value, const std::string& path) {
  if (const auto* text = value.as<std::string>()) {
    try {
      parse_bytes(*text, path);
      return;
    } catch (const Error&) {
      fail_value(key, value, path, describe(value));
    }
  }
  const auto* integer = value.as<std::int64_t>();
  if (integer == nullptr || *integer < 0) fail_value(key, value, path, describe(value));
}

void check_tensor(const KeyDoc& key, const TomlValue& value, const std::string& path, const FormulaNames& names) {
  const auto* rows = value.as<TomlValue::List>();
  if (rows == nullptr) {
    if (!scalar_fits(KeyType::expression, key, value, names)) fail_value(key, value, path, describe(value));
    return;
  }
  const bool nested = !rows->empty() && rows->front().as<TomlValue::List>() != nullptr;
  if (!nested) return check_list(KeyType::expression, 3, key, value, path, names);
  if (rows->size() != 3) fail_value(key, value, path, describe(value) + " rows");
  for (const auto& row : *rows) check_list(KeyType::expression, 3, key, row, path, names);
}

void check_texts(const KeyDoc& key, const TomlValue& value, const std::string& path) {
  check_list(KeyType::text, key.length, key, value, path);
  if (key.choices.empty()) return;
  for (const auto& entry : *value.as<TomlValue::List>()) check_choice(key, entry, path);
}

}  // namespace

std::string expected_text(const KeyDoc& key) {
  return type_text(key) + (has_word_choices(key) ? " or " + quoted_words(key.choices) : "");
}

void check_value(const KeyDoc& key, const TomlValue& value, const std::string& path, const FormulaNames& all_names) {
  FormulaNames names = all_names;
  if (!key.initial)
    for (auto& [_, field] : names.fields) field = nullptr;
  names.solution = key.solution;
  const auto* text = value.as<std::string>();
  if (has_word_choices(key) && text != nullptr &&
      std::find(key.choices.begin(), key.choices.end(), *text) != key.choices.end())
    return;
  switch (key.type) {
    case KeyType::choice:
      return check_choice(key, value, path);
    case KeyType::bytes:
      return check_bytes(key, value, path);
    case KeyType::tensor:
      return check_tensor(key, value, path, names);
    case KeyType::integers:
      return check_list(KeyType::integer, key.length, key, value, path);
    case KeyType::numbers:
      return check_list(KeyType::number, key.length, key, value, path);
    case KeyType::texts:
      return check_texts(key, value, path);
    case KeyType::expressions:
      return check_list(KeyType::expression, key.length, key, value, path, names);
    case KeyType::boolean:
      if (value.as<bool>() == nullptr) fail_value(key, value, path, describe(value));
      return;
    case KeyType::file:
      if (text == nullptr || text->empty()) fail_value(key, value, path, describe(value));
      return;
    default:
      if (!scalar_fits(key.type, key, value, names)) fail_value(key, value, path, describe(value));
  }
}

namespace {

std::string escape_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

/// When a key counts, or when it does not where that is shorter (and a default makes it exact).
std::string condition_text(const CaseSchema& schema, const KeyDoc& key) {
  const auto& [path, values] = key.only_if;
  if (path.empty()) return "";
  const bool sibling = parent_table(path) == parent_table(key.path);
  const auto name = sibling ? path.substr(path.rfind('.') + 1) : path;
  if (values.empty()) return fmt::format("Only with `{}`.", name);
  std::vector<std::string> rest;
  const KeyDoc* other = schema.find(path);
  if (other != nullptr && other->type == KeyType::choice && !other->default_value.empty())
    for (const auto& choice : other->choices)
      if (std::find(values.begin(), values.end(), choice) == values.end()) rest.push_back(choice);
  const bool shorter = !rest.empty() && rest.size() < values.size();
  return fmt::format("{} with `{}` = {}.", shorter ? "Not" : "Only", name, quoted_words(shorter ? rest : values));
}

/// The condition of all keys of a table; empty where they differ.
std::string shared_condition(const CaseSchema& schema, const std::string& table) {
  std::optional<std::string> shared;
  for (const auto& key : schema.keys()) {
    if (parent_table(key.path) != table) continue;
    const auto text = condition_text(schema, key);
    if (shared.value_or(text) != text) return "";
    shared = text;
  }
  return shared.value_or("");
}

std::string key_row(const KeyDoc& key, const std::string& condition) {
  const auto name = key.path.substr(key.path.rfind('.') + 1);
  const std::string fallback = !key.default_value.empty() ? "`" + key.default_value + "`"
                               : key.required             ? "**required**"
                                                          : "";
  const std::string exact = key.exact.empty() ? "" : fmt::format(" exact: `{}` at t = 0.", key.exact);
  return fmt::format("| `{}` | {} | {} | {} | {}{}{}{} |\n", name, escape_cell(expected_text(key)), fallback, key.unit,
                     escape_cell(key.description), exact, condition.empty() ? "" : " ", escape_cell(condition));
}

std::string rule_text(const KeyRule& rule) {
  std::string names;
  for (std::size_t i = 0; i < rule.paths.size(); ++i)
    names += (i == 0 ? "" : i + 1 == rule.paths.size() ? " and " : ", ") + ("`" + rule.paths[i] + "`");
  return fmt::format("Of {}, {} must be given.\n\n", names, rule.exactly ? "exactly one" : "at most one");
}

std::string table_heading(const std::string& table) {
  if (table.empty()) return "## Top level\n\n";
  if (!table.ends_with("[]")) return fmt::format("## `[{}]`\n\n", table);
  return fmt::format("## `[[{}]]`\n\n", table.substr(0, table.size() - 2));
}

}  // namespace

std::string case_reference_markdown(const CaseSchema& schema) {
  std::string page =
      "# Case files: all keys\n\nA case file is TOML. This page is generated from the table that its reader uses; any "
      "other key is an error.\nOn the command line, `--set a.b=value` replaces a value of the file, `--set "
      "boundary[0].value=1` one in a list of\ntables, and `--set a.b=` removes a key. A value given there also removes "
      "the keys that exclude it.\nAn *expression* is a number or a string: a formula of x, y, z (position) and t "
      "(time) with\n`+ - * / ^`, comparisons, `&& ||`, `c ? a : b`, the constants `pi` and `e`, names of "
      "`[constants]`, and the functions ";
  for (const auto& name : Expression::function_names()) page += (page.back() == ' ' ? "" : ", ") + ("`" + name) + "`";
  page += ".\n\n";
  for (const auto& table : schema.tables()) {
    std::string rows;
    std::string group;
    const std::string shared = shared_condition(schema, table);
    for (const auto& key : schema.keys()) {
      if (parent_table(key.path) != table) continue;
      if (key.group != group && key.group != "core") rows += fmt::format("| | | | | *model `{}`:* |\n", key.group);
      group = key.group;
      rows += key_row(key, shared.empty() ? condition_text(schema, key) : "");
    }
    if (rows.empty()) continue;
    page += table_heading(table);
    if (const auto text = schema.table_description(table); !text.empty()) page += text + "\n\n";
    if (!shared.empty()) page += shared + "\n\n";
    page += "| key | takes | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n" + rows + "\n";
    for (const auto& rule : schema.rules())
      if (parent_table(rule.paths.front()) == table) page += rule_text(rule);
  }
  return page;
}

}  // namespace tutti
