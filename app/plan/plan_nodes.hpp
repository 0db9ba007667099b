// How fast a mesh would be on many nodes that are copies of one: parts are cut and counted, seconds are projected.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/csr.hpp"
#include "tutti/base/types.hpp"

namespace tutti::app {

/// A device of every node. Rates per second, times in seconds.
struct NodeDevice {
  std::string name;
  bool accelerator = false;
  double rows = 0;         ///< of the model's kernel, from memory
  double rows_cached = 0;  ///< likewise for a part of at most `cached_rows` rows; 0: not measured
  double cached_rows = 0;
  double to_device = 0, to_host = 0;  ///< of accelerators: bytes of copies
  double copy_latency = 0;            ///< of accelerators: of a copy
  double launch = 0;                  ///< of a kernel, until it is known to be done
  double meet = 0;                    ///< of CPU teams: what a step takes longer because the team takes part
};

/// Between any two nodes, at the same time in both directions.
struct Network {
  double bytes = 12.5e9;  ///< a second, of a node
  double latency = 2e-6;  ///< of a message; a node sends one after the other
};

/// What one part computes, copies and sends a step. Doubles, as projections are no whole numbers.
struct PartCounts {
  double cells = 0, separators = 0, ghosts = 0;
  double sent = 0;                      ///< rows given to other parts, once for each of them
  double sent_off = 0, ghosts_off = 0;  ///< of `sent` and `ghosts`: those of parts on other nodes
  double messages = 0;                  ///< to parts on other nodes
};

/// Counts of all parts. `owner[i]` is the part of row i; parts are numbered node after node, `parts_a_node` each.
std::vector<PartCounts> count_parts(const Adjacency& stencil, std::span<const std::int32_t> owner, int parts,
                                    int parts_a_node);

/// Seconds under each overlap policy.
struct StepSeconds {
  double none = 0, messages = 0, full = 0;
};

/// Seconds of one sweep over all rows: the slowest part's. `parts` are whole nodes of devices.size() parts each.
/// A part that exchanges takes two launches, its separators, then
///   none: copies + messages + interior;  messages: copies + max(messages, interior);
///   full: max(copies + messages, interior),
/// `row_bytes` are those of a row that is sent;
/// where copies go through the host, one behind the other, and messages are those of the whole node.
StepSeconds project_step(std::span<const PartCounts> parts, std::span<const NodeDevice> devices, const Network& network,
                         double row_bytes = 8);

/// How the surfaces of a device's part grow: counts = c cells^(2/3) for every count but cells and messages.
struct SurfaceLaw {
  PartCounts factors;    ///< c of each count; messages: as in the largest partition
  double imbalance = 1;  ///< largest over mean part, in the largest partition
};

/// A partition that was made: its nodes, and the counts of nodes * devices parts.
struct RealPartition {
  int nodes = 0;
  std::vector<PartCounts> parts;
};

/// One law a device of a node, from the largest part of that device in each partition: the mean of counts / cells^(2/3)
/// over the partitions of at least a quarter of the largest one's nodes. The largest comes last, and has 2 or more.
std::vector<SurfaceLaw> fit_surfaces(std::span<const RealPartition> partitions, int devices);

/// The largest error of the laws' ghosts, relative to the worst part of each partition that was fitted; nothing where
/// that was one only.
std::optional<double> law_error(std::span<const RealPartition> partitions, std::span<const SurfaceLaw> laws);

/// The slowest node's parts by the laws, when a node gets `cells` rows shared by `weights` (sum 1).
std::vector<PartCounts> project_parts(std::span<const SurfaceLaw> laws, std::span<const double> weights, double cells);

}  // namespace tutti::app
