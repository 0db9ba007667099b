// What programs know of this model.
#pragma once

#include "tutti/program/model_kind.hpp"

namespace tutti::graph {

ModelKind graph_kind();

}  // namespace tutti::graph
