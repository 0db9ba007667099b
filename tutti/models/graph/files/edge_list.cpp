#include <algorithm>
#include <exception>

#include "tutti/base/random.hpp"
#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/files/graph_pieces.hpp"
#include "tutti/models/graph/files/text_scan.hpp"

namespace tutti::graph {
namespace {

/// What one piece of the text holds.
struct Piece {
  std::vector<Gid> ends;  ///< from, to, from, to, ...
  std::vector<double> weights;
  std::exception_ptr error;
};

/// What the comments before the first edge say.
struct Header {
  Gid vertices = -1;
  bool symmetric = false;
  bool ended = false;  ///< an edge follows
};

bool is_comment(const TextScan& scan) {
  return scan.peek() == '#' || scan.peek() == '%' || (scan.peek() == '/' && scan.peek(1) == '/');
}

Header read_header(std::string_view text, const std::string& name) {
  Header header;
  for (TextScan scan(text, name); !scan.at_end(); scan.next_line()) {
    scan.skip_blanks();
    if (scan.at_line_end()) continue;
    header.ended = !is_comment(scan);
    if (header.ended) break;
    const std::string_view line = scan.rest_of_line();
    if (line.starts_with("# vertices ")) {
      TextScan number(line.substr(11), name);
      number.skip_blanks();
      const auto digits = number.rest_of_line();
      Gid value = -1;
      const auto [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (code != std::errc() || value < 0 || value > most_vertices ||
          (stop != digits.data() + digits.size() && *stop != '\r' && *stop != ' '))
        scan.refuse("expected '# vertices N' with 0 <= N <= {}, found {}", most_vertices, scan.excerpt());
      header.vertices = value;
    } else if (line.starts_with("# symmetric")) {
      header.symmetric = true;
    }
  }
  return header;
}

Gid read_vertex(TextScan& scan, const Header& header, const char* what) {
  const Gid v = scan.integer(what);
  if (v < 0) scan.refuse("vertex {}; vertices must not be negative", v);
  if (header.vertices >= 0 && v >= header.vertices)
    scan.refuse("vertex {}, but '# vertices {}' above says that they are numbered from 0 to {}", v, header.vertices,
                header.vertices - 1);
  return v;
}

void read_piece(TextScan scan, const Header& header, Piece& piece) {
  for (; !scan.at_end(); scan.next_line()) {
    scan.skip_blanks();
    if (scan.at_line_end() || is_comment(scan)) continue;
    const Gid from = read_vertex(scan, header, "the number of a vertex, or a comment that begins with #");
    scan.skip_blanks(true);
    const Gid to = read_vertex(scan, header, "the number of the vertex at the other end");
    scan.skip_blanks(true);
    if (!scan.at_line_end()) {
      piece.weights.push_back(scan.real("a weight or the end of the line"));
      scan.skip_blanks(true);
      if (!scan.at_line_end()) scan.refuse("expected the end of the line after the weight, found {}", scan.excerpt());
    }
    piece.ends.push_back(from);
    piece.ends.push_back(to);
    if (!piece.weights.empty() && 2 * piece.weights.size() != piece.ends.size())
      scan.refuse("some edges have a weight and some have none; they must agree");
  }
}

/// All numbers that occur, ascending.
std::vector<Gid> distinct(const std::vector<Piece>& pieces, Gid highest, Size count) {
  std::vector<Gid> ids;
  if (highest < 8 * count + 1024) {  // a table of all numbers is small
    std::vector<char> there(static_cast<std::size_t>(highest) + 1, 0);
    for (const Piece& piece : pieces)
      for (const Gid v : piece.ends) there[v] = 1;
    for (Gid v = 0; v <= highest; ++v)
      if (there[v] != 0) ids.push_back(v);
    return ids;
  }
  for (const Piece& piece : pieces) ids.insert(ids.end(), piece.ends.begin(), piece.ends.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

/// Fills `list.names` with the numbers that occur, ascending, and gives a table for numbers up to `highest`, where it
/// is small beside `count` arcs; else an empty one.
std::vector<Vertex> name_vertices(std::vector<Gid> ids, Gid highest, Size count, const std::string& name,
                                  ArcList& list) {
  if (static_cast<Gid>(ids.size()) > most_vertices)
    fail(ErrorKind::input, "{}: {} vertices; tutti takes at most {}", name, ids.size(), most_vertices);
  list.vertices = static_cast<Vertex>(ids.size());
  if (ids.empty() || ids.back() - ids.front() + 1 == static_cast<Gid>(ids.size())) {
    list.names.first = ids.empty() ? 0 : ids.front();
    return {};
  }
  std::vector<Vertex> table;
  if (highest < 8 * count + 1024) {
    table.resize(static_cast<std::size_t>(highest) + 1);
    for (std::size_t v = 0; v < ids.size() && ids[v] <= highest; ++v) table[ids[v]] = static_cast<Vertex>(v);
  }
  list.names.ids = std::move(ids);
  return table;
}

/// Begins of pieces that end with a line, and the text's end.
std::vector<std::size_t> cut_lines(std::string_view text) {
  const Blocks blocks(static_cast<Size>(text.size()), 1 << 16);
  std::vector<std::size_t> cuts{0};
  for (Size b = 1; b < blocks.number; ++b) {
    const auto at = text.find('\n', static_cast<std::size_t>(blocks.begin(b)));
    cuts.push_back(std::max(cuts.back(), at == std::string_view::npos ? text.size() : at + 1));
  }
  cuts.push_back(text.size());
  return cuts;
}

/// The edges of a text whose header is known.
struct Edges {
  std::vector<Piece> pieces;
  std::vector<Size> first;  ///< of each piece; at the end how many there are
  Gid highest = 0;
  bool weighted = false, plain = false;  ///< there is an edge with a weight, one without
  Size count() const { return first.back(); }
};

void for_pieces(const ParallelFor& parallel, std::size_t count, const std::function<void(std::size_t)>& body) {
  for_ranges(parallel, static_cast<Size>(count), [&](Size begin, Size end) {
    for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) body(b);
  });
}

Edges read_edges(std::string_view text, const std::string& name, const Header& header, const ParallelFor& parallel,
                 Size first_line = 1) {
  const std::vector<std::size_t> cuts = cut_lines(text);
  Edges edges;
  std::vector<Piece>& pieces = edges.pieces;
  pieces.resize(cuts.size() - 1);
  for_pieces(parallel, pieces.size(), [&](std::size_t b) {
    try {
      read_piece(TextScan(text, name, cuts[b], cuts[b + 1], first_line), header, pieces[b]);
    } catch (...) {
      pieces[b].error = std::current_exception();
    }
  });
  // The first mistake of the text, whoever found one first.
  edges.first.assign(pieces.size() + 1, 0);
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    if (pieces[b].error) std::rethrow_exception(pieces[b].error);
    edges.first[b + 1] = edges.first[b] + static_cast<Size>(pieces[b].ends.size() / 2);
    for (const Gid v : pieces[b].ends) edges.highest = std::max(edges.highest, v);
    edges.weighted = edges.weighted || !pieces[b].weights.empty();
    edges.plain = edges.plain || (pieces[b].weights.empty() && !pieces[b].ends.empty());
  }
  return edges;
}

void check_weights_agree(bool weighted, bool plain, const std::string& name) {
  if (weighted && plain)
    fail(ErrorKind::input, "{}: some edges have a weight and some have none; they must agree", name);
}

ArcList empty_list(const Header& header) {
  ArcList list;
  list.both_ways = header.symmetric;
  list.vertices = static_cast<Vertex>(std::max<Gid>(header.vertices, 0));
  return list;
}

/// Fills `list` with the edges; `table` as name_vertices has it.
void fill(ArcList& list, const Edges& edges, const std::vector<Vertex>& table, const ParallelFor& parallel) {
  const auto vertex = [&](Gid id) { return table.empty() ? list.names.find(id, list.vertices) : table[id]; };
  list.arcs.resize(edges.count());
  if (edges.weighted) list.weights.resize(list.arcs.size());
  for_pieces(parallel, edges.pieces.size(), [&](std::size_t b) {
    const Piece& piece = edges.pieces[b];
    const auto at = static_cast<std::size_t>(edges.first[b]);
    for (std::size_t i = 0; i < piece.ends.size() / 2; ++i)
      list.arcs[at + i] = {vertex(piece.ends[2 * i]), vertex(piece.ends[2 * i + 1])};
    std::copy(piece.weights.begin(), piece.weights.end(), list.weights.begin() + edges.first[b]);
  });
}

// Pieces of a file.

std::string text_of(const InputFile& file, Size begin, Size end) {
  std::string text(static_cast<std::size_t>(std::max<Size>(end - begin, 0)), '\0');
  text.resize(file.read({text.data(), text.size()}, begin));
  return text;
}

/// As much of the file as is needed to see its first edge.
Header read_header(const InputFile& file, const std::string& name) {
  for (Size size = Size{1} << 16;; size *= 4) {
    std::string text = text_of(file, 0, std::min(size, file.size()));
    if (size < file.size()) text.resize(text.rfind('\n') + 1);  // none: npos + 1 is 0
    const Header header = read_header(text, name);
    if (header.ended || size >= file.size()) return header;
  }
}

/// Where the first line begins that does so at `offset` or after it.
Size line_begin(const InputFile& file, Size offset) {
  if (offset == 0) return 0;
  constexpr Size step = 1 << 12;
  for (Size at = offset - 1; at < file.size(); at += step) {
    const std::string text = text_of(file, at, std::min(at + step, file.size()));
    if (const auto found = text.find('\n'); found != std::string::npos) return at + static_cast<Size>(found) + 1;
  }
  return file.size();
}

Size lines_before(const InputFile& file, Size end) {
  constexpr Size step = 1 << 20;
  Size lines = 0;
  for (Size at = 0; at < end; at += step) {
    const std::string text = text_of(file, at, std::min(at + step, end));
    lines += std::count(text.begin(), text.end(), '\n');
  }
  return lines;
}

/// All numbers that some rank has, ascending. Each is told apart by one rank, so that none meets all copies.
std::vector<Gid> gather_distinct(const Comm& comm, const std::vector<Gid>& mine) {
  std::vector<std::vector<Gid>> outgoing(static_cast<std::size_t>(comm.size()));
  for (const Gid id : mine) outgoing[mix64(static_cast<std::uint64_t>(id)) % outgoing.size()].push_back(id);
  std::vector<Gid> ids;
  for (const std::vector<Gid>& from : comm.all_to_all(outgoing)) ids.insert(ids.end(), from.begin(), from.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ids = comm.all_gather(std::span<const Gid>(ids));
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

ArcList parse_edge_list(std::string_view text, const std::string& name, const ParallelFor& parallel) {
  const Header header = read_header(text, name);
  const Edges edges = read_edges(text, name, header, parallel);
  check_weights_agree(edges.weighted, edges.plain, name);
  ArcList list = empty_list(header);
  std::vector<Vertex> table;
  if (header.vertices < 0)
    table =
        name_vertices(distinct(edges.pieces, edges.highest, edges.count()), edges.highest, edges.count(), name, list);
  fill(list, edges, table, parallel);
  return list;
}

ArcList read_edge_list_piece(const Comm& comm, const InputFile& file, const std::string& name,
                             const ParallelFor& parallel) {
  Header header;
  Edges edges;
  comm.together([&] {
    header = read_header(file, name);
    const Size begin = line_begin(file, file.size() * comm.rank() / comm.size()),
               end = line_begin(file, file.size() * (comm.rank() + 1) / comm.size());
    const std::string text = text_of(file, begin, end);
    try {
      edges = read_edges(text, name, header, parallel);
    } catch (const Error&) {  // lines are counted only where one is wrong
      read_edges(text, name, header, parallel, 1 + lines_before(file, begin));
      throw;
    }
  });
  const bool weighted = comm.max(edges.weighted ? 1 : 0) > 0, plain = comm.max(edges.plain ? 1 : 0) > 0;
  check_weights_agree(weighted, plain, name);
  ArcList list = empty_list(header);
  std::vector<Vertex> table;
  if (header.vertices < 0) {
    std::vector<Gid> ids;
    comm.together([&] { ids = distinct(edges.pieces, edges.highest, edges.count()); });
    ids = gather_distinct(comm, ids);
    comm.together([&] { table = name_vertices(std::move(ids), edges.highest, edges.count(), name, list); });
  }
  comm.together([&] { fill(list, edges, table, parallel); });
  return list;
}

}  // namespace tutti::graph
