#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <stdexcept>
#include <string>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/generate.hpp"

namespace tutti {
namespace {

/// Kuhn's six tetrahedra of the unit cube, corners as bits (1: x, 2: y, 4: z): paths from corner 0 to corner 7, ordered
/// so that every volume is positive. Faces of neighbouring cubes fit because every cube is cut the same way.
constexpr std::array<std::array<int, 4>, 6> kuhn = {
    {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}}};

struct Grid {
  std::array<Gid, 3> n;                      ///< cubes
  std::array<std::vector<double>, 3> lines;  ///< n + 1 coordinates each
  Gid vertex(Gid i, Gid j, Gid k) const { return i + (n[0] + 1) * (j + (n[1] + 1) * k); }
  Gid corner(Gid i, Gid j, Gid k, int bits) const {
    return vertex(i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2));
  }
};

void check(const BoxSpec& s) {
  double cells = 6;
  for (int d = 0; d < 3; ++d) {
    const Gid n = s.cubes[d];
    if (n < 1) fail_spec("cubes", "box: {} cubes along {}; at least 1 is needed", n, "xyz"[d]);
    if (!(s.upper[d] > s.lower[d]) || !std::isfinite(s.upper[d] - s.lower[d]))
      fail_spec("upper", "box: the extent along {} is [{}, {}]; the upper end must be the larger", "xyz"[d], s.lower[d],
                s.upper[d]);
    const double g = s.grading[d];
    if (!(g > 0) || !std::isfinite(g))
      fail_spec("grading", "box: grading {} along {} is not positive; a number above 0 is expected", g, "xyz"[d]);
    cells *= static_cast<double>(n);
  }
  if (cells > 1e12) fail_spec("cubes", "box: {:.3g} cells are more than tutti numbers (1e12); use fewer cubes", cells);
  if (!(s.jitter >= 0 && s.jitter < 0.5)) fail_spec("jitter", "box: jitter {} is not in [0, 0.5)", s.jitter);
  if (s.split_x && !(*s.split_x > s.lower.x && *s.split_x < s.upper.x))
    fail_spec("split", "box: split at x = {} lies outside ({}, {}); choose it inside", *s.split_x, s.lower.x,
              s.upper.x);
  require_room(cells, 200, "box", "cells", "use fewer cubes");
}

Grid make_grid(const BoxSpec& s) {
  Grid grid{s.cubes, {}};
  for (std::size_t d = 0; d < 3; ++d) {
    const int axis = static_cast<int>(d);
    const Gid n = s.cubes[d];
    grid.lines[d].resize(static_cast<std::size_t>(n) + 1);
    for (Gid i = 0; i <= n; ++i) {
      const double t = static_cast<double>(i) / static_cast<double>(n);
      const double stretched = s.grading[d] == 1.0 ? t : std::pow(t, s.grading[d]);
      grid.lines[d][i] = s.lower[axis] + stretched * (s.upper[axis] - s.lower[axis]);
    }
    grid.lines[d].back() = s.upper[axis];
  }
  return grid;
}

/// The offset of one coordinate: up to `jitter` of the smaller neighbouring spacing, none on the rim.
double jitter_offset(const std::vector<double>& lines, Gid i, double jitter, std::uint64_t seed,
                     std::uint64_t counter) {
  const auto at = static_cast<std::size_t>(i);
  const double spacing = std::min(lines[at] - lines[at - 1], lines[at + 1] - lines[at]);
  return jitter * spacing * (2 * random_unit(seed, counter) - 1);
}

/// Whether grid line i lies in the plane x = split, up to rounding.
bool in_split(const BoxSpec& s, const Grid& grid, Gid i) {
  return s.split_x && std::abs(grid.lines[0][i] - *s.split_x) <= 1e-12 * (s.upper.x - s.lower.x);
}

void make_vertices(const BoxSpec& s, const Grid& grid, const ParallelFor& parallel, TetMesh& mesh) {
  const Gid nx = grid.n[0], ny = grid.n[1], nz = grid.n[2];
  mesh.vertices.resize((nx + 1) * (ny + 1) * (nz + 1));
  for_ranges(parallel, (ny + 1) * (nz + 1), [&](Size begin, Size end) {
    auto v = static_cast<std::size_t>(begin * (nx + 1));
    for (Size line = begin; line < end; ++line) {
      const Gid j = line % (ny + 1), k = line / (ny + 1);
      for (Gid i = 0; i <= nx; ++i, ++v) {
        Vec3 p{grid.lines[0][i], grid.lines[1][j], grid.lines[2][k]};
        const bool interior = i > 0 && i < nx && j > 0 && j < ny && k > 0 && k < nz;
        if (s.jitter > 0 && interior) {
          if (!in_split(s, grid, i)) p.x += jitter_offset(grid.lines[0], i, s.jitter, s.seed, 3 * v);
          p.y += jitter_offset(grid.lines[1], j, s.jitter, s.seed, 3 * v + 1);
          p.z += jitter_offset(grid.lines[2], k, s.jitter, s.seed, 3 * v + 2);
        }
        mesh.vertices[v] = p;
      }
    }
  });
}

void make_cells(const BoxSpec& s, const Grid& grid, const ParallelFor& parallel, TetMesh& mesh) {
  const Gid nx = grid.n[0], ny = grid.n[1], nz = grid.n[2];
  mesh.cells.resize(6 * nx * ny * nz);
  mesh.regions.assign(mesh.cells.size(), 1);
  for_ranges(parallel, ny * nz, [&](Size begin, Size end) {
    auto c = static_cast<std::size_t>(6 * begin * nx);
    for (Size line = begin; line < end; ++line) {
      const Gid j = line % ny, k = line / ny;
      for (Gid i = 0; i < nx; ++i) {
        std::array<Gid, 8> corners;
        for (int b = 0; b < 8; ++b) corners[b] = grid.corner(i, j, k, b);
        for (const auto& tet : kuhn) {
          auto& cell = mesh.cells[c];
          for (std::size_t a = 0; a < 4; ++a) cell[a] = corners[tet[a]];
          if (s.split_x) {
            double x = 0;
            for (const Gid v : cell) x += 0.25 * mesh.vertices[v].x;
            mesh.regions[c] = x < *s.split_x ? 1 : 2;
          }
          ++c;
        }
      }
    }
  });
  if (s.split_x)
    mesh.region_names = {{1, "left"}, {2, "right"}};
  else
    mesh.region_names = {{1, "box"}};
}

/// Two triangles a square of each side, cut along the diagonal that the cubes have, normals outwards.
void make_boundary(const Grid& grid, TetMesh& mesh) {
  const char* names[] = {"x-min", "x-max", "y-min", "y-max", "z-min", "z-max"};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t u = (d + 1) % 3, w = (d + 2) % 3;
    for (int side = 0; side < 2; ++side) {
      const std::int32_t tag = static_cast<std::int32_t>(2 * d) + side + 1;
      mesh.boundary_names[tag] = names[tag - 1];
      std::array<Gid, 3> at{};
      at[d] = side == 0 ? 0 : grid.n[d];
      for (at[w] = 0; at[w] < grid.n[w]; ++at[w])
        for (at[u] = 0; at[u] < grid.n[u]; ++at[u]) {
          const auto corner = [&](int du, int dw) {
            auto p = at;
            p[u] += du;
            p[w] += dw;
            return grid.vertex(p[0], p[1], p[2]);
          };
          const Gid a = corner(0, 0), b = corner(1, 0), c = corner(1, 1), e = corner(0, 1);
          if (side == 1) {
            mesh.boundary.push_back({a, b, c});
            mesh.boundary.push_back({a, c, e});
          } else {
            mesh.boundary.push_back({a, c, b});
            mesh.boundary.push_back({a, e, c});
          }
          mesh.boundary_tags.insert(mesh.boundary_tags.end(), 2, tag);
        }
    }
  }
}

void check_volumes(const BoxSpec& s, const TetMesh& mesh, const ParallelFor& parallel) {
  std::atomic<Size> bad_cells{0};
  for_ranges(parallel, mesh.cell_count(), [&](Size begin, Size end) {
    Size bad = 0;
    for (Size c = begin; c < end; ++c) {
      const auto& cell = mesh.cells[c];
      const auto at = [&](std::size_t i) { return mesh.vertices[cell[i]]; };
      bad += !(tet_volume(at(0), at(1), at(2), at(3)) > 0);
    }
    bad_cells += bad;
  });
  const Size bad = bad_cells;
  if (bad == 0) return;
  if (s.map)
    fail_spec("map", "box: {} of {} cells have no positive volume; check the map and lower the jitter ({})",
              format_count(bad), format_count(mesh.cell_count()), s.jitter);
  fail_spec("jitter", "box: jitter {} inverts {} of {} cells; lower it (below 0.15 is always safe)", s.jitter,
            format_count(bad), format_count(mesh.cell_count()));
}

}  // namespace

TetMesh generate_box(const BoxSpec& spec, const ParallelFor& parallel) {
  check(spec);
  try {
    TetMesh mesh;
    const Grid grid = make_grid(spec);
    make_vertices(spec, grid, parallel, mesh);
    make_cells(spec, grid, parallel, mesh);
    make_boundary(grid, mesh);
    if (spec.map)
      for (Vec3& v : mesh.vertices) v = spec.map(v);
    check_volumes(spec, mesh, parallel);
    return mesh;
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::resource, "box: no memory for {} x {} x {} cubes; about 0.2 kB per cell are needed", spec.cubes[0],
         spec.cubes[1], spec.cubes[2]);
  }
}

}  // namespace tutti
