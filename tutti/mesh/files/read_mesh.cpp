#include "tutti/mesh/files/read_mesh.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"
#include "tutti/mesh/files/tetgen.hpp"
#include "tutti/mesh/files/vtu_read.hpp"

namespace tutti {

bool is_converted(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 13> known = {".med", ".cgns", ".e",   ".exo", ".ex2",  ".xdmf", ".inp",
                                                      ".vtk", ".bdf",  ".nas", ".fem", ".mesh", ".su2"};
  return std::find(known.begin(), known.end(), path.extension().string()) != known.end();
}

TetMesh read_mesh(const std::filesystem::path& path, MeshReport* report) {
  const auto extension = path.extension();
  if (extension == ".msh") return read_gmsh(path, report);
  if (extension == ".vtu") return read_vtu(path, report);
  if (is_tetgen(path)) return read_tetgen(path, report);
  const std::string file = path.string();
  const std::filesystem::path name = path.filename();
  const InputFile there(path, "mesh file");  // that it is missing is told first
  if (extension == ".geo")
    fail(ErrorKind::input, "{}: a geometry, not a mesh; run gmsh -3 {} -o {}, and give that file", file, name.string(),
         std::filesystem::path(name).replace_extension(".msh").string());
  if (is_converted(path))
    fail(ErrorKind::input, "{}: unsupported format {}; try tutti mesh convert {} {}, and give that file", file,
         extension.string(), name.string(), std::filesystem::path(name).replace_extension(".msh").string());
  fail(ErrorKind::input, "{}: unsupported format {}; supported are {}", file,
       extension.empty() ? "without an extension" : extension.string(), mesh_formats);
}

TetMesh read_mesh_as_written(const std::filesystem::path& path) {
  MeshReport report;
  report.keep_inverted = report.take_surface = true;
  TetMesh mesh = read_mesh(path, &report);
  if (2 * report.inverted_cells <= mesh.cell_count()) return mesh;
  warn("{}: most tetrahedra have a negative volume: all were reoriented", path.string());
  for (auto& cell : mesh.cells) std::swap(cell[2], cell[3]);
  return mesh;
}

FaceNeighbours find_face_neighbours_of(const std::filesystem::path& path, const TetMesh& mesh,
                                       const ParallelFor& parallel) {
  try {
    return find_face_neighbours(mesh, parallel);
  } catch (const Error& error) {
    fail(error.kind(), "{}: {}", path.string(), error.what());
  }
}

}  // namespace tutti
