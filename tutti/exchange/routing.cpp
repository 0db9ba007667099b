#include "tutti/exchange/routing.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>

#include "tutti/base/log.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/exchange/nccl.hpp"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace tutti {
namespace {

constexpr std::array<RoutingKind, 5> kinds = {RoutingKind::automatic, RoutingKind::direct, RoutingKind::staged,
                                              RoutingKind::device, RoutingKind::nccl};

bool on_device(const PartStreams& part) {
  return !part.is_host();
}

void require_readable(std::span<PartStreams> parts) {
  for (const PartStreams& part : parts) {
    const Device& device = *part.device;
    if (device.host_can_touch() || (device.kind() == DeviceKind::cuda && mpi_is_cuda_aware())) continue;
    fail(ErrorKind::resource,
         "devices.transport = \"device\": MPI cannot read the memory of {}, as it is not CUDA-aware; use \"auto\" or "
         "\"nccl\"",
         device.name());
  }
}

void add_nccl(const Comm& comm, Routing& routing, std::span<const IndexMap> maps, std::span<PartStreams> parts) {
  struct Place {
    std::int32_t part, rank;
    bool on_gpu;
  };
  std::vector<Place> mine;
  LinkedParts linked;
  for (std::size_t p = 0; p < maps.size(); ++p) {
    mine.push_back({maps[p].part, comm.rank(), parts[p].device->kind() == DeviceKind::cuda});
    linked.mine.push_back(maps[p].part);
  }
  linked.first_rank = comm.size();
  const auto all = comm.all_gather(std::span<const Place>(mine));
  linked.on_gpu.assign(all.size(), 0);
  for (const Place& place : all) {
    if (!place.on_gpu) continue;
    linked.on_gpu[place.part] = 1;
    linked.first_rank = std::min(linked.first_rank, static_cast<int>(place.rank));
  }
  comm.together([&] {
    if (linked.first_rank == comm.size())
      fail(ErrorKind::resource,
           "devices.transport = \"nccl\": no rank has a CUDA GPU; use \"auto\", or give GPUs with --devices");
  });
  routing.link = make_nccl_link(comm, linked, parts);
  routing.linked = linked.on_gpu;
}

}  // namespace

RoutingKind parse_routing(const std::string& name) {
  for (const RoutingKind kind : kinds)
    if (name == routing_name(kind)) return kind;
  fail(ErrorKind::usage, "transport '{}' is unknown; choose auto, direct, staged, device or nccl", name);
}

const char* routing_name(RoutingKind kind) {
  constexpr std::array<const char*, kinds.size()> names = {"auto", "direct", "staged", "device", "nccl"};
  return names[static_cast<std::size_t>(kind)];
}

Routing make_routing(const Comm& comm, RoutingKind kind, std::span<const IndexMap> maps, std::span<PartStreams> parts) {
  Routing routing;
  routing.kind = kind;
  if (log_level() >= LogLevel::verbose && log_speaks())
    verbose("transport {}; {}", routing_name(kind), describe_routings());
  if (kind == RoutingKind::device) {
    const auto devices = comm.sum(static_cast<std::int64_t>(std::count_if(parts.begin(), parts.end(), on_device)));
    comm.together([&] {
      if (devices == 0)
        fail(ErrorKind::resource,
             "devices.transport = \"device\": no rank has a GPU; use \"auto\", or give GPUs with --devices");
      require_readable(parts);
    });
  }
  if (kind == RoutingKind::nccl) add_nccl(comm, routing, maps, parts);
  return routing;
}

bool reach_each_other(const Routing& routing, const PartStreams& a, const PartStreams& b) {
  return routing.kind != RoutingKind::staged && !a.is_host() && !b.is_host() && a.device->can_copy_from(*b.device) &&
         b.device->can_copy_from(*a.device);
}

Route route_of(const Message& m, const Routing& routing, std::span<const PartStreams> parts) {
  const auto device_of = [&](int part) -> Device& { return *parts[part].device; };
  if (m.source >= 0 && m.target >= 0) {
    if (!reach_each_other(routing, parts[m.source], parts[m.target])) return Route::host;
    const bool copied = routing.kind != RoutingKind::direct && m.contiguous() && m.count > routing.most_stored;
    return copied ? Route::peer : Route::direct;
  }
  if (device_of(m.source >= 0 ? m.source : m.target).is_host()) return Route::host;
  if (routing.kind == RoutingKind::device) return Route::device;
  const auto linked = [&](std::int32_t part) {
    return static_cast<std::size_t>(part) < routing.linked.size() && routing.linked[part] != 0;
  };
  return routing.link && linked(m.from) && linked(m.to) ? Route::link : Route::host;
}

bool is_packed(const Message& m, Route route, int components) {
  if (m.source < 0 || (route != Route::device && route != Route::link)) return false;
  return !m.contiguous() || (route == Route::device && components > 1);
}

bool mpi_is_cuda_aware() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

std::string describe_routings() {
  const NcclReport nccl = report_nccl();
  return fmt::format("CUDA-aware MPI: {}; NCCL {}", mpi_is_cuda_aware() ? "yes" : "no",
                     nccl.version.empty() ? fmt::format("cannot be used: {}", nccl.problem) : nccl.version);
}

}  // namespace tutti
