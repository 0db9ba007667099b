// Writing meshes in the format that a name or an option says.
#pragma once

#include <string>

#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Error(usage): a name of unsupported format, another format than the name says, or the input's file.
void check_mesh_output(const std::string& input, const std::string& output, const std::string& format);

/// Writes the mesh to `output`, and a line that says so. `given`: the word of --format, or empty.
void save_mesh(const TetMesh& mesh, const std::string& output, const std::string& given);

inline constexpr const char* mesh_output_formats =
    "msh41, msh22, msh41-ascii, msh22-ascii, vtu (zlib), vtu-ascii; default: msh41 or vtu, by the extension of OUT";

}  // namespace tutti
