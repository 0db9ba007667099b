// VTK's XML files of unstructured grids, .vtu (https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tutti/mesh/mesh_report.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Reads tetrahedra, tagged triangles and cell data: ASCII, base64 or raw, inline or appended, with zlib or without,
/// either byte order. The cell data `region` (else CellEntityIds, gmsh:physical or medit:ref), if of an integer type,
/// gives the regions of tetrahedra and the boundary tags of triangles (0: none). The other cell data of 1, 3 or 9
/// components are kept for tetrahedra; point data, vertices and lines are ignored. Several pieces become one mesh.
/// Errors: io (cannot be read); input, with file and line, or byte in appended data: anything that is not a valid
/// first-order tetrahedral mesh. Counts are checked against the file's size before memory is taken; compressed data
/// that claim to hold more than zlib can pack are refused.
TetMesh read_vtu(const std::filesystem::path& path, MeshReport* report = nullptr);
/// The same from the file's bytes; `name` stands in messages for the path.
TetMesh parse_vtu(std::string_view bytes, const std::string& name, MeshReport* report = nullptr);

}  // namespace tutti
