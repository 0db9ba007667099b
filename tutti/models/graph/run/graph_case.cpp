#include "tutti/models/graph/run/graph_case.hpp"

#include <functional>

#include "tutti/base/error.hpp"
#include "tutti/device/host/host_memory.hpp"
#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/files/graph_pieces.hpp"
#include "tutti/models/graph/generate.hpp"

namespace tutti::graph {

void add_measure_keys(CaseSchema& schema) {
  schema.begin_group("graph");
  schema.describe_table("measure", "The measure to compute for every vertex.");
  schema.add(
      {.path = "measure.of",
       .type = KeyType::choice,
       .default_value = "\"betweenness\"",
       .description = "Betweenness sums over ordered pairs: of an undirected graph it is twice that of NetworkX.",
       .choices = {"betweenness", "closeness", "components"}});
  schema.add({.path = "measure.sources",
              .type = KeyType::integer,
              .description = "Vertices from which shortest paths are followed: all (the default), or this many, drawn "
                             "from those with a successor.",
              .choices = {"all"},
              .min = 1});
  schema.add({.path = "measure.source_file",
              .type = KeyType::file,
              .description = "File with one source vertex number per line, instead of `sources`."});
  schema.at_most_one_of({"measure.sources", "measure.source_file"});
  schema.add({.path = "measure.seed",
              .type = KeyType::integer,
              .default_value = "1",
              .description = "Seed for drawing the sources.",
              .min = 0});
  schema.add({.path = "devices.placement",
              .type = KeyType::choice,
              .default_value = "\"auto\"",
              .description = "A copy of the graph on every device, or its vertices in parts, which is slower; auto: "
                             "parts where a device has no room for a copy.",
              .choices = {"auto", "copies", "parts"}});
  schema.add({.path = "output.formats",
              .type = KeyType::texts,
              .default_value = "[\"csv\"]",
              .description = "Formats of the file of values: `betweenness.csv`, ...; npy and npz are those of NumPy.",
              .choices = {"csv", "npy", "npz", "parquet"}});
  schema.add({.path = "output.top",
              .type = KeyType::integer,
              .default_value = "0",
              .description = "Number of vertices with the highest values to print at the end.",
              .min = 0,
              .max = 1 << 20});
}

GraphCase read_graph_case(const Case& options) {
  GraphCase c;
  c.build.directed = options.flag("graph.directed");
  c.build.multi_edges = options.text("graph.multi_edges") == "paths" ? MultiEdges::paths : MultiEdges::simple;
  c.build.leave_out_eighths = options.flag("graph.filter_eighths");
  c.name = options.text("measure.of");
  c.measure = parse_measure(c.name);
  c.seed = static_cast<std::uint64_t>(options.integer("measure.seed"));
  c.where = options.has("measure.source_file") ? "measure.source_file"
            : options.has("measure.sources")   ? "measure.sources"
                                               : "measure.of";
  c.sources = options.has("measure.source_file") ? options.file("measure.source_file").string()
              : !options.has("measure.sources") || options.is_word("measure.sources", "all")
                  ? "all"
                  : fmt::format("{}", options.integer("measure.sources"));
  if (c.measure == Measure::components && c.sources != "all")
    fail(ErrorKind::input, "{}: components have no sources; remove the key", options.where(c.where));
  c.sources_a_step = options.is_word("steps.sources", "auto") ? 0 : options.integer("steps.sources");
  c.placement = parse_placement(options.text("devices.placement"));
  c.formats = options.texts("output.formats");
  c.top = static_cast<int>(options.integer("output.top"));
  return c;
}

namespace {

bool is_rmat(const Case& options) {
  if (options.has("graph.file")) return false;
  const std::string kind = options.text("graph.generate");
  return kind != "grid" && kind != "torus";
}

RmatSpec rmat_of(const Case& options) {
  const int scale = static_cast<int>(options.integer("graph.scale"));
  const auto seed = static_cast<std::uint64_t>(options.integer("graph.seed"));
  return options.text("graph.generate") == "ssca2" ? ssca2_spec(scale, seed) : kronecker_spec(scale, seed);
}

/// What is a wrong option elsewhere is a wrong key here.
ArcList generate(const Case& options, const std::function<ArcList()>& make) {
  try {
    return make();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    fail(ErrorKind::input, "{}: {}", options.where("graph.generate"), error.what());
  }
}

}  // namespace

ArcList load_arcs(const Case& options, const ParallelFor& parallel) {
  if (options.has("graph.file")) return read_graph(options.file("graph.file"), parallel);
  const std::string kind = options.text("graph.generate");
  return generate(options, [&] {
    if (kind == "grid") return generate_grid(options.integer("graph.rows"), options.integer("graph.columns"), parallel);
    if (kind == "torus")
      return generate_torus(options.integer("graph.rows"), options.integer("graph.columns"), parallel);
    return generate_rmat(rmat_of(options), parallel);
  });
}

ArcList load_piece(const Case& options, const Comm& comm, const ParallelFor& parallel) {
  if (options.has("graph.file")) return read_graph_piece(comm, options.file("graph.file"), parallel);
  ArcList piece;
  comm.together([&] {
    piece = generate(options, [&] {
      const RmatSpec spec = rmat_of(options);
      const Size tuples = spec.degree << spec.scale;
      return generate_rmat(spec, tuples * comm.rank() / comm.size(), tuples * (comm.rank() + 1) / comm.size(),
                           parallel);
    });
  });
  return piece;
}

bool chooses_pieces(const Case& options, const GraphCase& graph_case, const Comm& comm) {
  const Size there = host_memory(comm);
  bool pieces = false;
  comm.together([&] {
    if (options.has("graph.file"))
      pieces =
          choose_pieces(options.file("graph.file").string(), graph_case.measure, graph_case.placement, there, comm);
    else
      pieces = is_rmat(options) && graph_case.measure == Measure::betweenness && comm.size() > 1 &&
               graph_case.placement == Placement::parts;
  });
  return comm.max(pieces ? 1 : 0) > 0;
}

}  // namespace tutti::graph
