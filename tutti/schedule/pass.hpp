// One pass over the rows of all parts, and what travels behind it: separators, their exchange
// overlapped with the interior, ends.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/exchange/box_transfer.hpp"
#include "tutti/schedule/kernels.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti {

/// Rows of a part; on a grid the cells of a box with numbers `range`.
struct PassRows {
  Range range;
  CellBox box;
};
inline PassRows all_cells(const CellBox& box) {
  return {{0, static_cast<Lid>(box.cells())}, box};
}

/// How the work of a part is cut.
struct PassPart {
  std::vector<PassRows> separators;  ///< what the halo of others waits for; they do not overlap
  std::optional<PassRows> interior;  ///< beside which it travels
  std::array<Lid, 3> ends{};         ///< of a grid: cells to fill beyond its ends, by direction
  /// Work behind the separators, piece after piece, each with a halo of its own that travels beside the pieces to come.
  std::vector<PassRows> pieces = {};
};
/// What a piece of a pass waits for.
enum class PieceOrder : std::uint8_t {
  computed,  ///< the separators and pieces before it
  /// The pieces before it, and what their halos bring to its part: work that passes from part to part. Halos of pieces
  /// do not wait until the receiver has read what the same cells held before: it must have told the sender something
  /// since, in this pass or another, so that the sender comes later. Separators run beside the pieces, and so does the
  /// interior, behind the separators' halo.
  arrived,
};
/// The parts of a mesh by their maps: independent rows are its interior.
std::vector<PassPart> row_pass_parts(std::span<const IndexMap> maps);
/// The parts of a grid: cells beside another part are separators, one layer of them. `ends`: what is filled of this
/// rank's p-th part in direction d.
std::vector<PassPart> box_pass_parts(const BoxParts& parts, const std::function<Lid(std::size_t p, int d)>& ends = {});
/// Work that is not cut, and its halo travels behind it: so many units of it a part, or all cells.
std::vector<PassPart> whole_pass_parts(const std::vector<Lid>& units);
std::vector<PassPart> whole_pass_parts(const BoxParts& parts);

/// A Step of one kernel, or some, a part: over the separators, whose halo travels while they run over the interior; at
/// last values beyond the ends of a grid are set, direction after direction. All overlap policies are those of Step,
/// and all results have the same bits.
///
/// Where no task needs the host a run that comes again is a captured graph (Step::run_ahead). Its key is made of the
/// kernels' members and the fields that travel, so that one is launched only for the same work on the same arrays.
class Pass {
 public:
  /// Its tasks are called `name` and what they do. Halo: an Exchange of the rows of all parts, or a BoxTransfer; null:
  /// nothing travels. It is bound before each run, and outlives this as the other arguments do. row_cost: as Step.
  template <class Halo>
  Pass(const std::string& name, Threads& threads, std::span<PartStreams> streams, std::vector<PassPart> parts,
       Halo* halo, Overlap overlap, int row_cost = 1)
      : Pass(name, threads, streams, std::move(parts), std::vector<Halo*>{halo}, overlap, row_cost) {}
  /// halos: of the separators, then of each piece; null: nothing travels behind it.
  template <class Halo>
  Pass(const std::string& name, Threads& threads, std::span<PartStreams> streams, std::vector<PassPart> parts,
       std::vector<Halo*> halos, Overlap overlap, int row_cost = 1, PieceOrder order = PieceOrder::computed);
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  /// add(p, kernels) adds what this rank's p-th part computes; fill(p, d, kernels) what sets the values beyond its ends
  /// in direction d, where it has some: rows are [0, PassPart::ends[d]). As Step::run_ahead: all of it may still be at
  /// work when this returns; work on a part's compute stream comes behind it.
  template <class Add, class Fill>
  void run(const Add& add, const Fill& fill) {
    key_.clear();
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      add(p, next_kernels(p, 0));
      for (int d = 0; d < 3; ++d)
        if (parts_[p].ends[d] > 0) fill(p, d, next_kernels(p, 1 + d));
    }
    enqueue();
  }
  template <class Add>
  void run(const Add& add) {
    run(add, [](std::size_t, int, Kernels&) {});
  }
  /// For passes whose numbers are others nearly every time: then nothing is captured.
  void never_capture() { captures_ = false; }

  const Step& step() const { return *step_; }
  Step& step() { return *step_; }
  Size runs() const { return runs_; }

 private:
  Kernels& next_kernels(std::size_t p, int place);
  void enqueue();

  std::vector<PassPart> parts_;
  std::vector<std::array<Kernels, 4>> kernels_;       ///< of the rows, and of the ends by direction
  std::vector<char> key_;                             ///< of the run that is made
  std::function<void(std::vector<char>&)> add_halo_;  ///< the fields that travel
  bool captures_ = true;
  std::unique_ptr<Step> step_;
  Size runs_ = 0;
};

}  // namespace tutti
