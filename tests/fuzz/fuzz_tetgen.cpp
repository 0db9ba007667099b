// TetGen's three files: a mesh that keeps its promises, or an Error.
//
// The input: .node, .ele and .face one behind the other with a zero byte between them; without the second, no .face.
#include "fuzz.hpp"
#include "mesh_promises.hpp"
#include "tutti/mesh/files/tetgen.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t first = bytes.find('\0');
  if (first == std::string_view::npos) return 0;
  const std::size_t second = bytes.find('\0', first + 1);
  const std::string_view node = bytes.substr(0, first), ele = bytes.substr(first + 1, second - first - 1);
  const std::string_view face = second == std::string_view::npos ? std::string_view() : bytes.substr(second + 1);
  fuzz::accepts({ErrorKind::input}, [&] { fuzz::check_mesh(parse_tetgen(node, ele, face, "a")); });
  return 0;
}
