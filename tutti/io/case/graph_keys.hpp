// The keys of [graph] and [steps] for models on the vertices of a graph.
#pragma once

#include "tutti/io/case/case_schema.hpp"

namespace tutti {

void add_graph_keys(CaseSchema& schema);

}  // namespace tutti
