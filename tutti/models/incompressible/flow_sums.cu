// Sums and maxima over a flow. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/flow_sums.hpp"

#include <cmath>

#include "tutti/device/reduce.hpp"

namespace tutti {
namespace {

/// The r-th owned cell.
struct OwnedCell {
  Lid at[3];
  Lid n;
  TUTTI_HD OwnedCell(const BoxArray& array, const CellBox& box, Lid r) {
    const Lid nx = box.size(0), ny = box.size(1);
    at[0] = box.lower[0] + r % nx;
    at[1] = box.lower[1] + r / nx % ny;
    at[2] = box.lower[2] + r / nx / ny;
    n = array.at(at[0], at[1], at[2]);
  }
};

template <class T>
TUTTI_HD double volume(const GridView<T>& g, const OwnedCell& cell) {
  double v = 1;
  for (int d = 0; d < 3; ++d) v /= static_cast<double>(g.line[d].width(cell.at[d]));
  return v;
}

template <class T>
struct Energy {
  GridView<T> g;
  CellBox box;
  VelocityView<T> u;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      const double lower = static_cast<double>(u[c][cell.n - g.stride(c)]), upper = static_cast<double>(u[c][cell.n]);
      sum += 0.5 * (lower * lower + upper * upper);
    }
    return volume(g, cell) * sum;
  }
};
template <class T>
struct Heat {
  GridView<T> g;
  CellBox box;
  const T* temperature;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    return volume(g, cell) * static_cast<double>(temperature[cell.n]);
  }
};
template <class T>
struct Speed {
  GridView<T> g;
  CellBox box;
  VelocityView<T> u;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    double largest = 0;
    for (int c = 0; c < 3; ++c) {
      const double v = std::fabs(static_cast<double>(u[c][cell.n]));
      if (!(v <= largest)) largest = v;
    }
    return largest;
  }
};
template <class T>
struct Divergence {
  GridView<T> g;
  CellBox box;
  VelocityView<T> u;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    return std::fabs(static_cast<double>(divergence(g, u, cell.n, cell.at)));
  }
};

template <class T>
Range owned(const FlowPart<T>& part) {
  return {0, static_cast<Lid>(part.box.cells())};
}

}  // namespace

template <class T>
ExactSum energy_sum(Stream& stream, FlowPart<T>& part) {
  return exact_sum(stream, owned(part), Energy<T>{part.grid.view(), part.box, part.velocity()});
}
template <class T>
ExactSum temperature_sum(Stream& stream, FlowPart<T>& part) {
  return exact_sum(stream, owned(part), Heat<T>{part.grid.view(), part.box, part.temperature.data()});
}
template <class T>
double largest_velocity(Stream& stream, FlowPart<T>& part) {
  return max_value(stream, owned(part), Speed<T>{part.grid.view(), part.box, part.velocity()});
}
template <class T>
double largest_divergence(Stream& stream, FlowPart<T>& part) {
  return max_value(stream, owned(part), Divergence<T>{part.grid.view(), part.box, part.velocity()});
}

#define TUTTI_INSTANTIATE(T)                                       \
  template ExactSum energy_sum(Stream&, FlowPart<T>&);             \
  template ExactSum temperature_sum(Stream&, FlowPart<T>&);        \
  template double largest_velocity(Stream&, FlowPart<T>&);         \
  template double largest_divergence(Stream&, FlowPart<T>&);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(float)
#undef TUTTI_INSTANTIATE

}  // namespace tutti
