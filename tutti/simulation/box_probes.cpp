#include "tutti/simulation/box_probes.hpp"

#include "tutti/base/error.hpp"

namespace tutti {

std::vector<std::array<Lid, 3>> probe_cells(const BoxGrid& grid, std::span<const Vec3> points,
                                            std::span<const std::string> labels) {
  require(labels.size() == points.size(), "{} labels for {} probes", labels.size(), points.size());
  std::vector<std::array<Lid, 3>> cells(points.size());
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d) {
      const GridLine& line = grid.lines[d];
      const double x = points[i][static_cast<int>(d)];
      if (!(x >= line.faces.front() && x <= line.faces.back()))
        fail(ErrorKind::input, "{} at ({:g}, {:g}, {:g}) is outside the box; move it into it", labels[i], points[i].x,
             points[i].y, points[i].z);
      cells[i][d] = line.cell_at(x);
    }
  return cells;
}

BoxProbes::BoxProbes(const Comm& comm, const BoxDomain& domain, std::span<const Vec3> points,
                     std::span<const std::string> labels)
    : probes_(points.size()) {
  std::vector<std::array<Lid, 3>> cells;
  comm.together([&] { cells = probe_cells(domain.grid, points, labels); });
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (std::size_t p = 0; p < domain.mine(); ++p)
      if (domain.box(p).contains(cells[i][0], cells[i][1], cells[i][2])) places_.push_back({i, p, cells[i]});
}

std::vector<double> BoxProbes::sample(const Comm& comm, std::size_t quantities, const Read& read) const {
  struct Value {
    std::size_t at;
    double value;
  };
  std::vector<Value> mine;
  std::vector<double> values(quantities);
  for (const Place& place : places_) {
    read(place.part, place.cell, values);
    for (std::size_t q = 0; q < quantities; ++q) mine.push_back({place.probe * quantities + q, values[q]});
  }
  // Each cell has one owner: what it says stands, also where it is not a number.
  std::vector<double> all(probes_ * quantities);
  for (const Value& v : comm.all_gather(std::span<const Value>(mine))) all[v.at] = v.value;
  return all;
}

}  // namespace tutti
