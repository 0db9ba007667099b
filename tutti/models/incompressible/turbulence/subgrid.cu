// Subgrid models. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/turbulence/subgrid.hpp"

#include <cmath>

#include "tutti/device/sums/reduce.hpp"
#include "tutti/device/zeros.hpp"
#include "tutti/exchange/for_each_cell.hpp"

namespace tutti::incompressible {
namespace {

/// Its arithmetic is in double: powers up to 5 of gradients leave the range of floats.
template <class T>
struct EddyViscosity {
  GridView<T> g;
  VelocityView<T> u;
  const double* filter[3];  ///< widths^(2/3), as lines of the grid's metric
  double square;            ///< of the model's constant
  bool wale;
  T* to;

  TUTTI_HD static double value(const T* q, Lid n) { return static_cast<double>(q[n]); }
  /// d u_c / d x_a at the centre.
  TUTTI_HD double gradient(int c, int a, Lid n, const Lid (&at)[3]) const {
    const T* q = u[c];
    const Lid sc = g.stride(c), sa = g.stride(a);
    if (c == a) return (value(q, n) - value(q, n - sc)) * static_cast<double>(g.line[c].width(at[c]));
    const double here = value(q, n) + value(q, n - sc), above = value(q, n + sa) + value(q, n + sa - sc),
                 below = value(q, n - sa) + value(q, n - sa - sc);
    return 0.25 * ((above - here) * static_cast<double>(g.line[a].distance(at[a])) +
                   (here - below) * static_cast<double>(g.line[a].distance(at[a] - 1)));
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k}, n = g.array.at(i, j, k);
    double grad[3][3], strain = 0, size = square;
    for (int c = 0; c < 3; ++c)
      for (int a = 0; a < 3; ++a) grad[c][a] = gradient(c, a, n, at);
    for (int c = 0; c < 3; ++c) {
      size *= filter[c][at[c] - g.line[c].first];
      for (int a = 0; a < 3; ++a) {
        const double s = 0.5 * (grad[c][a] + grad[a][c]);
        strain += s * s;
      }
    }
    if (!wale) {
      to[n] = static_cast<T>(size * sqrt(2 * strain));
      return;
    }
    double squared[3][3], deviator = 0;
    for (int c = 0; c < 3; ++c)
      for (int a = 0; a < 3; ++a)
        squared[c][a] = grad[c][0] * grad[0][a] + grad[c][1] * grad[1][a] + grad[c][2] * grad[2][a];
    const double mean = (squared[0][0] + squared[1][1] + squared[2][2]) / 3;
    for (int c = 0; c < 3; ++c)
      for (int a = 0; a < 3; ++a) {
        const double s = 0.5 * (squared[c][a] + squared[a][c]) - (c == a ? mean : 0);
        deviator += s * s;
      }
    const double below = strain * strain * sqrt(strain) + deviator * sqrt(sqrt(deviator));
    to[n] = static_cast<T>(below > 0 ? size * (deviator * sqrt(deviator) / below) : 0);
  }
};

template <class T>
struct SubgridForce {
  GridView<T> g;
  VelocityView<T> u;
  const T *viscosity, *given[3];
  T constant[3];
  T* force[3];

  /// nu_t (d u_c / d x_a + d u_a / d x_c) at the edge above face n in direction a.
  TUTTI_HD T stress(int c, int a, Lid n, Lid at_c, Lid at_a) const {
    const Lid sc = g.stride(c), sa = g.stride(a);
    const T mean = T(0.25) * ((viscosity[n] + viscosity[n + sc]) + (viscosity[n + sa] + viscosity[n + sa + sc]));
    return mean *
           ((u[c][n + sa] - u[c][n]) * g.line[a].distance(at_a) + (u[a][n + sc] - u[a][n]) * g.line[c].distance(at_c));
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k}, n = g.array.at(i, j, k);
    for (int c = 0; c < 3; ++c) {
      const Lid sc = g.stride(c);
      const T* q = u[c];
      const T upper = viscosity[n + sc] * (q[n + sc] - q[n]) * g.line[c].width(at[c] + 1),
              lower = viscosity[n] * (q[n] - q[n - sc]) * g.line[c].width(at[c]);
      T sum = T(2) * (upper - lower) * g.line[c].distance(at[c]);
      for (int m = 1; m < 3; ++m) {
        const int a = (c + m) % 3;
        sum +=
            (stress(c, a, n, at[c], at[a]) - stress(c, a, n - g.stride(a), at[c], at[a] - 1)) * g.line[a].width(at[a]);
      }
      force[c][n] = (given[c] != nullptr ? given[c][n] : constant[c]) + sum;
    }
  }
};

template <class T>
struct EddyRate {
  GridView<T> g;
  CellBox box;
  const T* viscosity;
  bool counts[3];
  TUTTI_HD double operator()(Lid r) const {
    const Lid nx = box.size(0), ny = box.size(1);
    const Lid at[3] = {box.lower[0] + r % nx, box.lower[1] + r / nx % ny, box.lower[2] + r / nx / ny};
    double sum = 0;
    for (int d = 0; d < 3; ++d) {
      const double w = static_cast<double>(g.line[d].width(at[d]));
      if (counts[d]) sum += 4 * w * w;
    }
    return sum * static_cast<double>(viscosity[g.array.at(at[0], at[1], at[2])]);
  }
};

}  // namespace

template <class T>
void allocate_subgrid(Stream& stream, const FlowCase& flow, FlowPart<T>& part) {
  const BoxArray& array = part.grid.array;
  part.eddy_viscosity = make_zeros<T>(stream, array.values(), "eddy viscosity");
  for (std::size_t d = 0; d < 3; ++d) {
    if (flow.is_forced()) part.given_force[d] = make_zeros<T>(stream, array.values(), "force of the case");
    std::vector<double> filter;
    for (Lid i = array.stored.lower[d]; i < array.stored.upper[d]; ++i) {
      const double root = std::cbrt(flow.grid.lines[d].width(i));
      filter.push_back(root * root);
    }
    part.filter[d] = make_buffer(stream, std::span<const double>(filter), "filter widths");
  }
}

template <class T>
void eddy_viscosity(Kernels& to, FlowPart<T>& part, const FlowCase& flow) {
  to.add(on_cells<T>(EddyViscosity<T>{part.grid.view(),
                                      part.velocity(),
                                      {part.filter[0].data(), part.filter[1].data(), part.filter[2].data()},
                                      flow.subgrid_constant * flow.subgrid_constant,
                                      flow.subgrid == SubgridModel::wale,
                                      part.eddy_viscosity.data()}));
}

template <class T>
void add_subgrid_force(Kernels& to, FlowPart<T>& part, const FlowConstants<T>& constants) {
  SubgridForce<T> force{part.grid.view(), part.velocity(), part.eddy_viscosity.data(), {}, {}, {}};
  for (int c = 0; c < 3; ++c) {
    const auto i = static_cast<std::size_t>(c);
    force.given[c] = part.given_force[i].data();
    force.constant[c] = constants.force[c];
    force.force[c] = part.force[i].data();
  }
  to.add(on_cells<T>(force));
}

template <class T>
double eddy_rate(Stream& stream, FlowPart<T>& part, const FlowCase& flow) {
  EddyRate<T> rate{part.grid.view(), part.box, part.eddy_viscosity.data(), {}};
  for (std::size_t d = 0; d < 3; ++d) rate.counts[d] = flow.grid.lines[d].cells() > 1;
  return max_value(stream, {0, static_cast<Lid>(part.box.cells())}, rate);
}

#define TUTTI_INSTANTIATE(T)                                                        \
  template void allocate_subgrid(Stream&, const FlowCase&, FlowPart<T>&);           \
  template void eddy_viscosity(Kernels&, FlowPart<T>&, const FlowCase&);            \
  template void add_subgrid_force(Kernels&, FlowPart<T>&, const FlowConstants<T>&); \
  template double eddy_rate(Stream&, FlowPart<T>&, const FlowCase&);
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(float)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::incompressible
