#include "tutti/simulation/node_domain.hpp"

#include <algorithm>
#include <limits>

#include "tutti/base/hash.hpp"
#include "tutti/mesh/nearest.hpp"
#include "tutti/mesh/spec_error.hpp"
#include "tutti/partition/partition.hpp"
#include "tutti/simulation/part_capacity.hpp"
#include "tutti/simulation/tet_domain.hpp"

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
    for (Size i = begin; i < end; ++i)
      nearest.find(
          points[static_cast<std::size_t>(i)], most,
          std::span(graph.columns).subspan(static_cast<std::size_t>(i * most), static_cast<std::size_t>(most)));
  });
  graph.offsets.resize(points.size() + 1);
  for (std::size_t i = 0; i <= points.size(); ++i) graph.offsets[i] = static_cast<Size>(i) * most;
  return graph;
}

/// Owner of every node, by tiers. On the root.
std::vector<std::int32_t> partition_nodes(const NodeCloud& cloud, const NearestNodes& nearest, const PartPlaces& places,
                                          std::span<const double> weights, const std::string& method,
                                          const ParallelFor& parallel) {
  PartitionInput input;
  input.rows = cloud.size();
  Adjacency graph;
  std::vector<Vec3> places_of_nodes;
  Partitioner partitioner = Partitioner::slabs;
  if (method == "latitude") {
    // Slabs are cut across the longest side of the box around the points.
    for (const Vec3& p : cloud.points) places_of_nodes.push_back({0, 0, p.z});
    input.points = places_of_nodes;
  } else {
    partitioner = parse_partitioner(method);
    input.points = cloud.points;
    if (partitioner != Partitioner::hilbert) graph = near_graph(cloud.points, nearest, parallel);
    input.graph = &graph;
  }
  return partition_over(places, input, weights, partitioner);
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
  for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = nodes[static_cast<std::size_t>(order[i])];
  return ordered;
}

/// Global numbers of the stencils of `nodes`.
std::vector<Gid> find_stencils(const NodeCloud& cloud, const NearestNodes& nearest, std::span<const Gid> nodes,
                               int stencil, const ParallelFor& parallel) {
  std::vector<Gid> columns(nodes.size() * static_cast<std::size_t>(stencil));
  for_ranges(parallel, static_cast<Size>(nodes.size()), [&](Size begin, Size end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      nearest.find(
          cloud.points[static_cast<std::size_t>(nodes[i])], stencil,
          std::span(columns).subspan(i * static_cast<std::size_t>(stencil), static_cast<std::size_t>(stencil)));
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
    const bool reads =
        std::any_of(mine.begin(), mine.end(), [&](Gid c) { return owner[static_cast<std::size_t>(c)] != part; });
    (reads ? reading : rows.owned).push_back(nodes[i]);
  }
  rows.owned.insert(rows.owned.end(), reading.begin(), reading.end());
  for (const Gid c : columns)
    if (owner[static_cast<std::size_t>(c)] != part) rows.ghosts.push_back(c);
  std::sort(rows.ghosts.begin(), rows.ghosts.end());
  rows.ghosts.erase(std::unique(rows.ghosts.begin(), rows.ghosts.end()), rows.ghosts.end());
  for (const Gid g : rows.ghosts) rows.ghost_owners.push_back(owner[static_cast<std::size_t>(g)]);
  return rows;
}

/// Stencils of a part in its local numbers, row after row of the map. `columns`: of `given`, as they were found.
std::vector<Lid> number_stencils(const IndexMap& map, std::span<const Gid> given, std::span<const Gid> columns,
                                 int stencil, Gid nodes, const ParallelFor& parallel) {
  const auto n = static_cast<std::size_t>(stencil);
  std::vector<Lid> local(static_cast<std::size_t>(nodes), no_lid), place(static_cast<std::size_t>(nodes), no_lid);
  for (std::size_t i = 0; i < map.global.size(); ++i)
    local[static_cast<std::size_t>(map.global[i])] = static_cast<Lid>(i);
  for (std::size_t i = 0; i < given.size(); ++i) place[static_cast<std::size_t>(given[i])] = static_cast<Lid>(i);
  std::vector<Lid> stencils(given.size() * n);
  for_ranges(parallel, map.owned, [&](Size begin, Size end) {
    for (auto row = static_cast<std::size_t>(begin); row < static_cast<std::size_t>(end); ++row) {
      const auto from = static_cast<std::size_t>(place[static_cast<std::size_t>(map.global[row])]) * n;
      for (std::size_t j = 0; j < n; ++j) stencils[row * n + j] = local[static_cast<std::size_t>(columns[from + j])];
    }
  });
  return stencils;
}

/// The first interior rows, up to one that reads a ghost: all of those come behind.
Lid quiet_rows(const IndexMap& map, std::span<const Lid> stencils, int stencil) {
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

namespace {

/// Owner of every node, on all ranks. A stored partition is taken where it is for as many parts on the same devices.
std::vector<std::int32_t> choose_owners(const ModelSetup& setup, const NodeDomain& domain, const NearestNodes& nearest,
                                        const PartPlaces& places, const StoredPartition* stored) {
  const Gid nodes = domain.cloud.size();
  const auto kinds = device_kinds(setup.comm, setup.devices);
  std::vector<std::int32_t> owner;
  setup.comm.together([&] {
    if (!setup.comm.is_root()) return;
    if (places.rank_of_part.size() == 1)
      owner.assign(static_cast<std::size_t>(nodes), 0);
    else if (stored != nullptr && stored->devices == kinds && static_cast<Gid>(stored->owner.size()) == nodes)
      owner = stored->owner;
    else
      owner = partition_nodes(domain.cloud, nearest, places, domain.weights, setup.options.text("partition.method"),
                              parallel_for(*setup.devices.threads));
  });
  setup.comm.broadcast(owner);
  return owner;
}

/// Maps, stencils, quiet rows and transport of this rank's parts. Collective.
void make_parts(const ModelSetup& setup, const NearestNodes& nearest, std::span<const std::int32_t> owner,
                NodeDomain& domain) {
  const Comm& comm = setup.comm;
  const ParallelFor parallel = parallel_for(*setup.devices.threads);
  const Ordering ordering = parse_ordering(setup.options.text("partition.order"));
  const int stencil = domain.stencil;
  std::vector<PartRows> rows;
  std::vector<std::vector<Gid>> given, columns;
  comm.together([&] {
    for (std::int32_t part = 0; part < static_cast<std::int32_t>(domain.rank_of_part.size()); ++part) {
      if (domain.rank_of_part[static_cast<std::size_t>(part)] != comm.rank()) continue;
      auto mine = order_nodes(domain.cloud, owner, part, ordering, parallel);
      if (static_cast<Size>(mine.size()) * stencil > std::numeric_limits<Lid>::max())
        fail(ErrorKind::resource,
             "a part of {} nodes with stencils of {} is too large for 32-bit numbers; use more devices", mine.size(),
             stencil);
      columns.push_back(find_stencils(domain.cloud, nearest, mine, stencil, parallel));
      rows.push_back(rows_of(part, mine, columns.back(), stencil, owner));
      given.push_back(std::move(mine));
    }
  });
  domain.maps = number_parts(comm, rows, domain.rank_of_part, parallel);
  domain.stencils.clear();
  domain.quiet.clear();
  for (std::size_t p = 0; p < rows.size(); ++p) {
    domain.stencils.push_back(
        number_stencils(domain.maps[p], given[p], columns[p], stencil, domain.cloud.size(), parallel));
    domain.quiet.push_back(quiet_rows(domain.maps[p], domain.stencils[p], stencil));
  }
  domain.transport =
      make_transport(comm, parse_transport(setup.options.text("devices.transport")), domain.maps, domain.streams);
  domain.transport.left_out = !setup.options.flag("devices.exchange");
}

std::vector<PartRoom> rooms_of(const ModelSetup& setup, const NodeMemory& memory) {
  std::vector<PartRoom> mine;
  for (const auto& device : setup.devices.devices)
    mine.push_back({free_bytes(*device), memory.row(*device), memory.ghost});
  return mine;
}

/// What this rank's parts will take.
std::vector<PartNeed> needs_of(const ModelSetup& setup, const NodeMemory& memory, const NodeDomain& domain) {
  std::vector<PartNeed> mine;
  bool near = false;
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    Device& device = *domain.streams[p].device;
    const double rows = domain.maps[p].owned;
    mine.push_back({rows * memory.row(device) + memory.ghost * domain.maps[p].ghosts(), free_bytes(device), rows});
    near = near || must_be_counted(mine.back().bytes, mine.back().free);
  }
  if (!near) return mine;
  const std::vector<Size> exact = memory.parts(setup.comm, domain);
  for (std::size_t p = 0; p < mine.size(); ++p) mine[p].bytes = static_cast<double>(exact[p]);
  return mine;
}

}  // namespace

NodeDomain make_node_domain(const ModelSetup& setup, int stencil, const MeasureRate& rate,
                            const std::optional<NodeMemory>& memory) {
  const Comm& comm = setup.comm;
  const Case& options = setup.options;
  NodeDomain domain;
  domain.stencil = stencil;
  const PartPlaces places = place_parts(comm, setup.devices);
  domain.rank_of_part = places.rank_of_part;

  setup.phases.begin("read");
  comm.together([&] {
    if (comm.is_root()) domain.cloud = load_nodes(options, parallel_for(*setup.devices.threads));
  });
  comm.broadcast(domain.cloud.points);
  comm.broadcast(domain.cloud.weights);
  const Gid nodes = domain.cloud.size();
  comm.together([&] {
    if (nodes < stencil)
      fail(ErrorKind::input, "nodes: there are {}, fewer than the {} of a stencil; take more nodes or smaller stencils",
           nodes, stencil);
  });
  domain.checksum = hash_bytes(detail::as_chars(std::span<const Vec3>(domain.cloud.points)));
  const NearestNodes nearest(domain.cloud.points);

  setup.phases.begin("weights");
  PartTargets targets;
  targets.chosen.of_parts = setup.weights;
  if (targets.chosen.of_parts.empty())
    targets.chosen =
        part_weights(comm, setup.devices, options, static_cast<int>(places.rank_of_part.size()), nodes, rate);
  const RowsToPlace place{nodes, "nodes", "fewer nodes", memory && memory->refuse_too_large};
  const std::vector<PartRoom> rooms = memory ? rooms_of(setup, *memory) : std::vector<PartRoom>();
  for (const auto& device : setup.devices.devices) domain.streams.emplace_back(*device);

  const auto too_large = [&] {
    if (targets.most.empty()) return false;
    std::vector<PartNeed> needs;
    comm.together([&] { needs = needs_of(setup, *memory, domain); });
    return tighten_targets(comm, needs, place, targets);
  };
  // What still does not fit after so many times is left to the allocation, which names the array.
  for (int k = 0; k == 0 || (k <= 5 && too_large()); ++k) {
    bound_targets(comm, rooms, place, targets);
    domain.weights = targets.bound.weights;
    setup.phases.begin("partition");
    const auto owner = choose_owners(setup, domain, nearest, places, k == 0 ? setup.stored : nullptr);
    setup.phases.begin("stencils");
    make_parts(setup, nearest, owner, domain);
  }
  report_full_parts(comm, setup.devices, place, targets);
  domain.balance = summarise_weights(options, targets.chosen);
  domain.balance.full_parts = targets.bound.full;
  setup.phases.end();
  return domain;
}

IndexMap with_components(const IndexMap& map, int components) {
  IndexMap wide;
  wide.part = map.part;
  wide.interior = map.interior * components;
  wide.owned = map.owned * components;
  for (const Gid g : map.global)
    for (int c = 0; c < components; ++c) wide.global.push_back(g * components + c);
  for (const Link& link : map.links) {
    Link& other = wide.links.emplace_back();
    other.part = link.part;
    other.rank = link.rank;
    other.ghosts = {link.ghosts.begin * components, link.ghosts.end * components};
    for (const Lid row : link.send_rows)
      for (int c = 0; c < components; ++c) other.send_rows.push_back(row * components + c);
  }
  return wide;
}

}  // namespace tutti
