#include "tutti/device/host/host_load.hpp"

#include <mpi.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tutti/base/log.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/device/threads.hpp"

namespace tutti {

int usable_cores() {
  return read_machine_limits().whole_cores(static_cast<int>(allowed_cores().size()));
}

HostLoad host_load(const Comm& comm, int threads) {
  MPI_Comm handle = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &handle),
            "MPI_Comm_split_type");
  HostLoad load;
  {
    const Comm host(handle);
    load.ranks = host.size();
    load.threads = static_cast<int>(host.sum(threads));
    auto cores = host.all_gather(std::span<const int>(allowed_cores()));
    std::sort(cores.begin(), cores.end());
    load.cores =
        read_machine_limits().whole_cores(static_cast<int>(std::unique(cores.begin(), cores.end()) - cores.begin()));
  }
  MPI_Comm_free(&handle);
  return load;
}

std::string describe_full_cores(const HostLoad& load, bool passive) {
  if (!load.full()) return "";
  const bool teams = load.threads > load.ranks;
  return fmt::format(
      "{} rank{} with {} threads in all share {} core{} of this host{} use fewer ranks{}", load.ranks,
      load.ranks == 1 ? "" : "s", load.threads, load.cores, load.cores == 1 ? "" : "s",
      teams && !passive
          ? "; waiting OpenMP threads spin and take cores from those that work: set OMP_WAIT_POLICY=passive, or"
          : " and take turns:",
      teams ? " or --threads" : "");
}

bool waits_passively() {
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  return policy != nullptr && strcasecmp(policy, "passive") == 0;
}

void warn_of_full_cores(const Comm& comm, int threads) {
  const std::vector<HostLoad> mine = {host_load(comm, threads)};
  const auto all = comm.all_gather(std::span<const HostLoad>(mine));
  const auto worst = std::max_element(all.begin(), all.end(), [](const HostLoad& a, const HostLoad& b) {
    return a.threads * b.cores < b.threads * a.cores;
  });
  if (waits_passively()) return;
  if (const std::string text = describe_full_cores(*worst, false); !text.empty()) warn("{}", text);
}

}  // namespace tutti
