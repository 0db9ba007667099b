// What every model starts from: the rows of a mesh, split over all devices of all ranks and numbered.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/domain/groups.hpp"
#include "tutti/domain/pieces.hpp"
#include "tutti/domain/setup.hpp"
#include "tutti/domain/whole_rows.hpp"
#include "tutti/exchange/part_streams.hpp"
#include "tutti/exchange/routing.hpp"
#include "tutti/io/summary.hpp"
#include "tutti/partition/index_map.hpp"
#include "tutti/schedule/balance.hpp"
#include "tutti/schedule/capacity.hpp"

namespace tutti {

/// A row at a point: where the value of a probe is read. Of an interpolated value there are several, which are added up
/// in the order of `entry`, whoever owns them.
struct RowPlace {
  std::size_t probe = 0;
  std::size_t p = 0;  ///< part of this rank
  RowSet row = {};
  double weight = 1;
  int entry = 0;
  /// Of an interpolated value: where it is read, in the row that contains it (the others: nothing).
  std::optional<Vec3> inside = {};
  bool interpolated = false;
};

/// A row, by its number in the whole mesh, and how much it counts.
struct WeightedRow {
  Gid row = 0;
  double weight = 0;
};

/// Of each point the row that contains it; where several do, the one of the lowest number. `word`: "a cell".
/// Collective. Error(input) names the label of a point outside of all rows.
std::vector<RowPlace> rows_at(const Comm& comm, std::span<const IndexMap> maps, std::span<const Vec3> points,
                              std::span<const std::string> labels, const std::string& word,
                              const std::function<bool(std::size_t p, Lid row, Vec3 point)>& contains);

/// How messages call the rows of a mesh, and what they tell who has too many.
struct RowWords {
  const char* rows;
  const char* smaller;
};

/// The rows of all parts of this rank. A kind of mesh (tetrahedra, nodes, a grid) derives from it and brings what only
/// it knows: how it is read and cut, and where a point is. Vectors have one entry a part of this rank unless said
/// otherwise.
class Domain {
 public:
  virtual ~Domain() = default;

  Gid rows = 0;                   ///< of the whole mesh
  std::uint64_t checksum = 0;     ///< of the whole mesh, as it was read
  std::vector<int> rank_of_part;  ///< of all parts
  int first_part = 0;             ///< number of this rank's first part; the others follow
  std::vector<double> weights;    ///< of all parts, sum 1, as far as there is room
  BalanceSummary balance;
  std::vector<IndexMap> maps;
  std::vector<PartStreams> streams;
  Routing routing;     ///< of devices.transport
  std::string advice;  ///< where the devices are full: "use more devices, ..."

  std::size_t mine() const { return streams.size(); }
  int part(std::size_t p) const { return first_part + static_cast<int>(p); }
  Stream& stream(std::size_t p) const { return *streams[p].compute; }
  Device& device(std::size_t p) const { return *streams[p].device; }
  double weight(std::size_t p) const { return weights[part(p)]; }
  /// All rows that part p owns.
  virtual RowSet owned(std::size_t p) const { return {maps[p].owned_rows(), {}}; }
  virtual Gid owned_count(std::size_t p) const { return maps[p].owned; }

  virtual RowWords words() const = 0;
  /// Whether rows lie somewhere: else there are no pieces, slices and probes.
  virtual bool in_space() const { return true; }
  /// To see what a run would need: parts are cut, but neither numbered nor joined.
  virtual bool only_counted() const { return false; }
  /// Entries of a row of the stencil besides the row itself, on average; 0 where rows are all alike.
  virtual double row_length() const { return 0; }
  /// Reads or generates the mesh and sets rows and checksum. Called again before another cut. Collective; errors of the
  /// reader are thrown on all ranks.
  virtual void load(const ModelSetup& setup) = 0;
  /// Gives every row a part by `weights`, or `stored` where it is not null, and every part its rows; sets `maps`,
  /// unless it is only_counted. Collective.
  virtual void cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition* stored) = 0;

  /// What was loaded, to see how it would be cut elsewhere; the domain is used no more. One process only.
  virtual WholeRows take_whole(const ModelSetup&) { return {}; }

  /// The rows of points, each on the rank that owns it. Error(input) on all ranks for a point outside; the message
  /// begins with its label. Collective.
  virtual std::vector<RowPlace> locate(const Comm& comm, std::span<const Vec3> points,
                                       std::span<const std::string> labels) const = 0;
  /// Row number `row` of part p alone.
  virtual RowSet one_row(std::size_t p, Lid row) const {
    (void)p;
    return {{row, row + 1}, {}};
  }
  /// Rows whose weighted values make up the value at a point of an owned row (one of locate): exact for linear
  /// functions, as far as the mesh allows. The same for every partition. Without it, the row itself.
  virtual std::vector<WeightedRow> around(std::size_t p, const RowSet& row, Vec3 point) const {
    (void)point;
    return {{maps[p].global[row.rows.begin], 1}};
  }
  /// Where the owned rows of part p lie: the middles of cells, or nodes.
  virtual std::vector<Vec3> middles(std::size_t p) const {
    (void)p;
    return {};
  }
  /// The groups of rows and of faces at the boundary that a case can name, and the group of each owned row.
  virtual Groups regions() const { return {}; }
  virtual Groups boundaries() const { return {}; }
  virtual std::vector<std::int32_t> region_of_rows(std::size_t p) const {
    (void)p;
    return {};
  }
  /// The mesh in files for ParaView, a piece a part.
  virtual std::unique_ptr<Pieces> pieces(const VtkOptions& options) const = 0;
  /// Pieces of the slices of the case, [[output.slice]]; meshes without layers of cells have none. Error(input) names a
  /// slice that cannot be.
  virtual std::vector<std::unique_ptr<Pieces>> slices(const Case&) const { return {}; }

 protected:
  Domain() = default;
  Domain(Domain&&) = default;
  Domain& operator=(Domain&&) = default;
};

/// What a model's arrays take of a device's memory.
struct MemoryModel {
  /// Bytes of an owned row, about, where rows have `entries` on average.
  std::function<double(Device& device, double entries)> row;
  double ghost = 0;  ///< bytes of a ghost
  /// What of a row a memory policy may keep elsewhere; without it all is as row() says.
  std::function<HeldBytes(Device& device, double entries)> held = {};
  /// Bytes of each part of this rank, exact or an upper bound. Called where the estimate is near what a device has.
  std::function<std::vector<Size>(const Comm& comm, const Domain& domain)> parts;
  /// Rows that all devices together cannot hold are Error(resource); false: parts are as large as they come.
  bool refuse_too_large = true;
  /// Keys of the case that would make room, as messages name them: on any device, and on GPUs.
  std::vector<std::string> advice = {}, advice_for_gpus = {};
};

/// What decides how large each part is.
struct Sharing {
  MeasureRate rate = {};                   ///< of the model's kernel; without it bandwidths are weighed
  std::optional<MemoryModel> memory = {};  ///< without it nothing bounds a part
  double exchanges = 1;                    ///< of GPUs in a pass of that kernel
};

/// Loads, weighs, cuts in tiers (node, device) and numbers. A device that has no room for its part gets a smaller one,
/// and the others what is left, with a line that says so; where the parts turn out larger than they were estimated, it
/// is done again. Collective. Error(resource), before anything is allocated: all devices together have no room.
void make_domain(Domain& domain, const ModelSetup& setup, const Sharing& sharing);

}  // namespace tutti
