// One grid of a multigrid method, cut into the same parts as the finest, and relaxation on it.
#pragma once

#include <memory>
#include <vector>

#include "tutti/models/incompressible/pressure/grid_coarsening.hpp"
#include "tutti/models/incompressible/pressure/pressure.hpp"
#include "tutti/models/incompressible/pressure/relaxation_kernel.hpp"

namespace tutti::incompressible {

/// A grid and the boxes of its parts; a part of a coarse grid may have no cell of its own.
template <class T>
struct LevelGrid {
  BoxGrid grid;
  std::array<Line, 3> lines;
  BoxParts parts;
  std::vector<CellBox> stored;  ///< of all parts: their cells and what is wanted around them
  // One entry a part of this rank:
  std::vector<BoxArray> arrays;
  std::vector<T*> p, rhs;
};

/// lap p = rhs on one grid. Values of p behind the faces of the boxes are up to date between calls, and in all that is
/// stored where that was asked for. What is beyond the ends of the grid is never used, but must be a number. All
/// members are collective. Results have the same bits however the grid is cut.
template <class T>
class MultigridLevel {
 public:
  /// The finest: p and rhs are those of the problem.
  explicit MultigridLevel(const PressureProblem<T>& problem);
  /// A coarser one than `finer`.
  MultigridLevel(const PressureProblem<T>& problem, const LevelGrid<T>& finer, const CoarseGrid& coarse);

  /// What is up to date of p behind a pass.
  enum class Behind : std::uint8_t { faces, all };
  /// Half a sweep of red-black relaxation: cells of one colour.
  void sweep(Lid colour, Behind behind);
  /// The first one, of colour 0, as if p had been 0.
  void sweep_from_zero();
  /// Computes p: add(part, kernels).
  template <class Add>
  void run(Behind behind, const Add& add) {
    (behind == Behind::faces ? *faces_pass_ : *all_pass_).run(add);
  }
  /// |lap p - rhs| of largest magnitude, of all parts of all ranks.
  double largest_residual();
  /// Largest |rhs|.
  double largest_rhs() { return largest_magnitude(level_.rhs); }
  /// What a unit of rounding in each p can make of lap p.
  double rounding();

  const LevelGrid<T>& level() const { return level_; }
  StencilView<T> stencil(std::size_t p) const;
  std::vector<const Step*> steps() const { return {&faces_pass_->step(), &all_pass_->step()}; }
  void add_exchanged(ExchangeCounts& counts) const;

 private:
  struct Stencil {
    std::array<Buffer<T>, 3> lower, upper, diagonal;
  };
  void make_stencils();
  void make_passes();
  template <class F>
  double largest(const F& of_part);
  double largest_magnitude(const std::vector<T*>& field);

  PressureProblem<T> problem_;
  LevelGrid<T> level_;
  double omega_ = 1;
  std::vector<Buffer<T>> own_p_, own_rhs_;  ///< empty on the finest
  std::vector<Stencil> stencils_;
  std::unique_ptr<BoxTransfer<T>> faces_, all_;
  std::unique_ptr<Pass> faces_pass_;
  std::unique_ptr<Pass> all_pass_;  ///< a part without cells wants some that are no separators
};

/// Arrays of 0, one a part of this rank.
template <class T>
std::vector<Buffer<T>> make_zeros(const PressureProblem<T>& problem, const std::vector<BoxArray>& arrays,
                                  const char* name);
/// The arrays' addresses.
template <class T>
std::vector<T*> pointers(std::vector<Buffer<T>>& buffers) {
  std::vector<T*> result;
  for (Buffer<T>& buffer : buffers) result.push_back(buffer.data());
  return result;
}
/// One field, of all parts of this rank, is what travels from now on.
template <class T>
void bind_field(BoxTransfer<T>& transfer, const std::vector<T*>& from, const std::vector<T*>& to) {
  for (std::size_t p = 0; p < to.size(); ++p) {
    const T* const source = from[p];
    T* const target = to[p];
    transfer.bind(p, std::span<const T* const>(&source, 1), std::span<T* const>(&target, 1));
  }
}

}  // namespace tutti::incompressible
