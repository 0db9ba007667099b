#include "tutti/schedule/pass.hpp"

#include <algorithm>
#include <utility>

#include "tutti/base/hash.hpp"

namespace tutti {
namespace {

using TaskLists = std::vector<std::vector<TaskId>>;  // one a part

// Rows that travel are sent as they lie, and arrive where they belong.

template <class T>
std::vector<TaskId> add_departure(const std::string&, Step& step, Exchange<T>* exchange, const TaskLists& computed,
                                  bool ghosts_are_read) {
  std::vector<TaskId> separators;
  for (const auto& tasks : computed) separators.insert(separators.end(), tasks.begin(), tasks.end());
  require(separators.size() == computed.size(), "rows have one task of separators a part");
  return exchange == nullptr ? std::vector<TaskId>{} : step.exchange(*exchange, separators, ghosts_are_read);
}
template <class T>
void add_arrival(const std::string&, Step&, Exchange<T>*, const std::vector<TaskId>&, TaskLists&) {}
template <class T>
void append_fields(std::vector<char>& key, const Exchange<T>& exchange, std::size_t) {
  for (const FieldView<T>& field : exchange.bound()) append_field_bytes(key, field);
}

// Cells are gathered once they are computed, and what has arrived is put in its place.

template <class T>
std::vector<TaskId> add_departure(const std::string& name, Step& step, BoxTransfer<T>* transfer,
                                  const TaskLists& computed, bool ghosts_are_read) {
  if (transfer == nullptr || !transfer->travels()) return {};
  std::vector<TaskId> packs;
  for (std::size_t p = 0; p < computed.size(); ++p) {
    packs.push_back(step.compute(name + " gather", static_cast<int>(p), Step::Role::separator, {0, transfer->packed(p)},
                                 [transfer, p](Stream& stream, Range range) { transfer->pack(p, stream, range); }));
    for (const TaskId task : computed[p]) step.after(packs[p], task);
  }
  return step.exchange(*transfer, packs, ghosts_are_read);
}

/// `before`: what a part's arrays are in use by until then, and then what fills them.
template <class T>
void add_arrival(const std::string& name, Step& step, BoxTransfer<T>* transfer, const std::vector<TaskId>& exchanged,
                 TaskLists& before) {
  for (std::size_t p = 0; p < before.size() && transfer != nullptr; ++p) {
    const int part = static_cast<int>(p);
    std::vector<TaskId> arrived, stored;
    for (std::size_t i = 0; i < exchanged.size(); ++i)
      for (const int filled : transfer->operations()[i].fills)
        if (filled == part) (transfer->is_store(i) ? stored : arrived).push_back(exchanged[i]);
    if (transfer->unpacked(p) > 0) {
      const TaskId unpack =
          step.compute(name + " scatter", part, Step::Role::other, {0, transfer->unpacked(p)},
                       [transfer, p](Stream& stream, Range range) { transfer->unpack(p, stream, range); });
      for (const TaskId task : arrived) step.after(unpack, task);
      for (const TaskId task : before[p]) step.after(unpack, task);
      before[p] = {unpack};
    }
    before[p].insert(before[p].end(), stored.begin(), stored.end());
  }
}
/// What a part stores into others: beside a large kernel it would wait for room on the device until that is nearly
/// done.
template <class T>
void add_stores(const BoxTransfer<T>* transfer, const std::vector<TaskId>& exchanged, TaskLists& before) {
  for (std::size_t i = 0; i < exchanged.size(); ++i)
    if (transfer->is_store(i)) before[static_cast<std::size_t>(transfer->operations()[i].part)].push_back(exchanged[i]);
}
template <class T>
void add_stores(const Exchange<T>*, const std::vector<TaskId>&, TaskLists&) {}
template <class T>
void append_fields(std::vector<char>& key, const BoxTransfer<T>& transfer, std::size_t parts) {
  for (std::size_t p = 0; p < parts; ++p)
    for (const TransferFields<T>& fields : transfer.bound(p)) append_field_bytes(key, fields);
}

PassPart box_pass_part(const BoxParts& parts, std::size_t p) {
  PassPart result;
  const CellBox& box = parts.box(p);
  CellBox rest = box;
  for (std::size_t d = 3; d-- > 0 && !box.empty();) {
    const bool whole = box.size(static_cast<int>(d)) == parts.cells[d];
    const auto cut_off = [&](Lid from, Lid to) {
      CellBox layer = rest;
      layer.lower[d] = from;
      layer.upper[d] = to;
      if (!layer.empty()) result.separators.push_back(all_cells(layer));
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
  result.interior = all_cells(rest);
  return result;
}

}  // namespace

std::vector<PassPart> row_pass_parts(std::span<const IndexMap> maps) {
  std::vector<PassPart> all;
  for (const IndexMap& map : maps)
    all.push_back({{{{map.independent, map.owned}, {}}}, {{map.independent_rows(), {}}}});
  return all;
}

std::vector<PassPart> box_pass_parts(const BoxParts& parts, const std::function<Lid(std::size_t p, int d)>& ends) {
  std::vector<PassPart> all;
  for (std::size_t p = 0; p < parts.mine.size(); ++p) {
    all.push_back(box_pass_part(parts, p));
    for (std::size_t d = 0; d < 3 && ends; ++d) all[p].ends[d] = ends(p, static_cast<int>(d));
  }
  return all;
}

std::vector<PassPart> whole_pass_parts(const std::vector<Lid>& units) {
  std::vector<PassPart> all;
  for (const Lid count : units) all.emplace_back().separators.push_back({{0, count}, {}});
  return all;
}

std::vector<PassPart> whole_pass_parts(const BoxParts& parts) {
  std::vector<PassPart> all(parts.mine.size());
  for (std::size_t p = 0; p < all.size(); ++p) all[p].separators.push_back(all_cells(parts.box(p)));
  return all;
}

template <class Halo>
Pass::Pass(const std::string& name, Threads& threads, std::span<PartStreams> streams, std::vector<PassPart> parts,
           std::vector<Halo*> halos, Overlap overlap, int row_cost, PieceOrder order)
    : parts_(std::move(parts)), kernels_(parts_.size()), step_(std::make_unique<Step>(threads, streams, row_cost)) {
  const std::size_t count = parts_.size();
  require(count == streams.size(), "{} parts on {} devices", count, streams.size());
  const std::string prefix = name.empty() ? "" : name + " ";
  const auto compute = [&](const std::string& task, std::size_t p, Step::Role role, std::size_t place,
                           const PassRows& rows) {
    return step_->compute(task, static_cast<int>(p), role, rows.range,
                          [kernels = &kernels_[p][place], box = rows.box](Stream& stream, Range range) {
                            kernels->enqueue(stream, box, range);
                          });
  };
  TaskLists before(count);
  for (std::size_t p = 0; p < count; ++p)
    for (const PassRows& rows : parts_[p].separators)
      before[p].push_back(compute(parts_[p].interior ? prefix + "separator" : name, p, Step::Role::separator, 0, rows));
  std::vector<std::vector<TaskId>> exchanged(halos.size());
  // What others wait for is computed beside the interior, as separators are.
  const bool await_arrival = order == PieceOrder::arrived;
  // What passes from part to part comes into cells that the receiver has read long ago: see PieceOrder.
  const auto depart = [&](std::size_t n, const TaskLists& computed) {
    exchanged[n] = add_departure(name, *step_, halos[n], computed, !await_arrival || n == 0);
  };
  require(!await_arrival || halos.size() > 1, "no pieces whose arrival is awaited");
  const Step::Role role = await_arrival ? Step::Role::separator : Step::Role::interior;
  TaskLists beside(count);
  if (await_arrival)
    beside.swap(before);
  else
    depart(0, before);
  for (std::size_t n = 1; n < halos.size(); ++n) {
    if (await_arrival && n > 1) add_arrival(name, *step_, halos[n - 1], exchanged[n - 1], before);
    TaskLists piece(count);
    for (std::size_t p = 0; p < count; ++p) {
      require(parts_[p].pieces.size() + 1 == halos.size(), "{} pieces of {} halos", parts_[p].pieces.size(),
              halos.size());
      piece[p].push_back(compute(name, p, role, 0, parts_[p].pieces[n - 1]));
      for (const TaskId task : before[p]) step_->after(piece[p].front(), task);
    }
    depart(n, piece);
    before = std::move(piece);
    if (!await_arrival) continue;
    add_stores(halos[n], exchanged[n], before);
    if (n > 1) continue;
    // Behind the first piece: devices begin with what was added first.
    depart(0, beside);
    add_arrival(name, *step_, halos[0], exchanged[0], beside);
  }
  for (std::size_t p = 0; p < count; ++p) {
    if (parts_[p].interior)
      before[p].push_back(compute(prefix + "interior", p, Step::Role::interior, 0, *parts_[p].interior));
    if (!await_arrival) continue;
    beside[p].insert(beside[p].end(), exchanged[0].begin(), exchanged[0].end());
    for (const TaskId task : beside[p])
      if (parts_[p].interior) step_->after(before[p].back(), task);
    before[p].insert(before[p].end(), beside[p].begin(), beside[p].end());
  }
  for (std::size_t n = await_arrival ? halos.size() - 1 : 0; n < halos.size(); ++n)
    add_arrival(name, *step_, halos[n], exchanged[n], before);
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t d = 0; d < 3; ++d) {
      const Lid cells = parts_[p].ends[d];
      if (cells == 0) continue;
      const TaskId fill = compute(prefix + "ends", p, Step::Role::other, 1 + d, {{0, cells}, {}});
      for (const TaskId task : before[p]) step_->after(fill, task);
      before[p] = {fill};
    }
  step_->finish(overlap);
  if (!step_->runs_ahead()) return;
  for (auto& places : kernels_) places.fill(Kernels(&key_));
  add_halo_ = [halos, count](std::vector<char>& key) {
    for (const Halo* halo : halos)
      if (halo != nullptr) append_fields(key, *halo, count);
  };
}

Kernels& Pass::next_kernels(std::size_t p, int place) {
  if (add_halo_) append_field_bytes(key_, std::array{static_cast<int>(p), place});
  Kernels& kernels = kernels_[p][place];
  kernels.clear();
  return kernels;
}

void Pass::enqueue() {
  std::uint64_t key = 0;  // nothing is known
  if (add_halo_ && captures_) {
    add_halo_(key_);
    key = std::max<std::uint64_t>(hash_bytes(key_), 1);
  }
  step_->run_ahead(key);
  ++runs_;
}

#define TUTTI_INSTANTIATE(Halo)                                                                                        \
  template Pass::Pass(const std::string&, Threads&, std::span<PartStreams>, std::vector<PassPart>, std::vector<Halo*>, \
                      Overlap, int, PieceOrder);
TUTTI_INSTANTIATE(Exchange<double>)
TUTTI_INSTANTIATE(Exchange<float>)
TUTTI_INSTANTIATE(BoxTransfer<double>)
TUTTI_INSTANTIATE(BoxTransfer<float>)
#undef TUTTI_INSTANTIATE

}  // namespace tutti
