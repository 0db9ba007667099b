// VTK's XML files: a mesh that keeps its promises, or an Error.
#include "fuzz.hpp"
#include "mesh_promises.hpp"
#include "tutti/mesh/elements/read_elements.hpp"
#include "tutti/mesh/files/vtu_read.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  fuzz::accepts({ErrorKind::input}, [&] { fuzz::check_mesh(parse_vtu(bytes, "a.vtu")); });
  fuzz::accepts({ErrorKind::input}, [&] { fuzz::check_elements_mesh(parse_vtu_elements(bytes, "a.vtu")); });
  return 0;
}
