// Gmsh's mesh files, all formats: a mesh that keeps its promises, or an Error.
#include "fuzz.hpp"
#include "mesh_promises.hpp"
#include "tutti/mesh/elements/read_elements.hpp"
#include "tutti/mesh/files/gmsh/gmsh.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuzz::accepts({ErrorKind::input}, [&] { fuzz::check_mesh(parse_gmsh(bytes, "a.msh")); });
  fuzz::accepts({ErrorKind::input}, [&] { fuzz::check_elements_mesh(parse_gmsh_elements(bytes, "a.msh")); });
  return 0;
}
