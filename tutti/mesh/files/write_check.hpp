// What every writer of meshes asks of a mesh.
#pragma once

#include <filesystem>

#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Errors (input, naming the file to be written): another number of regions, boundary tags or data than there are
/// cells and triangles; regions < 0, boundary tags < 1, data of other than 1, 3 or 9 components.
void check_writable(const TetMesh& mesh, const std::filesystem::path& path);

}  // namespace tutti
