// Serialized graphs of the GAP benchmark suite (Beamer, Asanovic, Patterson 2015), little-endian:
// bool directed, int64 arcs, int64 vertices, int64 offsets[vertices + 1], int32 columns[arcs] (.wsg: int32 column,
// int32 weight); of a directed graph the same again for the other direction.
#include <algorithm>
#include <cstring>

#include "tutti/base/error.hpp"
#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/files/graph_pieces.hpp"

namespace tutti::graph {
namespace {

template <class T>
T value_at(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

constexpr Size head = 17;

struct GapHead {
  const std::string& name;
  unsigned directed;
  Size arcs, vertices, entry;  ///< entry: bytes of an arc
  Size columns() const { return head + 8 * (vertices + 1); }
};

/// `start`: the header's bytes, or all of a shorter file.
GapHead read_head(std::string_view start, Size bytes, const std::string& name, bool weighted) {
  if (bytes < head)
    fail(ErrorKind::input, "{}: {} bytes, but the header alone needs {}; it is truncated", name, bytes, head);
  const GapHead h{name, static_cast<unsigned char>(start[0]), value_at<Gid>(start, 1), value_at<Gid>(start, 9),
                  weighted ? 8 : 4};
  if (h.directed > 1 || h.vertices < 0 || h.vertices > most_vertices || h.arcs < 0 || h.arcs > bytes / h.entry)
    fail(ErrorKind::input,
         "{}: byte 0: directed {}, {} arcs, {} vertices; expected a serialized graph of GAP with 0 to {} vertices",
         name, h.directed, h.arcs, h.vertices, most_vertices);
  const Size expected = head + (h.directed + 1) * (h.columns() - head + h.entry * h.arcs);
  if (bytes != expected)
    fail(ErrorKind::input, "{}: {} bytes, but its header needs {}; it is damaged, or {}", name, bytes, expected,
         weighted ? "has no weights: name it .sg" : "has weights: name it .wsg");
  return h;
}

/// Appends the arcs of rows [first, end), of which the bytes of the offsets, one more than rows, and of the columns are
/// given.
void add_rows(ArcList& list, const GapHead& h, Size first, Size end, std::string_view offsets,
              std::string_view columns) {
  const Size begin = value_at<Gid>(offsets, 0);
  const Size most = std::min(h.arcs, begin + static_cast<Size>(columns.size()) / h.entry);
  Size e = begin;
  for (Size v = first; v < end; ++v) {
    const auto at = static_cast<std::size_t>(8 * (v - first));
    const auto from = value_at<Gid>(offsets, at), to = value_at<Gid>(offsets, at + 8);
    if (from != e || to < from || to > most || (v == 0 && from != 0))
      fail(ErrorKind::input,
           "{}: byte {}: row {} goes from {} to {}; expected offsets that begin at 0, do not decrease and end at {}",
           h.name, head + 8 * v, v, from, to, h.arcs);
    for (; e < to; ++e) {
      const auto place = static_cast<std::size_t>(h.entry * (e - begin));
      const auto w = value_at<std::int32_t>(columns, place);
      if (w < 0 || w >= h.vertices)
        fail(ErrorKind::input, "{}: byte {}: vertex {}; expected 0 to {}", h.name, h.columns() + h.entry * e, w,
             h.vertices - 1);
      list.arcs.push_back({static_cast<Vertex>(v), w});
      if (h.entry == 8) list.weights.push_back(value_at<std::int32_t>(columns, place + 4));
    }
  }
  if (end == h.vertices && e != h.arcs)
    fail(ErrorKind::input, "{}: byte {}: the rows end at arc {}; expected {}", h.name, head + 8 * h.vertices, e,
         h.arcs);
}

ArcList empty_list(const GapHead& h) {
  ArcList list;
  list.vertices = static_cast<Vertex>(h.vertices);
  list.both_ways = h.directed == 0;
  return list;
}

}  // namespace

ArcList parse_gap(std::string_view bytes, const std::string& name, bool weighted) {
  const GapHead h = read_head(bytes, static_cast<Size>(bytes.size()), name, weighted);
  ArcList list = empty_list(h);
  list.arcs.reserve(h.arcs);
  if (weighted) list.weights.reserve(h.arcs);
  add_rows(list, h, 0, h.vertices, bytes.substr(head), bytes.substr(static_cast<std::size_t>(h.columns())));
  return list;
}

ArcList read_gap_piece(const Comm& comm, const InputFile& file, const std::string& name, bool weighted) {
  ArcList list;
  comm.together([&] {
    const auto bytes = [&](Size begin, Size count) {
      std::string text(static_cast<std::size_t>(count), '\0');
      if (file.read({text.data(), text.size()}, begin) != text.size())
        fail(ErrorKind::io, "{}: ends at byte {} now; expected the size it had when it was opened", name, begin);
      return text;
    };
    const GapHead h = read_head(bytes(0, std::min(head, file.size())), file.size(), name, weighted);
    // The first row that begins at this arc or after it.
    const auto row_of = [&](Size arc) {
      Size low = 0, high = h.vertices;
      while (low < high) {
        const Size middle = (low + high) / 2;
        if (value_at<Gid>(bytes(head + 8 * middle, 8), 0) < arc)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    const bool last = comm.rank() + 1 == comm.size();
    const Size first = comm.is_root() ? 0 : row_of(h.arcs * comm.rank() / comm.size()),
               end = last ? h.vertices : std::max(first, row_of(h.arcs * (comm.rank() + 1) / comm.size()));
    const std::string offsets = bytes(head + 8 * first, 8 * (end - first + 1));
    const auto begin = value_at<Gid>(offsets, 0),
               stop = value_at<Gid>(offsets, static_cast<std::size_t>(8 * (end - first)));
    list = empty_list(h);
    std::string columns;
    // What is wrong with other offsets is told by add_rows.
    if (0 <= begin && begin <= stop && stop <= h.arcs)
      columns = bytes(h.columns() + h.entry * begin, h.entry * (stop - begin));
    add_rows(list, h, first, end, offsets, columns);
  });
  return list;
}

}  // namespace tutti::graph
