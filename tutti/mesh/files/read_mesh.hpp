// A mesh file of any format that tutti reads.
#pragma once

#include <filesystem>

#include "tutti/mesh/mesh_report.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// What read_mesh reads, for help texts.
inline constexpr const char* mesh_formats =
    "Gmsh (.msh, MSH 2.2 or 4.1), VTK (.vtu), TetGen (.node, .ele, .face or their stem)";

/// Is it of a format that tutti does not read and `tutti mesh convert` takes, by meshio? The extension says so.
bool is_converted(const std::filesystem::path& path);

/// Reads a mesh by its file's extension, or TetGen's files by their stem. Errors: input (another extension), io, input:
/// see read_gmsh, read_vtu, read_tetgen.
TetMesh read_mesh(const std::filesystem::path& path, MeshReport* report = nullptr);

/// The same, but tetrahedra of negative volume stay inverted: their vertices come in the order of the file. Where most
/// cells are of negative volume it is the file's order of vertices that is the other one, and all cells are turned.
/// A mesh of triangles is taken, too, if the file has no tetrahedra: is_surface().
TetMesh read_mesh_as_written(const std::filesystem::path& path);

/// find_face_neighbours() of a mesh that read_mesh() has read: its errors name the file.
FaceNeighbours find_face_neighbours_of(const std::filesystem::path& path, const TetMesh& mesh,
                                       const ParallelFor& parallel = {});

}  // namespace tutti
