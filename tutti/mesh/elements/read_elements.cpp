#include "tutti/mesh/elements/read_elements.hpp"

#include "tutti/mesh/files/file_bytes.hpp"
#include "tutti/mesh/files/read_mesh.hpp"

namespace tutti {

ElementMesh read_elements(const std::filesystem::path& path, MeshReport* report) {
  const auto extension = path.extension();
  if (extension == ".msh") return parse_gmsh_elements(FileBytes(path).view(), path.string(), report);
  if (extension == ".vtu") return parse_vtu_elements(FileBytes(path).view(), path.string(), report);
  return elements_of_tets(read_mesh(path, report));
}

ElementMesh elements_of_tets(const TetMesh& mesh) {
  ElementMesh result;
  result.points = mesh.vertices;
  result.types.reserve(mesh.cells.size());
  result.nodes.reserve(4 * mesh.cells.size());
  result.node_offsets.reserve(mesh.cells.size() + 1);
  result.regions.reserve(mesh.cells.size());
  for (std::size_t c = 0; c < mesh.cells.size(); ++c)
    result.add_element(ElementType::tetrahedron, mesh.cells[c], mesh.regions[c]);
  for (const auto& [a, b, c] : mesh.boundary) result.boundary.push_back({a, b, c, -1});
  result.boundary_tags = mesh.boundary_tags;
  result.region_names = mesh.region_names;
  result.boundary_names = mesh.boundary_names;
  return result;
}

}  // namespace tutti
