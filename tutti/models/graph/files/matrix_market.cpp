#include <algorithm>
#include <cctype>

#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/files/text_scan.hpp"

namespace tutti::graph {
namespace {

/// The next word of the line, in small letters.
std::string next_word(std::string_view& line) {
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) != 0) line.remove_prefix(1);
  std::string word;
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front())) == 0) {
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(line.front())));
    line.remove_prefix(1);
  }
  return word;
}

struct Banner {
  bool pattern = false, symmetric = false;
};

Banner read_banner(const TextScan& scan) {
  std::string_view line = scan.rest_of_line();
  if (next_word(line) != "%%matrixmarket")
    scan.refuse("expected '%%MatrixMarket matrix coordinate ...', found {}", scan.excerpt());
  const std::string object = next_word(line), format = next_word(line), field = next_word(line),
                    symmetry = next_word(line);
  if (object != "matrix" || format != "coordinate")
    scan.refuse("expected 'matrix coordinate' in the first line, found {}", scan.excerpt());
  if (field != "real" && field != "integer" && field != "pattern")
    scan.refuse("expected 'real', 'integer' or 'pattern' in the first line, found {}", scan.excerpt());
  if (symmetry != "general" && symmetry != "symmetric")
    scan.refuse("expected 'general' or 'symmetric' in the first line, found {}", scan.excerpt());
  return {field == "pattern", symmetry == "symmetric"};
}

Vertex read_index(TextScan& scan, Gid rows, const char* what) {
  scan.skip_blanks();
  const Gid value = scan.integer(what);
  if (value < 1 || value > rows) scan.refuse("{} {}, but vertices are numbered from 1 to {}", what, value, rows);
  return static_cast<Vertex>(value - 1);
}

/// To the next line that is neither empty nor a comment.
void skip_comments(TextScan& scan) {
  for (;; scan.next_line()) {
    scan.skip_blanks();
    if (scan.at_end() || (!scan.at_line_end() && scan.peek() != '%')) return;
  }
}

}  // namespace

ArcList parse_matrix_market(std::string_view text, const std::string& name) {
  TextScan scan(text, name);
  const Banner banner = read_banner(scan);
  scan.next_line();
  skip_comments(scan);
  const Gid rows = scan.integer("the number of rows");
  scan.skip_blanks();
  const Gid columns = scan.integer("the number of columns");
  scan.skip_blanks();
  const Gid entries = scan.integer("the number of entries");
  if (rows != columns || rows < 0 || rows > most_vertices)
    scan.refuse("a matrix of {} x {}; a graph needs a square one of at most {} rows", rows, columns, most_vertices);
  if (entries < 0) scan.refuse("{} entries; the number must not be negative", entries);
  ArcList list;
  list.vertices = static_cast<Vertex>(rows);
  list.names.first = 1;
  list.both_ways = banner.symmetric;
  scan.next_line();
  Gid found = 0;
  for (skip_comments(scan); !scan.at_end(); skip_comments(scan), ++found) {
    if (found == entries)
      scan.refuse("more than the {} entries that the header says; one of the two is wrong", entries);
    const Vertex from = read_index(scan, rows, "row"), to = read_index(scan, rows, "column");
    double weight = 0;
    if (!banner.pattern) {
      scan.skip_blanks();
      weight = scan.real("the entry's value");
    }
    scan.skip_blanks();
    if (!scan.at_line_end()) scan.refuse("expected the end of the line, found {}", scan.excerpt());
    const int copies = banner.symmetric && from != to ? 2 : 1;
    for (int k = 0; k < copies; ++k) {
      list.arcs.push_back(k == 0 ? Arc{from, to} : Arc{to, from});
      if (!banner.pattern) list.weights.push_back(weight);
    }
    scan.next_line();
  }
  if (found != entries)
    fail(ErrorKind::input, "{}: {} entries, but the header says {}; the file is truncated or the header is wrong", name,
         found, entries);
  return list;
}

}  // namespace tutti::graph
