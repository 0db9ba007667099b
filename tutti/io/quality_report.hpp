// The quality of a mesh for scripts.
#pragma once

#include <string>

#include "tutti/mesh/quality/mesh_quality.hpp"

namespace tutti {

/// JSON: cells, triangles (true: cells are triangles, with areas and inner angles), inverted, total_volume; mean_ratio,
/// radius_ratio, aspect, dihedral [degrees], volume, each with min, mean, max and histogram {edges, counts}; worst: a
/// list of cells. Infinite values are null.
std::string quality_json(const MeshQuality& quality);

}  // namespace tutti
