// Restriction and interpolation. Compiles as plain C++ without CUDA.
#include "tutti/models/incompressible/multigrid_transfer.hpp"

#include <algorithm>

#include "tutti/exchange/for_each_cell.hpp"

namespace tutti {
namespace {

template <class T>
struct StoreResidual {
  StencilView<T> g;
  BoxArray to;
  const T *p, *rhs;
  T* residual;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const Lid at[3] = {i, j, k};
    const Lid n = g.array.at(i, j, k);
    T diagonal;
    const T sum = laplacian_neighbours(g, p, n, at, diagonal);
    residual[to.at(i, j, k)] = rhs[n] - (sum - diagonal * p[n]);
  }
};

template <class T>
struct Restrict {
  BoxArray fine, coarse;
  const Lid *begin[3], *end[3], *offset[3];
  const T* weight[3];
  const T* residual;
  T* rhs;
  TUTTI_HD void operator()(Lid i, Lid j, Lid k) const {
    const T* const along_x = weight[0] + (offset[0][i] - begin[0][i]);
    const T* const along_y = weight[1] + (offset[1][j] - begin[1][j]);
    const T* const along_z = weight[2] + (offset[2][k] - begin[2][k]);
    T sum = 0;
    for (Lid z = begin[2][k]; z < end[2][k]; ++z)
      for (Lid y = begin[1][j]; y < end[1][j]; ++y)
        for (Lid x = begin[0][i]; x < end[0][i]; ++x)
          sum += along_z[z] * along_y[y] * along_x[x] * residual[fine.at(x, y, z)];
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
      read.lower[d] = restriction_[d].begin[static_cast<std::size_t>(box.lower[d])];
      read.upper[d] = restriction_[d].end[static_cast<std::size_t>(box.upper[d] - 1)];
    }
    wanted.push_back(difference(read, own));
    stored.push_back(own);
    for (std::size_t d = 0; d < 3 && !box.empty(); ++d) {
      stored.back().lower[d] = std::min(own.lower[d], read.lower[d]);
      stored.back().upper[d] = std::max(own.upper[d], read.upper[d]);
    }
  }
  for (const std::int32_t part : fine.mine) residual_arrays_.push_back({stored[static_cast<std::size_t>(part)]});
  problem_.comm.together([&] {
    residual_ = make_zeros(problem_, residual_arrays_, "residual");
    make_tables();
  });
  residual_transfer_ = std::make_unique<BoxTransfer<T>>(problem_.comm, fine, wanted, residual_arrays_, residual_arrays_,
                                                        true, domain.streams, 1, &domain.transport);
  bind_field(*residual_transfer_, pointers(residual_), pointers(residual_));
  std::vector<Lid> cells;
  for (std::size_t p = 0; p < domain.mine(); ++p) cells.push_back(static_cast<Lid>(fine.box(p).cells()));
  residual_pass_ = std::make_unique<TransferPass<T>>(problem_.threads, domain.streams, cells, residual_transfer_.get());
  restrict_pass_ =
      std::make_unique<BoxPass<T>>(problem_.threads, domain.streams, coarse, nullptr, problem_.overlap);
}

template <class T>
void MultigridTransfer<T>::make_tables() {
  for (const PartStreams& part : problem_.domain.streams) {
    Tables& tables = tables_.emplace_back();
    for (std::size_t d = 0; d < 3; ++d) {
      const LineRestriction& down = restriction_[d];
      const LineInterpolation& up = interpolation_[d];
      tables.begin[d] = upload_list(*part.compute, down.begin);
      tables.end[d] = upload_list(*part.compute, down.end);
      tables.offset[d] = upload_list(*part.compute, down.offset);
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
  ++restrictions_;
  const LevelGrid<T>&fine = fine_.level(), &coarse = coarse_.level();
  residual_pass_->run([&](std::size_t p, Stream& stream, Range range) {
    for_each_cell(stream, fine.parts.box(p), range,
                  StoreResidual<T>{fine_.stencil(p), residual_arrays_[p], fine.p[p], fine.rhs[p], residual_[p].data()});
  });
  restrict_pass_->run([&](std::size_t p, Stream& stream, const CellBox& box, Range range) {
    const Tables& t = tables_[p];
    Restrict<T> kernel{residual_arrays_[p], coarse.arrays[p], {}, {}, {}, {}, residual_[p].data(), coarse.rhs[p]};
    for (std::size_t d = 0; d < 3; ++d) {
      kernel.begin[d] = t.begin[d].data();
      kernel.end[d] = t.end[d].data();
      kernel.offset[d] = t.offset[d].data();
      kernel.weight[d] = t.weight[d].data();
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
  add_counts(counts, residual_transfer_->exchange().counts_per_exchange(), restrictions_);
}

template class MultigridTransfer<double>;
template class MultigridTransfer<float>;

}  // namespace tutti
