// Values at points from the rows around them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tutti/domain/domain.hpp"

namespace tutti {

/// What the values at `points` count at `at`, a point near the first of them: the first value, and a gradient by least
/// squares of the differences to the others, each divided by its distance. Exact for linear functions; in a direction
/// in which all points lie alike there is no slope. The sum of the weights is 1.
std::vector<double> linear_weights(Vec3 at, std::span<const Vec3> points);

/// The same as rows, whose numbers in the whole mesh these are.
std::vector<WeightedRow> linear_rows(Vec3 at, std::span<const Vec3> points, std::span<const Gid> numbers);

/// As Domain::locate, for values that Domain::around says. Collective.
std::vector<RowPlace> interpolated_rows(const Comm& comm, const Domain& domain, std::span<const Vec3> points,
                                        std::span<const std::string> labels);

}  // namespace tutti
