#include <algorithm>
#include <exception>

#include "tutti/models/graph/files/graph_files.hpp"
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
};

bool is_comment(const TextScan& scan) {
  return scan.peek() == '#' || scan.peek() == '%' || (scan.peek() == '/' && scan.peek(1) == '/');
}

Header read_header(std::string_view text, const std::string& name) {
  Header header;
  for (TextScan scan(text, name); !scan.at_end(); scan.next_line()) {
    scan.skip_blanks();
    if (scan.at_line_end()) continue;
    if (!is_comment(scan)) break;
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

/// Fills `list.names` and gives a table for numbers up to `highest`, where it is small; else an empty one.
std::vector<Vertex> name_vertices(const std::vector<Piece>& pieces, Gid highest, Size count, const std::string& name,
                                  ArcList& list) {
  std::vector<Gid> ids = distinct(pieces, highest, count);
  if (static_cast<Gid>(ids.size()) > most_vertices)
    fail(ErrorKind::input, "{}: {} vertices; tutti takes at most {}", name, ids.size(), most_vertices);
  list.vertices = static_cast<Vertex>(ids.size());
  if (ids.empty() || ids.back() - ids.front() == static_cast<Gid>(ids.size()) - 1) {
    list.names.first = ids.empty() ? 0 : ids.front();
    return {};
  }
  std::vector<Vertex> table;
  if (highest < 8 * count + 1024) {
    table.resize(static_cast<std::size_t>(highest) + 1);
    for (std::size_t v = 0; v < ids.size(); ++v) table[ids[v]] = static_cast<Vertex>(v);
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

}  // namespace

ArcList parse_edge_list(std::string_view text, const std::string& name, const ParallelFor& parallel) {
  const Header header = read_header(text, name);
  const std::vector<std::size_t> cuts = cut_lines(text);
  std::vector<Piece> pieces(cuts.size() - 1);
  const auto number = static_cast<Size>(pieces.size());
  const auto for_pieces = [&](const auto& body) {
    for_ranges(parallel, number, [&](Size begin, Size end) {
      for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) body(b);
    });
  };
  for_pieces([&](std::size_t b) {
    try {
      read_piece(TextScan(text, name, cuts[b], cuts[b + 1]), header, pieces[b]);
    } catch (...) {
      pieces[b].error = std::current_exception();
    }
  });
  // The first mistake of the file, whoever found one first.
  std::vector<Size> first(pieces.size() + 1, 0);
  Gid highest = 0;
  bool weighted = false, plain = false;
  for (std::size_t b = 0; b < pieces.size(); ++b) {
    if (pieces[b].error) std::rethrow_exception(pieces[b].error);
    first[b + 1] = first[b] + static_cast<Size>(pieces[b].ends.size() / 2);
    for (const Gid v : pieces[b].ends) highest = std::max(highest, v);
    weighted = weighted || !pieces[b].weights.empty();
    plain = plain || (pieces[b].weights.empty() && !pieces[b].ends.empty());
  }
  if (weighted && plain)
    fail(ErrorKind::input, "{}: some edges have a weight and some have none; they must agree", name);

  ArcList list;
  list.both_ways = header.symmetric;
  list.vertices = static_cast<Vertex>(std::max<Gid>(header.vertices, 0));
  std::vector<Vertex> table;
  if (header.vertices < 0) table = name_vertices(pieces, highest, first.back(), name, list);
  const auto vertex = [&](Gid id) { return table.empty() ? list.names.find(id, list.vertices) : table[id]; };
  list.arcs.resize(first.back());
  if (weighted) list.weights.resize(list.arcs.size());
  for_pieces([&](std::size_t b) {
    const auto at = static_cast<std::size_t>(first[b]);
    for (std::size_t i = 0; i < pieces[b].ends.size() / 2; ++i)
      list.arcs[at + i] = {vertex(pieces[b].ends[2 * i]), vertex(pieces[b].ends[2 * i + 1])};
    std::copy(pieces[b].weights.begin(), pieces[b].weights.end(), list.weights.begin() + first[b]);
  });
  return list;
}

}  // namespace tutti::graph
