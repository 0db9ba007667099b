// NCCL, looked for when the program runs: nothing is linked, and everything works without it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/exchange/device_link.hpp"
#include "tutti/exchange/part_streams.hpp"

namespace tutti {

struct NcclReport {
  std::string version;  ///< "2.28.9"; empty: it cannot be used
  std::string problem;  ///< why not
};
/// Loads libnccl.so.2 as the system finds it (LD_LIBRARY_PATH).
NcclReport report_nccl();

/// Of the parts of all ranks, in order of their numbers: one that is on a GPU or one that is not.
struct LinkedParts {
  std::vector<char> on_gpu;  ///< of all parts
  std::vector<int> mine;     ///< numbers of this rank's parts
  int first_rank = 0;        ///< the lowest rank that has a GPU
};
/// One communicator over all GPUs of all parts. Collective; Error on all ranks: resource when a rank with a GPU has no
/// NCCL or two parts share a GPU, peer when NCCL fails. Null on ranks without a GPU.
std::unique_ptr<DeviceLink> make_nccl_link(const Comm& comm, const LinkedParts& linked, std::span<PartStreams> parts);

}  // namespace tutti
