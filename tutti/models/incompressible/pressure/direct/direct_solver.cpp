#include "tutti/models/incompressible/pressure/direct/direct_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

namespace tutti::incompressible {
namespace {

constexpr Size batch_bytes = Size{512} << 10;

/// L p of one cell, from a box's operators and p in double.
template <class T>
class Laplacian {
 public:
  explicit Laplacian(const PoissonBox& box)
      : lines_{line_operator(box.x), line_operator(box.y), line_operator(box.z)},
        strides_{1, box.x.size(), Size{box.x.size()} * box.y.size()} {}

  double at(const T* p, const std::array<Lid, 3>& cell) const {
    const Size here = cell[0] + cell[1] * strides_[1] + cell[2] * strides_[2];
    double sum = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const LineOperator& line = lines_[d];
      const Lid n = line.size(), i = cell[d];
      const auto k = static_cast<std::size_t>(i);
      const auto value = [&](Lid j) {
        if (line.cyclic) j = (j + n) % n;
        return j < 0 || j >= n ? 0.0 : static_cast<double>(p[here + (j - i) * strides_[d]]);
      };
      const double own = value(i), above = line.conductance[k + 1] * (value(i + 1) - own),
                   below = line.conductance[k] * (own - value(i - 1));
      sum += (above - below) / line.widths[k];
    }
    return sum;
  }
  double volume(const std::array<Lid, 3>& cell) const {
    double product = 1;
    for (std::size_t d = 0; d < 3; ++d) product *= lines_[d].widths[cell[d]];
    return product;
  }
  double norm() const {
    double sum = 0;
    for (const LineOperator& line : lines_) sum -= 2 * *std::ranges::min_element(line.diagonal);
    return sum;
  }

 private:
  std::array<LineOperator, 3> lines_;
  std::array<Size, 3> strides_;
};

/// The larger one; not a number, if one is not.
double larger(double a, double b) {
  return a > b || std::isnan(a) ? a : b;
}

/// use(index, cell) for the cells of planes [begin, end).
template <class Use>
void each_cell(const PoissonBox& box, Size begin, Size end, const Use& use) {
  Size index = begin * box.x.size() * box.y.size();
  for (Lid z = static_cast<Lid>(begin); z < end; ++z)
    for (Lid y = 0; y < box.y.size(); ++y)
      for (Lid x = 0; x < box.x.size(); ++x) use(index++, std::array<Lid, 3>{x, y, z});
}

}  // namespace

bool PoissonBox::singular() const {
  return line_operator(x).singular && line_operator(y).singular && line_operator(z).singular;
}

template <class T>
DirectSolver<T>::DirectSolver(const PoissonBox& box) : DirectSolver(box, line_modes(box.x), line_modes(box.y)) {}

template <class T>
DirectSolver<T>::DirectSolver(const PoissonBox& box, const LineModes& x, const LineModes& y)
    : nx_(x.size),
      ny_(y.size),
      nz_(box.z.size()),
      x_to_modes_(x, Transform::to_modes, LineAxis::x),
      x_from_modes_(x, Transform::from_modes, LineAxis::x),
      y_to_modes_(y, Transform::to_modes, LineAxis::y),
      y_from_modes_(y, Transform::from_modes, LineAxis::y),
      z_(line_operator(box.z)),
      z_modes_(box.z) {
  for (const double lambda_y : y.eigenvalues)
    for (const double lambda_x : x.eigenvalues) lambda_.push_back(static_cast<T>(lambda_x + lambda_y));
}

template <class T>
void DirectSolver<T>::solve(const T* f, T* p, const ParallelFor& parallel) const {
  const Size plane = Size{nx_} * ny_;
  // Both transforms of a few planes at a time, while these are in the cache.
  const Size batch = std::max<Size>(1, batch_bytes / (plane * static_cast<Size>(sizeof(T))));
  const auto each_batch = [&](const auto& work) {
    for_ranges(parallel, nz_, [&](Size begin, Size end) {
      for (Size z = begin; z < end; z += batch) work(z * plane, static_cast<Lid>(std::min(batch, end - z)));
    });
  };
  each_batch([&](Size first, Lid planes) {
    transform_x(x_to_modes_.view(), f + first, p + first, {0, planes * ny_});
    transform_y(y_to_modes_.view(), p + first, p + first, nx_, {0, planes * nx_});
  });
  for_ranges(parallel, plane, [&](Size begin, Size end) {
    const Range columns{static_cast<Lid>(begin), static_cast<Lid>(end)};
    if (z_modes_.exist()) return solve_by_modes(z_modes_.view(), lambda_.data(), p, static_cast<Lid>(plane), columns);
    solve_columns(z_.view(), lambda_.data(), ColumnRows<T>{p, plane}, columns);
  });
  each_batch([&](Size first, Lid planes) {
    transform_y(y_from_modes_.view(), p + first, p + first, nx_, {0, planes * nx_});
    transform_x(x_from_modes_.view(), p + first, p + first, {0, planes * ny_});
  });
}

template <class T>
Size DirectSolver<T>::transform_work() const {
  return 2 * nz_ * (ny_ * x_to_modes_.work() + nx_ * y_to_modes_.work()) + Size{nx_} * ny_ * z_modes_.work();
}

template <class T>
void apply_laplacian(const PoissonBox& box, const T* p, T* result, const ParallelFor& parallel) {
  const Laplacian<T> laplacian(box);
  for_ranges(parallel, box.z.size(), [&](Size begin, Size end) {
    each_cell(box, begin, end, [&](Size i, const auto& cell) { result[i] = static_cast<T>(laplacian.at(p, cell)); });
  });
}

template <class T>
PoissonResidual poisson_residual(const PoissonBox& box, const T* p, const T* f, const ParallelFor& parallel) {
  const Laplacian<T> laplacian(box);
  double mean = 0;
  if (box.singular()) {
    long double sum = 0, volume = 0;
    each_cell(box, 0, box.z.size(), [&](Size i, const auto& cell) {
      const auto v = static_cast<long double>(laplacian.volume(cell));
      sum += v * static_cast<long double>(f[i]);
      volume += v;
    });
    mean = static_cast<double>(sum / volume);
  }
  PoissonResidual result;
  result.norm = laplacian.norm();
  std::mutex mutex;
  for_ranges(parallel, box.z.size(), [&](Size begin, Size end) {
    PoissonResidual own;
    each_cell(box, begin, end, [&](Size i, const auto& cell) {
      const auto value = static_cast<double>(f[i]);
      own.residual = larger(own.residual, std::abs(value - mean - laplacian.at(p, cell)));
      own.f = larger(own.f, std::abs(value));
      own.p = larger(own.p, std::abs(static_cast<double>(p[i])));
    });
    const std::scoped_lock lock(mutex);
    result.residual = larger(result.residual, own.residual);
    result.f = larger(result.f, own.f);
    result.p = larger(result.p, own.p);
  });
  return result;
}

template class DirectSolver<double>;
template class DirectSolver<float>;
template void apply_laplacian(const PoissonBox&, const double*, double*, const ParallelFor&);
template void apply_laplacian(const PoissonBox&, const float*, float*, const ParallelFor&);
template PoissonResidual poisson_residual(const PoissonBox&, const double*, const double*, const ParallelFor&);
template PoissonResidual poisson_residual(const PoissonBox&, const float*, const float*, const ParallelFor&);

}  // namespace tutti::incompressible
