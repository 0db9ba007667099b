#include <algorithm>
#include <memory>

#include "tutti/base/error.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/files/graph_pieces.hpp"

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

bool has_pieces(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".sg" || ending == ".wsg") return true;
  if (ending == ".graph" || ending == ".metis" || ending == ".mtx") return false;
  std::string start(14, ' ');
  start.resize(InputFile(path, "graph").read({start.data(), start.size()}, 0));
  return !start.starts_with("\x1f\x8b") && !start.starts_with("%%MatrixMarket");
}

Size bytes_to_measure(const std::filesystem::path& path) {
  const InputFile file(path, "graph");
  char start[2] = {};
  file.read(start, 0);
  return (start[0] == '\x1f' && start[1] == '\x8b' ? 10 : 4) * file.size();
}

ArcList read_graph_piece(const Comm& comm, const std::filesystem::path& path, const ParallelFor& parallel) {
  std::unique_ptr<InputFile> file;
  comm.together([&] {
    if (!has_pieces(path))
      fail(ErrorKind::usage, "{}: ranks can read pieces of edge lists and .sg files only; convert it to one",
           path.string());
    file = std::make_unique<InputFile>(path, "graph");
  });
  const std::string name = path.string(), ending = path.extension().string();
  if (ending == ".sg" || ending == ".wsg") return read_gap_piece(comm, *file, name, ending == ".wsg");
  return read_edge_list_piece(comm, *file, name, parallel);
}

}  // namespace tutti::graph
