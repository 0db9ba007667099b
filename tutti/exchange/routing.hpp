// How messages travel: through host memory, between devices of a rank, from device memory by MPI, or by NCCL.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/exchange/device_link.hpp"
#include "tutti/exchange/part_streams.hpp"
#include "tutti/partition/index_map.hpp"

namespace tutti {

struct Message;

/// Between devices of one rank all but `staged` go from device to device where these can reach each other: cells of
/// grids, short messages and rows in many pieces are stored by a kernel, long ones in one piece copied.
enum class RoutingKind : std::uint8_t {
  automatic,  ///< between ranks through host memory
  direct,     ///< within a rank kernels store all messages into the receiver's ghosts; between ranks as `automatic`
  staged,     ///< all messages through host memory
  device,     ///< between ranks by MPI from and to device memory
  nccl,       ///< between GPUs of different ranks by NCCL; other messages as `automatic`
};
/// "auto", "direct", "staged", "device", "nccl". Error(usage) for another word.
RoutingKind parse_routing(const std::string& name);
const char* routing_name(RoutingKind kind);

/// Made once by all ranks together, for any number of exchanges.
struct Routing {
  RoutingKind kind = RoutingKind::automatic;
  std::unique_ptr<DeviceLink> link;  ///< of `nccl`, on ranks that have a device; else null
  std::vector<char> linked;          ///< of all parts of all ranks, by number: does the link reach it?
  Lid most_stored = 8192;            ///< rows of the longest message in one piece that is stored, not copied
  bool disabled = false;             ///< steps exchange nothing, to see what it costs: their results are wrong
};

/// Collective. `maps` and `parts` are this rank's. With `device` and `nccl`: Error(resource) where no part of any rank
/// is on a device, MPI cannot read a device's memory, or NCCL or a part's GPU is not there.
Routing make_routing(const Comm& comm, RoutingKind kind, std::span<const IndexMap> maps, std::span<PartStreams> parts);

/// The way of one message, the same at both ends.
enum class Route : std::uint8_t {
  host,    ///< through host memory
  direct,  ///< within a rank, a kernel of the sender stores into the receiver's ghosts
  peer,    ///< within a rank, a copy from device to device of rows in one piece
  device,  ///< from or to device memory by MPI
  link,    ///< from device to device by the link
};
Route route_of(const Message& message, const Routing& routing, std::span<const PartStreams> parts);
/// Do kernels on the devices of these two parts of a rank store into each other's memory?
bool reach_each_other(const Routing& routing, const PartStreams& a, const PartStreams& b);
/// Does its sender gather its rows in an array of its device first?
bool is_packed(const Message& message, Route route, int components);

/// Does this MPI read and write GPU memory?
bool mpi_is_cuda_aware();
/// What there is: "CUDA-aware MPI: no; NCCL 2.28.9". Loads NCCL's library where it can.
std::string describe_routings();

}  // namespace tutti
