// Who is where, and how much of the work each device gets.
#pragma once

#include <functional>
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

/// Rows a second of a model's own kernel on a device, timed on about `rows` rows of its own that are freed again. Where
/// the device has no room for them: Error(resource).
using MeasureRate = std::function<double(Device& device, Gid rows)>;

/// What is known before work is shared between a host's CPU teams and the accelerators.
struct ShareInput {
  double rows = 0;             ///< of the whole mesh
  double accelerators = 0;     ///< rows a second, all together
  double hosts = 0;            ///< rows a second, all together, from memory
  double hosts_in_cache = 0;   ///< likewise when a team's rows lie in its cache
  double rows_in_caches = 0;   ///< so many do, in all teams together
  double seconds_to_meet = 0;  ///< what a step takes longer because CPUs take part
};
/// The rows that make a step shortest when CPU teams take them, and why. Nothing where that is less than 5 %.
struct Share {
  double host_rows = 0;
  double seconds = 0, seconds_without = 0;  ///< of a step, predicted: so, and by accelerators alone
  bool in_cache = false;                    ///< it is their caches that make it worth while
};
Share choose_share(const ShareInput& input);

/// Weights of all parts, sum 1, from [balance]: "measured" (a short timed run of the model's kernel on each device:
/// Langguth 2015, r_opt), "stream" (the measured triad of each device: r_stream), "equal" or the user's list. Measured
/// weights give a CPU nothing where it would slow the step down, with a line that says so. Without `rate` "measured" is
/// "stream". `rows`: of the whole mesh, known on all ranks. Collective.
std::vector<double> part_weights(const Comm& comm, const DeviceSet& devices, const Case& options, int parts,
                                 Gid rows = 0, const MeasureRate& rate = {});

}  // namespace tutti
