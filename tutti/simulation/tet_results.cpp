#include "tutti/simulation/tet_results.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace tutti {

TetResults::TetResults(const Comm& comm, const TetDomain& domain, const std::filesystem::path& folder, int compress,
                       int threads, std::span<const double> before)
    : all_(domain.rank_of_part.size()), series_(comm, folder, "vtu", before) {
  options_.level = compress;
  options_.threads = threads;
  std::iota(all_.begin(), all_.end(), 0);
  for (std::size_t p = 0; p < domain.meshes.size(); ++p) {
    const LocalTetMesh& mesh = domain.meshes[p];
    const auto owned = static_cast<std::size_t>(mesh.owned);
    const CompactTets compact = compact_tets(mesh.vertices, std::span(mesh.cells).first(owned));
    grids_.emplace_back(compact.points, compact.tets, options_);
    mine_.push_back(domain.maps[p].part);
    owner_.emplace_back(owned, domain.maps[p].part);
    region_.emplace_back(mesh.regions.begin(), mesh.regions.begin() + mesh.owned);
  }
}

void TetResults::write(double time, const std::vector<TetFieldValues>& fields) {
  options_.time = time;
  // Of part p of this rank; without p, names and types only: the root may drive no part.
  const auto arrays = [&](std::optional<std::size_t> p) {
    std::vector<VtkArray> list;
    const auto values = [&]<class T>(const std::vector<std::vector<T>>& parts) {
      return p ? std::span<const T>(parts[*p]) : std::span<const T>();
    };
    for (const TetFieldValues& f : fields) list.push_back({f.name, f.components, values(f.parts)});
    list.push_back({"part", 1, values(owner_)});
    list.push_back({"region", 1, values(region_)});
    return list;
  };
  series_.write(
      time, mine_, all_,
      [&](std::size_t p, const std::filesystem::path& path) { write_vtu(path, grids_[p], arrays(p), options_); },
      [&](const std::filesystem::path& path, const std::vector<std::string>& files) {
        write_pvtu(path, files, arrays({}), time);
      });
}

TetProbes::TetProbes(const Comm& comm, const TetDomain& domain, std::vector<Vec3> points,
                     std::vector<std::string> labels)
    : places_(points.size()) {
  require(labels.size() == points.size(), "{} labels for {} probes", labels.size(), points.size());
  constexpr double nowhere = std::numeric_limits<double>::infinity();
  // The lowest global number wins, here and among the ranks (numbers below 2^53 are exact in a double).
  std::vector<double> lowest(points.size(), -nowhere);
  for (std::size_t p = 0; p < domain.meshes.size(); ++p) {
    const LocalTetMesh& mesh = domain.meshes[p];
    for (Lid c = 0; c < mesh.owned; ++c)
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto number = static_cast<double>(mesh.global[static_cast<std::size_t>(c)]);
        if (-number > lowest[i] && mesh.contains(c, points[i])) {
          lowest[i] = -number;
          places_[i] = {static_cast<int>(p), c};
        }
      }
  }
  std::vector<double> everywhere(lowest);
  comm.max(everywhere);
  comm.together([&] {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (everywhere[i] == -nowhere)
        fail(ErrorKind::input, "{} at ({:g}, {:g}, {:g}) is outside the mesh; move it into a cell", labels[i],
             points[i].x, points[i].y, points[i].z);
      if (everywhere[i] != lowest[i]) places_[i] = {};
    }
  });
}

std::vector<double> TetProbes::sample(const Comm& comm, const std::function<double(int, Lid)>& value) const {
  // Only one rank has a value; the others offer nothing to the maximum.
  std::vector<double> values(places_.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (places_[i].part >= 0) values[i] = value(places_[i].part, places_[i].row);
  comm.max(values);
  return values;
}

}  // namespace tutti
