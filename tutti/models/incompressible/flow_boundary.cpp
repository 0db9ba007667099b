// What happens at the ends of the box: flow, friction and fluxes of scalars through each face there.
#include <cmath>
#include <limits>

#include "tutti/models/incompressible/flow_model.hpp"

namespace tutti::incompressible {
namespace {

/// Values of an array in the two layers of cells at an end, the one beyond it and the last one before it.
class EndLayers {
 public:
  EndLayers(CellBox inner, std::size_t d, bool upper, int one_more_below) : at_{inner} {
    (upper ? at_.stored.upper[d] : at_.stored.lower[d]) += upper ? 1 : -1;
    if (one_more_below >= 0 && one_more_below != static_cast<int>(d)) --at_.stored.lower[one_more_below];
    beyond_ = (upper ? 1 : -1) * at_.stride(static_cast<int>(d));
  }
  template <class T>
  void read(Stream& stream, const Buffer<T>& buffer, const BoxArray& array) {
    values_.resize(at_.values());
    take_owned(stream, buffer, array, at_.stored, values_);
  }
  double inner(const std::array<Lid, 3>& cell, int below = -1) const { return values_[place(cell, below)]; }
  double beyond(const std::array<Lid, 3>& cell, int below = -1) const { return values_[place(cell, below) + beyond_]; }

 private:
  std::size_t place(const std::array<Lid, 3>& cell, int below) const {
    return static_cast<std::size_t>(at_.at(cell[0], cell[1], cell[2]) - (below >= 0 ? at_.stride(below) : 0));
  }
  BoxArray at_;
  std::ptrdiff_t beyond_ = 0;
  std::vector<double> values_;
};

}  // namespace

template <class T>
std::vector<std::string> FlowModel<T>::boundary_quantities() const {
  std::vector<std::string> all{"flow", "p", "friction x", "friction y", "friction z"};
  for (const FlowScalar& scalar : flow_.scalars) all.push_back(scalar.name + " flux");
  if (flow_.has_temperature) all.push_back("Nu");
  return all;
}

/// Of the face f % 2 (0 lower, 1 upper) of direction f / 2. All are those of the scheme.
template <class T>
BoundaryValues FlowModel<T>::boundary_values(std::int32_t f, double) {
  const auto d = static_cast<std::size_t>(f / 2);
  const bool upper = f % 2 == 1;
  const double outwards = upper ? 1 : -1;
  const GridLine& line = flow_.grid.lines[d];
  const Lid last = upper ? line.cells() - 1 : 0;
  const double per_distance = 1 / line.distance(upper ? last : -1);
  const double fall = flow_.has_temperature ? temperature_fall(flow_, d) : 0;
  const double at_rest = fall == 0 ? std::numeric_limits<double>::quiet_NaN()
                                   : outwards * flow_.scalars[0].diffusivity * fall / line.length();
  BoundaryValues found;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      CellBox layer = parts_[p].box;
      if (layer.empty() || last < layer.lower[d] || last >= layer.upper[d]) continue;
      layer.lower[d] = last;
      layer.upper[d] = last + 1;
      std::vector<EndLayers> u, scalars;
      for (int c = 0; c < 3; ++c) {
        u.emplace_back(layer, d, upper, c);
        u.back().read(stream(p), parts_[p].u[static_cast<std::size_t>(c)], domain_.arrays[p]);
      }
      for (const PartScalar<T>& scalar : parts_[p].scalars) {
        scalars.emplace_back(layer, d, upper, -1);
        scalars.back().read(stream(p), scalar.now, domain_.arrays[p]);
      }
      EndLayers pressure(layer, d, upper, -1);
      pressure.read(stream(p), diffusion_ ? parts_[p].rhs : parts_[p].p, domain_.arrays[p]);
      for (Lid k = layer.lower[2]; k < layer.upper[2]; ++k)
        for (Lid j = layer.lower[1]; j < layer.upper[1]; ++j)
          for (Lid i = layer.lower[0]; i < layer.upper[0]; ++i) {
            const std::array<Lid, 3> cell{i, j, k};
            Vec3 place = flow_.grid.centre(i, j, k);
            place[static_cast<int>(d)] = upper ? line.faces.back() : line.faces.front();
            double area = 1;
            for (std::size_t c = 0; c < 3; ++c)
              if (c != d) area *= flow_.grid.lines[c].width(cell[c]);
            found.faces.push_back({f * domain_.rows + domain_.parts.number(cell), place, area});
            const double through = upper ? u[d].inner(cell) : u[d].beyond(cell);
            found.values.push_back(outwards * through);
            found.values.push_back(pressure.inner(cell));
            for (int c = 0; c < 3; ++c) {
              const EndLayers& q = u[static_cast<std::size_t>(c)];
              const double inner = q.inner(cell) + q.inner(cell, c), beyond = q.beyond(cell) + q.beyond(cell, c);
              found.values.push_back(
                  c == static_cast<int>(d) ? 0 : flow_.viscosity * 0.5 * (inner - beyond) * per_distance);
            }
            double heat = 0;
            for (std::size_t s = 0; s < scalars.size(); ++s) {
              const double inner = scalars[s].inner(cell), beyond = scalars[s].beyond(cell);
              const double flux = outwards * through * 0.5 * (inner + beyond) -
                                  flow_.scalars[s].diffusivity * (beyond - inner) * per_distance;
              found.values.push_back(flux);
              if (s == 0) heat = flux;
            }
            if (flow_.has_temperature) found.values.push_back(heat / at_rest);
          }
    }
  });
  return found;
}

template <class T>
std::vector<double> FlowModel<T>::measures(std::size_t p) {
  std::vector<double> volumes;
  const CellBox& box = parts_[p].box;
  for (Lid k = box.lower[2]; k < box.upper[2]; ++k)
    for (Lid j = box.lower[1]; j < box.upper[1]; ++j)
      for (Lid i = box.lower[0]; i < box.upper[0]; ++i) volumes.push_back(flow_.grid.volume(i, j, k));
  return volumes;
}

template class FlowModel<double>;
template class FlowModel<float>;

}  // namespace tutti::incompressible
