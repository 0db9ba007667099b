// The operators of a part's stencils on its device, several of them on one array of columns.
#pragma once

#include <span>
#include <string>

#include "tutti/base/parallel.hpp"
#include "tutti/base/raw_vector.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/models/transport/stencils/stencil_rows.hpp"
#include "tutti/schedule/kernels.hpp"

namespace tutti {

struct StencilForm {
  int size = 1;  ///< nodes of a stencil
  int operators = 1;
  Joined joined = Joined::summed;  ///< by velocity: three operators
  StencilKernel kernel = StencilKernel::threads;
};

class SlicedStencils {
 public:
  SlicedStencils() = default;
  /// `stencils`: local numbers, form.size a row, the row itself first. weight(row, d, j): of operator d for node j of
  /// the row's stencil; called by all threads.
  template <class Weight>
  SlicedStencils(Stream& stream, std::span<const Lid> stencils, const StencilForm& form, const Weight& weight,
                 const ParallelFor& parallel = {});

  /// Enqueues update(v, own, rate) for every value v = row * tracers + t of the rows, or adds that to a pass. `along`:
  /// minus the velocity along each row's tangents, two a row; else null.
  template <class Update>
  void apply(Stream& stream, Range rows, int tracers, const double* u, const double* along, const Update& update) const;
  template <class Update>
  void add(Kernels& to, int tracers, const double* u, const double* along, const Update& update) const;

  Lid rows() const { return rows_; }
  int operators() const { return form_.operators; }
  /// Bytes that a pass must move: weights, columns, and 8 for each value that is gathered, read once.
  Size bytes_applied(int tracers) const;

 private:
  void store(Stream& stream, std::span<const double> weights, std::span<const Lid> columns);

  Lid rows_ = 0;
  StencilForm form_;
  int shift_ = 0;
  Buffer<double> weights_;
  Buffer<Lid> columns_;
};

template <class Weight>
SlicedStencils::SlicedStencils(Stream& stream, std::span<const Lid> stencils, const StencilForm& form,
                               const Weight& weight, const ParallelFor& parallel)
    : rows_(static_cast<Lid>(stencils.size() / static_cast<std::size_t>(form.size))),
      form_(form),
      shift_(stencil_slice_shift(stream.device().is_host(), form.kernel)) {
  const int size = form.size, operators = form.operators;
  const Size lanes = Size{1} << shift_, slices = (rows_ + lanes - 1) / lanes, entries = size - 1;
  RawVector<double> weights(static_cast<std::size_t>(slices * entries * lanes * operators));
  RawVector<Lid> columns(static_cast<std::size_t>(slices * entries * lanes));
  for_ranges(parallel, slices, [&](Size begin, Size end) {
    for (Size s = begin; s < end; ++s)
      for (Size j = 0; j < entries; ++j)
        for (Size lane = 0; lane < lanes; ++lane) {
          const Size at = (s * entries + j) * lanes, row = s * lanes + lane;
          const bool there = row < rows_;  // rows past the end fill up the last slice: weights of 0 on row 0
          columns[at + lane] = there ? stencils[row * size + j + 1] : 0;
          for (int d = 0; d < operators; ++d)
            weights[at * operators + d * lanes + lane] =
                there ? weight(static_cast<std::size_t>(row), d, static_cast<std::size_t>(j + 1)) : 0.0;
        }
  });
  store(stream, weights, columns);
}

}  // namespace tutti
