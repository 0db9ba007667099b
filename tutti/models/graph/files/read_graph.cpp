#include <algorithm>
#include <memory>

#include "tutti/base/error.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/models/graph/files/graph_files.hpp"

namespace tutti::graph {

ArcList parse_graph(std::string_view bytes, const std::string& name, const ParallelFor& parallel) {
  if (bytes.starts_with("\x1f\x8b")) {
    const std::string content = decompress(bytes, name);
    if (content.starts_with("\x1f\x8b"))
      fail(ErrorKind::input, "{}: is compressed twice; expected a file that is compressed once", name);
    return parse_graph(content, name, parallel);
  }
  std::filesystem::path path(name);
  if (path.extension() == ".gz") path.replace_extension();
  const std::string ending = path.extension().string();
  if (ending == ".sg" || ending == ".wsg") return parse_gap(bytes, name, ending == ".wsg");
  if (ending == ".graph" || ending == ".metis") return parse_metis(bytes, name);
  if (ending == ".mtx" || bytes.starts_with("%%MatrixMarket")) return parse_matrix_market(bytes, name);
  return parse_edge_list(bytes, name, parallel);
}

ArcList read_graph(const std::filesystem::path& path, const ParallelFor& parallel) {
  const InputFile file(path, "graph");
  if (const Size most = read_machine_limits().available; file.size() > most)
    fail(ErrorKind::resource,
         "{}: the file has {} bytes, and {} bytes of memory are left; use a machine with more memory", path.string(),
         file.size(), most);
  RawVector<char> bytes(static_cast<std::size_t>(file.size()));
  const std::size_t got = file.read(bytes, 0);
  return parse_graph({bytes.data(), got}, path.string(), parallel);
}

}  // namespace tutti::graph
