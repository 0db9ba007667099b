// Who is where, and how much of the work each device gets.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/exchange/routing.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/io/summary.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti {

class Step;

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

/// Seconds of a run of a sample's graph, whose runs enqueue the same work: the best of several, in about 50 ms.
double sample_seconds(Step& step);

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
  double seconds_with = 0;                  ///< with CPU teams, where that is not worth it, too
  bool in_cache = false;                    ///< it is their caches that make it worth while
};
Share choose_share(const ShareInput& input);

/// What was measured of a part's device. Other than CPU teams have a `rate` only.
struct PartRate {
  double rate = 0;      ///< rows a second of the model's kernel, from memory
  double in_cache = 0;  ///< likewise with `cached_rows`, which fit in the team's part of the caches
  double cached_rows = 0;
  double meet = 0;      ///< s that a step takes longer because the team takes part
  int threads = 0;      ///< of a CPU team; 0: another device
  double of_share = 0;  ///< of one of several GPUs: rows a second of as many rows as it would get
  double exchange = 0;  ///< s that a pass of several GPUs takes longer because they exchange; 0: not timed
};
/// What several GPUs exchange in a pass.
struct PassExchanges {
  RoutingKind routing = RoutingKind::automatic;
  double count = 1;
};
/// Times the model's kernel on all devices at the same time; for a mesh of `rows` rows, the same on all ranks. With
/// `exchanges`, what these cost between GPUs, too. Collective.
std::vector<PartRate> measure_parts(const Comm& comm, const DeviceSet& devices, Gid rows, const MeasureRate& rate,
                                    const std::optional<PassExchanges>& exchanges = {});

/// One of several GPUs alone, or all of them together.
struct OneGpu {
  int part = -1;                             ///< the fastest
  double seconds = 0, seconds_together = 0;  ///< of a pass, predicted
  bool taken() const;                        ///< the others would save less than 10 %
};
/// Nothing where no exchange between GPUs was timed.
std::optional<OneGpu> compare_one_gpu(const std::vector<PartRate>& rates, Gid rows);
/// "the other GPUs get no cells: ...".
std::string describe(const OneGpu& one);
/// The share in words: "the CPU gets ...".
std::string describe(const Share& share, Gid rows);

/// Peak memory bandwidths of all parts [bytes/s]: what devices.peak_gb_per_second says, else the device; 0: not known.
/// Collective. Error(input) for a list of another length.
std::vector<double> peak_bandwidths(const Comm& comm, const DeviceSet& devices, const Case& options, int parts);

/// Weights of all parts, sum 1.
struct Weights {
  std::vector<double> of_parts;
  std::optional<Share> share;        ///< measured weights of CPU teams and accelerators: what they were chosen by
  std::vector<PartRate> rates = {};  ///< of all parts, where they were measured
  std::optional<OneGpu> one_gpu;     ///< of several GPUs, whose others get nothing
};
/// Measured weights, sum 1: of one GPU where the others would not help (unless `all_gpus`), and of CPU teams where
/// these do.
Weights weigh_rates(std::vector<PartRate> rates, Gid rows, bool all_gpus = false);
/// From [balance]: "measured" (a short timed run of the model's kernel on each device: Langguth 2015, r_opt), "stream"
/// (the measured triad of each device: r_stream), "peak" (its peak bandwidth: r_peak; where it is not known the triad,
/// with a line that says so), "equal" or the user's list. Measured weights give nothing to a CPU that would slow the
/// step down, with a line that says so, nor to GPUs but one where this is faster alone (Weights::one_gpu). Without
/// `rate` "measured" is "stream". `rows`: of the whole mesh, known on all ranks. Collective.
Weights part_weights(const Comm& comm, const DeviceSet& devices, const Case& options, int parts, Gid rows = 0,
                     const MeasureRate& rate = {}, double exchanges_a_pass = 1);
/// What a summary says of them.
BalanceSummary summarise_weights(const Case& options, const Weights& weights);

/// Owner of every row: first over hosts, then over the devices of each, whatever their parts' numbers are. `weights`:
/// of all parts. Errors: as partition_tiers.
std::vector<std::int32_t> partition_over(const PartPlaces& places, const PartitionInput& input,
                                         std::span<const double> weights, Partitioner method);

}  // namespace tutti
