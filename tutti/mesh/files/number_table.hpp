// Tables of numbers in text files (CSV).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct NumberTable {
  std::string file;
  std::vector<std::string> names;  ///< of the columns; "1", "2", ... where the file gives none
  std::vector<std::vector<double>> columns;
  std::size_t rows() const { return columns.empty() ? 0 : columns[0].size(); }
  /// The column of a name. Error(input): there is none.
  const std::vector<double>& column(const std::string& name) const;
};

/// Reads a file of lines of finite numbers between commas, or blanks where a line has no comma. A first line that
/// begins with no number gives the columns' names; empty lines and what follows # are left out. Error(io);
/// Error(input) with file and line: no number, another count of them, no line at all.
NumberTable read_number_table(const std::filesystem::path& path);
/// The same from the file's text.
NumberTable parse_number_table(std::string_view text, const std::string& name);

}  // namespace tutti
