#include "tutti/mesh/files/number_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "tutti/base/error.hpp"
#include "tutti/base/printable.hpp"
#include "tutti/mesh/files/file_bytes.hpp"

namespace tutti {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  const bool commas = line.find(',') != std::string_view::npos;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find_first_of(commas ? "," : " \t", begin), line.size());
    const auto word = trimmed(line.substr(begin, end - begin));
    if (commas || !word.empty()) words.push_back(word);
    begin = end + 1;
  }
  return words;
}

std::optional<double> number_of(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

}  // namespace

const std::vector<double>& NumberTable::column(const std::string& name) const {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    fail(ErrorKind::input, "{}: there is no column '{}'; take one of {}", file, name, fmt::join(names, ", "));
  return columns[static_cast<std::size_t>(at - names.begin())];
}

NumberTable parse_number_table(std::string_view text, const std::string& name) {
  NumberTable table{name, {}, {}};
  int line_number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto words = words_of(line);
    if (table.names.empty()) {
      table.columns.resize(words.size());
      const bool head = !number_of(words[0]);
      for (std::size_t c = 0; c < words.size(); ++c)
        table.names.push_back(head ? std::string(words[c]) : std::to_string(c + 1));
      if (head) continue;
    }
    if (words.size() != table.columns.size())
      fail(ErrorKind::input, "{}:{}: {} numbers, where {} are expected", name, line_number, words.size(),
           table.columns.size());
    for (std::size_t c = 0; c < words.size(); ++c) {
      const auto value = number_of(words[c]);
      if (!value || !std::isfinite(*value))
        fail(ErrorKind::input, "{}:{}: found '{}', where a finite number is expected", name, line_number,
             printable(std::string(words[c].substr(0, 40))));
      table.columns[c].push_back(*value);
    }
  }
  if (table.rows() == 0) fail(ErrorKind::input, "{}: there are no numbers; lines of them are expected", name);
  return table;
}

NumberTable read_number_table(const std::filesystem::path& path) {
  const FileBytes file(path, "table");
  return parse_number_table(file.view(), path.string());
}

}  // namespace tutti
