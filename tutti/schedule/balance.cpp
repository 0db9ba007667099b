#include "tutti/schedule/balance.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "tutti/device/triad.hpp"

namespace tutti {

double quick_triad(Device& device, Threads& threads) {
  MeasureLimits limits = MeasureLimits::quick();
  if (!device.is_host()) return measure_bandwidth(device, limits).triad;
  // A host with huge caches asks for huge arrays; all three together take an eighth of this rank's memory at most.
  limits.array_bytes = std::min(limits.array_bytes, (device.budget().capacity() - device.budget().used()) / 24);
  return measure_triad(threads, limits);
}

PartPlaces place_parts(const Comm& comm, const DeviceSet& devices) {
  // A host is known by the lowest rank on it.
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(comm.handle(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  int first = comm.rank();
  check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, host), "MPI_Bcast");
  MPI_Comm_free(&host);
  const std::array<int, 2> mine{first, static_cast<int>(devices.devices.size())};
  const auto all = comm.all_gather(std::span<const int>(mine));
  PartPlaces places;
  std::map<int, std::vector<int>> nodes;
  int part = 0;
  for (std::size_t r = 0; r < all.size() / 2; ++r)
    for (int d = 0; d < all[2 * r + 1]; ++d) {
      places.rank_of_part.push_back(static_cast<int>(r));
      nodes[all[2 * r]].push_back(part++);
    }
  for (auto& [_, parts] : nodes) places.parts_of_node.push_back(std::move(parts));
  return places;
}

std::vector<double> part_weights(const Comm& comm, const DeviceSet& devices, const Case& options, int parts) {
  const auto n = static_cast<std::size_t>(parts);
  std::vector<double> weights(n, 1.0);
  if (options.is_word("balance.weights", "stream") && parts > 1) {
    std::vector<double> mine;
    comm.together([&] {
      for (const auto& device : devices.devices) mine.push_back(quick_triad(*device, *devices.threads));
    });
    weights = comm.all_gather(std::span<const double>(mine));
  } else if (!options.is_word("balance.weights", "stream") && !options.is_word("balance.weights", "equal")) {
    weights = options.numbers("balance.weights");
  }
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  comm.together([&] {
    const std::string where = options.where("balance.weights");
    if (weights.size() != n)
      fail(ErrorKind::input, "{}: balance.weights has {} entries for {} devices in all ranks; give one a device", where,
           weights.size(), parts);
    if (!(sum > 0)) fail(ErrorKind::input, "{}: balance.weights are all 0; at least one must be above 0", where);
  });
  for (double& w : weights) w /= sum;
  return weights;
}

}  // namespace tutti
