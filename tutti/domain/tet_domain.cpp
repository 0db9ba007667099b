#include "tutti/domain/tet_domain.hpp"

#include <algorithm>
#include <numeric>

#include "tutti/base/hash.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/conformity.hpp"
#include "tutti/mesh/files/read_mesh.hpp"
#include "tutti/mesh/generate.hpp"
#include "tutti/mesh/refine.hpp"
#include "tutti/mesh/stencil.hpp"

namespace tutti {
namespace {

Vec3 vec3_of(const std::vector<double>& v) {
  return {v[0], v[1], v[2]};
}

BoxSpec box_spec(const Case& options) {
  BoxSpec spec;
  const auto cubes = options.integers("mesh.cubes");
  const auto grading = options.numbers("mesh.grading");
  std::copy(cubes.begin(), cubes.end(), spec.cubes.begin());
  std::copy(grading.begin(), grading.end(), spec.grading.begin());
  spec.lower = vec3_of(options.numbers("mesh.lower"));
  spec.upper = vec3_of(options.numbers("mesh.upper"));
  spec.jitter = options.number("mesh.jitter");
  spec.seed = static_cast<std::uint64_t>(options.integer("mesh.seed"));
  if (options.has("mesh.split")) spec.split_x = options.number("mesh.split");
  if (options.has("mesh.map")) {
    const auto map = options.expressions("mesh.map");
    spec.map = [map](Vec3 p) { return Vec3{map[0](p), map[1](p), map[2](p)}; };
  }
  return spec;
}

/// What the partitioner of the case wants of a mesh. On the reader.
RowsToCut rows_to_cut(const WholeMesh& whole, const Case& options, int layers) {
  RowsToCut rows{parse_partitioner(options.text("partition.method")), whole.mesh.cell_count()};
  const bool by_graph = rows.method == Partitioner::metis || rows.method == Partitioner::scotch;
  const bool by_both = rows.method == Partitioner::voronoi;
  if (!by_graph) rows.points = cell_centroids(whole.mesh);
  if (by_graph || by_both)
    rows.graph = options.text("partition.graph") == "stencil" && layers == 2 ? tet_stencil(whole.neighbours)
                                                                             : face_graph(whole.neighbours);
  return rows;
}

/// Stable order by falling row length within windows of `window` rows: slices of SELL get rows of like length.
void gather_similar_rows(std::vector<Lid>& order, std::span<const std::uint8_t> lengths, Lid window,
                         const ParallelFor& parallel) {
  const auto rows = static_cast<Size>(order.size());
  for_ranges(parallel, (rows + window - 1) / window, [&](Size first, Size last) {
    for (Size w = first; w < last; ++w)
      std::stable_sort(order.begin() + w * window, order.begin() + std::min(rows, (w + 1) * window),
                       [&](Lid a, Lid b) { return lengths[a] > lengths[b]; });
  });
}

/// The order of a part's own cells.
std::vector<Lid> order_part(const DistributedPart& part, const Case& options, const TetOptions& tet_options,
                            bool on_host, const ParallelFor& parallel) {
  const Lid similar_rows = tet_options.similar_rows;
  const LocalTetMesh& mesh = part.mesh;
  const Ordering ordering = parse_ordering(options.text("partition.order"));
  std::vector<Lid> order;
  if (ordering != Ordering::native || similar_rows > 0) {
    std::vector<Vec3> centroids(mesh.owned);
    for_ranges(parallel, mesh.owned, [&](Size begin, Size end) {
      for (Lid c = static_cast<Lid>(begin); c < static_cast<Lid>(end); ++c) centroids[c] = mesh.centroid(c);
    });
    Csr<Lid> graph;
    if (ordering == Ordering::metis_blocks || ordering == Ordering::rcm) {
      graph = face_graph<Lid>(mesh.neighbours, mesh.owned);
      // Inside the part only.
      Csr<Lid> inner;
      for (Lid i = 0; i < graph.rows(); ++i) {
        for (const Lid j : graph.row(i))
          if (j < mesh.owned) inner.columns.push_back(j);
        inner.close_row();
      }
      graph = std::move(inner);
    }
    // The paper's block sizes.
    const Lid block = !options.is_word("partition.block", "auto") ? static_cast<Lid>(options.integer("partition.block"))
                      : on_host                                   ? 512
                                                                  : 64;
    order = order_rows(ordering, centroids, graph, block, parallel);
    if (similar_rows > 0)
      gather_similar_rows(order, stencil_lengths(mesh.neighbours, mesh.owned, tet_options.layers, parallel),
                          similar_rows, parallel);
  } else {
    order.resize(mesh.owned);
    std::iota(order.begin(), order.end(), 0);
  }
  return order;
}

/// What a part owns, in its order, and what it reads.
PartRows rows_of(const DistributedPart& part, std::span<const Lid> order) {
  const LocalTetMesh& mesh = part.mesh;
  PartRows rows;
  rows.part = part.part;
  rows.owned.reserve(order.size());
  for (const Lid i : order) rows.owned.push_back(mesh.global[i]);
  rows.ghosts.assign(mesh.global.begin() + mesh.owned, mesh.global.end());
  rows.ghost_owners = part.ghost_owners;
  return rows;
}

/// Puts a part's cells into the order of its map. `given` is the order of its own cells before separators were taken
/// out of it; own cells and ghosts each arrived in global order.
LocalTetMesh renumber(LocalTetMesh&& mesh, const IndexMap& map, std::span<const Lid> given,
                      const ParallelFor& parallel) {
  std::vector<Lid> order(mesh.global.size());
  // The interior keeps the given order; separators and ghosts are few, and searched.
  auto next = given.begin();
  for (Lid i = 0; i < map.interior; ++i) {
    while (mesh.global[*next] != map.global[i]) ++next;
    order[i] = *next++;
  }
  const auto owned_end = mesh.global.begin() + mesh.owned;
  for (Lid i = map.interior; i < map.local(); ++i) {
    const Gid g = map.global[i];
    const auto at = i < map.owned ? std::lower_bound(mesh.global.begin(), owned_end, g)
                                  : std::lower_bound(owned_end, mesh.global.end(), g);
    order[i] = static_cast<Lid>(at - mesh.global.begin());
  }
  return reorder_cells(std::move(mesh), order, parallel);
}

void broadcast_names(const Comm& comm, std::map<std::int32_t, std::string>& names) {
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

void broadcast_tags(const Comm& comm, std::set<std::int32_t>& tags) {
  std::vector<std::int32_t> list(tags.begin(), tags.end());
  comm.broadcast(list);
  tags = std::set<std::int32_t>(list.begin(), list.end());
}

/// Tags in use. Neighbours in the mesh mostly have the same one: the sets are asked where it changes.
void find_tags(const WholeMesh& whole, TetDomain& domain) {
  const auto add = [](std::set<std::int32_t>& tags, std::int32_t tag, std::int32_t& last) {
    if (tags.empty() || tag != last) tags.insert(last = tag);
  };
  std::int32_t region = 0, side = 0;
  for (const std::int32_t tag : whole.mesh.regions) add(domain.region_tags, tag, region);
  for (const auto& faces : whole.neighbours)
    for (const Gid n : faces)
      if (n < 0) add(domain.boundary_tags, boundary_tag(n), side);
}

/// Other cells that a cell reads, on average: over 4,096 of them, or all.
double mean_row_length(const FaceNeighbours& neighbours, int layers) {
  const std::size_t n = neighbours.size(), samples = std::min<std::size_t>(n, 4096);
  std::size_t entries = 0;
  std::vector<Gid> row;
  for (std::size_t k = 0; k < samples; ++k) {
    const std::size_t cell = k * n / samples;
    row.clear();
    for (const Gid near : neighbours[cell]) {
      if (near < 0) continue;
      row.push_back(near);
      if (layers < 2) continue;
      for (const Gid next : neighbours[near])
        if (next >= 0 && next != static_cast<Gid>(cell)) row.push_back(next);
    }
    std::sort(row.begin(), row.end());
    entries += static_cast<std::size_t>(std::unique(row.begin(), row.end()) - row.begin());
  }
  return samples == 0 ? 0 : static_cast<double>(entries) / static_cast<double>(samples);
}

template <class T>
void add_to_hash(Hasher& hash, const std::vector<T>& values) {
  hash.add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

std::uint64_t mesh_checksum(const TetMesh& mesh) {
  Hasher hash;
  add_to_hash(hash, mesh.vertices);
  add_to_hash(hash, mesh.cells);
  add_to_hash(hash, mesh.regions);
  add_to_hash(hash, mesh.boundary);
  add_to_hash(hash, mesh.boundary_tags);
  for (const CellData& data : mesh.cell_data) add_to_hash(hash, data.values);
  return hash.digest();
}

}  // namespace

namespace {

TetMesh coarse_mesh(const Case& options, const std::filesystem::path& work_dir, const ParallelFor& parallel) {
  if (options.has("mesh.file")) {
    const auto path = options.file("mesh.file");
    TetMesh mesh = read_mesh(path);
    if (options.text("mesh.repair") == "merge")
      if (const Size gone = merge_vertices(mesh, find_face_neighbours_of(path, mesh, parallel)); gone > 0)
        info("{}: {} coincident vertices were merged", path.string(), format_count(gone));
    return mesh;
  }
  const std::string generator = options.text("mesh.generate");
  try {
    if (generator == "box") return generate_box(box_spec(options), parallel);
    const double h = options.number("mesh.h");
    if (generator == "biventricle") return generate_biventricle(h, work_dir);
    std::optional<double> split;
    if (options.has("mesh.split")) split = options.number("mesh.split");
    return generate_unstructured_box(h, work_dir, split);
  } catch (const SpecError& error) {  // what is a wrong option elsewhere is a wrong key here
    fail(ErrorKind::input, "{}: {}", options.where("mesh." + error.word()), error.what());
  }
}

}  // namespace

TetMesh load_mesh(const Case& options, const std::filesystem::path& work_dir, const ParallelFor& parallel) {
  return refine(coarse_mesh(options, work_dir, parallel), static_cast<int>(options.integer("mesh.refine")), parallel);
}

/// Error(input): cells that touch and are no neighbours, which nobody wants unless he says so.
void require_conformity(const WholeMesh& whole, const Case& options) {
  if (!options.has("mesh.file") || options.flag("mesh.allow_cracks")) return;
  const Misfits misfits = find_misfits(whole.mesh, whole.neighbours);
  const std::string name = options.file("mesh.file").string();
  const auto place = [](Vec3 p) { return fmt::format("({:.6g}, {:.6g}, {:.6g})", p.x, p.y, p.z); };
  if (misfits.hanging > 0)
    fail(ErrorKind::input,
         "{}: {} hanging node{}: vertex {} at {} lies inside a face or an edge of cell {}; make the mesh conforming, "
         "or set mesh.allow_cracks = true to treat such faces as boundaries",
         name, format_count(misfits.hanging), misfits.hanging == 1 ? "" : "s", misfits.hanging_vertex,
         place(misfits.hanging_place), misfits.hanging_cell);
  if (misfits.cracks > 0)
    fail(ErrorKind::input,
         "{}: {} crack{}: cells {} and {} touch at {} and share no vertices; set mesh.repair = \"merge\" to join such "
         "cells, or mesh.allow_cracks = true to treat such faces as boundaries",
         name, format_count(misfits.cracks), misfits.cracks == 1 ? "" : "s", misfits.crack_cells[0],
         misfits.crack_cells[1], place(misfits.crack_place));
}

/// Cells of a mesh, all known on the reader; what all ranks know of it goes to all.
void TetDomain::load(const ModelSetup& setup) {
  const Comm& comm = setup.comm;
  const ParallelFor parallel = parallel_for(*setup.devices.threads);
  rows = 0;
  checksum = 0;
  setup.phases.begin("read");
  comm.together([&] {
    if (comm.is_root()) whole_.mesh = load_mesh(setup.options, setup.work_dir, parallel);
  });
  setup.phases.begin("neighbours");
  comm.together([&] {
    if (!comm.is_root()) return;
    whole_.neighbours = setup.options.has("mesh.file")
                            ? find_face_neighbours_of(setup.options.file("mesh.file"), whole_.mesh, parallel)
                            : find_face_neighbours(whole_.mesh, parallel);
    require_conformity(whole_, setup.options);
    rows = whole_.mesh.cell_count();
    checksum = mesh_checksum(whole_.mesh);
    region_names = whole_.mesh.region_names;
    boundary_names = whole_.mesh.boundary_names;
    find_tags(whole_, *this);
    row_length_ = mean_row_length(whole_.neighbours, options_.layers);
  });
  rows = comm.sum(rows);
  checksum = static_cast<std::uint64_t>(comm.sum(static_cast<std::int64_t>(checksum)));
  broadcast_names(comm, region_names);
  broadcast_names(comm, boundary_names);
  broadcast_tags(comm, region_tags);
  broadcast_tags(comm, boundary_tags);
}

void TetDomain::cut(const ModelSetup& setup, const PartPlaces& places, const StoredPartition* stored) {
  const Comm& comm = setup.comm;
  const ParallelFor parallel = parallel_for(*setup.devices.threads);
  std::vector<std::int32_t> owner;
  comm.together([&] {
    if (!comm.is_root() || rank_of_part.size() == 1) return;
    // Another mesh is refused by whoever compares checksums; here it only must not break anything.
    if (stored != nullptr && static_cast<Gid>(stored->owner.size()) == rows)
      owner = stored->owner;
    else {
      const RowsToCut all = rows_to_cut(whole_, setup.options, options_.layers);
      owner = partition_over(places, all.input(parallel, first_gpu(setup.devices)), weights, all.method);
    }
  });
  setup.phases.begin("distribute");
  auto parts = distribute_mesh(comm, std::move(whole_), owner, rank_of_part, options_.layers, parallel);
  whole_ = {};
  std::vector<std::int32_t>().swap(owner);

  setup.phases.begin("order");
  std::vector<std::vector<Lid>> orders;
  std::vector<PartRows> part_rows;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    orders.push_back(order_part(parts[p], setup.options, options_, streams[p].is_host(), parallel));
    part_rows.push_back(rows_of(parts[p], orders[p]));
  }
  maps = number_parts(comm, part_rows, rank_of_part, parallel);
  std::vector<PartRows>().swap(part_rows);
  meshes.clear();
  for (std::size_t p = 0; p < parts.size(); ++p)
    meshes.push_back(renumber(std::move(parts[p].mesh), maps[p], orders[p], parallel));
}

WholeRows TetDomain::take_whole(const ModelSetup& setup) {
  const WholeMesh whole = std::move(whole_);
  return whole_rows(options_.layers == 2 ? tet_stencil(whole.neighbours) : face_graph(whole.neighbours),
                    rows_to_cut(whole, setup.options, options_.layers));
}

TetDomain make_tet_domain(const ModelSetup& setup, const TetOptions& options, const Sharing& sharing) {
  TetDomain domain(options);
  make_domain(domain, setup, sharing);
  return domain;
}

}  // namespace tutti
