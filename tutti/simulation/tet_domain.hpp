// A tetrahedral mesh, read or generated, split over all devices of all ranks, numbered and ready for a model.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/exchange/part_streams.hpp"
#include "tutti/exchange/transport.hpp"
#include "tutti/io/case.hpp"
#include "tutti/io/distribute.hpp"
#include "tutti/io/summary.hpp"
#include "tutti/partition/index_map.hpp"
#include "tutti/partition/partition.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/simulation/phases.hpp"

namespace tutti {

/// What every model on tetrahedra starts from. Vectors named `mine` by their type have one entry a part of this rank.
struct TetDomain {
  Gid cells = 0;               ///< of the whole mesh
  std::uint64_t checksum = 0;  ///< of the whole mesh: vertices, cells, tags and cell data, as they were read
  std::map<std::int32_t, std::string> region_names, boundary_names;
  std::set<std::int32_t> region_tags, boundary_tags;  ///< in use
  std::vector<int> rank_of_part;                      ///< of all parts
  std::vector<double> weights;                        ///< of all parts, sum 1, as far as there is room
  BalanceSummary balance;
  std::vector<LocalTetMesh> meshes;  ///< mine; in the order of the map
  std::vector<IndexMap> maps;        ///< mine
  std::vector<PartStreams> streams;  ///< mine
  Transport transport;               ///< of devices.transport
};

/// The partition of a checkpoint.
struct StoredPartition {
  std::vector<std::string> devices;  ///< kind of each part's device
  std::vector<std::int32_t> owner;   ///< of each cell; on the root only
};
/// Kinds of the devices of all parts: "cpu", "fake", "cuda". Collective.
std::vector<std::string> device_kinds(const Comm& comm, const DeviceSet& devices);

/// What a model's arrays take of a device's memory.
struct MemoryModel {
  /// Bytes of an owned row, about, when a row reads `entries` others on average.
  std::function<double(const Device& device, double entries)> row;
  double ghost = 0;  ///< bytes of a ghost
  /// Bytes of a part of this rank, exact or an upper bound. Called where the estimate is near what the device has.
  std::function<Size(const TetDomain& domain, std::size_t p)> part;
};

struct DomainOptions {
  /// Layers of face neighbours that a cell reads: 1 (4 cells) or 2 (4 + 12). The halo and the stencil graph follow.
  int layers = 2;
  /// > 0: interior rows of like length are brought together within windows of this many rows (the sigma of
  /// SELL-C-sigma).
  Lid similar_rows = 0;
  /// A partition to take instead of a new one, where it has as many parts on the same kinds of devices; else null.
  const StoredPartition* stored = nullptr;
  /// Of all parts, instead of those of [balance]; empty: as the case says.
  std::vector<double> weights = {};
  /// The model's kernel on a device, for weights; without it bandwidths are weighed.
  MeasureRate rate = {};
  /// What bounds a part by its device's memory; without it nothing does.
  std::optional<MemoryModel> memory = {};
  /// A mesh that all devices together cannot hold is Error(resource); false: its parts are as large as they come.
  bool refuse_too_large = true;
};

/// The mesh of [mesh]: a file, or a generator (its files go to `work_dir`), refined. On the reader only.
TetMesh load_mesh(const Case& options, const std::filesystem::path& work_dir, const ParallelFor& parallel = {});

/// Reads, partitions in tiers (node, device), distributes, orders and numbers. A device that has no room for its part
/// gets a smaller one, and the others what is left, with a line that says so; where the parts turn out larger than they
/// were estimated, it is done again. Collective. Errors of the reader are thrown on all ranks; Error(resource) before
/// anything is allocated when all devices together have no room.
TetDomain make_tet_domain(const Comm& comm, DeviceSet& devices, const Case& options,
                          const std::filesystem::path& work_dir, const DomainOptions& domain_options, Phases& phases);

}  // namespace tutti
