// Jacobi sweeps as in Jacobsen 2010 (ghosts of the sweep before), and red-black relaxation. Compiles as plain C++
// without CUDA.
#include <cmath>

#include "tutti/device/reduce.hpp"
#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/pressure.hpp"
#include "tutti/models/incompressible/relaxation_kernel.hpp"
#include "tutti/simulation/tet_report.hpp"

namespace tutti {
namespace {

/// What p is beyond an end of the grid, over what it is before it: 1 without a gradient, -1 at an outflow, 0 where
/// there is no end.
template <class T>
struct Mirrors {
  T lower[3] = {}, upper[3] = {};
  Lid last[3] = {};  ///< cell
};

template <class T>
Mirrors<T> mirrors(const FlowCase& flow) {
  const auto factor = [](const FlowEnd& end) {
    return T(end.velocity == VelocityEnd::periodic ? 0 : end.velocity == VelocityEnd::outflow ? -1 : 1);
  };
  Mirrors<T> m;
  for (std::size_t d = 0; d < 3; ++d) {
    m.lower[d] = factor(flow.ends[2 * d]);
    m.upper[d] = factor(flow.ends[2 * d + 1]);
    m.last[d] = flow.grid.lines[d].cells() - 1;
  }
  return m;
}

/// A cell at an end sets the value beyond it, too: a pass over the ends would take a GPU as long as a twentieth of the
/// sweep.
template <class T>
struct JacobiSweep {
  GridView<T> g;
  const T *p, *rhs;
  T* next;
  T omega;
  Mirrors<T> ends;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k};
    const Lid n = g.array.at(i, j, k);
    T diagonal;
    const T sum = laplacian_neighbours(g, p, n, at, diagonal);
    const T value = (T(1) - omega) * p[n] + omega * ((sum - rhs[n]) / diagonal);
    next[n] = value;
    for (int d = 0; d < 3; ++d) {
      if (at[d] == 0 && ends.lower[d] != 0) next[n - g.stride(d)] = ends.lower[d] * value;
      if (at[d] == ends.last[d] && ends.upper[d] != 0) next[n + g.stride(d)] = ends.upper[d] * value;
    }
  }
  /// The same for a line, with what it shares kept out of the loop: as vectors it moves no slower than memory.
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    const T y = g.line[1].width(j), z = g.line[2].width(k);
    const T lower_y = y * g.line[1].distance(j - 1), upper_y = y * g.line[1].distance(j);
    const T lower_z = z * g.line[2].distance(k - 1), upper_z = z * g.line[2].distance(k);
    const T diagonal_y = lower_y + upper_y, diagonal_z = lower_z + upper_z, factor = omega, rest = T(1) - factor;
    const Lid n = g.array.at(begin, j, k), row = g.stride(1), plane = g.stride(2), first = begin - g.line[0].first;
    const T *const width = g.line[0].inverse_width + first, *const distance = g.line[0].inverse_distance + first;
    const T *const at = p + n, *const f = rhs + n;
    T* const to = next + n;
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = 0; i < end - begin; ++i) {
      const T lower_x = width[i] * distance[i - 1], upper_x = width[i] * distance[i];
      T sum = lower_x * at[i - 1] + upper_x * at[i + 1];
      sum += lower_y * at[i - row] + upper_y * at[i + row];
      sum += lower_z * at[i - plane] + upper_z * at[i + plane];
      const T diagonal = lower_x + upper_x + diagonal_y + diagonal_z;
      to[i] = rest * at[i] + factor * ((sum - f[i]) / diagonal);
    }
    const Lid count = end - begin;
    if (begin == 0 && ends.lower[0] != 0) to[-1] = ends.lower[0] * to[0];
    if (end - 1 == ends.last[0] && ends.upper[0] != 0) to[count] = ends.upper[0] * to[count - 1];
    if (j == 0) mirror(to, count, -row, ends.lower[1]);
    if (j == ends.last[1]) mirror(to, count, row, ends.upper[1]);
    if (k == 0) mirror(to, count, -plane, ends.lower[2]);
    if (k == ends.last[2]) mirror(to, count, plane, ends.upper[2]);
  }
  static void mirror(T* line, Lid count, Lid stride, T factor) {
    if (factor == 0) return;
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = 0; i < count; ++i) line[i + stride] = factor * line[i];
  }
};

/// Sweeps over all parts, whose ghosts travel behind each.
template <class T>
class Relaxation final : public PressureSolver<T> {
 public:
  explicit Relaxation(const PressureProblem<T>& problem)
      : problem_(problem), jacobi_(problem.flow.pressure == PressureMethod::jacobi), ends_(problem) {
    BoxDomain& domain = problem.domain;
    std::vector<std::vector<CellBox>> wanted;
    for (const CellBox& box : domain.parts.boxes) wanted.push_back(faces_around(box));
    transfer_ = std::make_unique<BoxTransfer<T>>(problem.comm, domain.parts, wanted, domain.arrays, domain.arrays, true,
                                                 domain.streams, 1, &domain.transport);
    sweep_ = std::make_unique<BoxPass<T>>(
        jacobi_ ? "Jacobi" : "red-black", problem.threads, domain.streams, domain.parts, transfer_.get(),
        problem.overlap, [this](std::size_t p, int d) { return jacobi_ ? 0 : problem_.ends[p].cells(d); });
    mirrors_ = mirrors<T>(problem.flow);
    for (std::size_t p = 0; p < domain.mine() && jacobi_; ++p) {
      next_.emplace_back(*domain.streams[p].device, problem.parts[p].p.size(), "p, next");
      upload_zeros(*domain.streams[p].compute, next_.back());
    }
    omega_ = jacobi_ ? jacobi_omega() : problem.flow.omega > 0 ? problem.flow.omega : best_omega();
  }

  void solve(double scale) override {
    sweeps_ = 0;
    if (jacobi_) {
      for (; sweeps_ < problem_.flow.sweeps; ++sweeps_) jacobi_sweep();
      ends_.fill();
      return;
    }
    constexpr int between_looks = 10;
    while (sweeps_ < problem_.flow.sweeps) {
      for (int k = 0; k < between_looks && sweeps_ < problem_.flow.sweeps; ++k, ++sweeps_)
        for (const Lid colour : {0, 1}) red_black_sweep(colour);
      const double left = largest_residual(problem_) * scale;
      if (!(left > problem_.flow.tolerance)) return;
    }
    fail_to_converge(scale);
  }
  int sweeps() const override { return sweeps_; }
  std::string describe() const override {
    return jacobi_ ? fmt::format("{} Jacobi sweeps a step{}", problem_.flow.sweeps,
                                 omega_ < 1 ? fmt::format(", damped by {:g}", omega_) : "")
                   : fmt::format("red-black relaxation, omega {:.4g}", omega_);
  }
  std::vector<const Step*> steps() const override { return {&sweep_->step(), &ends_.step()}; }
  ExchangeCounts exchanged() const override {
    ExchangeCounts counts;
    add_counts(counts, transfer_->exchange().counts_per_exchange(), sweep_->runs());
    return counts;
  }

 private:
  static void upload_zeros(Stream& stream, Buffer<T>& buffer) {
    const std::vector<T> zeros(static_cast<std::size_t>(buffer.size()), T(0));
    upload(stream, buffer, std::span<const T>(zeros));
  }

  /// An undamped sweep turns a checkerboard over and leaves it as large. A wall's or inflow's ghosts, which are those
  /// of the sweep before, damp it; periods and outflows do not.
  double jacobi_omega() const {
    for (std::size_t f = 0; f < 6; ++f) {
      const VelocityEnd end = problem_.flow.ends[f].velocity;
      const bool open = end == VelocityEnd::periodic || end == VelocityEnd::outflow;
      if (!open && problem_.domain.grid.lines[f / 2].cells() > 1) return 1;
    }
    return 0.8;
  }

  /// Of the slowest mode on a uniform grid (Young 1954): rho is the spectral radius of a Jacobi sweep on it.
  double best_omega() const {
    double diagonal = 0, slowest = 0;
    for (int d = 0; d < 3; ++d) {
      const GridLine& line = problem_.domain.grid.lines[static_cast<std::size_t>(d)];
      if (line.cells() == 1) continue;
      const double width = line.length() / line.cells(), weight = 2 / (width * width);
      diagonal += weight;
      const double decay = weight * (1 - std::cos((line.periodic ? 2 : 1) * std::acos(-1.0) / line.cells()));
      if (slowest == 0 || decay < slowest) slowest = decay;
    }
    if (diagonal == 0) return 1;
    const double rho = 1 - slowest / diagonal;
    return 2 / (1 + std::sqrt(1 - rho * rho));
  }

  void bind(const std::function<T*(std::size_t)>& array) {
    for (std::size_t p = 0; p < problem_.parts.size(); ++p) {
      T* const to = array(p);
      const T* const from = to;
      transfer_->bind(p, std::span<const T* const>(&from, 1), std::span<T* const>(&to, 1));
    }
  }

  void jacobi_sweep() {
    bind([&](std::size_t p) { return next_[p].data(); });
    sweep_->run([this](std::size_t p, Stream& stream, const CellBox& box, Range range) {
      FlowPart<T>& part = problem_.parts[p];
      for_each_cell<T>(stream, box, range,
                       JacobiSweep<T>{part.grid.view(), part.p.data(), part.rhs.data(), next_[p].data(),
                                      static_cast<T>(omega_), mirrors_});
    });
    for (std::size_t p = 0; p < next_.size(); ++p) next_[p].swap(problem_.parts[p].p);
  }

  void red_black_sweep(Lid colour) {
    bind([&](std::size_t p) { return problem_.parts[p].p.data(); });
    sweep_->run(
        [this, colour](std::size_t p, Stream& stream, const CellBox& box, Range range) {
          FlowPart<T>& part = problem_.parts[p];
          for_each_cell<T>(stream, box, range,
                           RedBlackSweep<T, GridView>{part.grid.view(), part.p.data(), part.rhs.data(),
                                                      static_cast<T>(omega_), colour});
        },
        [this](std::size_t p, int d, Stream& stream, Range range) {
          FlowPart<T>& part = problem_.parts[p];
          fill_pressure(stream, part.grid.array, part.p.data(), problem_.ends[p].view(d), range);
        });
  }

  void fail_to_converge(double scale) {
    const double left = largest_residual(problem_) * scale;
    problem_.comm.together([&] {
      fail(ErrorKind::numerical,
           "the pressure does not converge: after {} sweeps a divergence of {:.3g} is left, pressure.tolerance is "
           "{:.3g}; raise pressure.sweeps, or use pressure.solver = \"direct\"",
           sweeps_, left, problem_.flow.tolerance);
    });
  }

  PressureProblem<T> problem_;
  bool jacobi_;
  double omega_ = 1;
  Mirrors<T> mirrors_;
  int sweeps_ = 0;
  PressureEnds<T> ends_;
  std::unique_ptr<BoxTransfer<T>> transfer_;
  std::unique_ptr<BoxPass<T>> sweep_;
  std::vector<Buffer<T>> next_;
};

}  // namespace

template <class T>
double largest_residual(const PressureProblem<T>& problem) {
  double largest = 0;
  for (std::size_t p = 0; p < problem.parts.size(); ++p) {
    FlowPart<T>& part = problem.parts[p];
    if (part.box.empty()) continue;
    const double mine = max_value(*problem.domain.streams[p].compute, Range{0, static_cast<Lid>(part.box.cells())},
                                  Residual<T, GridView>{part.grid.view(), part.box, part.p.data(), part.rhs.data()});
    largest = std::isnan(mine) || mine > largest ? mine : largest;
  }
  return max_over_ranks(problem.comm, largest);
}

template <class T>
std::unique_ptr<PressureSolver<T>> make_relaxation(const PressureProblem<T>& problem) {
  return std::make_unique<Relaxation<T>>(problem);
}

template double largest_residual(const PressureProblem<double>&);
template double largest_residual(const PressureProblem<float>&);
template std::unique_ptr<PressureSolver<double>> make_relaxation(const PressureProblem<double>&);
template std::unique_ptr<PressureSolver<float>> make_relaxation(const PressureProblem<float>&);

}  // namespace tutti
