// [[table]] and [[field]]: names for numbers of files, for the formulas of a case.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tutti/io/case/case_schema.hpp"

namespace tutti {

/// The keys of both lists.
void add_named_file_keys(CaseSchema& schema);

/// The names of both lists in a whole case and its constants, without what their files hold: to check formulas by.
/// Error(input): a name that formulas cannot use, or that is given twice.
FormulaNames names_of_files(const TomlValue& tree, const Constants& constants);

/// The first column of a file of numbers and another one (empty: the second). Error(io); Error(input): no such column,
/// the first one does not ascend.
FormulaTable read_table(const std::filesystem::path& path, const std::string& column);

/// A quantity of a file between its points (read_point_values): the value of the nearest one, or, `linear`, of the
/// linear function that fits the nearest twelve best, the nearer the better (moving least squares; Lancaster and
/// Salkauskas, Math. Comp. 37, 1981). The file is read when the first value is asked for; errors as read_point_values.
std::shared_ptr<const SampledField> open_field(const std::filesystem::path& path, const std::string& column,
                                               bool linear);

}  // namespace tutti
