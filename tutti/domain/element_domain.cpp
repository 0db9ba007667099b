#include "tutti/domain/element_domain.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

#include "tutti/base/hash.hpp"
#include "tutti/mesh/elements/element_tables.hpp"
#include "tutti/mesh/elements/generate_element_box.hpp"
#include "tutti/mesh/elements/read_elements.hpp"
#include "tutti/mesh/spec_error.hpp"
#include "tutti/partition/partition.hpp"

namespace tutti {
namespace {

std::array<bool, 3> periodic_axes(const Case& options) {
  for (const std::string axes : {"x", "y", "z", "xy", "xz", "yz"})
    if (options.is_word("mesh.periodic", axes)) {
      const auto has = [&](char axis) { return axes.find(axis) != std::string::npos; };
      return {has('x'), has('y'), has('z')};
    }
  const bool all = options.flag("mesh.periodic");
  return {all, all, all};
}

ElementBoxSpec element_box_spec(const Case& options) {
  ElementBoxSpec spec;
  spec.elements = parse_box_elements(options.text("mesh.element"));
  const auto cubes = options.integers("mesh.cubes");
  std::copy(cubes.begin(), cubes.end(), spec.cubes.begin());
  const auto lower = options.numbers("mesh.lower"), upper = options.numbers("mesh.upper");
  spec.lower = {lower[0], lower[1], lower[2]};
  spec.upper = {upper[0], upper[1], upper[2]};
  spec.jitter = options.number("mesh.jitter");
  spec.seed = static_cast<std::uint64_t>(options.integer("mesh.seed"));
  spec.order = static_cast<int>(options.integer("mesh.order"));
  spec.periodic = periodic_axes(options);
  if (options.has("mesh.map")) {
    const auto map = options.expressions("mesh.map");
    spec.map = [map](Vec3 p) { return Vec3{map[0](p), map[1](p), map[2](p)}; };
  }
  return spec;
}

std::uint64_t checksum_of(const ElementMesh& mesh) {
  Hasher hash;
  const auto add = [&](const auto& values) {
    hash.add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])});
  };
  add(mesh.points);
  add(mesh.types);
  add(mesh.nodes);
  add(mesh.regions);
  add(mesh.boundary);
  add(mesh.boundary_tags);
  return hash.digest();
}

void broadcast_text_map(const Comm& comm, std::map<std::int32_t, std::string>& names) {
  std::string text;
  if (comm.is_root())
    for (const auto& [tag, name] : names) text += fmt::format("{} {}\n", tag, name);
  comm.broadcast(text);
  names.clear();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at), space = text.find(' ', at);
    names[std::stoi(text.substr(at, space - at))] = text.substr(space + 1, end - space - 1);
    at = end + 1;
  }
}

Vec3 mean_of_corners(ElementType type, std::span<const Vec3> nodes) {
  Vec3 sum;
  const int corners = corner_count(type);
  for (int k = 0; k < corners; ++k) sum = sum + nodes[k];
  return (1.0 / corners) * sum;
}

std::vector<Vec3> centres_of(const ElementMesh& mesh) {
  std::vector<Vec3> centres;
  std::vector<Vec3> nodes;
  for (Gid e = 0; e < mesh.element_count(); ++e) {
    nodes.clear();
    for (const Gid n : mesh.element_nodes(e)) nodes.push_back(mesh.points[n]);
    centres.push_back(mean_of_corners(mesh.type(e), nodes));
  }
  return centres;
}

/// What a part owns, in its order, and what it reads.
PartRows rows_of(std::int32_t part, std::span<const std::int32_t> owner, std::span<const Vec3> centres,
                 const Adjacency& graph, Ordering ordering, const ParallelFor& parallel) {
  PartRows rows;
  rows.part = part;
  std::vector<Gid> mine;
  std::vector<Vec3> points;
  for (std::size_t e = 0; e < owner.size(); ++e) {
    if (owner[e] != part) continue;
    mine.push_back(static_cast<Gid>(e));
    points.push_back(centres[e]);
  }
  for (const Lid i : order_rows(ordering, points, {}, 1, parallel)) rows.owned.push_back(mine[i]);
  for (const Gid e : rows.owned)
    for (const Gid near : graph.row(e))
      if (owner[near] != part) rows.ghosts.push_back(near);
  std::sort(rows.ghosts.begin(), rows.ghosts.end());
  rows.ghosts.erase(std::unique(rows.ghosts.begin(), rows.ghosts.end()), rows.ghosts.end());
  for (const Gid g : rows.ghosts) rows.ghost_owners.push_back(owner[g]);
  return rows;
}

}  // namespace

Vec3 LocalElementMesh::centre(Lid row) const {
  return mean_of_corners(types[row], element_nodes(row));
}

LocalElementMesh local_elements(const IndexMap& map, const ElementMesh& mesh, std::span<const ElementFace> faces) {
  LocalElementMesh local;
  std::unordered_map<Gid, Lid> row_of;
  for (Lid row = 0; row < map.local(); ++row) {
    const Gid e = map.global[row];
    row_of.emplace(e, row);
    local.types.push_back(mesh.type(e));
    local.regions.push_back(mesh.regions.empty() ? 0 : mesh.regions[e]);
    for (const Gid n : mesh.element_nodes(e)) local.nodes.push_back(mesh.points[n]);
    local.node_offsets.push_back(static_cast<Size>(local.nodes.size()));
  }
  const auto find = [&](Gid e) {
    const auto at = e < 0 ? row_of.end() : row_of.find(e);
    return at == row_of.end() ? no_lid : at->second;
  };
  const auto owned = [&](Lid row) { return row != no_lid && row < map.owned; };
  for (std::size_t k = 0; k < faces.size(); ++k) {
    const ElementFace& face = faces[k];
    const Lid left = find(face.left), right = find(face.right);
    if (!owned(left) && !owned(right)) continue;
    local.faces.push_back({static_cast<Gid>(k), left, right, static_cast<std::int8_t>(face.left_face),
                           static_cast<std::int8_t>(face.right_face), static_cast<std::int8_t>(face.orientation),
                           face.tag});
  }
  const auto inside = [&](const LocalElementFace& f) { return f.left < map.interior && f.right < map.interior; };
  const auto first_row = [](const LocalElementFace& f) { return f.right < 0 ? f.left : std::min(f.left, f.right); };
  std::stable_sort(local.faces.begin(), local.faces.end(), [&](const auto& a, const auto& b) {
    if (inside(a) != inside(b)) return inside(a);
    return first_row(a) < first_row(b);
  });
  local.interior_faces = static_cast<Lid>(std::count_if(local.faces.begin(), local.faces.end(), inside));
  return local;
}

ElementMesh load_element_mesh(const Case& options, const ParallelFor& parallel) {
  if (options.has("mesh.file")) return read_elements(options.file("mesh.file"));
  try {
    return generate_element_box(element_box_spec(options), parallel);
  } catch (const SpecError& error) {  // what is a wrong option elsewhere is a wrong key here
    fail(ErrorKind::input, "{}: {}", options.where("mesh." + error.word()), error.what());
  }
}

void ElementDomain::load(const ModelSetup& setup) {
  if (mesh_.element_count() > 0) return;
  const Comm& comm = setup.comm;
  const ParallelFor parallel = parallel_for(*setup.devices.threads);
  setup.phases.begin("read");
  comm.together([&] {
    if (comm.is_root()) mesh_ = load_element_mesh(setup.options, parallel);
  });
  comm.broadcast(mesh_.points);
  comm.broadcast(mesh_.types);
  comm.broadcast(mesh_.node_offsets);
  comm.broadcast(mesh_.nodes);
  comm.broadcast(mesh_.regions);
  comm.broadcast(mesh_.boundary);
  comm.broadcast(mesh_.boundary_tags);
  comm.broadcast(mesh_.periodic);
  broadcast_text_map(comm, mesh_.region_names);
  broadcast_text_map(comm, mesh_.boundary_names);
  setup.phases.begin("neighbours");
  comm.together([&] { faces_ = match_faces(mesh_, parallel); });
  rows = mesh_.element_count();
  checksum = checksum_of(mesh_);
  region_names = mesh_.region_names;
  boundary_names = mesh_.boundary_names;
  region_tags = {mesh_.regions.begin(), mesh_.regions.end()};
  for (const ElementFace& face : faces_)
    if (face.right < 0) boundary_tags.insert(face.tag);
}

void ElementDomain::cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition* stored) {
  const Comm& comm = setup.comm;
  const ParallelFor parallel = parallel_for(*setup.devices.threads);
  const Adjacency graph = element_adjacency(rows, faces_);
  const std::vector<Vec3> centres = centres_of(mesh_);
  std::vector<std::int32_t> owner;
  comm.together([&] {
    if (!comm.is_root()) return;
    if (rank_of_part.size() == 1) {
      owner.assign(rows, 0);
    } else if (stored != nullptr && static_cast<Gid>(stored->owner.size()) == rows) {
      owner = stored->owner;
    } else {
      PartitionInput input;
      input.rows = rows;
      input.graph = &graph;
      input.points = centres;
      input.parallel = parallel;
      input.device = first_gpu(setup.devices);
      owner = partition_over(places, input, weights, parse_partitioner(setup.options.text("partition.method")));
    }
  });
  comm.broadcast(owner);
  setup.phases.begin("order");
  const Ordering ordering = parse_ordering(setup.options.text("partition.order"));
  std::vector<PartRows> part_rows;
  comm.together([&] {
    for (std::size_t p = 0; p < mine(); ++p)
      part_rows.push_back(rows_of(part(p), owner, centres, graph, ordering, parallel));
  });
  maps = number_parts(comm, part_rows, rank_of_part, parallel);
  meshes.clear();
  for (std::size_t p = 0; p < mine(); ++p) meshes.push_back(local_elements(maps[p], mesh_, faces_));
}

WholeRows ElementDomain::take_whole(const ModelSetup& setup) {
  RowsToCut rows_to_cut;
  rows_to_cut.method = parse_partitioner(setup.options.text("partition.method"));
  rows_to_cut.rows = rows;
  rows_to_cut.graph = element_adjacency(rows, faces_);
  rows_to_cut.points = centres_of(mesh_);
  return whole_rows(element_adjacency(rows, faces_), std::move(rows_to_cut));
}

ElementDomain make_element_domain(const ModelSetup& setup, const Sharing& sharing) {
  ElementDomain domain;
  make_domain(domain, setup, sharing);
  domain.mesh_ = {};
  domain.faces_ = {};
  return domain;
}

}  // namespace tutti
