// Output of models on nodes: points for ParaView, values at the nodes nearest to probes.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/comm.hpp"
#include "tutti/io/vtu.hpp"
#include "tutti/simulation/node_domain.hpp"
#include "tutti/simulation/result_series.hpp"

namespace tutti {

/// One field's owned values, part after part of this rank.
struct NodeFieldValues {
  std::string name;
  std::vector<std::vector<double>> parts;
};

/// Writes <folder>/results.pvd with one .pvtu a time and one .vtu a part, whose cells are the nodes. Collective.
class NodeResults {
 public:
  /// `before`: times that an earlier run has written into the same folder; the series goes on behind them.
  NodeResults(const Comm& comm, const NodeDomain& domain, const std::filesystem::path& folder, int compress,
              int threads, std::span<const double> before = {});
  void write(double time, const std::vector<NodeFieldValues>& fields);

 private:
  std::vector<int> mine_, all_;  ///< parts
  VtkOptions options_;
  std::vector<VtuGrid> grids_;                     ///< mine
  std::vector<std::vector<std::int32_t>> owner_;   ///< mine: constant cell arrays
  std::vector<std::vector<std::int64_t>> number_;  ///< mine: the nodes' numbers
  ResultSeries series_;
};

/// Points whose nearest nodes are looked up once and read often.
class NodeProbes {
 public:
  NodeProbes() = default;
  /// Error(input) for a point at the origin, which begins with its label. Of nodes as near the first by number counts.
  NodeProbes(const NodeDomain& domain, std::span<const Vec3> points, std::span<const std::string> labels);
  /// Puts the `quantities` of node `row` of part p of this rank into `values`.
  using Read = std::function<void(std::size_t p, Lid row, std::span<double> values)>;
  /// What `read` finds in the node of every probe, probe after probe, on all ranks. Collective.
  std::vector<double> sample(const Comm& comm, std::size_t quantities, const Read& read) const;

 private:
  struct Place {
    std::size_t probe, part;
    Lid row;
  };
  std::size_t probes_ = 0;
  std::vector<Place> places_;  ///< in parts of this rank
};

}  // namespace tutti
