// The keys of a case file, declared as data: the reader, the messages and the reference page use one table.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tutti/io/case/formula_parser.hpp"
#include "tutti/io/case/toml_value.hpp"

namespace tutti {

/// What a key takes. Where a key has `choices` and another type than `choice` or `texts`, those words are accepted
/// besides, e.g. a number or "auto".
enum class KeyType {
  boolean,      ///< true or false
  integer,      ///< 5; also 1e6, if it is whole
  number,       ///< 0.5, 1e-3, 2
  text,         ///< "..."
  choice,       ///< one of `choices`
  file,         ///< a path, relative to the case file
  bytes,        ///< 4096, "512M", "2GiB"
  expression,   ///< a number or a formula of x, y, z, t
  integers,     ///< [1, 2, 3]
  numbers,      ///< [0.5, 1]
  texts,        ///< ["a", "b"], each one of `choices` where given
  expressions,  ///< ["x", 0, 1]
  tensor,       ///< an expression (times the unit tensor), [a, b, c] (diagonal) or [[..], [..], [..]]
};

/// A key counts only where another key has one of these values (any value, where `values` is empty).
struct KeyCondition {
  std::string path;  ///< empty: no condition
  std::vector<std::string> values;
};

/// One key. Paths are dotted; a list of tables is written with brackets: "boundary[].value"
/// (in such a table there are no further tables); "constants.<name>" is a key of any name.
struct KeyDoc {
  std::string path = {};
  KeyType type = KeyType::text;
  std::string default_value = {};  ///< in TOML notation, e.g. "\"auto\""; empty: no default
  std::string unit = {};           ///< e.g. "s"; empty: none
  std::string description = {};    ///< one line
  std::vector<std::string> choices = {};
  double min = -std::numeric_limits<double>::infinity();  ///< numbers and integers, each entry of a list
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is not allowed
  int length = 0;          ///< of a list; 0: any
  bool required = false;   ///< must be in the file (where its condition holds, and in each table of a list)
  KeyCondition only_if = {};
  bool initial = false;           ///< evaluated on the host, when the run begins: it may name a [[field]]
  bool solution = false;          ///< it may name u, the solution
  std::string exact = {};         ///< the key whose value at t = 0 the word "exact" stands for
  std::string group = {};         ///< "core" or the model's name; set by CaseSchema::add
  TomlValue default_parsed = {};  ///< set by CaseSchema::add
};

/// Of these keys, siblings in one table, one at most (or exactly one, where one of them counts) may be given.
struct KeyRule {
  std::vector<std::string> paths;
  bool exactly = false;
};

/// The table of keys, in the order of the reference page.
class CaseSchema {
 public:
  /// From here on, keys belong to `name` ("core" or a model).
  void begin_group(const std::string& name);
  /// One line about a table of the file, e.g. ("mesh", "Where the mesh comes from").
  void describe_table(const std::string& path, const std::string& description);
  /// A broken entry (path twice, bad default) is a std::logic_error: a bug of the table.
  void add(KeyDoc key);
  /// Why this schema lacks a key or table that others have, for who gives it all the same: "only ... have slices".
  void leave_out(const std::string& path, const std::string& reason);
  /// A key that is there counts only where this holds: of the core's, for a model.
  void narrow(const std::string& path, const KeyCondition& condition);
  void at_most_one_of(std::vector<std::string> paths);
  void exactly_one_of(std::vector<std::string> paths);

  const std::vector<KeyDoc>& keys() const { return keys_; }
  const std::vector<KeyRule>& rules() const { return rules_; }
  const KeyDoc* find(const std::string& path) const;  ///< by "boundary[].value"; null when unknown
  bool is_table(const std::string& path) const;       ///< "mesh", "boundary[]"
  bool is_table_list(const std::string& path) const;  ///< "boundary"
  /// Tables in the order of their first key: "" (top level), "mesh", "boundary[]", ...
  std::vector<std::string> tables() const;
  /// The nearest known key or table, empty when none is near.
  std::string nearest(const std::string& path) const;
  std::string table_description(const std::string& path) const;
  std::string reason_left_out(const std::string& path) const;  ///< empty: it is not known at all

 private:
  std::vector<KeyDoc> keys_;
  std::vector<KeyRule> rules_;
  std::map<std::string, std::string> table_descriptions_, left_out_;
  std::string group_ = "core";
};

/// "boundary[3].value" -> "boundary[].value".
std::string key_pattern(const std::string& path);
/// "boundary[].value" -> "boundary[]"; "model" -> "".
std::string parent_table(const std::string& path);

/// What a key takes, in words: "a number > 0 or \"auto\"".
std::string expected_text(const KeyDoc& key);
/// Checks type, range, length and choice of a value for `key`. Error(input) begins with the value's place and names
/// `path`, what is expected and what was found. `names`: what expressions may name.
void check_value(const KeyDoc& key, const TomlValue& value, const std::string& path, const FormulaNames& names = {});
/// The key is one of any name.
bool has_any_name(const KeyDoc& key);

/// The reference page (Markdown): all keys, table by table.
std::string case_reference_markdown(const CaseSchema& schema);

}  // namespace tutti
