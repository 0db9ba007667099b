// A case: what a user wants to be computed, read from a TOML file and checked against the table of keys.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/types.hpp"
#include "tutti/io/case/case_schema.hpp"
#include "tutti/io/case/expression.hpp"

namespace tutti {

/// A 3x3 tensor of expressions, row by row.
using TensorExpression = std::array<std::array<Expression, 3>, 3>;

/// All values of a case. Paths are those of the schema with numbers in brackets: "boundary[0].value".
///
/// Getters return the file's value, else the default. A key with neither is Error(input) that names it; asking for a
/// key that the schema does not have, or as another type, is a std::logic_error.
class Case {
 public:
  /// Given in the file or on the command line.
  bool is_set(const std::string& path) const;
  /// Set, or has a default.
  bool has(const std::string& path) const;
  /// The value is this word, e.g. is_word("time.dt", "auto").
  bool is_word(const std::string& path, const std::string& word) const;
  /// Tables in a list, e.g. count("boundary").
  int count(const std::string& table_list) const;

  bool flag(const std::string& path) const;
  std::int64_t integer(const std::string& path) const;
  double number(const std::string& path) const;
  std::string text(const std::string& path) const;            ///< text or choice
  std::filesystem::path file(const std::string& path) const;  ///< resolved against the case's directory
  Size bytes(const std::string& path) const;
  Expression expression(const std::string& path) const;
  std::vector<std::int64_t> integers(const std::string& path) const;
  std::vector<double> numbers(const std::string& path) const;
  std::vector<std::string> texts(const std::string& path) const;
  std::vector<Expression> expressions(const std::string& path) const;
  TensorExpression tensor(const std::string& path) const;

  /// Where a value was given, "case.toml:12:5"; for a default "default of 'time.dt'": for messages of models.
  std::string where(const std::string& path) const;
  const std::string& name() const { return name_; }  ///< the file's name as it was given
  const std::filesystem::path& directory() const { return directory_; }
  const CaseSchema& schema() const { return schema_; }

  /// All values that count, defaults too, as a TOML file that gives the same case from any directory.
  std::string effective_toml() const;
  /// The same as pairs of path and TOML text, for comparisons: ("time.end", "1.0").
  std::map<std::string, std::string> effective_values() const;

 private:
  friend Case parse_case(const std::string&, const std::string&, const CaseSchema&, std::span<const std::string>);
  /// Where values of `key` stand in this table: of a key of any name, all that are given.
  std::vector<std::string> paths_of(const KeyDoc& key, const std::string& table) const;
  /// The key that is meant where the value is the word "exact"; empty: it is another one.
  std::string exact_for(const std::string& path) const;
  std::optional<std::string> effective_value(const KeyDoc& key, const std::string& path) const;
  const TomlValue* value_or_default(const std::string& path) const;
  const TomlValue& value(const std::string& path, std::initializer_list<KeyType> types) const;
  bool condition_holds(const KeyDoc& key, const std::string& path) const;
  /// A value typed with --set takes out what the file says to the contrary: time.steps of the file goes when time.end
  /// is typed, the parameters of one generator when another is typed.
  void let_command_line_win();
  void check_together() const;
  std::vector<std::string> instances(const std::string& table) const;

  CaseSchema schema_;
  std::map<std::string, TomlValue> values_;
  Constants constants_;
  /// What formulas name, read when the first of them is asked for: who only looks at a case needs no other files.
  const FormulaNames& names() const;
  mutable std::shared_ptr<const FormulaNames> names_ = {};
  std::map<std::string, std::vector<TomlPlace>> lists_;  ///< places of the tables in a list
  std::string name_;
  std::filesystem::path directory_;
};

/// Reads a case file; `sets` are the command line's "a.b=value" (see case_reference_markdown). Errors: io (the file
/// cannot be read), input (bad TOML, unknown key, wrong type or range, rule broken), usage (a bad `--set`).
Case read_case(const std::filesystem::path& path, const CaseSchema& schema, std::span<const std::string> sets = {});

/// The same from the file's text; `name` is its path. For ranks that get the text from the one that read it.
Case parse_case(const std::string& text, const std::string& name, const CaseSchema& schema,
                std::span<const std::string> sets = {});

/// Whole content of a file. Error(io).
std::string read_text_file(const std::filesystem::path& path);

/// Only the key `model`, which decides the schema. Error(input) when it is missing or not one of `models`.
std::string case_model(const std::string& text, const std::string& name, std::span<const std::string> sets,
                       const std::vector<std::string>& models);

}  // namespace tutti
