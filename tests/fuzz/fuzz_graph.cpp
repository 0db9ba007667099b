// Files of graphs: arcs between vertices that are there, or an Error.
//
// The input: one character, then the file. 0 is an edge list, 1 Matrix Market, 2 METIS, 3 GAP, 4 GAP with weights.
#include <array>
#include <cmath>

#include "fuzz.hpp"
#include "tutti/models/graph/files/graph_files.hpp"

using namespace tutti;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array<const char*, 5> names = {"a.el", "a.mtx", "a.graph", "a.sg", "a.wsg"};
  if (size == 0 || data[0] < '0' || data[0] > '4') return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  fuzz::accepts({ErrorKind::input, ErrorKind::resource}, [&] {
    const graph::ArcList list = graph::parse_graph(bytes, names[data[0] - '0']);
    fuzz::check(list.weights.empty() || list.weights.size() == list.arcs.size(), "weights and arcs differ in number");
    for (const graph::Arc& arc : list.arcs)
      fuzz::check(arc.from >= 0 && arc.from < list.vertices && arc.to >= 0 && arc.to < list.vertices,
                  "an arc of a vertex that is not there");
    for (const double w : list.weights) fuzz::check(std::isfinite(w), "a weight that is no number");
    const auto& ids = list.names.ids;
    fuzz::check(ids.empty() || ids.size() == static_cast<std::size_t>(list.vertices), "names and vertices differ");
    for (std::size_t v = 1; v < ids.size(); ++v) fuzz::check(ids[v - 1] < ids[v], "names do not ascend");
  });
  return 0;
}
