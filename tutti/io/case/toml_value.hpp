// What a TOML file says, as plain data that remembers its place in the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tutti {

/// Where a value stands. line = 0: it comes from the command line, and `file` is the option as it was typed.
struct TomlPlace {
  std::string file;
  int line = 0;
  int column = 0;

  std::string line_text() const;    ///< "case.toml:12" or "--set a.b=v"
  std::string column_text() const;  ///< "case.toml:12:5" or "--set a.b=v"
};

/// A TOML value: bool, integer, number, text, list or table. Dates and times do not exist here.
struct TomlValue {
  using List = std::vector<TomlValue>;
  using Table = std::map<std::string, TomlValue>;
  std::variant<Table, bool, std::int64_t, double, std::string, List> data;
  TomlPlace place;      ///< of the value
  TomlPlace key_place;  ///< of the key it belongs to

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  T* as() {
    return std::get_if<T>(&data);
  }
};

/// Parses a whole document; `name` is the file's name for messages. Error(input) "name:line:column: ..." for bad TOML
/// (duplicate keys too) and for dates.
TomlValue parse_toml(const std::string& text, const std::string& name);

/// Parses what a user typed for `option`: a TOML value if it is one, else the text itself. Error(usage): not UTF-8.
TomlValue parse_typed_value(const std::string& typed, const std::string& option);

/// "text \"abc\"", "the integer 3", "a list of 2", "a table": for messages.
std::string describe(const TomlValue& value);

/// The value in TOML's notation, numbers with all their digits. Tables are written inline.
std::string to_toml(const TomlValue& value);
/// A text between quotes, escaped.
std::string quote_toml(const std::string& text);

}  // namespace tutti
