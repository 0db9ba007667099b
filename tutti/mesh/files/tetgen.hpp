// TetGen's mesh files: .node, .ele and .face (https://wias-berlin.de/software/tetgen/fformats.html).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tutti/mesh/mesh_report.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Reads stem.node, stem.ele and, where it is there, stem.face; `path` is one of these or the stem. Nodes are numbered
/// from 0 or 1. The last attribute of a tetrahedron is its region (TetGen's -A; 0 without attributes); a face's marker
/// is its boundary tag (0 and below: none). Other attributes and markers are skipped. Errors: io (cannot be read);
/// input, with file and line: anything that is not a valid first-order tetrahedral mesh. Counts are checked against the
/// file's size before memory is taken.
TetMesh read_tetgen(const std::filesystem::path& path, MeshReport* report = nullptr);

/// The same from the files' bytes; messages name them name.node, name.ele, name.face. A `face` without an address
/// (face.data() == nullptr) says that there is no such file.
TetMesh parse_tetgen(std::string_view node, std::string_view ele, std::string_view face, const std::string& name,
                     MeshReport* report = nullptr);

/// True for "x.node", "x.ele", "x.face", and for an x that has no such end but an x.ele beside it.
bool is_tetgen(const std::filesystem::path& path);

}  // namespace tutti
