// Refinement of the boundaries between parts that were made without a graph.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "tutti/partition/rebalance.hpp"
#include "tutti/partition/voronoi/boundary_refinement.hpp"
#include "tutti/partition/voronoi/device_refinement.hpp"
#include "tutti/partition/voronoi/voronoi.hpp"

namespace tutti {
namespace {

using voronoi::BoundaryRefinement;
using voronoi::HostMemory;
using voronoi::RefinementArrays;

/// The threads of the host.
struct Host : HostMemory {
  const ParallelFor& parallel;

  template <class Kernel>
  void each(Lid count, const Kernel& kernel) const {
    // Sweeps over few rows are over before a team has started.
    const auto piece = [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) kernel(static_cast<Lid>(i));
    };
    for_ranges(count < 4096 ? ParallelFor{} : parallel, count, piece);
  }
};

std::vector<std::int32_t> refine_on_host(const SymmetricGraph& graph, std::span<const std::int32_t> quotas,
                                         double imbalance, std::span<const std::int32_t> size,
                                         std::span<std::int32_t> part, const ParallelFor& parallel) {
  RefinementArrays arrays;
  arrays.rows = graph.rows();
  arrays.parts = static_cast<std::int32_t>(quotas.size());
  arrays.offsets = graph.offsets.data();
  arrays.columns = graph.columns.data();
  arrays.part = part.data();
  Carver counted, carver;
  lay_out(counted, arrays);
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(counted.bytes));
  carver.memory = memory.get();
  lay_out(carver, arrays);
  Host host{{arrays.counts}, parallel};
  return BoundaryRefinement(host, arrays, graph).run(quotas, imbalance, size);
}

std::vector<std::int32_t> sizes_of(std::span<const std::int32_t> part, std::size_t parts, const ParallelFor& parallel) {
  const Blocks blocks(static_cast<Size>(part.size()), 65536);
  std::vector<std::vector<std::int32_t>> sizes(static_cast<std::size_t>(blocks.number));
  blocks.run(parallel, [&](Size block, Size begin, Size end) {
    std::vector<std::int32_t> mine(parts, 0);
    for (Size i = begin; i < end; ++i) ++mine[static_cast<std::size_t>(part[static_cast<std::size_t>(i)])];
    sizes[static_cast<std::size_t>(block)] = std::move(mine);
  });
  for (std::size_t b = 1; b < sizes.size(); ++b)
    for (std::size_t p = 0; p < parts; ++p) sizes[0][p] += sizes[b][p];
  return sizes[0];
}

/// Are all parts as large as they should be?
bool balanced(std::span<const std::int32_t> quotas, double imbalance, std::span<const std::int32_t> size) {
  for (std::size_t p = 0; p < quotas.size(); ++p)
    if (std::abs(size[p] - quotas[p]) > static_cast<std::int32_t>(imbalance * quotas[p])) return false;
  return true;
}

}  // namespace

RefineTimes refine_parts(const SymmetricGraph& graph, std::span<const std::int32_t> quotas, double imbalance,
                         std::span<std::int32_t> part, Stream* stream, const ParallelFor& parallel) {
  RefineTimes times;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::int32_t> size = sizes_of(part, quotas.size(), parallel);
  if (quotas.size() > 1 && !graph.columns.empty())
    size = stream == nullptr ? refine_on_host(graph, quotas, imbalance, size, part, parallel)
                             : voronoi::refine_on_device(*stream, graph, quotas, imbalance, size, part, times);
  if (!balanced(quotas, imbalance, size)) rebalance(graph, quotas, imbalance, part);
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - begin;
  times.sweeps = all.count() - times.upload - times.allocation - times.result;
  return times;
}

}  // namespace tutti
