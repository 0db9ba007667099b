// Restriction and interpolation. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/multigrid_transfer.hpp"

#include "tutti/exchange/for_each_cell.hpp"

namespace tutti {
namespace {

template <class T>
struct StoreResidual {
  StencilView<T> g;
  const T *p, *rhs;
  T* residual;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k};
    const Lid n = g.array.at(i, j, k);
    T diagonal;
    const T sum = laplacian_neighbours(g, p, n, at, diagonal);
    residual[n] = rhs[n] - (sum - diagonal * p[n]);
  }
};

template <class T>
struct Restrict {
  BoxArray fine, coarse;
  const Lid* first[3];
  const T* share[3];  ///< a fine cell's width over that of its coarse one
  const T* residual;
  T* rhs;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    T sum = 0;
    for (Lid z = first[2][k]; z < first[2][k + 1]; ++z)
      for (Lid y = first[1][j]; y < first[1][j + 1]; ++y)
        for (Lid x = first[0][i]; x < first[0][i + 1]; ++x)
          sum += share[2][z] * share[1][y] * share[0][x] * residual[fine.at(x, y, z)];
    rhs[coarse.at(i, j, k)] = sum;
  }
};

template <class T>
struct Interpolate {
  BoxArray fine, coarse;
  const Lid *parent[3], *neighbour[3];
  const T *parent_weight[3], *neighbour_weight[3];
  const T* from;
  T* p;
  TUTTI_HD T along_x(Lid i, Lid j, Lid k) const {
    return parent_weight[0][i] * from[coarse.at(parent[0][i], j, k)] +
           neighbour_weight[0][i] * from[coarse.at(neighbour[0][i], j, k)];
  }
  TUTTI_HD T along_y(Lid i, Lid j, Lid k) const {
    return parent_weight[1][j] * along_x(i, parent[1][j], k) + neighbour_weight[1][j] * along_x(i, neighbour[1][j], k);
  }
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    p[fine.at(i, j, k)] +=
        parent_weight[2][k] * along_y(i, j, parent[2][k]) + neighbour_weight[2][k] * along_y(i, j, neighbour[2][k]);
  }
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
  BoxDomain& domain = problem_.domain;
  const LevelGrid<T>& from = fine.level();
  problem.comm.together([&] {
    residual_ = make_zeros(problem, from.arrays, "residual");
    make_tables(merged);
  });
  // A coarse cell may have its last fine cells in the next part.
  std::vector<std::vector<CellBox>> wanted;
  for (std::size_t p = 0; p < from.parts.boxes.size(); ++p) {
    const CellBox all = fine_box(merged, coarse.level().parts.boxes[p]);
    wanted.push_back(all.empty() ? std::vector<CellBox>{} : upper_rest(from.parts.boxes[p], all));
  }
  residual_transfer_ = std::make_unique<BoxTransfer<T>>(problem.comm, from.parts, wanted, from.arrays, from.arrays, true,
                                                        domain.streams, 1, &domain.transport);
  bind_field(*residual_transfer_, pointers(residual_), pointers(residual_));
  residual_pass_ = std::make_unique<BoxPass<T>>(problem.threads, domain.streams, from.parts, residual_transfer_.get(),
                                                problem.overlap);
  restrict_pass_ = std::make_unique<BoxPass<T>>(problem.threads, domain.streams, coarse.level().parts, nullptr,
                                                problem.overlap);
}

template <class T>
void MultigridTransfer<T>::make_tables(const CoarseGrid& merged) {
  const LevelGrid<T>&fine = fine_.level(), &coarse = coarse_.level();
  for (const PartStreams& part : problem_.domain.streams) {
    Tables& tables = tables_.emplace_back();
    for (std::size_t d = 0; d < 3; ++d) {
      const GridLine &from = fine.grid.lines[d], &to = coarse.grid.lines[d];
      const LineInterpolation line =
          interpolate_line(from, to, merged.first[d], fine.lines[d].low, fine.lines[d].high);
      std::vector<double> share;
      for (Lid i = 0; i < from.cells(); ++i)
        share.push_back(from.width(i) / to.width(line.parent[static_cast<std::size_t>(i)]));
      tables.first[d] = upload_list(*part.compute, merged.first[d]);
      tables.parent[d] = upload_list(*part.compute, line.parent);
      tables.neighbour[d] = upload_list(*part.compute, line.neighbour);
      tables.share[d] = upload_rounded<T>(*part.compute, share);
      tables.parent_weight[d] = upload_rounded<T>(*part.compute, line.parent_weight);
      tables.neighbour_weight[d] = upload_rounded<T>(*part.compute, line.neighbour_weight);
    }
  }
}

template <class T>
void MultigridTransfer<T>::restrict_residual() {
  const LevelGrid<T>&fine = fine_.level(), &coarse = coarse_.level();
  residual_pass_->run([&](std::size_t p, Stream& stream, const CellBox& box, Range range) {
    for_each_cell(stream, box, range,
                  StoreResidual<T>{fine_.stencil(p), fine.p[p], fine.rhs[p], residual_[p].data()});
  });
  restrict_pass_->run([&](std::size_t p, Stream& stream, const CellBox& box, Range range) {
    const Tables& t = tables_[p];
    Restrict<T> kernel{fine.arrays[p], coarse.arrays[p], {}, {}, residual_[p].data(), coarse.rhs[p]};
    for (std::size_t d = 0; d < 3; ++d) {
      kernel.first[d] = t.first[d].data();
      kernel.share[d] = t.share[d].data();
    }
    for_each_cell(stream, box, range, kernel);
  });
}

template <class T>
void MultigridTransfer<T>::interpolate() {
  const LevelGrid<T>&fine = fine_.level(), &coarse = coarse_.level();
  fine_.run(
      [&](std::size_t p, Stream& stream, const CellBox& box, Range range) {
        const Tables& t = tables_[p];
        Interpolate<T> kernel{fine.arrays[p], coarse.arrays[p], {}, {}, {}, {}, coarse.p[p], fine.p[p]};
        for (std::size_t d = 0; d < 3; ++d) {
          kernel.parent[d] = t.parent[d].data();
          kernel.neighbour[d] = t.neighbour[d].data();
          kernel.parent_weight[d] = t.parent_weight[d].data();
          kernel.neighbour_weight[d] = t.neighbour_weight[d].data();
        }
        for_each_cell(stream, box, range, kernel);
      },
      MultigridLevel<T>::Behind::faces);
}

template <class T>
void MultigridTransfer<T>::add_seconds(std::vector<PartSeconds>& seconds) const {
  add_seconds_of(residual_pass_->step(), seconds);
  add_seconds_of(restrict_pass_->step(), seconds);
}

template <class T>
void MultigridTransfer<T>::add_exchanged(ExchangeCounts& counts) const {
  add_counts(counts, residual_transfer_->exchange().counts_per_exchange(), residual_pass_->runs());
}

template class MultigridTransfer<double>;
template class MultigridTransfer<float>;

}  // namespace tutti
