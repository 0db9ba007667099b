#include "tutti/models/graph/run/graph_kind.hpp"

#include "tutti/models/graph/run/graph_case.hpp"
#include "tutti/models/graph/run/graph_model.hpp"

namespace tutti::graph {

ModelKind graph_kind() {
  return {"graph", add_measure_keys, [](const ModelSetup& setup) { return std::make_unique<GraphModel>(setup); },
          DomainKeys::graph};
}

}  // namespace tutti::graph
