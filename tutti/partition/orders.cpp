#include <algorithm>
#include <numeric>

#include "tutti/base/error.hpp"
#include "tutti/base/random.hpp"
#include "tutti/partition/graph_split.hpp"
#include "tutti/partition/partition.hpp"
#include "tutti/partition/rcm.hpp"
#include "tutti/partition/spatial_order.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t random_order_seed = 0x7574746f72646572;

std::vector<Lid> native_order(std::size_t rows) {
  std::vector<Lid> order(rows);
  std::iota(order.begin(), order.end(), Lid{0});
  return order;
}

std::vector<Lid> rows_of(const std::vector<KeyedRow>& keyed) {
  std::vector<Lid> order(keyed.size());
  std::transform(keyed.begin(), keyed.end(), order.begin(), [](const KeyedRow& k) { return static_cast<Lid>(k.row); });
  return order;
}

std::vector<Lid> random_order(std::size_t rows, const ParallelFor& parallel) {
  std::vector<KeyedRow> keyed(rows);
  for (std::size_t i = 0; i < rows; ++i) keyed[i] = {random_bits(random_order_seed, i), static_cast<Gid>(i)};
  sort_by_key(keyed, parallel);
  return rows_of(keyed);
}

/// Order of the blocks along the Hilbert curve of their centroids: result[k] is the block that comes k-th.
std::vector<Lid> order_blocks(std::span<const Vec3> points, std::span<const std::int32_t> block_of,
                              std::span<const std::int32_t> sizes) {
  std::vector<Vec3> centroids(sizes.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    Vec3& c = centroids[block_of[i]];
    c = c + points[i];
  }
  for (std::size_t b = 0; b < sizes.size(); ++b) centroids[b] = (1.0 / sizes[b]) * centroids[b];
  return rows_of(hilbert_order(centroids));
}

/// Blocks of exactly `block` rows (the last may be smaller), so that block b is rows [b block, (b + 1) block) of the
/// result as long as no smaller block came before it.
std::vector<Lid> metis_block_order(std::span<const Vec3> points, const Csr<Lid>& graph, Lid block,
                                   const ParallelFor& parallel) {
  const Lid rows = graph.rows();
  if (rows == 0) return {};
  std::vector<std::int32_t> sizes(static_cast<std::size_t>((rows - 1) / block) + 1, block);
  sizes.back() = rows - block * static_cast<Lid>(sizes.size() - 1);
  const std::vector<std::int32_t> block_of = split_graph(symmetrise(graph), sizes, GraphLibrary::metis, 0.0);

  std::vector<Lid> blocks = points.empty() ? native_order(sizes.size()) : order_blocks(points, block_of, sizes);
  // The small block goes last: all others then begin at a multiple of `block`.
  const auto small = std::find(blocks.begin(), blocks.end(), static_cast<Lid>(sizes.size()) - 1);
  std::rotate(small, small + 1, blocks.end());
  std::vector<Lid> next(sizes.size());
  Lid at = 0;
  for (const Lid b : blocks) {
    next[b] = at;
    at += sizes[b];
  }
  std::vector<Lid> order(rows);
  const std::vector<Lid> inner = points.empty() ? native_order(order.size()) : rows_of(hilbert_order(points, parallel));
  for (const Lid i : inner) {
    const auto b = static_cast<std::size_t>(block_of[i]);
    order[next[b]++] = i;
  }
  return order;
}

}  // namespace

std::vector<Lid> order_rows(Ordering ordering, std::span<const Vec3> points, const Csr<Lid>& graph, Lid block,
                            const ParallelFor& parallel) {
  const auto graph_rows = static_cast<std::size_t>(graph.rows());
  require(points.empty() || graph_rows == 0 || points.size() == graph_rows,
          "order_rows: {} points and a graph of {} rows", points.size(), graph_rows);
  const std::size_t rows = std::max(points.size(), graph_rows);
  require(graph_rows == rows || (ordering != Ordering::rcm && ordering != Ordering::metis_blocks),
          "order_rows: this order needs a graph");
  require(points.size() == rows || ordering != Ordering::hilbert, "order_rows: this order needs points");
  switch (ordering) {
    case Ordering::native:
      return native_order(rows);
    case Ordering::hilbert:
      return rows_of(hilbert_order(points, parallel));
    case Ordering::metis_blocks:
      if (block < 1) fail(ErrorKind::usage, "the size of METIS blocks is {}: give at least 1", block);
      return metis_block_order(points, graph, block, parallel);
    case Ordering::rcm:
      return reverse_cuthill_mckee(symmetrise(graph));
    case Ordering::random:
      return random_order(rows, parallel);
  }
  fail(ErrorKind::usage, "unknown ordering {}: choose one of the values of Ordering", static_cast<int>(ordering));
}

}  // namespace tutti
