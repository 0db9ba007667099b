// Restriction and interpolation. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/pressure/multigrid_transfer.hpp"

#include <algorithm>
#include <cmath>

#include "tutti/base/mpi/over_ranks.hpp"
#include "tutti/device/sums/reduce.hpp"
#include "tutti/exchange/for_each_cell.hpp"

namespace tutti::incompressible {
namespace {

template <class T>
struct StoreResidual {
  StencilView<T> g;
  BoxArray to;
  const T *p, *rhs;
  T* residual;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid n = g.array.at(i, j, k);
    const StencilRow<T> row(g, j, k);
    residual[to.at(i, j, k)] = rhs[n] - (row.neighbours(p + n, i) - row.centre(i) * p[n]);
  }
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    const StencilRow<T> row(g, j, k);
    const Lid n = g.array.at(0, j, k);
    const T *const at = p + n, *const f = rhs + n;
    T* const result = residual + to.at(0, j, k);
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = begin; i < end; ++i) result[i] = f[i] - (row.neighbours(at + i, i) - row.centre(i) * at[i]);
  }
};

template <class T>
struct Restrict {
  BoxArray fine, coarse;
  int count[3];
  Lid cells[3];  ///< of the coarse grid
  const Lid* cell[3];
  const T* weight[3];
  const T* residual;
  T* rhs;
  /// use(weight, line of residuals) for all fine lines that belong to the coarse line (j, k).
  template <class Use>
  TUTTI_HD void for_lines(Lid j, Lid k, const Use& use) const {
    for (int z = 0; z < count[2]; ++z)
      for (int y = 0; y < count[1]; ++y) {
        const Lid at_z = z * cells[2] + k, at_y = y * cells[1] + j;
        use(weight[2][at_z] * weight[1][at_y], residual + fine.at(0, cell[1][at_y], cell[2][at_z]));
      }
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    T sum = 0;
    for_lines(j, k, [&](T factor, const T* from) {
      for (int x = 0; x < count[0]; ++x) {
        const Lid at_x = x * cells[0] + i;
        sum += factor * weight[0][at_x] * from[cell[0][at_x]];
      }
    });
    rhs[coarse.at(i, j, k)] = sum;
  }
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    T* const to = rhs + coarse.at(0, j, k);
    for (Lid i = begin; i < end; ++i) to[i] = 0;
    for_lines(j, k, [&](T factor, const T* from) {
      for (int x = 0; x < count[0]; ++x) {
        const Lid* const which = cell[0] + x * cells[0];
        const T* const share = weight[0] + x * cells[0];
#if defined(_OPENMP)
#pragma omp simd
#endif
        for (Lid i = begin; i < end; ++i) to[i] += factor * share[i] * from[which[i]];
      }
    });
  }
};

template <class T>
struct Interpolate {
  BoxArray fine, coarse;
  const Lid *parent[3], *neighbour[3];
  const T *parent_weight[3], *neighbour_weight[3];
  const T* from;
  T* p;
  /// From the four lines of coarse cells around the fine line (j, k).
  struct Lines {
    const T* from[4];
    T weight[4];
    TUTTI_HD T at(Lid c) const {
      return weight[0] * from[0][c] + weight[1] * from[1][c] + (weight[2] * from[2][c] + weight[3] * from[3][c]);
    }
  };
  TUTTI_HD Lines lines(Lid j, Lid k) const {
    Lines lines;
    for (int n = 0; n < 4; ++n) {
      const Lid y = n % 2 == 0 ? parent[1][j] : neighbour[1][j], z = n / 2 == 0 ? parent[2][k] : neighbour[2][k];
      lines.from[n] = from + coarse.at(0, y, z);
      lines.weight[n] = (n % 2 == 0 ? parent_weight[1][j] : neighbour_weight[1][j]) *
                        (n / 2 == 0 ? parent_weight[2][k] : neighbour_weight[2][k]);
    }
    return lines;
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lines around = lines(j, k);
    p[fine.at(i, j, k)] +=
        parent_weight[0][i] * around.at(parent[0][i]) + neighbour_weight[0][i] * around.at(neighbour[0][i]);
  }
  void line(Lid begin, Lid end, Lid j, Lid k) const {
    const Lines around = lines(j, k);
    const Lid *const one = parent[0], *const other = neighbour[0];
    const T *const weight_one = parent_weight[0], *const weight_other = neighbour_weight[0];
    T* const to = p + fine.at(0, j, k);
#if defined(_OPENMP)
#pragma omp simd
#endif
    for (Lid i = begin; i < end; ++i)
      to[i] += weight_one[i] * around.at(one[i]) + weight_other[i] * around.at(other[i]);
  }
};

/// Of everything that is stored: cells of other parts are copies.
template <class T>
struct Magnitude {
  const T* values;
  TUTTI_HD double operator()(Lid n) const { return std::fabs(static_cast<double>(values[n])); }
};

Buffer<Lid> upload_list(Stream& stream, const std::vector<Lid>& values) {
  return make_buffer(stream, std::span<const Lid>(values), "cells of a coarser grid");
}
template <class T>
Buffer<T> upload_rounded(Stream& stream, const std::vector<double>& values) {
  const std::vector<T> list(values.begin(), values.end());
  return make_buffer(stream, std::span<const T>(list), "weights of a coarser grid");
}

}  // namespace

template <class T>
MultigridTransfer<T>::MultigridTransfer(const PressureProblem<T>& problem, MultigridLevel<T>& fine,
                                        MultigridLevel<T>& coarse, const CoarseGrid& merged)
    : problem_(problem), fine_(fine), coarse_(coarse) {
  make_lines(merged);
  make_passes();
}

template <class T>
void MultigridTransfer<T>::make_lines(const CoarseGrid& merged) {
  const LevelGrid<T>&fine = fine_.level(), &coarse = coarse_.level();
  int directions = 0;
  for (std::size_t d = 0; d < 3; ++d) directions += coarse.parts.cells[d] < fine.parts.cells[d] ? 1 : 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const GridLine &from = fine.grid.lines[d], &to = coarse.grid.lines[d];
    interpolation_[d] = interpolate_line(from, to, merged.first[d], fine.lines[d].low, fine.lines[d].high);
    restriction_[d] = restrict_line(from, to, merged.first[d], interpolation_[d], directions == 1);
  }
}

template <class T>
void MultigridTransfer<T>::make_passes() {
  BoxDomain& domain = problem_.domain;
  const BoxParts &fine = fine_.level().parts, &coarse = coarse_.level().parts;
  // The fine cells of a coarse one may lie in several parts.
  std::vector<std::vector<CellBox>> wanted;
  std::vector<CellBox> stored;
  for (std::size_t p = 0; p < fine.boxes.size(); ++p) {
    const CellBox &box = coarse.boxes[p], &own = fine.boxes[p];
    CellBox read;
    for (std::size_t d = 0; d < 3 && !box.empty(); ++d) {
      read.lower[d] = restriction_[d].begin[box.lower[d]];
      read.upper[d] = restriction_[d].end[box.upper[d] - 1];
    }
    wanted.push_back(difference(read, own));
    stored.push_back(own);
    for (std::size_t d = 0; d < 3 && !box.empty(); ++d) {
      stored.back().lower[d] = std::min(own.lower[d], read.lower[d]);
      stored.back().upper[d] = std::max(own.upper[d], read.upper[d]);
    }
  }
  for (const std::int32_t part : fine.mine) residual_arrays_.push_back({stored[part]});
  problem_.comm.together([&] {
    residual_ = make_zeros(problem_, residual_arrays_, "residual");
    make_tables();
  });
  residual_transfer_ = std::make_unique<BoxTransfer<T>>(problem_.comm, fine, wanted, residual_arrays_, residual_arrays_,
                                                        true, domain.streams, 1, &domain.routing);
  bind_field(*residual_transfer_, pointers(residual_), pointers(residual_));
  const auto pass = [&](const char* name, std::vector<PassPart> parts, BoxTransfer<T>* halo) {
    return std::make_unique<Pass>(name, problem_.threads, domain.streams, std::move(parts), halo, problem_.overlap);
  };
  residual_pass_ = pass("residual", whole_pass_parts(fine), residual_transfer_.get());
  restrict_pass_ = pass("restriction", box_pass_parts(coarse), nullptr);
}

template <class T>
void MultigridTransfer<T>::make_tables() {
  for (const PartStreams& part : problem_.domain.streams) {
    Tables& tables = tables_.emplace_back();
    for (std::size_t d = 0; d < 3; ++d) {
      const LineRestriction& down = restriction_[d];
      const LineInterpolation& up = interpolation_[d];
      tables.cell[d] = upload_list(*part.compute, down.cell);
      tables.weight[d] = upload_rounded<T>(*part.compute, down.weight);
      tables.parent[d] = upload_list(*part.compute, up.parent);
      tables.neighbour[d] = upload_list(*part.compute, up.neighbour);
      tables.parent_weight[d] = upload_rounded<T>(*part.compute, up.parent_weight);
      tables.neighbour_weight[d] = upload_rounded<T>(*part.compute, up.neighbour_weight);
    }
  }
}

template <class T>
void MultigridTransfer<T>::restrict_residual() {
  store_residual();
  restrict_stored();
}

template <class T>
void MultigridTransfer<T>::store_residual() {
  const LevelGrid<T>& fine = fine_.level();
  residual_pass_->run([&](std::size_t p, Kernels& to) {
    to.add(on_cells<T>(
        StoreResidual<T>{fine_.stencil(p), residual_arrays_[p], fine.p[p], fine.rhs[p], residual_[p].data()}));
  });
}

template <class T>
double MultigridTransfer<T>::largest_residual() {
  double result = 0;
  for (std::size_t p = 0; p < residual_.size(); ++p) {
    if (residual_[p].empty()) continue;
    const double mine = max_value(*problem_.domain.streams[p].compute, Range{0, static_cast<Lid>(residual_[p].size())},
                                  Magnitude<T>{residual_[p].data()});
    result = std::isnan(mine) || mine > result ? mine : result;
  }
  return max_over_ranks(problem_.comm, result);
}

template <class T>
void MultigridTransfer<T>::restrict_stored() {
  const LevelGrid<T>& coarse = coarse_.level();
  restrict_pass_->run([&](std::size_t p, Kernels& to) {
    const Tables& t = tables_[p];
    Restrict<T> kernel{residual_arrays_[p], coarse.arrays[p], {}, {}, {}, {}, residual_[p].data(), coarse.rhs[p]};
    for (std::size_t d = 0; d < 3; ++d) {
      kernel.count[d] = restriction_[d].count;
      kernel.cells[d] = coarse.parts.cells[d];
      kernel.cell[d] = t.cell[d].data();
      kernel.weight[d] = t.weight[d].data();
    }
    to.add(on_cells<T>(kernel));
  });
}

template <class T>
void MultigridTransfer<T>::interpolate() {
  const LevelGrid<T>&fine = fine_.level(), &coarse = coarse_.level();
  fine_.run(MultigridLevel<T>::Behind::faces, [&](std::size_t p, Kernels& to) {
    const Tables& t = tables_[p];
    Interpolate<T> kernel{fine.arrays[p], coarse.arrays[p], {}, {}, {}, {}, coarse.p[p], fine.p[p]};
    for (std::size_t d = 0; d < 3; ++d) {
      kernel.parent[d] = t.parent[d].data();
      kernel.neighbour[d] = t.neighbour[d].data();
      kernel.parent_weight[d] = t.parent_weight[d].data();
      kernel.neighbour_weight[d] = t.neighbour_weight[d].data();
    }
    to.add(on_cells<T>(kernel));
  });
}

template <class T>
void MultigridTransfer<T>::add_exchanged(ExchangeCounts& counts) const {
  add_counts(counts, residual_transfer_->counts_per_exchange(), residual_pass_->runs());
}

template class MultigridTransfer<double>;
template class MultigridTransfer<float>;

}  // namespace tutti::incompressible
