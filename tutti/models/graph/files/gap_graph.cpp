// Serialized graphs of the GAP benchmark suite (Beamer, Asanovic, Patterson 2015), little-endian:
// bool directed, int64 arcs, int64 vertices, int64 offsets[vertices + 1], int32 columns[arcs] (.wsg: int32 column,
// int32 weight); of a directed graph the same again for the other direction.
#include <cstring>

#include "tutti/base/error.hpp"
#include "tutti/models/graph/files/graph_files.hpp"

namespace tutti::graph {
namespace {

template <class T>
T value_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

ArcList parse_gap(std::string_view bytes, const std::string& name, bool weighted) {
  constexpr std::size_t head = 17;
  if (bytes.size() < head)
    fail(ErrorKind::input, "{}: {} bytes, but the header alone needs {}; it is truncated", name, bytes.size(), head);
  const auto directed = static_cast<unsigned char>(bytes[0]);
  const auto arcs = value_at<Gid>(bytes, 1), vertices = value_at<Gid>(bytes, 9);
  const std::size_t entry = weighted ? 8 : 4;
  if (directed > 1 || vertices < 0 || vertices > most_vertices || arcs < 0 ||
      arcs > static_cast<Gid>(bytes.size() / entry))
    fail(ErrorKind::input,
         "{}: byte 0: directed {}, {} arcs, {} vertices; expected a serialized graph of GAP with 0 to {} vertices",
         name, directed, arcs, vertices, most_vertices);
  const auto n = static_cast<std::size_t>(vertices), m = static_cast<std::size_t>(arcs);
  const std::size_t side = 8 * (n + 1) + entry * m, expected = head + (directed + 1u) * side;
  if (bytes.size() != expected)
    fail(ErrorKind::input, "{}: {} bytes, but its header needs {}; it is damaged, or {}", name, bytes.size(), expected,
         weighted ? "has no weights: name it .sg" : "has weights: name it .wsg");
  ArcList list;
  list.vertices = static_cast<Vertex>(vertices);
  list.both_ways = directed == 0;
  list.arcs.resize(m);
  if (weighted) list.weights.resize(m);
  const std::size_t columns = head + 8 * (n + 1);
  std::size_t e = 0;
  for (std::size_t v = 0; v < n; ++v) {
    const std::size_t place = head + 8 * v;
    const auto first = value_at<Gid>(bytes, place), end = value_at<Gid>(bytes, place + 8);
    if (first != static_cast<Gid>(e) || end < first || end > arcs)
      fail(ErrorKind::input,
           "{}: byte {}: row {} goes from {} to {}; expected offsets that begin at 0, do not decrease and end at {}",
           name, place, v, first, end, arcs);
    for (; e < static_cast<std::size_t>(end); ++e) {
      const auto w = value_at<std::int32_t>(bytes, columns + entry * e);
      if (w < 0 || w >= vertices)
        fail(ErrorKind::input, "{}: byte {}: vertex {}; expected 0 to {}", name, columns + entry * e, w, vertices - 1);
      list.arcs[e] = {static_cast<Vertex>(v), w};
      if (weighted) list.weights[e] = value_at<std::int32_t>(bytes, columns + entry * e + 4);
    }
  }
  if (e != m) fail(ErrorKind::input, "{}: byte {}: the rows end at arc {}; expected {}", name, head + 8 * n, e, m);
  return list;
}

}  // namespace tutti::graph
