// The memory that a host has left for each of its ranks.
#pragma once

#include "tutti/base/mpi/comm.hpp"

namespace tutti {

/// Bytes that are available, over the ranks of this host. Collective.
Size host_memory(const Comm& comm);

}  // namespace tutti
