// Gmsh's mesh files: MSH 4.1 and 2.2, ASCII and binary (https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tutti/mesh/mesh_report.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Reads tetrahedra, physical groups and $ElementData. Cells keep the order of the file. The physical group of a volume
/// gives the region (0: none), that of a surface the boundary tag (triangles without one are left out); points and
/// lines are ignored. If a file has any physical group, Gmsh saves only what is in one (unless Mesh.SaveAll = 1).
/// Errors: io (cannot be read); input, with file and line (ASCII) or byte (binary): anything that is not a valid
/// first-order tetrahedral mesh. Counts are checked against the file's size before memory is taken.
TetMesh read_gmsh(const std::filesystem::path& path, MeshReport* report = nullptr);
/// The same from the file's bytes; `name` stands in messages for the path.
TetMesh parse_gmsh(std::string_view bytes, const std::string& name, MeshReport* report = nullptr);

enum class GmshFormat { v41_binary, v41_ascii, v22_binary, v22_ascii };

/// Writes so that read_gmsh gives the same mesh back, bit for bit (if every vertex is used and every volume positive).
/// The file appears under its name only when it is complete. Errors: io (cannot be written, disk full); input (tags <
/// 0, boundary tags < 1, names with a quote or line break, data of other than 1, 3 or 9 components or another length).
void write_gmsh(const TetMesh& mesh, const std::filesystem::path& path, GmshFormat format = GmshFormat::v41_binary);

}  // namespace tutti
