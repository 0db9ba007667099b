#include "tutti/io/case/named_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/base/error.hpp"
#include "tutti/mesh/files/number_table.hpp"
#include "tutti/mesh/files/point_values.hpp"
#include "tutti/mesh/sphere/nearest.hpp"

namespace tutti {
namespace {

/// Calls use(name, place of the name) for the tables of a list that have a name.
template <class Use>
void each_name(const TomlValue& tree, const char* list_name, const Use& use) {
  const auto& root = *tree.as<TomlValue::Table>();
  const auto at = root.find(list_name);
  const auto* list = at == root.end() ? nullptr : at->second.as<TomlValue::List>();
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* table = (*list)[i].as<TomlValue::Table>();
    if (table == nullptr || !table->contains("name")) continue;  // told elsewhere
    const TomlValue& name = table->at("name");
    if (name.as<std::string>() != nullptr) use(*name.as<std::string>(), name.place.column_text());
  }
}

/// The linear function that fits values best, by weighted least squares about their middle; it has no slope in a
/// direction in which all points lie alike.
class LinearFit {
 public:
  void add(Vec3 offset, double weight, double value) {
    weight_ += weight;
    middle_ = middle_ + weight * offset;
    mean_ += weight * value;
    points_.push_back({offset, weight, value});
  }
  double at_origin() const {
    const Vec3 middle = (1 / weight_) * middle_;
    const double mean = mean_ / weight_;
    std::array<std::array<double, 4>, 3> a{};  // the normal equations, the right side last
    for (const auto& [offset, weight, value] : points_) {
      const Vec3 d = offset - middle;
      const std::array<double, 4> row{d.x, d.y, d.z, value - mean};
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) a[i][j] += weight * row[i] * row[j];
    }
    const double spread = a[0][0] + a[1][1] + a[2][2];
    for (std::size_t i = 0; i < 3; ++i) a[i][i] += 1e-10 * spread + 1e-300;
    for (std::size_t k = 0; k < 3; ++k)  // positive definite: no pivots
      for (std::size_t i = 0; i < 3; ++i) {
        if (i == k) continue;
        const double factor = a[i][k] / a[k][k];
        for (std::size_t j = k; j < 4; ++j) a[i][j] -= factor * a[k][j];
      }
    return mean - dot({a[0][3] / a[0][0], a[1][3] / a[1][1], a[2][3] / a[2][2]}, middle);
  }

 private:
  struct Point {
    Vec3 offset;
    double weight, value;
  };
  std::vector<Point> points_;
  Vec3 middle_;
  double weight_ = 0, mean_ = 0;
};

class FieldFile final : public SampledField {
 public:
  FieldFile(std::filesystem::path path, std::string column, bool linear)
      : path_(std::move(path)), column_(std::move(column)), linear_(linear) {}

  double at(Vec3 place) const override {
    std::call_once(read_, [&] {
      file_ = read_point_values(path_, column_);
      tree_.emplace(file_.points);
    });
    std::array<Gid, 12> near{};
    const int count = linear_ ? static_cast<int>(std::min<Gid>(tree_->size(), near.size())) : 1;
    tree_->find(place, count, std::span(near).first(static_cast<std::size_t>(count)));
    if (!linear_) return file_.values[static_cast<std::size_t>(near[0])];
    const auto offset = [&](int k) { return file_.points[static_cast<std::size_t>(near[k])] - place; };
    // A tenth of the farthest point's distance smooths; at a point itself nothing may.
    const double far = dot(offset(count - 1), offset(count - 1));
    LinearFit fit;
    for (int k = 0; k < count; ++k) {
      const double square = dot(offset(k), offset(k));
      if (square <= 1e-24 * far || far == 0) return file_.values[static_cast<std::size_t>(near[k])];
      fit.add(offset(k), far / square, file_.values[static_cast<std::size_t>(near[k])]);
    }
    return fit.at_origin();
  }

 private:
  std::filesystem::path path_;
  std::string column_;
  bool linear_;
  mutable std::once_flag read_;
  mutable PointValues file_;
  mutable std::optional<NearestNodes> tree_;
};

}  // namespace

void add_named_file_keys(CaseSchema& schema) {
  const auto name = [&](const std::string& list, const std::string& use) {
    schema.add({.path = list + ".name", .type = KeyType::text, .description = use, .required = true});
  };
  schema.describe_table("table[]",
                        "A function of one number for every expression of the case, such as `name(t)`. It is linear "
                        "between the rows of its file, and constant before the first and after the last.");
  name("table[]", "Its name in expressions.");
  schema.add({.path = "table[].file",
              .type = KeyType::file,
              .description = "A text file of numbers in columns (CSV), relative to the case file. The first column "
                             "ascends.",
              .required = true});
  schema.add({.path = "table[].column",
              .type = KeyType::text,
              .description = "Name of the column with the values, or its number; else it is the second."});
  schema.describe_table(
      "field[]",
      "A quantity from a file. Expressions of initial values may use it; so may diffusion's K, source and boundary "
      "values and transport's velocity, if they do not change in time. Its `name` stands for the value at x, y, z. The "
      "interpolation is not conservative: the mass may change.");
  name("field[]", "Its name in expressions.");
  schema.add({.path = "field[].file",
              .type = KeyType::file,
              .description = fmt::format("Relative to the case file: {}.", point_value_formats),
              .required = true});
  schema.add({.path = "field[].column",
              .type = KeyType::text,
              .description = "Name of the quantity, `velocity[0]` for a component; else it is the first."});
  schema.add({.path = "field[].interpolation",
              .type = KeyType::choice,
              .default_value = "\"linear\"",
              .description = "nearest: the value of the nearest point or cell; linear: a linear fit to the nearest "
                             "twelve, weighted by distance.",
              .choices = {"nearest", "linear"}});
}

FormulaNames names_of_files(const TomlValue& tree, const Constants& constants) {
  FormulaNames names{constants, {}, {}};
  const auto check = [&](const std::string& name, const std::string& where) {
    if (!may_name_constant(name))
      fail(ErrorKind::input,
           "{}: '{}' cannot be named in formulas; take letters, digits and _, and no name that they "
           "know already",
           where, name);
    if (names.constants.contains(name) || names.tables.contains(name) || names.fields.contains(name))
      fail(ErrorKind::input, "{}: there is a constant, table or field '{}' already; take another name", where, name);
  };
  each_name(tree, "table", [&](const std::string& name, const std::string& where) {
    check(name, where);
    names.tables[name] = {{0}, {1}};
  });
  class Nowhere final : public SampledField {
    double at(Vec3) const override { return 0; }
  };
  each_name(tree, "field", [&](const std::string& name, const std::string& where) {
    check(name, where);
    names.fields[name] = std::make_shared<Nowhere>();
  });
  return names;
}

FormulaTable read_table(const std::filesystem::path& path, const std::string& column) {
  const NumberTable file = read_number_table(path);
  constexpr std::size_t most = 100000;
  if (file.columns.size() < 2 || file.rows() > most)
    fail(ErrorKind::input, "{}: {} columns and {} rows; a table has at least 2 columns and at most {} rows", file.file,
         file.columns.size(), file.rows(), most);
  FormulaTable table{file.columns[0], column.empty() ? file.columns[1] : file.column(column)};
  for (std::size_t i = 1; i < table.x.size(); ++i)
    if (!(table.x[i] > table.x[i - 1]))
      fail(ErrorKind::input, "{}: row {} of the first column is {}, the one before {}; it must ascend", file.file,
           i + 1, table.x[i], table.x[i - 1]);
  return table;
}

std::shared_ptr<const SampledField> open_field(const std::filesystem::path& path, const std::string& column,
                                               bool linear) {
  return std::make_shared<FieldFile>(path, column, linear);
}

}  // namespace tutti
