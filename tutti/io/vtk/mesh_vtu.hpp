// A whole mesh as one VTU file, with its tagged triangles: what read_vtu reads back, and ParaView shows.
#pragma once

#include <filesystem>

#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

enum class MeshVtuEncoding {
  zlib,  ///< appended raw data in zlib blocks
  ascii  ///< numbers as text, the shortest that read back as the same bits
};

/// Writes cells, then tagged triangles. The cell data `region` hold the regions and the boundary tags; on triangles,
/// the other cell data are 0. read_vtu gives the same mesh back, bit for bit (if every vertex is used and every volume
/// positive), but for the names of regions and boundaries, for which VTU has no place. The file appears under its name
/// only when it is complete. Errors: io; input (see check_writable; data called `region`, control characters in names).
void write_mesh_vtu(const TetMesh& mesh, const std::filesystem::path& path,
                    MeshVtuEncoding encoding = MeshVtuEncoding::zlib, int threads = 1);

}  // namespace tutti
