// The program gmsh, run as a child process.
#pragma once

#include <filesystem>
#include <string>

#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// What gmsh is told: a geometry whose surfaces are meshed, then commands that make volumes of these surfaces.
struct GmshScripts {
  std::string stem;     ///< of all files: stem-surface.geo, .msh, .log and stem.geo, .msh, .log
  std::string surface;  ///< the geometry; one Physical Surface with all its surfaces, or gmsh leaves them out
  std::string volume;   ///< follows the merged surface mesh: surface loops, volumes, one Physical Volume
};

/// Runs gmsh twice, on the surfaces and on the volume, and reads the mesh. Its files are kept in `work_dir` (made if
/// missing) for who wants to look at them; nothing there is read: gmsh runs in a private folder below TMPDIR, with an
/// empty home. Two runs, because gmsh 4.8 meshes the volume of an OpenCASCADE model in an order that depends on where
/// its memory happens to lie; from a surface mesh, with one thread and the same file names, the bits are the same every
/// time. Errors: usage (threads < 1), resource (gmsh is not installed), io (work_dir, TMPDIR), input (gmsh failed: see
/// its log).
TetMesh run_gmsh(const std::filesystem::path& work_dir, const GmshScripts& scripts, int threads);

}  // namespace tutti
