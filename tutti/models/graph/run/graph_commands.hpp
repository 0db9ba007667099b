// tutti graph: make graphs, look at them, convert them, measure betweenness and SSCA#2.
#pragma once

#include "tutti/program/model_kind.hpp"

namespace tutti::graph {

void add_graph_commands(CLI::App& program, Action& action);

}  // namespace tutti::graph
