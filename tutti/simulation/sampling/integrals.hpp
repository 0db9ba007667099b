// Integrals, means and extremes over cells and over parts of the boundary: columns of history.csv.
#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/exact_sum.hpp"
#include "tutti/simulation/observer.hpp"

namespace tutti {

/// How values are brought together.
enum class Reduction : std::uint8_t { integral, mean, smallest, largest };
Reduction read_reduction(const Case& options, const std::string& key);

/// An integral, a mean or an extreme of values that count for volumes or areas, over all ranks; its bits depend neither
/// on the partition nor on the order. NaN where a value is, and of a mean or an extreme over nothing.
class Reduced {
 public:
  explicit Reduced(Reduction kind) : kind_(kind) {}
  void add(double measure, double value);
  double over_ranks(const Comm& comm);  ///< collective

 private:
  Reduction kind_;
  ExactSum sum_, measures_;
  double largest_ = -std::numeric_limits<double>::infinity();  ///< of `smallest`: negated
};

/// What the tables [[output.integral]] and [[output.surface]] ask for.
class Integrals {
 public:
  /// Collective. Error(input): no such field, region, boundary or quantity; a name twice; no cell where one is asked
  /// for.
  explicit Integrals(const Run& run);
  bool none() const { return integrals_.empty() && surfaces_.empty(); }
  /// Error(input): a column's name is that of a diagnostic.
  void check_names(const Case& options, std::span<const Diagnostic> diagnostics) const;
  /// Names and values at run.time. Collective.
  std::vector<Diagnostic> values(Run& run) const;

 private:
  struct Integral {
    std::string name;
    int field = -1;  ///< among the model's; -1: the number 1
    int component = 0;
    Reduction kind{};
    double scale = 1;
    std::vector<std::vector<double>> measures = {};  ///< of each part's owned rows; 0: it does not count
  };
  struct Surface {
    std::string name;
    std::int32_t tag = 0;
    std::size_t quantity = 0;
    Reduction kind{};
    double scale = 1;
  };
  void read_integrals(const Run& run);
  void read_surfaces(const Run& run);
  void check_name(const Case& options, const std::string& key) const;

  std::vector<Integral> integrals_;
  std::vector<Surface> surfaces_;
};

/// Units by the names of what they belong to: of [[output.unit]], integrals and surfaces.
std::map<std::string, std::string> named_units(const Case& options);

/// The tag and the quantity of a table [[output.surface]]. Error(input).
struct SurfaceChoice {
  std::int32_t tag = 0;
  std::size_t quantity = 0;
};
SurfaceChoice read_surface(const Run& run, const std::string& table);

}  // namespace tutti
