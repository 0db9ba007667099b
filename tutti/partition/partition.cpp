#include "tutti/partition/partition.hpp"

#include <algorithm>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/device/device.hpp"
#include "tutti/partition/graph_split.hpp"
#include "tutti/partition/quotas.hpp"
#include "tutti/partition/spatial_order.hpp"
#include "tutti/partition/voronoi/voronoi.hpp"

namespace tutti {
namespace {

/// How far a part may miss its quota. Two tiers miss it by 2 % together.
constexpr double voronoi_tolerance = 0.01;

bool uses_graph(Partitioner method) {
  return method == Partitioner::metis || method == Partitioner::scotch;
}

/// Consecutive pieces of an order.
std::vector<std::int32_t> cut_order(const std::vector<KeyedRow>& order, std::span<const Gid> quotas) {
  std::vector<std::int32_t> owner(order.size());
  std::size_t k = 0;
  for (std::size_t p = 0; p < quotas.size(); ++p) {
    for (Gid q = 0; q < quotas[p]; ++q) owner[order[k++].row] = static_cast<std::int32_t>(p);
  }
  return owner;
}

/// Parts without rows are kept from the library: METIS rejects a share of 0.
std::vector<std::int32_t> split_by_graph(const SymmetricGraph& graph, std::span<const Gid> quotas, Partitioner method) {
  std::vector<std::int32_t> number, wanted;
  for (std::size_t p = 0; p < quotas.size(); ++p) {
    if (quotas[p] == 0) continue;
    number.push_back(static_cast<std::int32_t>(p));
    wanted.push_back(static_cast<std::int32_t>(quotas[p]));
  }
  if (wanted.empty()) return {};
  const auto library = method == Partitioner::metis ? GraphLibrary::metis : GraphLibrary::scotch;
  std::vector<std::int32_t> owner = split_graph(graph, wanted, library);
  for (std::int32_t& p : owner) p = number[p];
  return owner;
}

/// Cells of centres, refined by the graph, if there is one. Parts without rows are left out, as for the libraries.
std::vector<std::int32_t> split_by_cells(std::span<const Vec3> points, const SymmetricGraph& graph,
                                         std::span<const Gid> quotas, const ParallelFor& parallel, Device* device) {
  std::vector<std::int32_t> number, wanted;
  std::vector<Gid> rows;
  for (std::size_t p = 0; p < quotas.size(); ++p) {
    if (quotas[p] == 0) continue;
    number.push_back(static_cast<std::int32_t>(p));
    wanted.push_back(static_cast<std::int32_t>(quotas[p]));
    rows.push_back(quotas[p]);
  }
  if (rows.empty()) return {};
  VoronoiOptions options;
  options.imbalance = voronoi_tolerance;
  const auto stream = device == nullptr ? nullptr : device->make_stream("voronoi");
  const auto on_device_or_host = [&](const auto& work) {
    try {
      work(stream.get());
    } catch (const Error& error) {
      if (stream == nullptr || error.kind() != ErrorKind::resource) throw;
      work(nullptr);  // no room there: the host's threads give the same parts
    }
  };
  std::vector<std::int32_t> owner;
  on_device_or_host([&](Stream* where) {
    options.stream = where;
    owner = voronoi_parts(points, rows, options, parallel).part;
  });
  if (static_cast<std::size_t>(graph.rows()) == points.size())
    on_device_or_host([&](Stream* where) { refine_parts(graph, wanted, options.imbalance, owner, where, parallel); });
  for (std::int32_t& p : owner) p = number[p];
  return owner;
}

std::vector<std::int32_t> split_by_points(std::span<const Vec3> points, std::span<const Gid> quotas,
                                          Partitioner method) {
  return cut_order(method == Partitioner::hilbert ? hilbert_order(points) : axis_order(points), quotas);
}

/// What is left to split of a problem: all of it, or the rows of one node.
struct Piece {
  SymmetricGraph graph;      ///< for the graph partitioners
  std::vector<Vec3> points;  ///< for the geometric ones
  Gid rows = 0;
  ParallelFor parallel = {};
  Device* device = nullptr;
};

/// Has a Voronoi partition a graph to refine its boundaries by?
bool has_graph(const PartitionInput& input) {
  return input.graph != nullptr && input.graph->rows() == input.rows;
}

std::vector<std::int32_t> split_piece(const Piece& piece, std::span<const double> targets, Partitioner method) {
  const std::vector<Gid> quotas = row_quotas(piece.rows, targets);
  if (method == Partitioner::voronoi)
    return split_by_cells(piece.points, piece.graph, quotas, piece.parallel, piece.device);
  return uses_graph(method) ? split_by_graph(piece.graph, quotas, method)
                            : split_by_points(piece.points, quotas, method);
}

/// `scratch`: see induced_graph().
Piece take_rows(const Piece& whole, std::span<const Gid> rows, Partitioner method, std::vector<std::int32_t>& scratch) {
  Piece piece;
  piece.rows = static_cast<Gid>(rows.size());
  piece.parallel = whole.parallel;
  piece.device = whole.device;
  if (whole.graph.rows() > 0) {
    const std::vector<std::int32_t> chosen(rows.begin(), rows.end());
    piece.graph = induced_graph(whole.graph, chosen, scratch);
  }
  if (!uses_graph(method))
    for (const Gid i : rows) piece.points.push_back(whole.points[i]);
  return piece;
}

void check_input(const PartitionInput& input, Partitioner method) {
  if (uses_graph(method)) {
    require(input.graph != nullptr && input.graph->rows() == input.rows,
            "a graph partitioner needs a graph of {} rows and got {}", input.rows,
            input.graph == nullptr ? Gid{-1} : input.graph->rows());
  } else {
    require(static_cast<Gid>(input.points.size()) == input.rows, "a geometric partitioner needs {} points and got {}",
            input.rows, input.points.size());
  }
}

}  // namespace

std::vector<std::int32_t> partition_rows(const PartitionInput& input, std::span<const double> targets,
                                         Partitioner method) {
  check_input(input, method);
  const std::vector<Gid> quotas = row_quotas(input.rows, targets);
  if (method == Partitioner::voronoi)
    return split_by_cells(input.points, has_graph(input) ? symmetrise(*input.graph) : SymmetricGraph{}, quotas,
                          input.parallel, input.device);
  if (!uses_graph(method)) return split_by_points(input.points, quotas, method);
  return split_by_graph(symmetrise(*input.graph), quotas, method);
}

std::vector<std::int32_t> partition_tiers(const PartitionInput& input, const std::vector<std::vector<double>>& targets,
                                          Partitioner method) {
  check_input(input, method);
  std::vector<double> node_targets, all_targets;
  for (const auto& devices : targets) {
    node_targets.push_back(std::accumulate(devices.begin(), devices.end(), 0.0));
    all_targets.insert(all_targets.end(), devices.begin(), devices.end());
  }
  // Checked as a whole first: a negative weight could hide in the sum of its node.
  row_quotas(0, all_targets);

  Piece whole;
  whole.rows = input.rows;
  whole.parallel = input.parallel;
  whole.device = input.device;
  if (uses_graph(method) || (method == Partitioner::voronoi && has_graph(input)))
    whole.graph = symmetrise(*input.graph);
  if (!uses_graph(method)) whole.points.assign(input.points.begin(), input.points.end());
  std::vector<std::int32_t> owner = split_piece(whole, node_targets, method);

  std::vector<std::vector<Gid>> rows(targets.size());
  for (std::size_t i = 0; i < owner.size(); ++i) {
    rows[owner[i]].push_back(static_cast<Gid>(i));
  }
  std::vector<std::int32_t> scratch(whole.graph.rows() > 0 ? owner.size() : 0, -1);
  std::int32_t first = 0;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    // A node of weight 0 has no rows, and maybe no device of weight > 0.
    if (!rows[n].empty()) {
      const auto device = split_piece(take_rows(whole, rows[n], method, scratch), targets[n], method);
      for (std::size_t k = 0; k < device.size(); ++k) owner[rows[n][k]] = first + device[k];
    }
    first += static_cast<std::int32_t>(targets[n].size());
  }
  return owner;
}

}  // namespace tutti
