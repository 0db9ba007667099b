#include "tutti/simulation/tet_results.hpp"

#include <algorithm>
#include <limits>

namespace tutti {

TetResults::TetResults(const Comm& comm, const TetDomain& domain, const std::filesystem::path& folder, int compress,
                       int threads, std::span<const double> before)
    : comm_(comm), domain_(domain), folder_(folder), series_(folder / "results.pvd") {
  for (const double time : before) series_.remember(time, pvtu_name("fields/fields", outputs_++));
  options_.level = compress;
  options_.threads = threads;
  comm_.together([&] {
    if (comm_.is_root()) {
      std::error_code error;
      std::filesystem::create_directories(folder_ / "fields", error);
      if (error)
        fail(ErrorKind::io, "{}: cannot make the folder: {}", (folder_ / "fields").string(),
             system_cause(error.value()));
    }
  });
  for (std::size_t p = 0; p < domain.meshes.size(); ++p) {
    const LocalTetMesh& mesh = domain.meshes[p];
    const auto owned = static_cast<std::size_t>(mesh.owned);
    const CompactTets compact = compact_tets(mesh.vertices, std::span(mesh.cells).first(owned));
    grids_.emplace_back(compact.points, compact.tets, options_);
    owner_.emplace_back(owned, domain.maps[p].part);
    region_.emplace_back(mesh.regions.begin(), mesh.regions.begin() + mesh.owned);
  }
}

void TetResults::write(double time, const std::vector<TetFieldValues>& fields) {
  options_.time = time;
  std::vector<VtuArray> arrays;
  const auto set_arrays = [&](std::size_t p) {
    arrays.clear();
    for (const TetFieldValues& f : fields)
      arrays.push_back({f.name, f.components, std::span<const double>(f.parts[p])});
    arrays.push_back({"part", 1, std::span<const std::int32_t>(owner_[p])});
    arrays.push_back({"region", 1, std::span<const std::int32_t>(region_[p])});
  };
  comm_.together([&] {
    for (std::size_t p = 0; p < grids_.size(); ++p) {
      set_arrays(p);
      write_vtu(folder_ / vtu_piece_name("fields/fields", outputs_, domain_.maps[p].part), grids_[p], arrays, options_);
    }
  });
  comm_.together([&] {
    if (!comm_.is_root()) return;
    std::vector<std::string> pieces;
    for (std::size_t p = 0; p < domain_.rank_of_part.size(); ++p)
      pieces.push_back(std::filesystem::path(vtu_piece_name("fields", outputs_, static_cast<int>(p))).string());
    if (arrays.empty()) {  // the root drives no part
      for (const TetFieldValues& f : fields) arrays.push_back({f.name, f.components, std::span<const double>()});
      arrays.push_back({"part", 1, std::span<const std::int32_t>()});
      arrays.push_back({"region", 1, std::span<const std::int32_t>()});
    }
    write_pvtu(folder_ / pvtu_name("fields/fields", outputs_), pieces, arrays, time);
    series_.add(time, pvtu_name("fields/fields", outputs_));
  });
  ++outputs_;
}

std::vector<std::string> probe_labels(const Case& options) {
  std::vector<std::string> labels;
  for (int i = 0; i < options.count("output.probe"); ++i) {
    const std::string table = fmt::format("output.probe[{}]", i);
    labels.push_back(fmt::format("{}: probe '{}'", options.where(table + ".point"), options.text(table + ".name")));
  }
  return labels;
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
