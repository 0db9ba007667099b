#include "tutti/schedule/box_pass.hpp"

namespace tutti {
namespace {

Range all_of(Gid cells) {
  return {0, static_cast<Lid>(cells)};
}

using TaskLists = std::vector<std::vector<TaskId>>;  // one a part

/// Gathers what the parts send once they have computed it, and sends it.
template <class T>
std::vector<TaskId> add_departure(const std::string& name, Step& step, BoxTransfer<T>* transfer,
                                  const TaskLists& computed) {
  if (transfer == nullptr || !transfer->travels()) return {};
  std::vector<TaskId> packs;
  for (std::size_t p = 0; p < computed.size(); ++p) {
    packs.push_back(step.compute(name + " gather", static_cast<int>(p), Step::Role::separator,
                                 all_of(transfer->packed(p)),
                                 [transfer, p](Stream& stream, Range range) { transfer->pack(p, stream, range); }));
    for (const TaskId task : computed[p]) step.after(packs[p], task);
  }
  return step.exchange(transfer->exchange(), packs);
}

/// Puts what has arrived in its place; `before`: what a part's arrays are in use by until then, and then this.
template <class T>
void add_arrival(const std::string& name, Step& step, BoxTransfer<T>* transfer, const std::vector<TaskId>& exchanged,
                 TaskLists& before) {
  for (std::size_t p = 0; p < before.size() && transfer != nullptr; ++p) {
    if (transfer->unpacked(p) == 0) continue;
    const int part = static_cast<int>(p);
    const TaskId unpack =
        step.compute(name + " scatter", part, Step::Role::other, all_of(transfer->unpacked(p)),
                     [transfer, p](Stream& stream, Range range) { transfer->unpack(p, stream, range); });
    // What has arrived for this part; a link moves the cells of all parts at once.
    for (std::size_t i = 0; i < exchanged.size(); ++i) {
      const ExchangeOp& op = transfer->exchange().operations()[i];
      if ((op.part == part && op.kind != ExchangeOp::Kind::send) || op.abandon) step.after(unpack, exchanged[i]);
    }
    for (const TaskId task : before[p]) step.after(unpack, task);
    before[p] = {unpack};
  }
}

}  // namespace

PassBoxes pass_boxes(const BoxParts& parts, std::size_t p) {
  PassBoxes result;
  const CellBox& box = parts.box(p);
  if (box.empty()) return result;
  CellBox rest = box;
  for (std::size_t d = 3; d-- > 0;) {
    const bool whole = box.size(static_cast<int>(d)) == parts.cells[d];
    const auto cut_off = [&](Lid from, Lid to) {
      CellBox layer = rest;
      layer.lower[d] = from;
      layer.upper[d] = to;
      if (!layer.empty()) result.separators.push_back(layer);
    };
    if (!whole && (box.lower[d] > 0 || parts.periodic[d])) {
      cut_off(rest.lower[d], rest.lower[d] + 1);
      ++rest.lower[d];
    }
    if (!whole && (box.upper[d] < parts.cells[d] || parts.periodic[d]) && rest.size(static_cast<int>(d)) > 0) {
      cut_off(rest.upper[d] - 1, rest.upper[d]);
      --rest.upper[d];
    }
  }
  result.interior = rest;
  return result;
}

template <class T>
BoxPass<T>::BoxPass(const std::string& name, Threads& threads, std::span<PartStreams> streams, const BoxParts& parts,
                    BoxTransfer<T>* transfer, Overlap overlap, const FillCells& fill_cells)
    : step_(std::make_unique<Step>(threads, streams)) {
  const std::size_t count = streams.size();
  TaskLists separators(count), before(count);
  for (std::size_t p = 0; p < count; ++p) {
    boxes_.push_back(pass_boxes(parts, p));
    for (std::size_t s = 0; s < boxes_[p].separators.size(); ++s)
      separators[p].push_back(step_->compute(
          name + " separator", static_cast<int>(p), Step::Role::separator, all_of(boxes_[p].separators[s].cells()),
          [this, p, s](Stream& stream, Range range) { kernel_(p, stream, boxes_[p].separators[s], range); }));
  }
  const auto exchanged = add_departure(name, *step_, transfer, separators);
  for (std::size_t p = 0; p < count; ++p) {
    before[p] = separators[p];
    before[p].push_back(step_->compute(
        name + " interior", static_cast<int>(p), Step::Role::interior, all_of(boxes_[p].interior.cells()),
        [this, p](Stream& stream, Range range) { kernel_(p, stream, boxes_[p].interior, range); }));
  }
  add_arrival(name, *step_, transfer, exchanged, before);
  for (std::size_t p = 0; p < count; ++p)
    for (int d = 0; d < 3 && fill_cells; ++d) {
      const Lid cells = fill_cells(p, d);
      if (cells == 0) continue;
      const TaskId fill = step_->compute(name + " ends", static_cast<int>(p), Step::Role::other, {0, cells},
                                         [this, p, d](Stream& stream, Range range) { fill_(p, d, stream, range); });
      for (const TaskId task : before[p]) step_->after(fill, task);
      before[p] = {fill};
    }
  step_->finish(overlap);
}

template <class T>
TransferPass<T>::TransferPass(const std::string& name, Threads& threads, std::span<PartStreams> streams,
                              const std::vector<Lid>& units, BoxTransfer<T>* transfer)
    : step_(std::make_unique<Step>(threads, streams)) {
  TaskLists work(streams.size());
  for (std::size_t p = 0; p < streams.size(); ++p)
    work[p] = {step_->compute(name, static_cast<int>(p), Step::Role::separator, {0, units[p]},
                              [this, p](Stream& stream, Range range) { kernel_(p, stream, range); })};
  const auto exchanged = add_departure(name, *step_, transfer, work);
  add_arrival(name, *step_, transfer, exchanged, work);
  step_->finish(Overlap::full);
}

template <class T>
void TransferPass<T>::run(const Kernel& kernel, std::uint64_t same_work) {
  kernel_ = kernel;
  step_->run_ahead(same_work);
}

template <class T>
void BoxPass<T>::run(const Kernel& kernel, const Fill& fill, std::uint64_t same_work) {
  kernel_ = kernel;
  fill_ = fill;
  step_->run_ahead(same_work);
  ++runs_;
}

template class TransferPass<double>;
template class TransferPass<float>;
template class BoxPass<double>;
template class BoxPass<float>;

}  // namespace tutti
