#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <iterator>

#include "tutti/base/error.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/files/graph_files.hpp"

namespace tutti::graph {
namespace {

/// The ending without .gz.
std::string ending_of(std::filesystem::path path) {
  if (path.extension() == ".gz") path.replace_extension();
  return path.extension().string();
}

void append_weight(std::string& text, double weight) {
  if (std::abs(weight) < 1e15 && weight == std::floor(weight))
    fmt::format_to(std::back_inserter(text), " {}", static_cast<std::int64_t>(weight));
  else
    fmt::format_to(std::back_inserter(text), " {}", weight);
}

/// Lines of arcs, made by many threads: names of vertices with `shift` added to them.
std::vector<std::string> arc_lines(const ArcList& list, Gid shift, const ParallelFor& parallel) {
  constexpr Size line = 24;  // bytes, about
  if (const Size available = read_machine_limits().available; list.size() > available / line)
    fail(ErrorKind::resource, "{} lines of text take about {} of memory, and {} are left; choose .sg",
         format_count(list.size()), format_bytes(static_cast<double>(line) * static_cast<double>(list.size())),
         format_bytes(static_cast<double>(available)));
  const Blocks blocks(list.size(), 1 << 13);
  std::vector<std::string> lines(blocks.number);
  blocks.run(parallel, [&](Size b, Size begin, Size end) {
    std::string& text = lines[b];
    for (Size i = begin; i < end; ++i) {
      const Arc arc = list.arcs[i];
      fmt::format_to(std::back_inserter(text), "{} {}", list.names.of(arc.from) + shift, list.names.of(arc.to) + shift);
      if (!list.weights.empty()) append_weight(text, list.weights[i]);
      text += '\n';
    }
  });
  return lines;
}

/// Which vertices have no arc would be lost without a header.
bool names_are_dense(const ArcList& list) {
  return list.names.ids.empty() && list.names.first == 0;
}

std::vector<std::string> edge_list(const ArcList& list, const ParallelFor& parallel) {
  std::string head;
  if (names_are_dense(list)) head += fmt::format("# vertices {}\n", list.vertices);
  if (list.both_ways) head += "# symmetric\n";
  std::vector<std::string> pieces{head};
  for (std::string& text : arc_lines(list, 0, parallel)) pieces.push_back(std::move(text));
  return pieces;
}

std::vector<std::string> matrix_market(ArcList list, const ParallelFor& parallel) {
  list.names = {.first = 1, .ids = {}};  // rows are numbered densely
  std::vector<std::string> pieces{fmt::format("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n",
                                              list.weights.empty() ? "pattern" : "real", list.vertices, list.vertices,
                                              list.size())};
  for (std::string& text : arc_lines(list, 0, parallel)) pieces.push_back(std::move(text));
  return pieces;
}

std::vector<std::string> metis(const ArcList& list, const std::string& path, const ParallelFor& parallel) {
  if (!list.weights.empty())
    fail(ErrorKind::usage,
         "{}: weights of arcs may differ between the two directions of an edge, which METIS has no place for; choose "
         "another format",
         path);
  BuildOptions options;
  options.directed = false;
  const Graph graph = build_graph(list, options, parallel);
  std::string text = fmt::format("{} {}\n", graph.vertices, graph.arcs() / 2);
  for (Vertex v = 0; v < graph.vertices; ++v) {
    const char* before = "";
    for (const Vertex w : graph.out.row(v)) {
      fmt::format_to(std::back_inserter(text), "{}{}", before, w + 1);
      before = " ";
    }
    text += '\n';
  }
  return {text};
}

template <class T>
void append(std::string& bytes, const T* values, std::size_t count) {
  const std::size_t before = bytes.size();
  bytes.resize(before + count * sizeof(T));
  if (count > 0) std::memcpy(bytes.data() + before, values, count * sizeof(T));
}

std::vector<std::string> gap(const ArcList& list, const ParallelFor& parallel) {
  BuildOptions options;
  options.directed = !list.both_ways;
  const Graph graph = build_graph(list, options, parallel);
  std::string bytes(1, options.directed ? '\1' : '\0');
  const Gid counts[2] = {graph.arcs(), graph.vertices};
  append(bytes, counts, 2);
  for (const Csr<Vertex>* rows : {&graph.out, &graph.in}) {
    if (rows == &graph.in && !options.directed) break;
    append(bytes, rows->offsets.data(), rows->offsets.size());
    append(bytes, rows->columns.data(), rows->columns.size());
  }
  return {bytes};
}

}  // namespace

void check_graph_file(const std::filesystem::path& path) {
  if (ending_of(path) == ".wsg")
    fail(ErrorKind::usage, "{}: graphs with weights cannot be written as .wsg; choose .mtx or an edge list",
         path.string());
}

void write_graph(const ArcList& list, const std::filesystem::path& path, const ParallelFor& parallel) {
  check_graph_file(path);
  const std::string ending = ending_of(path);
  std::vector<std::string> pieces;
  if (ending == ".mtx")
    pieces = matrix_market(list, parallel);
  else if (ending == ".graph" || ending == ".metis")
    pieces = metis(list, path.string(), parallel);
  else if (ending == ".sg")
    pieces = gap(list, parallel);
  else
    pieces = edge_list(list, parallel);
  if (path.extension() == ".gz") {  // pieces are members of their own, so that all threads compress
    for_ranges(parallel, static_cast<Size>(pieces.size()), [&](Size begin, Size end) {
      for (Size k = begin; k < end; ++k) {
        auto& piece = pieces[k];
        if (!piece.empty()) piece = compress(piece);
      }
    });
  }
  const std::vector<std::string_view> views(pieces.begin(), pieces.end());
  write_file(path, views, Place::given);
}

}  // namespace tutti::graph
