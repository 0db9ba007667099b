#include "tutti/device/host/host_memory.hpp"

#include "tutti/base/system/machine_limits.hpp"

namespace tutti {

Size host_memory(const Comm& comm) {
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  int ranks = 1;
  check_mpi(MPI_Comm_size(host, &ranks), "MPI_Comm_size");
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
  return read_machine_limits().available / ranks;
}

}  // namespace tutti
