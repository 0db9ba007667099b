// Who is where, and how much of the work each device gets.
#pragma once

#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/io/case.hpp"

namespace tutti {

/// Ranks and hosts of all parts. Parts are numbered rank after rank, device after device.
struct PartPlaces {
  std::vector<int> rank_of_part;
  std::vector<std::vector<int>> parts_of_node;  ///< a host, and the parts on it
};
/// Collective.
PartPlaces place_parts(const Comm& comm, const DeviceSet& devices);

/// STREAM triad of a device in about 50 ms [bytes/s].
double quick_triad(Device& device, Threads& threads);

/// Weights of all parts, sum 1, from [balance]: "equal", "stream" (the measured triad of each device: Langguth 2015,
/// r_stream) or the user's list. Collective.
std::vector<double> part_weights(const Comm& comm, const DeviceSet& devices, const Case& options, int parts);

}  // namespace tutti
