#include "tutti/program/mesh_output.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include "tutti/base/error.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/printable.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/vtk/mesh_vtu.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"

namespace tutti {
namespace {

/// "msh41", "msh41-ascii", "msh22"; else msh22-ascii.
GmshFormat parse_gmsh_format(const std::string& name) {
  if (name == "msh41") return GmshFormat::v41_binary;
  if (name == "msh41-ascii") return GmshFormat::v41_ascii;
  if (name == "msh22") return GmshFormat::v22_binary;
  return GmshFormat::v22_ascii;
}

/// --format, or what the output's name says.
std::string output_format(const std::string& output, const std::string& format) {
  const std::string extension = std::filesystem::path(output).extension().string();
  if (extension != ".msh" && extension != ".vtu")
    fail(ErrorKind::usage, "{}: the name must end in .msh (Gmsh) or .vtu (VTK), the formats that tutti mesh writes",
         output);
  if (format.empty()) return extension == ".msh" ? "msh41" : "vtu";
  if (!format.starts_with(extension.substr(1)))
    fail(ErrorKind::usage, "{}: format {} does not match this file name; its name must end in .{}", output, format,
         format.substr(0, 3));
  return format;
}

std::string list_names(const std::map<std::int32_t, std::string>& names) {
  std::string list;
  for (const auto& [tag, name] : names)
    list += fmt::format("{}{} '{}'", list.empty() ? "" : ", ", tag, printable(name));
  return list;
}

void warn_of_lost_names(const TetMesh& mesh, const std::string& output) {
  for (const auto& [what, names] :
       {std::pair{"regions", &mesh.region_names}, std::pair{"boundaries", &mesh.boundary_names}})
    if (!names->empty())
      warn("{}: VTU has no place for the names of {}, their tags are kept: {}", output, what, list_names(*names));
}

}  // namespace

void check_mesh_output(const std::string& input, const std::string& output, const std::string& format) {
  output_format(output, format);
  std::error_code ignored;
  if (std::filesystem::equivalent(input, output, ignored))
    fail(ErrorKind::usage, "{}: is the mesh to be read; give the output another name", output);
}

void save_mesh(const TetMesh& mesh, const std::string& output, const std::string& given) {
  const std::string format = output_format(output, given);
  if (format.starts_with("vtu"))
    write_mesh_vtu(mesh, output, format == "vtu" ? MeshVtuEncoding::zlib : MeshVtuEncoding::ascii);
  else
    write_gmsh(mesh, output, parse_gmsh_format(format));
  if (format.starts_with("vtu")) warn_of_lost_names(mesh, output);
  info("{}: {} cells, {} vertices, {} boundary triangles", output, format_count(mesh.cell_count()),
       format_count(mesh.vertex_count()), format_count(static_cast<Size>(mesh.boundary.size())));
}

}  // namespace tutti
