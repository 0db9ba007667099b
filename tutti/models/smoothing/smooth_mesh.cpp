#include "tutti/models/smoothing/smooth_mesh.hpp"

#include <algorithm>

#include "tutti/base/error.hpp"
#include "tutti/models/smoothing/swap.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::smoothing {
namespace {

void broadcast(const Comm& comm, TetMesh& mesh) {
  if (comm.size() == 1) return;
  comm.broadcast(mesh.vertices);
  comm.broadcast(mesh.cells);
  comm.broadcast(mesh.regions);
  comm.broadcast(mesh.boundary);
  comm.broadcast(mesh.boundary_tags);
}

/// A graph of nodes for the partitioners that cut one: those of its cells.
Adjacency node_graph(const TetMesh& mesh) {
  const TetMesh cells = with_apex(mesh);
  const Adjacency cells_of = cells_of_nodes(cells);
  Adjacency graph;
  std::vector<Gid> row;
  for (Gid v = 0; v < mesh.vertex_count(); ++v) {
    row.clear();
    for (const Gid c : cells_of.row(v))
      for (const Gid u : cells.cells[c])
        if (u != v && u < mesh.vertex_count()) row.push_back(u);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    graph.columns.insert(graph.columns.end(), row.begin(), row.end());
    graph.close_row();
  }
  return graph;
}

std::vector<double> weights_of(const Comm& comm, DeviceSet& devices, const PartPlaces& places,
                               const std::vector<double>& given) {
  const std::size_t parts = places.rank_of_part.size();
  if (!given.empty() && given.size() != parts)
    fail(ErrorKind::usage, "--weights: {} numbers for {} devices of all ranks; give one per device", given.size(),
         parts);
  if (!given.empty()) return given;
  if (parts == 1) return {1.0};
  std::vector<double> mine;
  comm.together([&] {
    for (const auto& device : devices.devices)
      mine.push_back(device->kind() == DeviceKind::fake ? 1e10 : quick_triad(*device, *devices.threads));
  });
  return comm.all_gather(std::span<const double>(mine));
}

std::vector<std::int32_t> owners(const Comm& comm, const DeviceSet& devices, const TetMesh& mesh,
                                 const PartPlaces& places, std::span<const double> weights, Partitioner method) {
  std::vector<std::int32_t> owner;
  comm.together([&] {
    if (!comm.is_root()) return;
    if (weights.size() == 1) {
      owner.assign(mesh.vertices.size(), 0);
      return;
    }
    PartitionInput input;
    input.rows = mesh.vertex_count();
    input.points = mesh.vertices;
    const Adjacency graph = method == Partitioner::hilbert ? Adjacency{} : node_graph(mesh);
    input.graph = &graph;
    input.parallel = parallel_for(*devices.threads);
    input.device = first_gpu(devices);
    owner = partition_over(places, input, weights, method);
  });
  comm.broadcast(owner);
  return owner;
}

SmoothReport smooth_once(const Comm& comm, DeviceSet& devices, TetMesh& mesh, const SmoothOptions& options,
                         const PartPlaces& places, std::span<const std::int32_t> owner) {
  const ParallelFor parallel = parallel_for(*devices.threads);
  NodeFreedom freedom;
  comm.together([&] {
    const FaceNeighbours neighbours = mesh.is_surface() ? FaceNeighbours{} : find_face_neighbours(mesh, parallel);
    freedom = find_freedom(mesh, neighbours, options.boundary, options.feature_angle);
  });
  std::vector<PartStreams> streams;
  for (const auto& device : devices.devices) streams.emplace_back(*device);
  Smoother smoother(comm, *devices.threads, mesh, freedom, options, owner, places.rank_of_part, streams);
  SmoothReport report = smoother.run();
  mesh.vertices = smoother.points();
  return report;
}

void append(SmoothReport& all, const SmoothReport& more) {
  all.smoothing.insert(all.smoothing.end(), more.smoothing.begin(), more.smoothing.end());
  all.why_stopped = more.why_stopped;
  all.colours = more.colours;
  all.seconds += more.seconds;
  all.node_moves += more.node_moves;
}

}  // namespace

SmoothReport smooth_mesh(const Comm& comm, DeviceSet& devices, TetMesh& mesh, const SmoothOptions& options,
                         const Sharing& sharing) {
  broadcast(comm, mesh);
  const PartPlaces places = place_parts(comm, devices);
  const auto weights = weights_of(comm, devices, places, sharing.weights);
  const auto owner = owners(comm, devices, mesh, places, weights, sharing.method);
  SmoothReport report = smooth_once(comm, devices, mesh, options, places, owner);
  for (int round = 0; round < options.swaps && !mesh.is_surface() && !report.smoothing.empty(); ++round) {
    // All ranks have the same mesh and swap alike.
    SwapCounts counts;
    comm.together([&] { counts = swap_cells(mesh); });
    if (counts.all() == 0) break;
    report.swapped += counts.all();
    append(report, smooth_once(comm, devices, mesh, options, places, owner));
  }
  return report;
}

}  // namespace tutti::smoothing
