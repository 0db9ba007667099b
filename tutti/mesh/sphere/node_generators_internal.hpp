// What generators of nodes share. Inside the mesh floor only.
#pragma once

#include "tutti/base/types.hpp"

namespace tutti {

/// 12, 42, 92, ...: 10 m^2 + 2 for some m.
bool is_icosahedral(Gid count);

/// SpecError("count") below 1 and above max_nodes.
void check_node_count(Gid count);

}  // namespace tutti
