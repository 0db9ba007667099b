#include "tutti/mesh/refine.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>

#include "tutti/base/error.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/spec_error.hpp"
#include "tutti/mesh/vertex_groups.hpp"

namespace tutti {
namespace {

std::size_t at(Gid i) {
  return static_cast<std::size_t>(i);
}

/// The two ends of edge e of a tetrahedron. Edge 5 - e lies opposite to edge e.
constexpr std::array<std::array<std::size_t, 2>, 6> tet_edges = {{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

/// All edges, by their lower vertex, then their higher one.
struct Edges {
  std::vector<Gid> first;           ///< number of the first edge of each lower vertex; one more than vertices
  std::vector<std::size_t> places;  ///< where in `higher` its edges stand
  std::vector<Gid> higher;

  Gid count() const { return first.back(); }
  /// Number of the edge between two vertices; -1: there is none.
  Gid find(Gid a, Gid b) const {
    const Gid low = std::min(a, b), high = std::max(a, b);
    const auto begin = higher.begin() + static_cast<std::ptrdiff_t>(places[at(low)]);
    const auto end = begin + (first[at(low) + 1] - first[at(low)]);
    const auto found = std::lower_bound(begin, end, high);
    return found != end && *found == high ? first[at(low)] + (found - begin) : -1;
  }
};

Edges number_edges(const TetMesh& mesh, const ParallelFor& parallel) {
  Edges edges;
  edges.first.resize(mesh.vertices.size() + 1);
  edges.places.resize(mesh.vertices.size());
  edges.higher.resize(6 * mesh.cells.size());
  group_by_vertex<Gid, Gid>(
      mesh.cell_count(), mesh.vertex_count(), parallel,
      [&](Size begin, Size end, const auto& put) {
        for (Size c = begin; c < end; ++c)
          for (const auto& [i, j] : tet_edges) {
            const Gid a = mesh.cells[at(c)][i], b = mesh.cells[at(c)][j];
            put(std::min(a, b), std::max(a, b));
          }
      },
      [&](Gid vertex, Gid* begin, Gid* end, std::size_t place) {
        std::sort(begin, end);
        Gid* const last = std::unique(begin, end);
        std::copy(begin, last, edges.higher.begin() + static_cast<std::ptrdiff_t>(place));
        edges.places[at(vertex)] = place;
        edges.first[at(vertex) + 1] = last - begin;
      });
  for (std::size_t v = 1; v < edges.first.size(); ++v) edges.first[v] += edges.first[v - 1];
  return edges;
}

/// The eight parts of a cell with corners v and the middles m of its edges. The ring of an octahedron's diagonal is the
/// other four corners, in the direction that gives positive volumes.
void cut_cell(const std::array<Gid, 4>& v, const std::array<Gid, 6>& m, std::span<const Vec3> vertices,
              std::array<Gid, 4>* parts) {
  parts[0] = {v[0], m[0], m[1], m[2]};
  parts[1] = {m[0], v[1], m[3], m[4]};
  parts[2] = {m[1], m[3], v[2], m[5]};
  parts[3] = {m[2], m[4], m[5], v[3]};
  constexpr std::array<std::array<std::size_t, 4>, 3> rings = {{{1, 2, 4, 3}, {0, 3, 5, 2}, {0, 1, 5, 4}}};
  std::size_t shortest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3 d = vertices[at(m[5 - k])] - vertices[at(m[k])];
    const double length = dot(d, d);
    if (length < least) {
      least = length;
      shortest = k;
    }
  }
  for (std::size_t k = 0; k < 4; ++k)
    parts[4 + k] = {m[shortest], m[5 - shortest], m[rings[shortest][k]], m[rings[shortest][(k + 1) % 4]]};
}

TetMesh refine_once(TetMesh&& mesh, const ParallelFor& parallel) {
  const Edges edges = number_edges(mesh, parallel);
  TetMesh fine;
  const Gid old = mesh.vertex_count();
  fine.vertices = std::move(mesh.vertices);
  fine.vertices.resize(at(old + edges.count()));
  for_ranges(parallel, old, [&](Size begin, Size end) {
    for (Size v = begin; v < end; ++v)
      for (Gid e = edges.first[at(v)]; e < edges.first[at(v) + 1]; ++e) {
        const Gid other = edges.higher[edges.places[at(v)] + at(e - edges.first[at(v)])];
        fine.vertices[at(old + e)] = 0.5 * (fine.vertices[at(v)] + fine.vertices[at(other)]);
      }
  });

  const Size cells = mesh.cell_count();
  fine.cells.resize(8 * mesh.cells.size());
  fine.regions.resize(fine.cells.size());
  for (const CellData& data : mesh.cell_data)
    fine.cell_data.push_back({data.name, data.components, std::vector<double>(8 * data.values.size())});
  for_ranges(parallel, cells, [&](Size begin, Size end) {
    for (Size c = begin; c < end; ++c) {
      const auto& corners = mesh.cells[at(c)];
      std::array<Gid, 6> middles;
      for (std::size_t e = 0; e < 6; ++e)
        middles[e] = old + edges.find(corners[tet_edges[e][0]], corners[tet_edges[e][1]]);
      cut_cell(corners, middles, fine.vertices, fine.cells.data() + 8 * c);
      std::fill_n(fine.regions.begin() + 8 * c, 8, mesh.regions[at(c)]);
      for (std::size_t d = 0; d < mesh.cell_data.size(); ++d) {
        const auto k = static_cast<std::ptrdiff_t>(mesh.cell_data[d].components);
        for (std::ptrdiff_t part = 0; part < 8; ++part)
          std::copy_n(mesh.cell_data[d].values.begin() + c * k, k,
                      fine.cell_data[d].values.begin() + (8 * c + part) * k);
      }
    }
  });

  fine.boundary.reserve(4 * mesh.boundary.size());
  fine.boundary_tags.reserve(4 * mesh.boundary.size());
  for (std::size_t t = 0; t < mesh.boundary.size(); ++t) {
    const auto [a, b, c] = mesh.boundary[t];
    std::array<Gid, 3> m = {edges.find(a, b), edges.find(b, c), edges.find(c, a)};
    for (Gid& e : m) {
      if (e < 0)
        fail(ErrorKind::input,
             "mesh: boundary triangle {} (vertices {} {} {}, tag {}) has an edge that no cell has; mesh its surface "
             "together with the volume",
             t, a, b, c, mesh.boundary_tags[t]);
      e += old;
    }
    fine.boundary.insert(fine.boundary.end(), {{a, m[0], m[2]}, {m[0], b, m[1]}, {m[2], m[1], c}, {m[0], m[1], m[2]}});
    fine.boundary_tags.insert(fine.boundary_tags.end(), 4, mesh.boundary_tags[t]);
  }
  fine.region_names = std::move(mesh.region_names);
  fine.boundary_names = std::move(mesh.boundary_names);
  return fine;
}

}  // namespace

TetMesh refine(TetMesh mesh, int times, const ParallelFor& parallel) {
  require(times >= 0 && times <= max_refinements, "{} refinements: at most {}", times, max_refinements);
  const Gid cells = mesh.cell_count();
  const auto too_large = [&] {
    fail(ErrorKind::resource, "mesh: no memory for {} cells in {} times eight parts each; lower the number of times",
         format_count(cells), times);
  };
  // 32 TiB for the cells alone: before all memory is filled for nothing.
  constexpr Gid max_cells = Gid{1} << 40;
  if (cells > max_cells >> (3 * times)) too_large();
  if (times > 0)
    require_room(static_cast<double>(cells << (3 * times)), 200, "mesh", "cells of the refined mesh",
                 "lower the number of times");
  try {
    for (int k = 0; k < times; ++k) mesh = refine_once(std::move(mesh), parallel);
  } catch (const std::bad_alloc&) {
    too_large();
  } catch (const std::length_error&) {
    too_large();
  }
  return mesh;
}

}  // namespace tutti
