#include "tutti/io/case/graph_keys.hpp"

namespace tutti {

void add_graph_keys(CaseSchema& schema) {
  schema.describe_table("graph", "The graph comes from a file or from a generator (`tutti graph generate`).");
  schema.add({.path = "graph.file",
              .type = KeyType::file,
              .description = "Edge list, .mtx, .graph, .metis, .sg or .wsg; the text ones also with .gz."});
  schema.add(
      {.path = "graph.generate",
       .type = KeyType::choice,
       .description = "Generator: SSCA#2 v2.2, Graph500's Kronecker graph, a rectangular grid, or a periodic grid.",
       .choices = {"ssca2", "kronecker", "grid", "torus"}});
  schema.exactly_one_of({"graph.file", "graph.generate"});
  const KeyCondition random = {"graph.generate", {"ssca2", "kronecker"}}, plane = {"graph.generate", {"grid", "torus"}};
  schema.add({.path = "graph.scale",
              .type = KeyType::integer,
              .description = "2^scale vertices.",
              .min = 1,
              .max = 30,
              .required = true,
              .only_if = random});
  schema.add({.path = "graph.seed",
              .type = KeyType::integer,
              .default_value = "1",
              .description = "Seed of the random numbers.",
              .min = 0,
              .only_if = random});
  schema.add({.path = "graph.rows",
              .type = KeyType::integer,
              .description = "Vertices along one side.",
              .min = 1,
              .required = true,
              .only_if = plane});
  schema.add({.path = "graph.columns",
              .type = KeyType::integer,
              .description = "Vertices along the other side.",
              .min = 1,
              .required = true,
              .only_if = plane});
  schema.add({.path = "graph.directed",
              .type = KeyType::boolean,
              .default_value = "false",
              .description = "Arcs lead from the first vertex to the second only."});
  schema.add({.path = "graph.multi_edges",
              .type = KeyType::choice,
              .default_value = "\"simple\"",
              .description = "Several arcs between two vertices count as one edge, or as different paths.",
              .choices = {"simple", "paths"}});
  schema.add({.path = "graph.filter_eighths",
              .type = KeyType::boolean,
              .default_value = "false",
              .description = "Drop arcs whose weight is divisible by 8, as in kernel 4 of SSCA#2."});
  schema.describe_table("steps", "Batches of sources. Results do not depend on them.");
  schema.add({.path = "steps.sources",
              .type = KeyType::integer,
              .default_value = "\"auto\"",
              .description = "Sources per step; auto: about two seconds of work, at least one batch per device.",
              .choices = {"auto"},
              .min = 1});
  for (const char* path : {"time", "time.end", "time.steps", "time.dt"})
    schema.leave_out(path, "a run on a graph ends when all sources are done");
  for (const char* path : {"mesh", "partition", "balance", "output.every", "output.probe", "output.slice"})
    schema.leave_out(path, "a graph has no geometry");
  for (const char* path : {"statistics", "output.interval", "output.times", "output.format", "output.history_interval",
                           "output.history_times", "checkpoint.interval", "checkpoint.times"})
    schema.leave_out(path, "a run on a graph has no time, and no fields over time");
}

}  // namespace tutti
