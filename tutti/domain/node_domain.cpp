#include "tutti/domain/node_domain.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tutti/base/hash.hpp"
#include "tutti/mesh/spec_error.hpp"
#include "tutti/mesh/sphere/nearest.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti {
namespace {

NodeCloud generate_nodes(const Case& options, const ParallelFor& parallel) {
  const std::string kind = options.text("nodes.generate");
  const Gid count = options.integer("nodes.count");
  if (kind == "icosahedral") return icosahedral_nodes(icosahedral_parts(count), parallel);
  if (kind == "fibonacci") return fibonacci_nodes(count, parallel);
  if (kind == "relaxed") return relaxed_nodes(count, static_cast<int>(options.integer("nodes.sweeps")), parallel);
  return random_nodes(count, static_cast<std::uint64_t>(options.integer("nodes.seed")),
                      options.number("nodes.separation"));
}

/// A graph that is good enough to be cut: a node and its nearest, as many as a triangulation joins it with.
Adjacency near_graph(const std::vector<Vec3>& points, const NearestNodes& nearest, const ParallelFor& parallel) {
  const auto rows = static_cast<Gid>(points.size());
  const int most = static_cast<int>(std::min<Gid>(rows, 7));
  Adjacency graph;
  graph.columns.resize(points.size() * static_cast<std::size_t>(most));
  for_ranges(parallel, rows, [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) nearest.find(points[i], most, std::span(graph.columns).subspan(i * most, most));
  });
  graph.offsets.resize(points.size() + 1);
  for (std::size_t i = 0; i <= points.size(); ++i) graph.offsets[i] = static_cast<Size>(i) * most;
  return graph;
}

/// What the partitioner of the case wants of the nodes.
RowsToCut rows_to_cut(const NodeCloud& cloud, const NearestNodes& nearest, const std::string& method,
                      const ParallelFor& parallel) {
  RowsToCut rows{Partitioner::slabs, cloud.size()};
  if (method == "latitude") {
    // Slabs are cut across the longest side of the box around the points.
    for (const Vec3& p : cloud.points) rows.points.push_back({0, 0, p.z});
  } else {
    rows.method = parse_partitioner(method);
    rows.points = cloud.points;
    if (rows.method != Partitioner::hilbert) rows.graph = near_graph(cloud.points, nearest, parallel);
  }
  return rows;
}

/// The nodes of a part in the order that its interior shall have.
std::vector<Gid> order_nodes(const NodeCloud& cloud, std::span<const std::int32_t> owner, std::int32_t part,
                             Ordering ordering, const ParallelFor& parallel) {
  std::vector<Gid> nodes;
  std::vector<Vec3> points;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] != part) continue;
    nodes.push_back(static_cast<Gid>(i));
    points.push_back(cloud.points[i]);
  }
  std::vector<Gid> ordered(nodes.size());
  const auto order = order_rows(ordering, points, {}, 1, parallel);
  for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = nodes[order[i]];
  return ordered;
}

/// Global numbers of the stencils of `nodes`.
std::vector<Gid> find_stencils(const NodeCloud& cloud, const NearestNodes& nearest, std::span<const Gid> nodes,
                               int stencil, const ParallelFor& parallel) {
  std::vector<Gid> columns(nodes.size() * static_cast<std::size_t>(stencil));
  for_ranges(parallel, static_cast<Size>(nodes.size()), [&](Size begin, Size end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      nearest.find(cloud.points[nodes[i]], stencil,
                   std::span(columns).subspan(i * static_cast<std::size_t>(stencil), stencil));
  });
  return columns;
}

/// What a part owns, those nodes last that read others' nodes, and what it reads.
PartRows rows_of(std::int32_t part, std::span<const Gid> nodes, std::span<const Gid> columns, int stencil,
                 std::span<const std::int32_t> owner) {
  PartRows rows;
  rows.part = part;
  const auto n = static_cast<std::size_t>(stencil);
  std::vector<Gid> reading;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto mine = columns.subspan(i * n, n);
    const bool reads = std::any_of(mine.begin(), mine.end(), [&](Gid c) { return owner[c] != part; });
    (reads ? reading : rows.owned).push_back(nodes[i]);
  }
  rows.owned.insert(rows.owned.end(), reading.begin(), reading.end());
  for (const Gid c : columns)
    if (owner[c] != part) rows.ghosts.push_back(c);
  std::sort(rows.ghosts.begin(), rows.ghosts.end());
  rows.ghosts.erase(std::unique(rows.ghosts.begin(), rows.ghosts.end()), rows.ghosts.end());
  for (const Gid g : rows.ghosts) rows.ghost_owners.push_back(owner[g]);
  return rows;
}

/// Stencils of a part in its local numbers, row after row of the map. `columns`: of `given`, as they were found.
std::vector<Lid> number_stencils(const IndexMap& map, std::span<const Gid> given, std::span<const Gid> columns,
                                 int stencil, Gid nodes, const ParallelFor& parallel) {
  const auto n = static_cast<std::size_t>(stencil);
  std::vector<Lid> local(nodes, no_lid), place(static_cast<std::size_t>(nodes), no_lid);
  for (std::size_t i = 0; i < map.global.size(); ++i) local[map.global[i]] = static_cast<Lid>(i);
  for (std::size_t i = 0; i < given.size(); ++i) place[given[i]] = static_cast<Lid>(i);
  std::vector<Lid> stencils(given.size() * n);
  for_ranges(parallel, map.owned, [&](Size begin, Size end) {
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      const auto from = static_cast<std::size_t>(place[map.global[row]]) * n;
      for (std::size_t j = 0; j < n; ++j) stencils[row * n + j] = local[columns[from + j]];
    }
  });
  return stencils;
}

/// The first interior rows, up to one that reads a ghost: all of those come behind.
Lid count_independent_rows(const IndexMap& map, std::span<const Lid> stencils, int stencil) {
  const auto n = static_cast<std::size_t>(stencil);
  for (Lid row = 0; row < map.interior; ++row) {
    const auto mine = stencils.subspan(static_cast<std::size_t>(row) * n, n);
    if (std::any_of(mine.begin(), mine.end(), [&](Lid c) { return c >= map.owned; })) return row;
  }
  return map.interior;
}

}  // namespace

std::vector<Vec3> NodeDomain::owned_points(std::size_t p) const {
  std::vector<Vec3> points;
  for (Lid row = 0; row < maps[p].owned; ++row) points.push_back(point(p, row));
  return points;
}

NodeCloud load_nodes(const Case& options, const ParallelFor& parallel) {
  if (options.has("nodes.file")) return read_nodes(options.file("nodes.file"));
  try {
    return generate_nodes(options, parallel);
  } catch (const SpecError& error) {  // what is a wrong option elsewhere is a wrong key here
    fail(ErrorKind::input, "{}: {}", options.where("nodes." + error.word()), error.what());
  }
}

NodeDomain::NodeDomain(int stencil_size) : stencil(stencil_size) {}
NodeDomain::~NodeDomain() = default;
NodeDomain::NodeDomain(NodeDomain&&) noexcept = default;
NodeDomain& NodeDomain::operator=(NodeDomain&&) noexcept = default;

void NodeDomain::load(const ModelSetup& setup) {
  if (nearest_) return;
  const Comm& comm = setup.comm;
  setup.phases.begin("read");
  comm.together([&] {
    if (comm.is_root()) cloud = load_nodes(setup.options, parallel_for(*setup.devices.threads));
  });
  comm.broadcast(cloud.points);
  comm.broadcast(cloud.weights);
  rows = cloud.size();
  comm.together([&] {
    if (rows < stencil)
      fail(ErrorKind::input, "nodes: there are {}, fewer than the {} of a stencil; use more nodes or smaller stencils",
           rows, stencil);
  });
  checksum = hash_bytes(detail::as_chars(std::span<const Vec3>(cloud.points)));
  nearest_ = std::make_unique<NearestNodes>(cloud.points);
}

void NodeDomain::cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition* stored) {
  const Comm& comm = setup.comm;
  const ParallelFor parallel = parallel_for(*setup.devices.threads);
  std::vector<std::int32_t> owner;
  comm.together([&] {
    if (!comm.is_root()) return;
    if (rank_of_part.size() == 1)
      owner.assign(rows, 0);
    else if (stored != nullptr && static_cast<Gid>(stored->owner.size()) == rows)
      owner = stored->owner;
    else {
      const RowsToCut all = rows_to_cut(cloud, *nearest_, setup.options.text("partition.method"), parallel);
      owner = partition_over(places, all.input(parallel, first_gpu(setup.devices)), weights, all.method);
    }
  });
  comm.broadcast(owner);

  setup.phases.begin("stencils");
  const Ordering ordering = parse_ordering(setup.options.text("partition.order"));
  std::vector<PartRows> part_rows;
  std::vector<std::vector<Gid>> given, columns;
  comm.together([&] {
    for (std::size_t p = 0; p < mine(); ++p) {
      auto nodes = order_nodes(cloud, owner, part(p), ordering, parallel);
      if (static_cast<Size>(nodes.size()) * stencil > std::numeric_limits<Lid>::max())
        fail(ErrorKind::resource,
             "a part of {} nodes with stencils of {} is too large for 32-bit numbers; use more devices", nodes.size(),
             stencil);
      columns.push_back(find_stencils(cloud, *nearest_, nodes, stencil, parallel));
      part_rows.push_back(rows_of(part(p), nodes, columns.back(), stencil, owner));
      given.push_back(std::move(nodes));
    }
  });
  maps = number_parts(comm, part_rows, rank_of_part, parallel);
  stencils.clear();
  for (std::size_t p = 0; p < mine(); ++p) {
    stencils.push_back(number_stencils(maps[p], given[p], columns[p], stencil, rows, parallel));
    maps[p].independent = count_independent_rows(maps[p], stencils[p], stencil);
  }
}

WholeRows NodeDomain::take_whole(const ModelSetup& setup) {
  const ParallelFor parallel = parallel_for(*setup.devices.threads);
  std::vector<Gid> nodes(cloud.points.size());
  std::iota(nodes.begin(), nodes.end(), Gid{0});
  Adjacency reads;
  reads.columns = find_stencils(cloud, *nearest_, nodes, stencil, parallel);
  for (Gid i = 0; i < rows; ++i) reads.offsets.push_back((i + 1) * stencil);
  return whole_rows(std::move(reads), rows_to_cut(cloud, *nearest_, setup.options.text("partition.method"), parallel));
}

NodeDomain make_node_domain(const ModelSetup& setup, int stencil, const Sharing& sharing) {
  NodeDomain domain(stencil);
  make_domain(domain, setup, sharing);
  domain.nearest_.reset();
  return domain;
}

}  // namespace tutti
