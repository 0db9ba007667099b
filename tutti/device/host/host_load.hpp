// Do the ranks of a host have a core for each of their threads?
#pragma once

#include <string>

#include "tutti/base/mpi/comm.hpp"

namespace tutti {

/// What runs on the host of this rank.
struct HostLoad {
  int ranks = 1;    ///< of this host
  int threads = 1;  ///< of all its ranks together
  int cores = 1;    ///< that at least one of them may run on, no more than their control group's quota
  bool full() const { return threads > cores; }
};

/// How many threads of this process alone have a core each: its affinity mask, its control group's quota.
int usable_cores();

/// Collective: every rank tells the threads of its team.
HostLoad host_load(const Comm& comm, int threads);

/// One line that says what is wrong and what helps; empty where every thread has a core. `passive`: the OpenMP
/// library puts waiting threads to sleep (OMP_WAIT_POLICY=passive).
std::string describe_full_cores(const HostLoad& load, bool passive);

/// OMP_WAIT_POLICY of this process is passive.
bool waits_passively();

/// Warns, on rank 0, when the fullest host has more threads than cores and they would spin. Silent where
/// OMP_WAIT_POLICY=passive is set: whoever set it knows. Collective.
void warn_of_full_cores(const Comm& comm, int threads);

}  // namespace tutti
