// MPI for tests that need a communicator: started at first use, ended at exit.
#pragma once

#include <mpi.h>

#include <cstdlib>

#include "tutti/base/mpi/comm.hpp"

namespace tutti::test {

/// The world; every rank of an mpirun, or one rank when the program runs alone.
inline const Comm& world() {
  static const Comm comm = [] {
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (!initialised) {
      int provided = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
      std::atexit([] { MPI_Finalize(); });
    }
    return Comm();
  }();
  return comm;
}

}  // namespace tutti::test
