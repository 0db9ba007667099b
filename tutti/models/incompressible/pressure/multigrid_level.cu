// Relaxation on one grid. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/pressure/multigrid_level.hpp"

#include <algorithm>
#include <limits>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/device/sums/reduce.hpp"
#include "tutti/device/zeros.hpp"
#include "tutti/exchange/for_each_cell.hpp"
#include "tutti/models/incompressible/pressure/direct/direct_layout.hpp"

namespace tutti::incompressible {
namespace {

/// Over-relaxation of the smoother (Yavneh, SIAM J. Sci. Comput. 17, 1996). What is best depends on the number of
/// directions that are coupled as strongly as the strongest: for one 1; measured on cubes and squares, 1.17 for two and
/// 1.25 for three. Local where the grid is stretched: its mean is taken, over samples.
double smoothing_omega(const BoxGrid& grid) {
  constexpr Lid samples = 16;
  std::array<std::vector<double>, 3> couplings;
  bool seam = false;
  for (std::size_t d = 0; d < 3; ++d) {
    const GridLine& line = grid.lines[d];
    const Lid n = line.cells(), count = std::min(n, samples);
    for (Lid s = 0; s < count; ++s) {
      const double width = line.width(static_cast<Lid>((Size{2 * s + 1} * n) / (2 * count)));
      couplings[d].push_back(n > 1 ? 1 / (width * width) : 0);
    }
    seam = seam || (line.periodic && n % 2 == 1 && n > 1);
  }
  double sum = 0;
  for (const double x : couplings[0])
    for (const double y : couplings[1])
      for (const double z : couplings[2]) sum += (x + y + z) / std::max({x, y, z});
  const double directions = sum / static_cast<double>(couplings[0].size() * couplings[1].size() * couplings[2].size());
  if (!(directions > 1)) return 1;
  const double omega = directions < 2 ? 1 + 0.17 * (directions - 1) : 1.17 + 0.08 * (directions - 2);
  // With an odd number of cells in a period two neighbours have the same colour.
  return seam ? std::min(omega, 1.15) : omega;
}

template <class T>
struct SweepFromZero {
  StencilView<T> g;
  T* p;
  const T* rhs;
  T omega;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid n = g.array.at(i, j, k);
    const T diagonal = StencilRow<T>(g, j, k).centre(i);
    p[n] = ((i + j + k) & 1) == 0 ? -(omega * rhs[n]) / diagonal : T(0);
  }
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    const StencilRow<T> row(g, j, k);
    const Lid n = g.array.at(0, j, k), parity = (j + k) & 1;
    T* const to = p + n;
    const T* const f = rhs + n;
    const T factor = omega;
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = begin; i < end; ++i) to[i] = (i & 1) == parity ? -(factor * f[i]) / row.centre(i) : T(0);
  }
};

template <class T>
struct Magnitude {
  BoxArray array;
  CellBox box;
  const T* values;
  TUTTI_HD double operator()(Lid r) const {
    const Lid nx = box.size(0), ny = box.size(1);
    const Lid n = array.at(box.lower[0] + r % nx, box.lower[1] + r / nx % ny, box.lower[2] + r / nx / ny);
    return std::fabs(static_cast<double>(values[n]));
  }
};

template <class T>
Buffer<T> rounded(Stream& stream, const std::vector<double>& values, double factor) {
  std::vector<T> list;
  for (const double v : values) list.push_back(static_cast<T>(factor * v));
  return make_buffer(stream, std::span<const T>(list), "Laplacian of a line");
}

}  // namespace

template <class T>
std::vector<Buffer<T>> make_zeros(const PressureProblem<T>& problem, const std::vector<BoxArray>& arrays,
                                  const char* name) {
  std::vector<Buffer<T>> buffers;
  for (std::size_t p = 0; p < arrays.size(); ++p)
    buffers.push_back(make_zeros<T>(*problem.domain.streams[p].compute, arrays[p].values(), name));
  return buffers;
}

template <class T>
MultigridLevel<T>::MultigridLevel(const PressureProblem<T>& problem) : problem_(problem) {
  level_.grid = problem.domain.grid;
  level_.parts = problem.domain.parts;
  for (const CellBox& box : level_.parts.boxes) level_.stored.push_back(grown(box, 1));
  level_.arrays = problem.domain.arrays;
  for (FlowPart<T>& part : problem.parts) {
    level_.p.push_back(part.p.data());
    level_.rhs.push_back(part.rhs.data());
  }
  make_stencils();
  make_passes();
}

template <class T>
MultigridLevel<T>::MultigridLevel(const PressureProblem<T>& problem, const LevelGrid<T>& finer,
                                  const CoarseGrid& coarse)
    : problem_(problem) {
  level_.grid = coarse.grid;
  level_.parts = finer.parts;
  level_.parts.cells = coarse.grid.cells();
  for (CellBox& box : level_.parts.boxes) {
    level_.stored.push_back(coarse_reach(coarse, box));
    box = coarse_box(coarse, box);
  }
  for (const std::int32_t part : level_.parts.mine) level_.arrays.push_back({level_.stored[part]});
  problem.comm.together([&] {
    own_p_ = make_zeros(problem, level_.arrays, "pressure, a coarser grid");
    own_rhs_ = make_zeros(problem, level_.arrays, "residual, of a finer grid");
  });
  level_.p = pointers(own_p_);
  level_.rhs = pointers(own_rhs_);
  make_stencils();
  make_passes();
}

template <class T>
void MultigridLevel<T>::make_stencils() {
  for (std::size_t d = 0; d < 3; ++d)
    level_.lines[d] = pressure_line(problem_.flow, level_.grid.lines[d], static_cast<int>(d));
  omega_ = smoothing_omega(level_.grid);
  problem_.comm.together([&] {
    for (const PartStreams& part : problem_.domain.streams) {
      Stencil& stencil = stencils_.emplace_back();
      for (std::size_t d = 0; d < 3; ++d) {
        const LineOperator line = line_operator(level_.lines[d]);
        stencil.lower[d] = rounded<T>(*part.compute, line.lower, 1);
        stencil.upper[d] = rounded<T>(*part.compute, line.upper, 1);
        stencil.diagonal[d] = rounded<T>(*part.compute, line.diagonal, -1);
      }
    }
  });
}

template <class T>
void MultigridLevel<T>::make_passes() {
  BoxDomain& domain = problem_.domain;
  std::vector<std::vector<CellBox>> faces, all;
  for (std::size_t p = 0; p < level_.stored.size(); ++p) {
    const CellBox& box = level_.parts.boxes[p];
    faces.push_back(faces_around(box));
    all.push_back(box.empty() ? std::vector<CellBox>{level_.stored[p]} : ring_around(box));
  }
  const auto make = [&](const auto& wanted) {
    auto transfer = std::make_unique<BoxTransfer<T>>(problem_.comm, level_.parts, wanted, level_.arrays, level_.arrays,
                                                     true, domain.streams, 1, &domain.routing);
    bind_field(*transfer, level_.p, level_.p);
    return transfer;
  };
  faces_ = make(faces);
  all_ = make(all);
  const auto size = level_.grid.cells();
  const std::string name = fmt::format("{} x {} x {}", size[0], size[1], size[2]);
  const auto pass = [&](std::vector<PassPart> parts, BoxTransfer<T>* halo) {
    return std::make_unique<Pass>(name, problem_.threads, domain.streams, std::move(parts), halo, problem_.overlap);
  };
  faces_pass_ = pass(box_pass_parts(level_.parts), faces_.get());
  all_pass_ = pass(whole_pass_parts(level_.parts), all_.get());
}

template <class T>
StencilView<T> MultigridLevel<T>::stencil(std::size_t p) const {
  StencilView<T> view{level_.arrays[p], {}};
  const Stencil& from = stencils_[p];
  for (std::size_t d = 0; d < 3; ++d)
    view.line[d] = {from.lower[d].data(), from.upper[d].data(), from.diagonal[d].data()};
  return view;
}

template <class T>
void MultigridLevel<T>::sweep(Lid colour, Behind behind) {
  run(behind, [&](std::size_t p, Kernels& to) {
    to.add(on_cells<T>(
        RedBlackSweep<T, StencilView>{stencil(p), level_.p[p], level_.rhs[p], static_cast<T>(omega_), colour}));
  });
}

template <class T>
void MultigridLevel<T>::sweep_from_zero() {
  run(Behind::faces, [&](std::size_t p, Kernels& to) {
    to.add(on_cells<T>(SweepFromZero<T>{stencil(p), level_.p[p], level_.rhs[p], static_cast<T>(omega_)}));
  });
}

template <class T>
template <class F>
double MultigridLevel<T>::largest(const F& of_part) {
  double result = 0;
  for (std::size_t p = 0; p < level_.p.size(); ++p) {
    const CellBox& box = level_.parts.box(p);
    if (box.empty()) continue;
    const double mine =
        max_value(*problem_.domain.streams[p].compute, Range{0, static_cast<Lid>(box.cells())}, of_part(p, box));
    result = std::isnan(mine) || mine > result ? mine : result;
  }
  return max_over_ranks(problem_.comm, result);
}

template <class T>
double MultigridLevel<T>::largest_residual() {
  return largest([this](std::size_t p, const CellBox& box) {
    return Residual<T, StencilView>{stencil(p), box, level_.p[p], level_.rhs[p]};
  });
}

template <class T>
double MultigridLevel<T>::largest_magnitude(const std::vector<T*>& field) {
  return largest([&](std::size_t p, const CellBox& box) { return Magnitude<T>{level_.arrays[p], box, field[p]}; });
}

template <class T>
double MultigridLevel<T>::rounding() {
  double norm = 0;
  for (const Line& line : level_.lines) norm -= 2 * std::ranges::min(line_operator(line).diagonal);
  return norm * largest_magnitude(level_.p) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
void MultigridLevel<T>::add_exchanged(ExchangeCounts& counts) const {
  add_counts(counts, faces_->counts_per_exchange(), faces_pass_->runs());
  add_counts(counts, all_->counts_per_exchange(), all_pass_->runs());
}

#define TUTTI_INSTANTIATE(T)                                                                                        \
  template std::vector<Buffer<T>> make_zeros(const PressureProblem<T>&, const std::vector<BoxArray>&, const char*); \
  template class MultigridLevel<T>;
TUTTI_INSTANTIATE(double)
TUTTI_INSTANTIATE(float)
#undef TUTTI_INSTANTIATE

}  // namespace tutti::incompressible
