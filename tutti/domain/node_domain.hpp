// Nodes on a sphere and their stencils, split over all devices of all ranks, numbered and ready for a model.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tutti/domain/domain.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"

namespace tutti {

class NearestNodes;

/// Nodes are the rows.
class NodeDomain final : public Domain {
 public:
  NodeCloud cloud;                         ///< all nodes, on every rank
  int stencil = 0;                         ///< nodes that a node reads, itself the first
  std::vector<std::vector<Lid>> stencils;  ///< mine: local numbers, `stencil` an owned node

  explicit NodeDomain(int stencil_size);
  ~NodeDomain() override;
  NodeDomain(NodeDomain&&) noexcept;
  NodeDomain& operator=(NodeDomain&&) noexcept;

  Vec3 point(std::size_t p, Lid row) const { return cloud.points[maps[p].global[row]]; }
  /// Of the owned nodes of a part, in its order.
  std::vector<Vec3> owned_points(std::size_t p) const;

  RowWords words() const override { return {"nodes", "fewer nodes"}; }
  void load(const ModelSetup& setup) override;
  void cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition* stored) override;
  WholeRows take_whole(const ModelSetup& setup) override;
  /// The nodes nearest to points; of nodes as near the first by number. Error(input): more than 0.01 off the sphere.
  std::vector<RowPlace> locate(const Comm& comm, std::span<const Vec3> points,
                               std::span<const std::string> labels) const override;
  /// By the nearest node and the eleven nearest to it (or its stencil, where that is less): linear in space, which is
  /// of second order on the sphere.
  std::vector<WeightedRow> around(std::size_t p, const RowSet& row, Vec3 at) const override;
  std::vector<Vec3> middles(std::size_t p) const override { return owned_points(p); }
  std::unique_ptr<Pieces> pieces(const VtkOptions& options) const override;

 private:
  friend NodeDomain make_node_domain(const ModelSetup& setup, int stencil, const Sharing& sharing);
  std::unique_ptr<NearestNodes> nearest_;  ///< until parts are made
};

/// The nodes of [nodes]: a file, or a generator. Errors name the key.
NodeCloud load_nodes(const Case& options, const ParallelFor& parallel = {});

/// As make_domain; each node reads its `stencil` nearest. Error(input): fewer nodes than a stencil has.
NodeDomain make_node_domain(const ModelSetup& setup, int stencil, const Sharing& sharing = {});

}  // namespace tutti
