// A quantity at points, from a table or from results.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tutti/base/vec3.hpp"

namespace tutti {

struct PointValues {
  std::vector<Vec3> points;
  std::vector<double> values;
};

/// What read_point_values reads, for help texts.
inline constexpr const char* point_value_formats =
    "a table (.csv: columns x, y, z and others), VTK (.vtu, .vti, .vtr, their parallel forms, the last time of a "
    ".pvd), "
    "or a folder of results";

/// The quantity `name` (empty: the first one; "velocity[0]": a component): of cells at their middles, else of points.
/// Errors: io; input, naming the file: another extension, no such quantity, no finite numbers, damage.
PointValues read_point_values(const std::filesystem::path& path, const std::string& name);

}  // namespace tutti
