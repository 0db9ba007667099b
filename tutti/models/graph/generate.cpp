#include "tutti/models/graph/generate.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"
#include "tutti/base/system/machine_limits.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/graph/rmat_arc.hpp"

namespace tutti::graph {
namespace {

/// The system would promise more than it has, and kill the program that takes it.
void check_room(Size arcs, Size bytes_an_arc) {
  const Size available = read_machine_limits().available;
  if (arcs > available / bytes_an_arc)
    fail(ErrorKind::resource, "{} arcs take {} of memory, and {} are left; choose a smaller graph", format_count(arcs),
         format_bytes(static_cast<double>(arcs) * static_cast<double>(bytes_an_arc)),
         format_bytes(static_cast<double>(available)));
}

ArcList grid(Gid rows, Gid columns, bool around, const ParallelFor& parallel) {
  if (rows < 1 || columns < 1 || rows > most_vertices / columns)
    fail(ErrorKind::usage, "{} rows and {} columns; expected at least one of each and at most {} vertices", rows,
         columns, most_vertices);
  ArcList list;
  list.vertices = static_cast<Vertex>(rows * columns);
  list.both_ways = true;
  // Of row i the arcs that begin there: all four, but for those over an edge that is none.
  const auto in_row = [&](Gid i) {
    if (around) return 4 * columns;
    return 2 * (columns - 1) + (i > 0 ? columns : 0) + (i + 1 < rows ? columns : 0);
  };
  const auto before = [&](Gid i) {
    return around ? 4 * columns * i
                  : i * 2 * (columns - 1) + columns * (std::max<Gid>(i - 1, 0) + std::min(i, rows - 1));
  };
  check_room(before(rows - 1) + in_row(rows - 1), sizeof(Arc));
  list.arcs.resize(before(rows - 1) + in_row(rows - 1));
  for_ranges(parallel, rows, [&](Size begin, Size end) {
    for (Gid i = begin; i < end; ++i) {
      auto at = static_cast<std::size_t>(before(i));
      const auto join = [&](Gid from, Gid r, Gid c) {
        if (!around && (r < 0 || r >= rows || c < 0 || c >= columns)) return;
        const Gid to = (r + rows) % rows * columns + (c + columns) % columns;
        list.arcs[at++] = {static_cast<Vertex>(from), static_cast<Vertex>(to)};
      };
      for (Gid j = 0; j < columns; ++j) {
        const Gid v = i * columns + j;
        join(v, i - 1, j);
        join(v, i, j - 1);
        join(v, i, j + 1);
        join(v, i + 1, j);
      }
    }
  });
  return list;
}

void check(const RmatSpec& spec) {
  if (spec.scale < 1 || spec.scale > 30) fail(ErrorKind::usage, "scale {}; expected 1 to 30", spec.scale);
  if (spec.degree < 1 || spec.degree > 1 << 16)
    fail(ErrorKind::usage, "{} arcs per vertex; expected 1 to 65536", spec.degree);
  if (!(spec.a > 0 && spec.b > 0 && spec.c > 0 && spec.a + spec.b + spec.c < 1))
    fail(ErrorKind::usage, "probabilities {}, {}, {}; expected numbers above 0 whose sum is below 1", spec.a, spec.b,
         spec.c);
  if (!(spec.noise >= 0 && spec.noise < 1)) fail(ErrorKind::usage, "noise {}; expected 0 to below 1", spec.noise);
}

}  // namespace

RmatSpec ssca2_spec(int scale, std::uint64_t seed) {
  RmatSpec spec;
  spec.scale = scale;
  spec.seed = seed;
  return spec;
}

RmatSpec kronecker_spec(int scale, std::uint64_t seed) {
  RmatSpec spec;
  spec.scale = scale;
  spec.degree = 16;
  spec.a = 0.57;
  spec.b = spec.c = 0.19;
  spec.noise = 0;
  spec.weights = false;
  spec.undirected = true;
  spec.seed = seed;
  return spec;
}

ArcList empty_rmat(const RmatSpec& spec, Size first, Size end) {
  check(spec);
  ArcList list;
  check_room(end - first, spec.weights ? 16 : 8);
  list.vertices = Vertex{1} << spec.scale;
  list.arcs.resize(static_cast<std::size_t>(end - first));
  if (spec.weights) list.weights.resize(list.arcs.size());
  return list;
}

ArcList generate_rmat(const RmatSpec& spec, const ParallelFor& parallel) {
  check(spec);
  return generate_rmat(spec, 0, spec.degree << spec.scale, parallel);
}

ArcList generate_rmat(const RmatSpec& spec, Size first, Size last, const ParallelFor& parallel) {
  ArcList list = empty_rmat(spec, first, last);
  const RmatArc make(spec);
  for_ranges(parallel, list.size(), [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) {
      list.arcs[i] = make.arc(first + i);
      if (spec.weights) list.weights[i] = make.weight(first + i);
    }
  });
  return list;
}

ArcList generate_grid(Gid rows, Gid columns, const ParallelFor& parallel) {
  return grid(rows, columns, false, parallel);
}

ArcList generate_torus(Gid rows, Gid columns, const ParallelFor& parallel) {
  return grid(rows, columns, true, parallel);
}

std::vector<Vertex> draw_sources(const Graph& graph, Size count, std::uint64_t seed) {
  std::vector<Vertex> able;
  for (Vertex v = 0; v < graph.vertices; ++v)
    if (graph.out_degree(v) > 0) able.push_back(v);
  return draw_sources(std::move(able), count, seed);
}

std::vector<Vertex> draw_sources(std::vector<Vertex> able, Size count, std::uint64_t seed) {
  const auto all = able.size(), wanted = std::min(all, static_cast<std::size_t>(std::max<Size>(count, 0)));
  if (wanted == all) return able;
  for (std::size_t i = 0; i < wanted; ++i) {  // the first steps of a shuffle (Fisher, Yates)
    const std::size_t other = i + static_cast<std::size_t>(random_bits(seed ^ 0x50a7ce5ull, i) % (all - i));
    std::swap(able[i], able[other]);
  }
  able.resize(wanted);
  return able;
}

}  // namespace tutti::graph
