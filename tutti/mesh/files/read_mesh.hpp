// A mesh file of any format that tutti reads.
#pragma once

#include <filesystem>

#include "tutti/mesh/mesh_report.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// What read_mesh reads, for help texts.
inline constexpr const char* mesh_formats =
    "Gmsh (.msh, MSH 2.2 or 4.1), VTK (.vtu), TetGen (.node, .ele, .face or their stem)";

/// Reads a mesh by its file's extension, or TetGen's files by their stem. Errors: input (another extension), io, input:
/// see read_gmsh, read_vtu, read_tetgen.
TetMesh read_mesh(const std::filesystem::path& path, MeshReport* report = nullptr);

/// find_face_neighbours() of a mesh that read_mesh() has read: its errors name the file.
FaceNeighbours find_face_neighbours_of(const std::filesystem::path& path, const TetMesh& mesh,
                                       const ParallelFor& parallel = {});

}  // namespace tutti
