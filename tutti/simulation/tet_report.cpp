#include "tutti/simulation/tet_report.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "tutti/base/random.hpp"

namespace tutti {

double sum_over_ranks(const Comm& comm, ExactSum& sum) {
  sum.normalise();
  comm.sum(sum.words());
  return sum.value();
}

double max_over_ranks(const Comm& comm, double mine) {
  // MPI's maximum does not promise anything about NaN.
  const double any_nan = comm.max(std::isnan(mine) ? 1.0 : 0.0);
  const double largest = comm.max(std::isnan(mine) ? -std::numeric_limits<double>::infinity() : mine);
  return any_nan > 0 ? std::numeric_limits<double>::quiet_NaN() : largest;
}

PartSummary describe_part(const Comm& comm, const TetDomain& domain, std::size_t p, const PartSeconds& seconds,
                          Size bytes) {
  const IndexMap& map = domain.maps[p];
  return describe_part(comm, map, *domain.streams[p].device, domain.weights[static_cast<std::size_t>(map.part)],
                       seconds, bytes);
}

PartSummary describe_part(const Comm& comm, const IndexMap& map, const Device& device, double weight,
                          const PartSeconds& seconds, Size bytes) {
  PartSummary s;
  s.rank = comm.rank();
  s.device = device.name();
  s.cells = map.owned;
  s.ghosts = map.ghosts();
  s.weight = weight;
  s.seconds.separator = seconds.separator;
  s.seconds.interior = seconds.interior;
  s.seconds.exchange = seconds.exchange;
  s.seconds.idle = seconds.idle;
  s.bytes = bytes;
  const double busy = seconds.separator + seconds.interior;
  s.gb_per_second = busy > 0 ? static_cast<double>(bytes) / busy * 1e-9 : 0;
  return s;
}

std::uint64_t checksum_of(const IndexMap& map, std::span<const double> values) {
  // A sum of hashes of (global number, bits).
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(map.owned); ++i)
    sum += random_bits(static_cast<std::uint64_t>(map.global[i]), std::bit_cast<std::uint64_t>(values[i]));
  return sum;
}

ModelState state_of(TetDomain& domain, const std::string& name,
                    const std::function<Buffer<double>&(std::size_t p)>& buffer) {
  ModelState state;
  state.fields.push_back(
      {name, 1,
       [&domain, buffer](std::size_t p, std::span<double> to) { download(*domain.streams[p].compute, to, buffer(p)); },
       [&domain, buffer](std::size_t p, std::span<const double> from) {
         upload(*domain.streams[p].compute, buffer(p), from);
       }});
  state.maps = domain.maps;
  state.rank_of_part = domain.rank_of_part;
  state.rows = domain.cells;
  state.mesh_checksum = domain.checksum;
  return state;
}

}  // namespace tutti
