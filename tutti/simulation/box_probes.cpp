#include "tutti/simulation/box_probes.hpp"

#include <algorithm>

#include "tutti/base/error.hpp"

namespace tutti {

BoxProbes::BoxProbes(const Comm& comm, const BoxDomain& domain, std::span<const Vec3> points,
                     std::span<const std::string> labels)
    : probes_(points.size()) {
  require(labels.size() == points.size(), "{} labels for {} probes", labels.size(), points.size());
  comm.together([&] {
    for (std::size_t i = 0; i < points.size(); ++i) {
      Place place{i, 0, {}};
      for (std::size_t d = 0; d < 3; ++d) {
        const GridLine& line = domain.grid.lines[d];
        const double x = points[i][static_cast<int>(d)];
        if (!(x >= line.faces.front() && x <= line.faces.back()))
          fail(ErrorKind::input, "{} at ({:g}, {:g}, {:g}) is outside the box; move it into it", labels[i], points[i].x,
               points[i].y, points[i].z);
        place.cell[d] = line.cell_at(x);
      }
      for (place.part = 0; place.part < domain.mine(); ++place.part)
        if (domain.box(place.part).contains(place.cell[0], place.cell[1], place.cell[2])) places_.push_back(place);
    }
  });
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
