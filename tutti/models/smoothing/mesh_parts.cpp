#include "tutti/models/smoothing/mesh_parts.hpp"

#include <algorithm>
#include <limits>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/smoothing/at.hpp"
#include "tutti/partition/spatial_order.hpp"

namespace tutti::smoothing {
namespace {

/// Nodes of a part and those it reads, by level.
struct Rows {
  std::vector<PartRows> of_level;
};

Rows rows_of(std::int32_t part, const TetMesh& mesh, const Adjacency& cells_of, const std::vector<KeyedRow>& order,
             std::span<const std::int32_t> owner, const std::vector<std::size_t>& level, std::size_t levels) {
  Rows rows;
  rows.of_level.resize(levels);
  std::vector<bool> seen(mesh.vertices.size(), false);
  std::vector<Gid> ghosts;
  for (const KeyedRow& next : order) {
    const Gid v = next.row;
    if (owner[at(v)] != part) continue;
    rows.of_level[level[at(v)]].owned.push_back(v);
    const bool moves = level[at(v)] + 1 < levels;
    for (const Gid c : cells_of.row(v)) {
      if (!moves && mesh.cells[at(c)][0] != v) continue;  // its cells are another node's
      for (const Gid u : mesh.cells[at(c)])
        if (owner[at(u)] != part && !seen[at(u)]) {
          seen[at(u)] = true;
          ghosts.push_back(u);
        }
    }
  }
  std::sort(ghosts.begin(), ghosts.end());
  for (const Gid g : ghosts) {
    rows.of_level[level[at(g)]].ghosts.push_back(g);
    rows.of_level[level[at(g)]].ghost_owners.push_back(owner[at(g)]);
  }
  for (PartRows& r : rows.of_level) r.part = part;
  return rows;
}

template <class T>
Buffer<T> buffer_of(Stream& stream, const std::vector<T>& values, const char* name) {
  return make_buffer(stream, std::span<const T>(values), name);
}

/// The neighbours of all stars, and the corners of cells by their places among them.
struct Neighbours {
  std::vector<Size> offsets{0};
  std::vector<Lid> rows;
  std::vector<std::uint32_t> corners;

  Neighbours(const std::vector<Size>& stars, const std::vector<StarCell>& cells) {
    for (std::size_t star = 0; star + 1 < stars.size(); ++star) {
      const auto place = [&](Lid row) {
        const auto first = rows.begin() + offsets.back();
        const auto found = std::find(first, rows.end(), row);
        const auto number = static_cast<std::uint32_t>(found - first);
        if (found == rows.end()) rows.push_back(row);
        return std::min<std::uint32_t>(number, 1023);  // stars of so many are read as they lie
      };
      for (Size k = stars[star]; k < stars[star + 1]; ++k) {
        const StarCell& cell = cells[at(k)];
        const std::uint32_t a = place(cell.a), b = place(cell.b), c = place(cell.c);
        corners.push_back(a | b << 10 | c << 20);
      }
      offsets.push_back(static_cast<Size>(rows.size()));
    }
  }
};

/// The ends of edges around the nodes of triangles: see StarView.
struct Rings {
  std::vector<Size> begins{0};
  std::vector<Lid> ends;

  Rings(const std::vector<Size>& stars, const std::vector<StarCell>& cells) {
    constexpr std::size_t slice = StarView::ring_slice;
    std::vector<Lid> of_node[slice];
    for (std::size_t first = 0; first + 1 < stars.size(); first += slice) {
      std::size_t width = 1;
      for (std::size_t i = 0; i < slice; ++i) {
        of_node[i].clear();
        if (first + i + 1 >= stars.size()) continue;
        add(std::span(cells).subspan(at(stars[first + i]), at(stars[first + i + 1] - stars[first + i])), of_node[i]);
        width = std::max(width, of_node[i].size());
      }
      for (std::size_t k = 0; k < width; ++k)
        for (const auto& ring : of_node) ends.push_back(k < ring.size() ? ring[k] : no_lid);
      begins.push_back(static_cast<Size>(ends.size()));
    }
  }

  static void add(std::span<const StarCell> cells, std::vector<Lid>& ring) {
    for (std::size_t k = 0; k < cells.size(); ++k) {
      if (k > 0 && cells[k].a != ring.back()) {
        ring.assign(1, StarView::no_ring);
        return;
      }
      if (k == 0) ring.push_back(cells[k].a);
      ring.push_back(cells[k].b);
    }
  }
};

}  // namespace

StarView MeshPart::stars() const {
  return {star_offsets.data(),
          star_cells.data(),
          slide_of.data(),
          slides.data(),
          {pieces.data(), near_pieces.data()},
          neighbour_offsets.data(),
          neighbours.data(),
          corners.data(),
          ring_begins.data(),
          rings.data()};
}

MeshParts::MeshParts(const Comm& comm, const TetMesh& mesh, const Adjacency& cells_of, const NodeFreedom& freedom,
                     std::span<const std::int32_t> colours, std::span<const std::int32_t> owner,
                     std::span<const int> rank_of_part, std::span<PartStreams> streams, bool triangles,
                     std::span<const double> sizes, const ParallelFor& parallel)
    : comm_(comm), streams_(streams) {
  number(mesh, cells_of, colours, owner, rank_of_part, parallel);
  comm.together([&] {
    parts.resize(streams.size());
    for (std::size_t p = 0; p < parts.size(); ++p) fill(p, mesh, cells_of, freedom, triangles, sizes);
  });
  for (std::size_t l = 0; l < levels.size(); ++l) {
    auto& level = levels[l];
    // Messages of several colours are under way at a time.
    level->plan =
        make_plan(level->wide, comm.rank(), {.number = static_cast<int>(l), .of = static_cast<int>(levels.size())});
    level->exchange = std::make_unique<Exchange<double>>(comm, level->plan, level->wide, streams_, 1);
  }
}

void MeshParts::number(const TetMesh& mesh, const Adjacency& cells_of, std::span<const std::int32_t> colours,
                       std::span<const std::int32_t> owner, std::span<const int> rank_of_part,
                       const ParallelFor& parallel) {
  std::size_t count = 1;  // of levels: of nodes that stay, behind those of the colours
  for (const std::int32_t c : colours)
    if (c >= 0) count = std::max(count, static_cast<std::size_t>(c) + 2);
  std::vector<std::size_t> level(colours.size());
  for (std::size_t v = 0; v < level.size(); ++v)
    level[v] = colours[v] < 0 ? count - 1 : static_cast<std::size_t>(colours[v]);

  std::vector<Rows> rows;
  comm_.together([&] {
    const auto order = hilbert_order(mesh.vertices, parallel);
    for (std::size_t part = 0; part < rank_of_part.size(); ++part)
      if (rank_of_part[part] == comm_.rank())
        rows.push_back(rows_of(static_cast<std::int32_t>(part), mesh, cells_of, order, owner, level, count));
  });
  std::vector<Size> row(rows.size(), 0), star(rows.size(), 0);
  for (std::size_t l = 0; l < count; ++l) {
    std::vector<PartRows> mine;
    for (Rows& r : rows) mine.push_back(std::move(r.of_level[l]));
    auto& made = *levels.emplace_back(std::make_unique<Level>());
    made.maps = number_parts(comm_, mine, rank_of_part, parallel);
    made.first_row = row;
    made.first_star = star;
    for (std::size_t p = 0; p < rows.size(); ++p) {
      made.wide.push_back(with_components(made.maps[p], 4));
      row[p] += made.maps[p].local();
      star[p] += made.maps[p].owned;
    }
  }
  comm_.together([&] {
    for (const Size r : row)
      if (4 * r > std::numeric_limits<Lid>::max())
        fail(ErrorKind::resource, "a part of {} nodes is too large for 32-bit numbers; use more devices",
             format_count(r));
  });
}

void MeshParts::fill(std::size_t p, const TetMesh& mesh, const Adjacency& cells_of, const NodeFreedom& freedom,
                     bool triangles, std::span<const double> sizes) {
  MeshPart& part = parts[p];
  std::vector<Lid> local(mesh.vertices.size(), no_lid);
  std::vector<Point> points;
  for (const auto& level : levels)
    for (const Gid v : level->maps[p].global) {
      local[at(v)] = static_cast<Lid>(points.size());
      const Vec3 x = mesh.vertices[at(v)];
      points.push_back({x.x, x.y, x.z, sizes.empty() ? 0 : sizes[at(v)]});
    }
  std::vector<Size> offsets{0};
  std::vector<StarCell> stars;
  std::vector<CellRows> cells;
  std::vector<Lid> slide_of;
  bool sliding = false;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const IndexMap& map = levels[l]->maps[p];
    for (Lid r = 0; r < map.owned; ++r) {
      const Gid v = map.global[at(r)];
      const auto begin = static_cast<std::ptrdiff_t>(stars.size());
      for (const Gid c : cells_of.row(v)) {
        const auto& cell = mesh.cells[at(c)];
        const auto rows = [&](int k) { return local[at(cell[at(k)])]; };
        if (cell[0] == v) cells.push_back({{rows(0), rows(1), rows(2), rows(3)}});
        if (l == moving()) continue;
        const auto corner = static_cast<std::size_t>(std::find(cell.begin(), cell.end(), v) - cell.begin());
        const auto& [i, j, k] = tet_faces[corner];
        const auto next = [&](std::size_t n) { return static_cast<int>((corner + n) % 3); };
        stars.push_back(triangles ? StarCell{rows(next(1)), rows(next(2)), rows(3)}
                                  : StarCell{rows(i), rows(j), rows(k)});
      }
      if (l == moving()) continue;
      if (triangles) ring_order({stars.begin() + begin, stars.end()});
      offsets.push_back(static_cast<Size>(stars.size()));
      slide_of.push_back(freedom.of_node[at(v)]);
      sliding = sliding || slide_of.back() >= 0;
    }
  }
  Stream& stream = *streams_[p].compute;
  part.rows = static_cast<Lid>(points.size());
  part.cell_count = static_cast<Lid>(cells.size());
  part.points = buffer_of(stream, points, "points");
  part.moved = buffer_of(stream, points, "moved points");
  part.star_offsets = buffer_of(stream, offsets, "begins of stars");
  part.star_cells = buffer_of(stream, stars, "cells of stars");
  part.cells = buffer_of(stream, cells, "cells");
  part.bad = Buffer<std::uint8_t>(stream.device(), offsets.back() == 0 ? 0 : static_cast<Size>(offsets.size()) - 1,
                                  "marks of bad moves");
  if (!sliding) return;
  part.slide_of = buffer_of(stream, slide_of, "slides of nodes");
  part.slides = buffer_of(stream, freedom.slides, "slides");
  part.pieces = buffer_of(stream, freedom.pieces, "pieces of the surface");
  part.near_pieces = buffer_of(stream, freedom.near_pieces, "pieces near nodes");
}

void MeshParts::find_neighbours(bool triangles) {
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Stream& stream = *streams_[p].compute;
    MeshPart& part = parts[p];
    if (stream.kind() != DeviceKind::cuda) continue;
    std::vector<Size> offsets(at(part.star_offsets.size()));
    std::vector<StarCell> cells(at(part.star_cells.size()));
    download(stream, std::span<Size>(offsets), part.star_offsets);
    download(stream, std::span<StarCell>(cells), part.star_cells);
    if (triangles) {
      const Rings found(offsets, cells);
      part.ring_begins = buffer_of(stream, found.begins, "begins of rings");
      part.rings = buffer_of(stream, found.ends, "rings of nodes");
      continue;
    }
    const Neighbours found(offsets, cells);
    part.neighbour_offsets = buffer_of(stream, found.offsets, "begins of neighbours");
    part.neighbours = buffer_of(stream, found.rows, "neighbours of nodes");
    part.corners = buffer_of(stream, found.corners, "corners of cells");
  }
}

std::vector<Vec3> MeshParts::gather(std::size_t nodes) const {
  struct Place {
    Gid node;
    Vec3 at;
  };
  std::vector<Place> mine;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      std::vector<Point> points(at(parts[p].rows));
      download(*streams_[p].compute, std::span<Point>(points), parts[p].points);
      for (const auto& level : levels)
        for (Lid r = 0; r < level->maps[p].owned; ++r)
          mine.push_back({level->maps[p].global[at(r)], points[at(level->first_row[p] + r)].vec()});
    }
  });
  std::vector<Vec3> all(nodes);
  for (const Place& place : comm_.all_gather(std::span<const Place>(mine))) all[at(place.node)] = place.at;
  return all;
}

}  // namespace tutti::smoothing
