#include "tutti/io/case/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <tuple>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/case/case_text.hpp"
#include "tutti/io/case/constants.hpp"
#include "tutti/io/case/named_files.hpp"

namespace tutti {
namespace {

/// What is wrong with a case, and where: the first place in the file is reported. An unknown key comes before all else,
/// as others may miss what it was to say: [tables] for [[table]], and no formula knows the table.
struct Problem {
  TomlPlace place;
  std::string message;
  bool unknown_key = false;
};

std::string unknown_key_message(const CaseSchema& schema, const std::string& path) {
  if (const auto reason = schema.reason_left_out(key_pattern(path)); !reason.empty())
    return fmt::format("unknown key '{}'; {}: remove it", path, reason);
  const auto nearest = schema.nearest(key_pattern(path));
  if (!nearest.empty()) {
    // "boundary[].value" is suggested as "boundary[3].value" where the slip is in the fourth table.
    const bool same_table = parent_table(nearest) == parent_table(key_pattern(path)) && !parent_table(path).empty();
    const auto shown = same_table ? parent_table(path) + nearest.substr(nearest.rfind('.')) : nearest;
    return fmt::format("unknown key '{}'; did you mean '{}'?", path, shown);
  }
  std::string names;
  const auto table = schema.is_table(parent_table(key_pattern(path))) ? parent_table(key_pattern(path)) : "";
  for (const auto& key : schema.keys())
    if (parent_table(key.path) == table)
      names += (names.empty() ? "" : ", ") + key.path.substr(key.path.rfind('.') + 1);
  return fmt::format("unknown key '{}'; known here: {}", path, names);
}

/// 1e6 for an integer key becomes 1000000.
TomlValue whole(TomlValue value) {
  if (const auto* number = value.as<double>()) value.data = static_cast<std::int64_t>(*number);
  if (auto* list = value.as<TomlValue::List>())
    for (auto& entry : *list) entry = whole(std::move(entry));
  return value;
}

/// Walks the tree beside the schema and lays its values flat.
struct Flattener {
  const CaseSchema& schema;
  const FormulaNames& names;
  std::map<std::string, TomlValue>& values;
  std::map<std::string, std::vector<TomlPlace>>& lists;
  std::vector<Problem> problems = {};

  void table(const TomlValue::Table& entries, const std::string& prefix) {
    for (const auto& [key, value] : entries) {
      const std::string path = prefix.empty() ? key : prefix + "." + key;
      // "mesh.file" between quotes is one key of that name, and not the key `file` of [mesh].
      if (key.find_first_of(".[]") != std::string::npos)
        problems.push_back({value.key_place,
                            fmt::format("{}: unknown key {}; keys are written without quotes",
                                        value.key_place.line_text(), quote_toml(path)),
                            true});
      else
        entry(value, path);
    }
  }

  void entry(const TomlValue& value, const std::string& path) {
    const std::string pattern = key_pattern(path);
    const auto* nested = value.as<TomlValue::Table>();
    if (const auto* key = schema.find(pattern)) {
      leaf(*key, value, path);
    } else if (schema.is_table_list(pattern)) {
      table_list(value, path);
    } else if (!schema.is_table(pattern)) {
      problems.push_back(
          {value.key_place, value.key_place.line_text() + ": " + unknown_key_message(schema, path), true});
    } else if (nested == nullptr) {
      problems.push_back({value.place, fmt::format("{}: '{}' must be a table, written [{}], found {}",
                                                   value.place.column_text(), path, path, describe(value))});
    } else {
      table(*nested, path);
    }
  }

  void leaf(const KeyDoc& key, const TomlValue& value, const std::string& path) {
    try {
      check_value(key, value, path, names);
      values[path] = key.type == KeyType::integer || key.type == KeyType::integers ? whole(value) : value;
    } catch (const Error& error) {
      problems.push_back({value.place, error.what()});
    }
  }

  void table_list(const TomlValue& value, const std::string& path) {
    const auto* list = value.as<TomlValue::List>();
    const auto all_tables = [](const TomlValue::List& l) {
      return std::all_of(l.begin(), l.end(),
                         [](const auto& v) { return v.template as<TomlValue::Table>() != nullptr; });
    };
    if (list == nullptr || !all_tables(*list)) {
      problems.push_back({value.place, fmt::format("{}: '{}' must be a list of tables, each written [[{}]], found {}",
                                                   value.place.column_text(), path, path, describe(value))});
      return;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      lists[path].push_back((*list)[i].place);
      table(*(*list)[i].as<TomlValue::Table>(), fmt::format("{}[{}]", path, i));
    }
  }
};

/// A number typed for a text, e.g. --set mesh.file=2024, is meant as the text.
void keep_typed_texts(TomlValue& table, const CaseSchema& schema, const std::string& prefix) {
  for (auto& [key, value] : *table.as<TomlValue::Table>()) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    if (value.as<TomlValue::Table>() != nullptr) keep_typed_texts(value, schema, path);
    if (auto* list = value.as<TomlValue::List>()) {
      for (auto& entry : *list)
        if (entry.as<TomlValue::Table>() != nullptr) keep_typed_texts(entry, schema, path + "[]");
    }
    const auto* doc = schema.find(path);
    const bool wants_text = doc != nullptr && (doc->type == KeyType::text || doc->type == KeyType::file);
    if (!wants_text || value.place.line != 0 || value.as<std::string>() != nullptr) continue;
    // "--set mesh.file=2024", and not a number inside a table that was typed as a whole.
    const std::string& option = value.place.file;
    const std::size_t equals = option.find('=');
    if (key_pattern(option.substr(0, equals)) == "--set " + path) value.data = option.substr(equals + 1);
  }
}

/// `pattern` is a sibling of the key at `path`: the same table, the same index.
std::string sibling(const std::string& path, const std::string& pattern) {
  const auto table = parent_table(path);
  if (pattern.find("[]") == std::string::npos) return pattern;
  return table + pattern.substr(pattern.rfind('.'));
}

}  // namespace

std::string read_text_file(const std::filesystem::path& path) {
  constexpr Size most = Size{16} << 20;  // thousands of probes, and no mesh that was taken for a case
  return read_text(path, "case file", most);
}

Case read_case(const std::filesystem::path& path, const CaseSchema& schema, std::span<const std::string> sets) {
  return parse_case(read_text_file(path), path.string(), schema, sets);
}

Case parse_case(const std::string& text, const std::string& name, const CaseSchema& schema,
                std::span<const std::string> sets) {
  TomlValue tree = parse_case_tree(text, name, sets);
  keep_typed_texts(tree, schema, "");
  Case result;
  result.schema_ = schema;
  result.name_ = name;
  result.directory_ = std::filesystem::absolute(name).parent_path();
  result.constants_ = schema.is_table("constants") ? read_constants(tree) : Constants{};
  const FormulaNames names = schema.is_table("constants") ? names_of_files(tree, result.constants_) : FormulaNames{};
  Flattener flat{schema, names, result.values_, result.lists_};
  flat.table(*tree.as<TomlValue::Table>(), "");
  if (!flat.problems.empty()) {
    const auto first = std::min_element(flat.problems.begin(), flat.problems.end(), [](const auto& a, const auto& b) {
      return std::tuple(!a.unknown_key, a.place.line, a.place.column) <
             std::tuple(!b.unknown_key, b.place.line, b.place.column);
    });
    fail(ErrorKind::input, "{}", first->message);
  }
  result.let_command_line_win();
  result.check_together();
  return result;
}

std::string case_model(const std::string& text, const std::string& name, std::span<const std::string> sets,
                       const std::vector<std::string>& models) {
  const TomlValue tree = parse_case_tree(text, name, sets);
  const auto& table = *tree.as<TomlValue::Table>();
  KeyDoc key{.path = "model", .type = KeyType::choice, .description = "the model", .choices = models};
  const auto it = table.find("model");
  if (it == table.end()) fail(ErrorKind::input, "{}: the key 'model' is missing; it is {}", name, expected_text(key));
  check_value(key, it->second, "model");
  return *it->second.as<std::string>();
}

bool Case::is_set(const std::string& path) const {
  require(schema_.find(key_pattern(path)) != nullptr, "the case has no key '{}'", path);
  return values_.contains(path);
}

const TomlValue* Case::value_or_default(const std::string& path) const {
  const auto* key = schema_.find(key_pattern(path));
  require(key != nullptr, "the case has no key '{}'", path);
  if (const auto it = values_.find(path); it != values_.end()) return &it->second;
  return key->default_value.empty() ? nullptr : &key->default_parsed;
}

bool Case::has(const std::string& path) const {
  return value_or_default(path) != nullptr;
}

bool Case::is_word(const std::string& path, const std::string& word) const {
  const auto* found = value_or_default(path);
  return found != nullptr && found->as<std::string>() != nullptr && *found->as<std::string>() == word;
}

int Case::count(const std::string& table_list) const {
  require(schema_.is_table_list(key_pattern(table_list)), "the case has no list of tables '{}'", table_list);
  const auto it = lists_.find(table_list);
  return it == lists_.end() ? 0 : static_cast<int>(it->second.size());
}

std::string Case::where(const std::string& path) const {
  const auto it = values_.find(path);
  return it == values_.end() ? "default of '" + path + "'" : it->second.place.column_text();
}

const TomlValue& Case::value(const std::string& path, std::initializer_list<KeyType> types) const {
  const auto* found = value_or_default(path);
  const auto* key = schema_.find(key_pattern(path));
  require(std::find(types.begin(), types.end(), key->type) != types.end(), "'{}' is asked for as another type", path);
  if (found == nullptr) {
    fail(ErrorKind::input, "{}: the key '{}' is missing ({}): {}", name_, path, expected_text(*key), key->description);
  }
  return *found;
}

namespace {

double to_number(const TomlValue& value) {
  if (const auto* integer = value.as<std::int64_t>()) return static_cast<double>(*integer);
  require(value.as<double>() != nullptr, "a word is asked for as a number");
  return *value.as<double>();
}

std::int64_t to_integer(const TomlValue& value) {
  if (const auto* integer = value.as<std::int64_t>()) return *integer;
  return static_cast<std::int64_t>(to_number(value));
}

Expression to_expression(const TomlValue& value, const FormulaNames& names) {
  if (const auto* text = value.as<std::string>()) return Expression(*text, value.place.column_text(), names);
  return Expression(to_number(value));
}

template <class T, class Convert>
std::vector<T> to_list(const TomlValue& value, Convert convert) {
  std::vector<T> entries;
  const auto* list = value.as<TomlValue::List>();
  require(list != nullptr, "a word is asked for as a list");
  for (const auto& entry : *list) entries.push_back(convert(entry));
  return entries;
}

}  // namespace

std::string Case::exact_for(const std::string& path) const {
  const auto* key = schema_.find(key_pattern(path));
  return key != nullptr && !key->exact.empty() && is_word(path, "exact") ? sibling(path, key->exact) : "";
}

const FormulaNames& Case::names() const {
  if (names_) return *names_;
  FormulaNames names{constants_, {}, {}};
  const bool any = schema_.is_table_list("table");
  for (int i = 0; any && i < count("table"); ++i) {
    const std::string table = fmt::format("table[{}]", i);
    names.tables[text(table + ".name")] =
        read_table(file(table + ".file"), has(table + ".column") ? text(table + ".column") : "");
  }
  for (int i = 0; any && i < count("field"); ++i) {
    const std::string table = fmt::format("field[{}]", i);
    names.fields[text(table + ".name")] =
        open_field(file(table + ".file"), has(table + ".column") ? text(table + ".column") : "",
                   is_word(table + ".interpolation", "linear"));
  }
  names.solution = true;  // where it must not stand the schema has found it
  names_ = std::make_shared<const FormulaNames>(std::move(names));
  return *names_;
}

bool Case::flag(const std::string& path) const {
  return *value(path, {KeyType::boolean}).as<bool>();
}
std::int64_t Case::integer(const std::string& path) const {
  return to_integer(value(path, {KeyType::integer}));
}
double Case::number(const std::string& path) const {
  return to_number(value(path, {KeyType::number}));
}
std::string Case::text(const std::string& path) const {
  return *value(path, {KeyType::text, KeyType::choice}).as<std::string>();
}
std::filesystem::path Case::file(const std::string& path) const {
  return (directory_ / *value(path, {KeyType::file}).as<std::string>()).lexically_normal();
}
Size Case::bytes(const std::string& path) const {
  const auto& v = value(path, {KeyType::bytes});
  if (const auto* text = v.as<std::string>()) return parse_bytes(*text, path);
  return *v.as<std::int64_t>();
}
Expression Case::expression(const std::string& path) const {
  if (const auto exact = exact_for(path); !exact.empty()) return expression(exact).at_start();
  return to_expression(value(path, {KeyType::expression}), names());
}
std::vector<std::int64_t> Case::integers(const std::string& path) const {
  return to_list<std::int64_t>(value(path, {KeyType::integers}), to_integer);
}
std::vector<double> Case::numbers(const std::string& path) const {
  return to_list<double>(value(path, {KeyType::numbers}), to_number);
}
std::vector<std::string> Case::texts(const std::string& path) const {
  return to_list<std::string>(value(path, {KeyType::texts}), [](const TomlValue& v) { return *v.as<std::string>(); });
}
std::vector<Expression> Case::expressions(const std::string& path) const {
  if (const auto exact = exact_for(path); !exact.empty()) {
    std::vector<Expression> all = expressions(exact);
    for (Expression& e : all) e = e.at_start();
    return all;
  }
  return to_list<Expression>(value(path, {KeyType::expressions}),
                             [&](const TomlValue& v) { return to_expression(v, names()); });
}

TensorExpression Case::tensor(const std::string& path) const {
  const auto& v = value(path, {KeyType::tensor});
  TensorExpression tensor;
  const auto* rows = v.as<TomlValue::List>();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto* row = rows != nullptr ? (*rows)[i].as<TomlValue::List>() : nullptr;
    if (rows == nullptr) {
      tensor[i][i] = to_expression(v, names());
    } else if (row == nullptr) {
      tensor[i][i] = to_expression((*rows)[i], names());
    } else {
      for (std::size_t j = 0; j < 3; ++j) tensor[i][j] = to_expression((*row)[j], names());
    }
  }
  return tensor;
}

// ---- what keys demand of each other

std::vector<std::string> Case::instances(const std::string& table) const {
  if (table.empty()) return {""};
  const auto dot = table.rfind('.');
  const auto parents = instances(dot == std::string::npos ? "" : table.substr(0, dot));
  const std::string last = dot == std::string::npos ? table : table.substr(dot + 1);
  std::vector<std::string> found;
  for (const auto& parent : parents) {
    const std::string prefix = parent.empty() ? "" : parent + ".";
    if (!last.ends_with("[]")) {
      found.push_back(prefix + last);
      continue;
    }
    const std::string list = prefix + last.substr(0, last.size() - 2);
    for (int i = 0; i < count(list); ++i) found.push_back(fmt::format("{}[{}]", list, i));
  }
  return found;
}

bool Case::condition_holds(const KeyDoc& key, const std::string& path) const {
  if (key.only_if.path.empty()) return true;
  const auto other = sibling(path, key.only_if.path);
  if (key.only_if.values.empty()) return has(other);
  return std::any_of(key.only_if.values.begin(), key.only_if.values.end(),
                     [&](const std::string& word) { return is_word(other, word); });
}

namespace {
std::string joined_path(const std::string& table, const std::string& pattern) {
  const auto last = pattern.substr(pattern.rfind('.') + 1);
  return table.empty() ? last : table + "." + last;
}

std::string condition_words(const KeyCondition& condition) {
  std::string words;
  for (const auto& value : condition.values) words += (words.empty() ? " = " : " or ") + quote_toml(value);
  return condition.path + words;
}
}  // namespace

void Case::let_command_line_win() {
  std::vector<std::string> replaced;
  const auto typed = [&](const std::string& path) { return is_set(path) && values_.at(path).place.line == 0; };
  for (const auto& rule : schema_.rules()) {
    for (const auto& table : instances(parent_table(rule.paths.front()))) {
      const bool any_typed = std::any_of(rule.paths.begin(), rule.paths.end(),
                                         [&](const auto& pattern) { return typed(joined_path(table, pattern)); });
      for (const auto& pattern : rule.paths) {
        const auto path = joined_path(table, pattern);
        if (!any_typed || !is_set(path) || typed(path)) continue;
        values_.erase(path);
        replaced.push_back(path);
      }
    }
  }
  for (const auto& key : schema_.keys()) {
    if (key.only_if.path.empty()) continue;
    for (const auto& table : instances(parent_table(key.path))) {
      const auto path = joined_path(table, key.path);
      const auto other = sibling(path, key.only_if.path);
      const bool by_command = typed(other) || std::find(replaced.begin(), replaced.end(), other) != replaced.end();
      if (by_command && is_set(path) && !typed(path) && !condition_holds(key, path)) values_.erase(path);
    }
  }
}

void Case::check_together() const {
  for (const auto& key : schema_.keys()) {
    for (const auto& table : instances(parent_table(key.path))) {
      const auto path = joined_path(table, key.path);
      const bool counts = condition_holds(key, path);
      if (!counts && is_set(path)) {
        fail(ErrorKind::input, "{}: '{}' has no effect here; it belongs to {}", where(path), path,
             condition_words(key.only_if));
      }
      if (const auto exact = exact_for(path); counts && !exact.empty() && !is_set(exact))
        fail(ErrorKind::input, "{}: '{}' is \"exact\", and there is no '{}'; give it, or a formula here", where(path),
             path, exact);
      if (counts && key.required && !is_set(path)) {
        const bool in_list = table.ends_with("]");
        const auto list = table.substr(0, table.rfind('['));
        const auto index = in_list ? std::strtoul(table.c_str() + table.rfind('[') + 1, nullptr, 10) : 0;
        const auto place = in_list ? lists_.at(list)[index].line_text() : name_;
        fail(ErrorKind::input, "{}: the key '{}' is missing: {} ({})", place, path, key.description,
             expected_text(key));
      }
    }
  }
  for (const auto& rule : schema_.rules()) {
    for (const auto& table : instances(parent_table(rule.paths.front()))) {
      std::vector<std::string> given, all;
      bool counts = false;
      for (const auto& pattern : rule.paths) {
        counts = counts || condition_holds(*schema_.find(pattern), joined_path(table, pattern));
        all.push_back("'" + joined_path(table, pattern) + "'");
        if (is_set(joined_path(table, pattern))) given.push_back(joined_path(table, pattern));
      }
      if (given.size() > 1) {
        fail(ErrorKind::input, "{}: '{}' and '{}' exclude each other (the other stands at {}); remove one",
             where(given[1]), given[0], given[1], where(given[0]));
      }
      if (given.empty() && rule.exactly && counts)
        fail(ErrorKind::input, "{}: one of the keys {} must be given", name_, fmt::join(all, ", "));
    }
  }
}

std::vector<std::string> Case::paths_of(const KeyDoc& key, const std::string& table) const {
  if (!has_any_name(key)) return {joined_path(table, key.path)};
  std::vector<std::string> paths;
  for (const auto& [path, _] : values_)
    if (parent_table(path) == table) paths.push_back(path);
  return paths;
}

std::optional<std::string> Case::effective_value(const KeyDoc& key, const std::string& path) const {
  if (!has(path) || !condition_holds(key, path)) return std::nullopt;
  return key.type == KeyType::file ? quote_toml(file(path).string()) : to_toml(*value_or_default(path));
}

std::string Case::effective_toml() const {
  std::string text;
  for (const auto& pattern : schema_.tables()) {
    for (const auto& table : instances(pattern)) {
      std::string lines;
      for (const auto& key : schema_.keys()) {
        if (parent_table(key.path) != pattern) continue;
        for (const auto& path : paths_of(key, table))
          if (const auto shown = effective_value(key, path))
            lines += fmt::format("{} = {}\n", path.substr(path.rfind('.') + 1), *shown);
      }
      const bool in_list = pattern.ends_with("[]");
      if (lines.empty() && !in_list) continue;
      if (in_list) {
        text += fmt::format("\n[[{}]]\n", pattern.substr(0, pattern.size() - 2));
      } else if (!table.empty()) {
        text += fmt::format("\n[{}]\n", table);
      }
      text += lines;
    }
  }
  return text;
}

std::map<std::string, std::string> Case::effective_values() const {
  std::map<std::string, std::string> values;
  for (const auto& pattern : schema_.tables())
    for (const auto& table : instances(pattern))
      for (const auto& key : schema_.keys()) {
        if (parent_table(key.path) != pattern) continue;
        for (const auto& path : paths_of(key, table))
          if (const auto shown = effective_value(key, path)) values[path] = *shown;
      }
  return values;
}

}  // namespace tutti
