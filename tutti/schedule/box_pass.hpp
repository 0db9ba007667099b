// One pass over the cells of all parts, and what travels behind it: separators, their journey beside the interior,
// ends.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tutti/exchange/box_transfer.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {

/// The cells of a part that other parts want, in boxes that do not overlap, and the others.
struct PassBoxes {
  std::vector<CellBox> separators;
  CellBox interior;
};
/// Cells beside another part are separators, one layer of them.
PassBoxes pass_boxes(const BoxParts& parts, std::size_t p);

/// A Step of a grid: a kernel over the separators, these travel while it runs over the interior, and at last values
/// beyond the ends of the grid are set, direction after direction. All three overlap policies are those of Step, and
/// all results have the same bits.
template <class T>
class BoxPass {
 public:
  /// Computes the cells of `box` with numbers `range` in it (for_each_cell), of this rank's p-th part.
  using Kernel = std::function<void(std::size_t p, Stream&, const CellBox& box, Range range)>;
  /// Sets values beyond the ends of the grid in direction d; range of [0, cells).
  using Fill = std::function<void(std::size_t p, int d, Stream&, Range range)>;
  /// Cells that Fill has to set for a part in a direction; none where it has no end of the grid.
  using FillCells = std::function<Lid(std::size_t p, int d)>;

  /// Its tasks are called `name` and what they do. Without `transfer` nothing travels; without `fill_cells` nothing is
  /// filled. All must outlive it.
  BoxPass(const std::string& name, Threads& threads, std::span<PartStreams> streams, const BoxParts& parts,
          BoxTransfer<T>* transfer, Overlap overlap, const FillCells& fill_cells = {});

  /// The fields that travel were bound to the transfer. As Step::run_ahead: what the kernels enqueue may still be at
  /// work when it returns; work on a part's compute stream comes behind it. `same_work`: as there, of all that the
  /// kernels, the fills and the transfer's fields are.
  void run(const Kernel& kernel, const Fill& fill = {}, std::uint64_t same_work = 0);
  const Step& step() const { return *step_; }
  Step& step() { return *step_; }
  Size runs() const { return runs_; }

 private:
  std::vector<PassBoxes> boxes_;
  Kernel kernel_;
  Fill fill_;
  std::unique_ptr<Step> step_;
  Size runs_ = 0;
};

/// A Step of work that is not cut into separators and interior, and what travels behind it: a grid that is to be cut
/// another way.
template <class T>
class TransferPass {
 public:
  /// Units of work `range` of [0, units[p]) of this rank's p-th part.
  using Kernel = std::function<void(std::size_t p, Stream&, Range range)>;
  TransferPass(const std::string& name, Threads& threads, std::span<PartStreams> streams, const std::vector<Lid>& units,
               BoxTransfer<T>* transfer);
  /// As BoxPass::run.
  void run(const Kernel& kernel, std::uint64_t same_work = 0);
  const Step& step() const { return *step_; }

 private:
  Kernel kernel_;
  std::unique_ptr<Step> step_;
};

extern template class TransferPass<double>;
extern template class TransferPass<float>;
extern template class BoxPass<double>;
extern template class BoxPass<float>;

}  // namespace tutti
