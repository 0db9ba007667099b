// Weights of all stencils: made, or from a cache.
#include <algorithm>
#include <optional>

#include "tutti/models/transport/stencils/device_weights.hpp"
#include "tutti/models/transport/stencils/stencil_cache.hpp"
#include "tutti/models/transport/transport.hpp"

namespace tutti::transport {

/// From the cache, or made, and then kept there. Collective.
SphereTransport::Weights SphereTransport::make_weights() {
  Weights all;
  if (!transport_.cache) {
    comm_.together([&] { all = compute_weights(); });
    return all;
  }
  const std::uint64_t key = stencil_key(basis_, domain_.cloud.points);
  bool missing = false;
  comm_.together([&] { missing = !read_weights(key, all); });
  if (comm_.sum(missing ? 1 : 0) == 0) return all;
  report_ = {};
  comm_.together([&] { all = compute_weights(); });
  write_weights(key, all);
  return all;
}

/// By a GPU where a part has one and the system fits; the bits are the same.
SphereTransport::Weights SphereTransport::compute_weights() {
  Weights all;
  const ParallelFor parallel = parallel_for(*devices_.threads);
  for (std::size_t p = 0; p < domain_.mine(); ++p) {
    const IndexMap& map = domain_.maps[p];
    const std::vector<Lid>& stencils = domain_.stencils[p];
    std::vector<Vec3> points;
    for (Lid row = 0; row < map.local(); ++row) points.push_back(domain_.point(p, row));
    RawVector<double>& weights = all.emplace_back(stencils.size() * operators);
    if (domain_.streams[p].device->kind() == DeviceKind::cuda && unknown_count(basis_) <= max_gpu_unknowns)
      report_.add(transport::make_weights(stream(p), basis_, points, stencils, weights, map.global));
    else
      report_.add(
          transport::make_weights(basis_, points, std::span<const Lid>(stencils), weights, parallel, map.global));
  }
  return all;
}

/// Global numbers of the stencils of a part's owned nodes.
std::vector<Gid> SphereTransport::global_stencils(std::size_t p) const {
  std::vector<Gid> columns;
  for (const Lid c : domain_.stencils[p]) columns.push_back(domain_.maps[p].global[c]);
  return columns;
}

/// False where the cache is of no use.
bool SphereTransport::read_weights(std::uint64_t key, Weights& all) {
  all.clear();
  for (std::size_t p = 0; p < domain_.mine(); ++p) {
    const std::vector<Gid> wanted = global_stencils(p);
    std::vector<Gid> columns(wanted.size());
    RawVector<double>& weights = all.emplace_back(wanted.size() * operators);
    const auto rows = std::span<const Gid>(domain_.maps[p].global).first(domain_.maps[p].owned);
    if (!read_stencil_cache(*transport_.cache, key, rows, columns, weights, report_, BadCache::make_anew,
                            parallel_for(*devices_.threads)))
      return false;
    require(columns == wanted, "{}: stencils of other nodes under the same key", transport_.cache->string());
  }
  return true;
}

namespace {

/// Where the weights of a node are on this rank.
struct WeightPlace {
  Gid node = 0;
  std::size_t part = 0, row = 0;
};

/// Of all nodes of this rank, by their numbers.
std::vector<WeightPlace> weight_places(const NodeDomain& domain) {
  std::vector<WeightPlace> places;
  for (std::size_t p = 0; p < domain.mine(); ++p)
    for (std::size_t row = 0; row < static_cast<std::size_t>(domain.maps[p].owned); ++row)
      places.push_back({domain.maps[p].global[row], p, row});
  std::sort(places.begin(), places.end(), [](const WeightPlace& a, const WeightPlace& b) { return a.node < b.node; });
  return places;
}

/// Sends columns and weights of `places` to the root, which puts them to their nodes' places in `columns` and
/// `weights`, whose first row is that of node `first`. Collective.
void gather_rows(const Comm& comm, const NodeDomain& domain, std::span<const RawVector<double>> all,
                 std::span<const WeightPlace> places, Gid first, std::span<Gid> columns, std::span<double> weights) {
  const auto n = static_cast<std::size_t>(domain.stencil), ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::vector<Gid>> mine(ranks);  // a node, and its stencil
  std::vector<std::vector<double>> values(ranks);
  for (const WeightPlace& place : places) {
    mine[0].push_back(place.node);
    for (std::size_t j = 0; j < n; ++j) {
      const Lid local = domain.stencils[place.part][place.row * n + j];
      mine[0].push_back(domain.maps[place.part].global[local]);
    }
    const double* from = &all[place.part][place.row * n * operators];
    values[0].insert(values[0].end(), from, from + n * operators);
  }
  const auto all_mine = comm.all_to_all(mine);
  const auto all_values = comm.all_to_all(values);
  for (std::size_t r = 0; r < ranks; ++r)  // others get nothing
    for (std::size_t i = 0; i < all_mine[r].size() / (n + 1); ++i) {
      const Gid* given = &all_mine[r][i * (n + 1)];
      const auto row = static_cast<std::size_t>(*given - first);
      std::copy_n(given + 1, n, &columns[row * n]);
      std::copy_n(&all_values[r][i * n * operators], n * operators, &weights[row * n * operators]);
    }
}

}  // namespace

/// The root writes those of all ranks, a block of the file after the other, and gets few rows at a time: it never holds
/// much more than its own weights. Collective.
void SphereTransport::write_weights(std::uint64_t key, const Weights& all) {
  constexpr Gid rows_at_once = 1024;
  // What all ranks found: the report is the same whoever made the weights.
  WeightReport report;
  for (const WeightReport& one : comm_.all_gather(std::span<const WeightReport>(&report_, 1))) report.add(one);
  std::vector<WeightPlace> places;
  std::optional<StencilCacheWriter> writer;
  comm_.together([&] {
    places = weight_places(domain_);
    if (comm_.is_root()) writer.emplace(*transport_.cache, key, cells(), basis_.size);
  });
  auto next = places.begin();
  std::vector<Gid> columns;
  std::vector<double> weights;
  for (Gid first = 0; first < cells(); first += stencil_cache_block_rows) {
    const Gid end = std::min(cells(), first + stencil_cache_block_rows);
    if (comm_.is_root()) {
      columns.resize(static_cast<std::size_t>(end - first) * static_cast<std::size_t>(basis_.size));
      weights.resize(columns.size() * operators);
    }
    for (Gid begin = first; begin < end; begin += rows_at_once) {
      const auto last = std::find_if(next, places.end(), [&](const WeightPlace& place) {
        return place.node >= std::min(end, begin + rows_at_once);
      });
      gather_rows(comm_, domain_, all, {next, last}, first, columns, weights);
      next = last;
    }
    comm_.together([&] {
      if (writer) writer->write(first / stencil_cache_block_rows, columns, weights);
    });
  }
  comm_.together([&] {
    if (writer) writer->finish(report);
  });
}

}  // namespace tutti::transport
