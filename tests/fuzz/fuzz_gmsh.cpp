// Gmsh's mesh files, all formats: a mesh that keeps its promises, or an Error.
#include "fuzz.hpp"
#include "memory_file.hpp"
#include "mesh_promises.hpp"
#include "tutti/mesh/gmsh.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file({reinterpret_cast<const char*>(data), size});
  fuzz::accepts({ErrorKind::input}, [&] {
    const TetMesh mesh = read_gmsh(file.path());
    fuzz::check_mesh(mesh);
  });
  return 0;
}
