#include "tutti/models/graph/run/graph_kind.hpp"

#include "tutti/models/graph/run/graph_case.hpp"
#include "tutti/models/graph/run/graph_commands.hpp"
#include "tutti/models/graph/run/graph_model.hpp"

namespace tutti::graph {

ModelKind graph_kind() {
  ModelKind kind{"graph", add_measure_keys, [](const ModelSetup& setup) { return std::make_unique<GraphModel>(setup); },
                 DomainKeys::graph};
  kind.add_commands = add_graph_commands;
  return kind;
}

}  // namespace tutti::graph
