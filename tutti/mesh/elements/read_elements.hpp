// Meshes of any element from files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tutti/mesh/elements/element_mesh.hpp"
#include "tutti/mesh/mesh_report.hpp"
#include "tutti/mesh/tet_mesh.hpp"

namespace tutti {

/// Reads a mesh by its file's extension: Gmsh (.msh), VTK (.vtu); TetGen's files through read_mesh. Elements keep the
/// order of the file; check_elements() has looked at them, match_faces_checked() has not. Errors: io (cannot be read);
/// input, with file and line, byte or element: anything that is not a mesh of tetrahedra, hexahedra, prisms and
/// pyramids of first or second order.
ElementMesh read_elements(const std::filesystem::path& path, MeshReport* report = nullptr);

/// MSH 2.2 or 4.1, ASCII or binary, from the file's bytes; `name` stands in messages for the path. Physical volumes
/// give the regions, physical surfaces the tags. Second-order elements may lack the points within quadrangles and
/// hexahedra (Mesh.SecondOrderIncomplete). $Periodic surfaces that are translations of each other become periodic
/// pairs; of others a warning tells that they are left as boundaries. $ElementData are left out.
ElementMesh parse_gmsh_elements(std::string_view bytes, const std::string& name, MeshReport* report = nullptr);

/// VTK's unstructured grid: linear, quadratic and Lagrange cells of order 1 and 2; tags as read_vtu has them. Quadratic
/// pyramids are those of 13 points. Other cell data are left out.
ElementMesh parse_vtu_elements(std::string_view bytes, const std::string& name, MeshReport* report = nullptr);

/// A tetrahedral mesh as one of elements, cell by cell.

ElementMesh elements_of_tets(const TetMesh& mesh);

}  // namespace tutti
