#include "tutti/simulation/node_results.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "tutti/mesh/nearest.hpp"

namespace tutti {

NodeResults::NodeResults(const Comm& comm, const NodeDomain& domain, const std::filesystem::path& folder, int compress,
                         int threads, std::span<const double> before)
    : all_(domain.rank_of_part.size()), series_(comm, folder, "vtu", before) {
  options_.level = compress;
  options_.threads = threads;
  std::iota(all_.begin(), all_.end(), 0);
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    const IndexMap& map = domain.maps[p];
    grids_.push_back(VtuGrid::of_points(domain.owned_points(p), options_));
    mine_.push_back(map.part);
    owner_.emplace_back(static_cast<std::size_t>(map.owned), map.part);
    number_.emplace_back(map.global.begin(), map.global.begin() + map.owned);
  }
}

void NodeResults::write(double time, const std::vector<NodeFieldValues>& fields) {
  options_.time = time;
  // Of part p of this rank; without p, names and types only: the root may drive no part.
  const auto arrays = [&](std::optional<std::size_t> p) {
    std::vector<VtkArray> list;
    const auto values = [&]<class T>(const std::vector<std::vector<T>>& parts) {
      return p ? std::span<const T>(parts[*p]) : std::span<const T>();
    };
    for (const NodeFieldValues& f : fields) list.push_back({f.name, 1, values(f.parts)});
    list.push_back({"node", 1, values(number_)});
    list.push_back({"part", 1, values(owner_)});
    return list;
  };
  series_.write(
      time, mine_, all_,
      [&](std::size_t p, const std::filesystem::path& path) { write_vtu(path, grids_[p], arrays(p), options_); },
      [&](const std::filesystem::path& path, const std::vector<std::string>& files) {
        write_pvtu(path, files, arrays({}), time);
      });
}

NodeProbes::NodeProbes(const NodeDomain& domain, std::span<const Vec3> points, std::span<const std::string> labels)
    : probes_(points.size()) {
  require(labels.size() == points.size(), "{} labels for {} probes", labels.size(), points.size());
  if (points.empty()) return;
  const NearestNodes nearest(domain.cloud.points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double length = norm(points[i]);
    if (!(length > 0))
      fail(ErrorKind::input, "{} at the sphere's centre is above no node; move it away from there", labels[i]);
    Gid node = 0;
    nearest.find((1 / length) * points[i], 1, std::span(&node, 1));
    for (std::size_t p = 0; p < domain.mine(); ++p) {
      const auto begin = domain.maps[p].global.begin(), end = begin + domain.maps[p].owned;
      if (const auto at = std::find(begin, end, node); at != end)
        places_.push_back({i, p, static_cast<Lid>(at - begin)});
    }
  }
}

std::vector<double> NodeProbes::sample(const Comm& comm, std::size_t quantities, const Read& read) const {
  // Only one rank has a value; the others offer nothing to the maximum.
  std::vector<double> values(probes_ * quantities, -std::numeric_limits<double>::infinity());
  for (const Place& place : places_)
    read(place.part, place.row, std::span(values).subspan(place.probe * quantities, quantities));
  comm.max(values);
  return values;
}

}  // namespace tutti
