// Sums and maxima over a flow. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/flow_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/device/sums/reduce.hpp"

namespace tutti::incompressible {
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
struct Energy {
  GridView<T> g;
  CellWidths widths;
  CellBox box;
  VelocityView<T> u;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      const double lower = static_cast<double>(u[c][cell.n - g.stride(c)]), upper = static_cast<double>(u[c][cell.n]);
      sum += 0.5 * (lower * lower + upper * upper);
    }
    return widths.volume(cell.at) * sum;
  }
};
template <class T>
struct Amount {
  BoxArray array;
  CellWidths widths;
  CellBox box;
  const T* scalar;  ///< null: 1
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(array, box, r);
    return widths.volume(cell.at) * (scalar != nullptr ? static_cast<double>(scalar[cell.n]) : 1);
  }
};
/// At both faces of a cell: what flows in at a lower end belongs to no cell.
template <class T>
struct Speed {
  GridView<T> g;
  CellBox box;
  VelocityView<T> u;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    double largest = 0;
    for (int c = 0; c < 3; ++c)
      for (const Lid n : {cell.n - g.stride(c), cell.n}) {
        const double v = std::fabs(static_cast<double>(u[c][n]));
        if (v > largest || std::isnan(v)) largest = v;  // a NaN stays
      }
    return largest;
  }
};
template <class T>
struct Crossing {
  GridView<T> g;
  CellBox box;
  VelocityView<T> u;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    double rate = 0;
    for (int c = 0; c < 3; ++c) {
      const double lower = std::fabs(static_cast<double>(u[c][cell.n - g.stride(c)])),
                   upper = std::fabs(static_cast<double>(u[c][cell.n]));
      rate += (lower > upper || std::isnan(lower) ? lower : upper) * static_cast<double>(g.line[c].width(cell.at[c]));
    }
    return rate;
  }
};
template <class T>
struct Warmth {
  BoxArray array;
  CellBox box;
  const T* temperature;
  double reference;
  TUTTI_HD double operator()(Lid r) const {
    return std::fabs(static_cast<double>(temperature[OwnedCell(array, box, r).n]) - reference);
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

/// Differences of velocities along the edges of a cell.
template <class T>
struct Edges {
  GridView<T> g;
  VelocityView<T> u;
  WallEnds ends;

  /// Of component c at the cell's lower or upper face in direction c, along another direction a, towards the cell below
  /// or above.
  TUTTI_HD double slope(const OwnedCell& cell, int c, bool upper_face, int a, bool above) const {
    const Lid at = cell.at[c];
    if (upper_face ? at == ends.cells[c] - 1 && ends.wall[c][1] : at == 0 && ends.wall[c][0]) return 0;
    const Lid n = cell.n - (upper_face ? 0 : g.stride(c)) - (above ? 0 : g.stride(a));
    return (static_cast<double>(u[c][n + g.stride(a)]) - static_cast<double>(u[c][n])) *
           static_cast<double>(g.line[a].distance(cell.at[a] - (above ? 0 : 1)));
  }
};

template <class T>
struct SquaredGradient {
  Edges<T> edges;
  CellWidths widths;
  CellBox box;
  TUTTI_HD double operator()(Lid r) const {
    const GridView<T>& g = edges.g;
    const OwnedCell cell(g.array, box, r);
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      const T* q = edges.u[c];
      const double along = (static_cast<double>(q[cell.n]) - static_cast<double>(q[cell.n - g.stride(c)])) *
                           static_cast<double>(g.line[c].width(cell.at[c]));
      sum += along * along;
      for (int k = 1; k < 3; ++k)
        for (int edge = 0; edge < 4; ++edge) {  // a quarter of each edge's surroundings lies in the cell
          const double across = edges.slope(cell, c, edge % 2 == 1, (c + k) % 3, edge / 2 == 1);
          sum += 0.25 * across * across;
        }
    }
    return widths.volume(cell.at) * sum;
  }
};
template <class T>
struct SquaredCurl {
  Edges<T> edges;
  CellWidths widths;
  CellBox box;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(edges.g.array, box, r);
    double sum = 0;
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3;
      for (int edge = 0; edge < 4; ++edge) {
        const bool upper_a = edge % 2 == 1, upper_b = edge / 2 == 1;
        const double curl = edges.slope(cell, b, upper_b, a, upper_a) - edges.slope(cell, a, upper_a, b, upper_b);
        sum += 0.25 * curl * curl;
      }
    }
    return widths.volume(cell.at) * sum;
  }
};

template <class T>
struct Square {
  GridView<T> g;
  CellBox box;
  VelocityView<T> u;
  TUTTI_HD double at(const OwnedCell& cell) const {
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      const double mean = 0.5 * (static_cast<double>(u[c][cell.n - g.stride(c)]) + static_cast<double>(u[c][cell.n]));
      sum += mean * mean;
    }
    return sum;
  }
  TUTTI_HD double operator()(Lid r) const { return at(OwnedCell(g.array, box, r)); }
};
template <class T>
struct FirstCell {
  Square<T> speed;
  double square;
  Lid nx, ny;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(speed.g.array, speed.box, r);
    if (!(speed.at(cell) == square)) return -std::numeric_limits<double>::infinity();
    return -((static_cast<double>(cell.at[2]) * ny + cell.at[1]) * nx + cell.at[0]);  // exact below 2^53
  }
};

template <class T>
struct HeatFlux {
  GridView<T> g;
  CellBox box;  ///< of the cells to add up
  VelocityView<T> u;
  const T* temperature;
  HeatFluxCells cells;
  double diffusivity;
  /// Through the upper face of cell `at` of the direction, at place n.
  TUTTI_HD double through(Lid n, Lid at) const {
    const int d = cells.direction;
    const double here = static_cast<double>(temperature[n]), next = static_cast<double>(temperature[n + g.stride(d)]);
    return static_cast<double>(u[d][n]) * 0.5 * (here + next) -
           diffusivity * (next - here) * static_cast<double>(g.line[d].distance(at));
  }
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    const int d = cells.direction;
    double size = 1;
    for (int k = 0; k < 3; ++k)
      if (k != d || cells.volume) size /= static_cast<double>(g.line[k].width(cell.at[k]));
    double flux = 0;
    if (cells.lower != 0) flux += cells.lower * through(cell.n - g.stride(d), cell.at[d] - 1);
    if (cells.upper != 0) flux += cells.upper * through(cell.n, cell.at[d]);
    return size * flux;
  }
};

template <class T>
struct Signed {
  GridView<T> g;
  CellBox box;
  const T* scalar;
  double sign;
  TUTTI_HD double operator()(Lid r) const { return sign * static_cast<double>(scalar[OwnedCell(g.array, box, r).n]); }
};
template <class T>
struct Change {
  GridView<T> g;
  CellBox box;
  const T *now, *before;
  TUTTI_HD double operator()(Lid r) const {
    const OwnedCell cell(g.array, box, r);
    return std::fabs(static_cast<double>(now[cell.n]) - static_cast<double>(before[cell.n]));
  }
};

template <class T>
Range owned(const FlowPart<T>& part) {
  return {0, static_cast<Lid>(part.box.cells())};
}

}  // namespace

template <class T>
ExactSum energy_sum(Stream& stream, FlowPart<T>& part) {
  return exact_sum(stream, owned(part),
                   Energy<T>{part.grid.view(), part.grid.cell_widths(), part.box, part.velocity()});
}
template <class T>
ExactSum scalar_sum(Stream& stream, FlowPart<T>& part, std::size_t s) {
  return exact_sum(stream, owned(part),
                   Amount<T>{part.grid.array, part.grid.cell_widths(), part.box, part.scalars[s].now.data()});
}
template <class T>
Pending<SumAndLargest> start_intermediate_sum(Stream& stream, FlowPart<T>& part, int c) {
  const T* const values = part.intermediate[static_cast<std::size_t>(c)].data();
  return start_sum(stream, owned(part), Amount<T>{part.grid.array, part.grid.cell_widths(), part.box, values});
}
template <class T>
ExactSum volume_sum(Stream& stream, FlowPart<T>& part) {
  return exact_sum(stream, owned(part), Amount<T>{part.grid.array, part.grid.cell_widths(), part.box, nullptr});
}
template <class T>
double largest_velocity(Stream& stream, FlowPart<T>& part) {
  return max_value(stream, owned(part), Speed<T>{part.grid.view(), part.box, part.velocity()});
}
template <class T>
double crossing_rate(Stream& stream, FlowPart<T>& part) {
  return max_value(stream, owned(part), Crossing<T>{part.grid.view(), part.box, part.velocity()});
}
template <class T>
double largest_warmth(Stream& stream, FlowPart<T>& part, double reference) {
  return max_value(stream, owned(part), Warmth<T>{part.grid.array, part.box, part.scalars[0].now.data(), reference});
}
template <class T>
double largest_intermediate(Stream& stream, FlowPart<T>& part) {
  return max_value(stream, owned(part), Speed<T>{part.grid.view(), part.box, part.intermediate_velocity()});
}
template <class T>
double largest_divergence(Stream& stream, FlowPart<T>& part) {
  return max_value(stream, owned(part), Divergence<T>{part.grid.view(), part.box, part.velocity()});
}

template <class T>
ExactSum squared_gradient_sum(Stream& stream, FlowPart<T>& part, const WallEnds& ends) {
  return exact_sum(stream, owned(part),
                   SquaredGradient<T>{{part.grid.view(), part.velocity(), ends}, part.grid.cell_widths(), part.box});
}
template <class T>
ExactSum squared_curl_sum(Stream& stream, FlowPart<T>& part, const WallEnds& ends) {
  return exact_sum(stream, owned(part),
                   SquaredCurl<T>{{part.grid.view(), part.velocity(), ends}, part.grid.cell_widths(), part.box});
}
template <class T>
double largest_square(Stream& stream, FlowPart<T>& part) {
  return max_value(stream, owned(part), Square<T>{part.grid.view(), part.box, part.velocity()});
}
template <class T>
double first_cell_of(Stream& stream, FlowPart<T>& part, double square, Lid nx, Lid ny) {
  return max_value(stream, owned(part), FirstCell<T>{{part.grid.view(), part.box, part.velocity()}, square, nx, ny});
}
template <class T>
ExactSum heat_flux_sum(Stream& stream, FlowPart<T>& part, const HeatFluxCells& cells, double diffusivity) {
  const auto d = static_cast<std::size_t>(cells.direction);
  CellBox box = part.box;
  box.lower[d] = std::max(box.lower[d], cells.begin);
  box.upper[d] = std::min(box.upper[d], cells.end);
  if (box.lower[d] >= box.upper[d]) return {};
  return exact_sum(stream, {0, static_cast<Lid>(box.cells())},
                   HeatFlux<T>{part.grid.view(), box, part.velocity(), part.scalars[0].now.data(), cells, diffusivity});
}
template <class T>
std::array<double, 2> scalar_range(Stream& stream, FlowPart<T>& part, std::size_t s) {
  const auto largest = [&](double sign) {
    return max_value(stream, owned(part), Signed<T>{part.grid.view(), part.box, part.scalars[s].now.data(), sign});
  };
  return {largest(1), largest(-1)};
}
template <class T>
double largest_change(Stream& stream, const FlowPart<T>& part, const Buffer<T>& now, const Buffer<T>& before) {
  return max_value(stream, owned(part), Change<T>{part.grid.view(), part.box, now.data(), before.data()});
}

#define TUTTI_INSTANTIATE(T)                                                            \
  template ExactSum energy_sum(Stream&, FlowPart<T>&);                                  \
  template ExactSum scalar_sum(Stream&, FlowPart<T>&, std::size_t);                     \
  template Pending<SumAndLargest> start_intermediate_sum(Stream&, FlowPart<T>&, int);   \
  template ExactSum volume_sum(Stream&, FlowPart<T>&);                                  \
  template double largest_velocity(Stream&, FlowPart<T>&);                              \
  template double crossing_rate(Stream&, FlowPart<T>&);                                 \
  template double largest_warmth(Stream&, FlowPart<T>&, double);                        \
  template double largest_intermediate(Stream&, FlowPart<T>&);                          \
  template double largest_divergence(Stream&, FlowPart<T>&);                            \
  template ExactSum squared_gradient_sum(Stream&, FlowPart<T>&, const WallEnds&);       \
  template ExactSum squared_curl_sum(Stream&, FlowPart<T>&, const WallEnds&);           \
  template double largest_square(Stream&, FlowPart<T>&);                                \
  template double first_cell_of(Stream&, FlowPart<T>&, double, Lid, Lid);               \
  template ExactSum heat_flux_sum(Stream&, FlowPart<T>&, const HeatFluxCells&, double); \
  template std::array<double, 2> scalar_range(Stream&, FlowPart<T>&, std::size_t);      \
  template double largest_change(Stream&, const FlowPart<T>&, const Buffer<T>&, const Buffer<T>&);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(float)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::incompressible
