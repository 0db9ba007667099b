// MPI for tests that need a communicator: started at first use, ended at exit.
#pragma once

#include <mpi.h>

#include <cstdlib>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/base/system/program.hpp"

namespace tutti::test {

/// The world; every rank of an mpirun, or one rank when the program runs alone.
inline const Comm& world() {
  static const Comm comm = [] {
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (!initialised) {
      // Alone, it needs no daemon beside it, and none of what it finds out about the machine: 0.03 s instead of 0.4.
      // What is set goes first.
      setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
      // Nor the folder that all programs alone share: one that ends takes it from one that starts.
      if (!is_launched()) setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
      setenv("OMPI_MCA_pml", "ob1", 0);
      setenv("HWLOC_COMPONENTS", "-pci,-linuxio", 0);
      int provided = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
      std::atexit([] { MPI_Finalize(); });
    }
    return Comm();
  }();
  return comm;
}

}  // namespace tutti::test
