#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/files/text_scan.hpp"

namespace tutti::graph {
namespace {

/// The header: `VERTICES EDGES [FORMAT [CONSTRAINTS]]`, FORMAT of three digits: vertex sizes, vertex weights, edge
/// weights (METIS 5 manual, section 4.1.1).
struct Header {
  Gid vertices = 0, edges = 0;
  Gid skipped = 0;  ///< numbers before the neighbours of a line
  bool weights = false;
};

void skip_comment_lines(TextScan& scan) {
  while (!scan.at_end() && scan.peek() == '%') scan.next_line();
}

Header read_header(TextScan& scan) {
  Header header;
  skip_comment_lines(scan);
  scan.skip_blanks();
  header.vertices = scan.integer("the number of vertices");
  scan.skip_blanks();
  header.edges = scan.integer("the number of edges");
  if (header.vertices < 0 || header.vertices > most_vertices || header.edges < 0)
    scan.refuse("{} vertices and {} edges; expected 0 to {} vertices", header.vertices, header.edges, most_vertices);
  scan.skip_blanks();
  if (!scan.at_line_end()) {
    const Gid format = scan.integer("the format, as 001");
    const bool known = format >= 0 && format <= 111 && format % 10 <= 1 && format / 10 % 10 <= 1;
    if (!known) scan.refuse("format {}; expected three digits 0 or 1", format);
    scan.skip_blanks();
    Gid constraints = format / 10 % 10;
    if (!scan.at_line_end()) constraints = scan.integer("the number of weights of a vertex");
    if (constraints < 0 || constraints > 1000) scan.refuse("{} weights of a vertex; expected 0 to 1000", constraints);
    header.skipped = format / 100 + (format / 10 % 10 == 1 ? constraints : 0);
    header.weights = format % 10 == 1;
    scan.skip_blanks();
  }
  if (!scan.at_line_end()) scan.refuse("expected the end of the line, found {}", scan.excerpt());
  scan.next_line();
  return header;
}

}  // namespace

ArcList parse_metis(std::string_view text, const std::string& name) {
  TextScan scan(text, name);
  const Header header = read_header(scan);
  ArcList list;
  list.vertices = static_cast<Vertex>(header.vertices);
  list.names.first = 1;
  list.both_ways = true;
  for (Vertex v = 0; v < list.vertices; ++v, scan.next_line()) {
    skip_comment_lines(scan);
    if (scan.at_end())
      scan.refuse("the file ends after {} of {} vertices; it is truncated or the header is wrong", v, list.vertices);
    scan.skip_blanks();
    for (Gid k = 0; k < header.skipped; ++k, scan.skip_blanks()) scan.integer("a weight of the vertex");
    while (!scan.at_line_end()) {
      const Gid w = scan.integer("a neighbour");
      if (w < 1 || w > header.vertices)
        scan.refuse("neighbour {}, but vertices are numbered from 1 to {}", w, header.vertices);
      scan.skip_blanks();
      list.arcs.push_back({v, static_cast<Vertex>(w - 1)});
      if (header.weights) {
        list.weights.push_back(scan.real("the weight of the edge"));
        scan.skip_blanks();
      }
    }
  }
  for (; !scan.at_end(); scan.next_line()) {
    scan.skip_blanks();
    if (!scan.at_line_end() && scan.peek() != '%')
      scan.refuse("expected the end of the file after {} vertices, found {}", header.vertices, scan.excerpt());
  }
  if (list.size() % 2 != 0 || list.size() / 2 != header.edges)
    fail(ErrorKind::input,
         "{}: {} neighbours in all, but the header says {} edges, which stand in two lines each; one of the two is "
         "wrong",
         name, list.size(), header.edges);
  return list;
}

}  // namespace tutti::graph
