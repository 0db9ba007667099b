#include "tutti/models/graph/parts/device_parts.hpp"

#include <algorithm>

#include "tutti/base/error.hpp"

namespace tutti::graph {
namespace {

/// At the same time: they hide the waits at the end of levels.
constexpr Size most_batches = 4;

Size room(Device& device) {
  return device.budget().capacity() - device.budget().used();
}
Size bytes_of_batch(const GraphPart& part) {
  return PartBatch::bytes(part) + LevelMessages::bytes(part);
}

}  // namespace

DeviceParts::DeviceParts(const std::vector<GraphPart>& parts, DeviceSet& devices, const Comm& comm,
                         std::span<const int> rank_of_part, LocalNumbers local_numbers, Size sources)
    : comm_(comm), local_numbers_(std::move(local_numbers)) {
  Size batches = comm.size() > 1 ? 1 : std::clamp<Size>((sources + most_lanes - 1) / most_lanes, 1, most_batches);
  comm.together([&] {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Device& device = *devices.devices[p];
      if (device.is_host()) continue;
      // With room for all levels that there may be: where they want some in vain, the batch fails.
      const Size each = bytes_of_batch(parts[p]) + PartBatch::bytes_of_levels(parts[p], most_levels);
      batches = std::clamp<Size>((room(device) - DevicePart::bytes(parts[p])) / each, 1, batches);
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Device& device = *devices.devices[p];
      if (device.is_host()) continue;
      parts_.push_back(std::make_unique<DevicePart>(parts[p], device, static_cast<int>(batches)));
      places_.push_back(p);
    }
  });
  batches_.push_back(make_batch(0, rank_of_part));
  ahead_ = comm.size() == 1 && batches_.front().messages->only_stored();
  for (int b = 1; ahead_ && b < batches; ++b) batches_.push_back(make_batch(b, rank_of_part));
  load_kernels();
}

/// A GPU loads kernels when they are first launched: before it counts, by a batch of no sources.
void DeviceParts::load_kernels() {
  Size own = 0;
  for (auto& part : parts_) own += part->kernels().tell_readers() ? 1 : 0;
  if (comm_.sum(own) == 0) return;
  Batch& batch = batches_.front();
  begin(batch, {});
  finish(batch);
  comm_.together([&] {
    for (auto& part : batch.parts) part->step_back(1);
    for (auto& part : batch.parts) part->stream().synchronize();
  });
  expected_ = 0;
}

DeviceParts::Batch DeviceParts::make_batch(int number, std::span<const int> rank_of_part) {
  Batch batch;
  std::vector<PartBatch*> all;
  comm_.together([&] {
    for (auto& part : parts_) {
      batch.parts.push_back(std::make_unique<PartBatch>(*part, number));
      batch.events.push_back(part->device().make_event());
      all.push_back(batch.parts.back().get());
    }
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      if (!parts_[p]->kernels().tell_readers()) continue;
      std::vector<PartBatch*> readers;
      std::vector<const GraphPart*> read;
      for (const Link& link : parts_[p]->part().map.links)
        for (std::size_t q = 0; q < parts_.size(); ++q)
          if (parts_[q]->part().map.part == link.part && !link.send_rows.empty() && parts_[p]->reaches(*parts_[q])) {
            readers.push_back(batch.parts[q].get());
            read.push_back(&parts_[q]->part());
          }
      if (readers.size() > most_readers)
        fail(ErrorKind::resource, "a rank's graph is in parts on {} GPUs, {} at most; use more ranks",
             readers.size() + 1, most_readers + 1);
      if (number == 0) parts_[p]->set_readers(read);
      batch.parts[p]->set_readers(std::move(readers));
    }
  });
  batch.messages = std::make_unique<LevelMessages>(comm_, all, rank_of_part);
  return batch;
}

/// No device stores into memory of another that is gone.
DeviceParts::~DeviceParts() {
  for (Batch& batch : batches_)
    for (auto& part : batch.parts) part->rest();
}

bool DeviceParts::fit(const std::vector<GraphPart>& parts, const DeviceSet& devices, const Comm& comm) {
  Size full = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Device& device = *devices.devices[p];
    if (!device.is_host() && DevicePart::bytes(parts[p]) + bytes_of_batch(parts[p]) > room(device)) ++full;
  }
  return comm.sum(full) == 0;
}

/// The batch's streams wait for what each of them has to do so far.
void DeviceParts::meet(Batch& batch) {
  auto& parts = batch.parts;
  if (parts.size() < 2) return;
  for (std::size_t p = 0; p < parts.size(); ++p) parts[p]->stream().record(*batch.events[p]);
  for (std::size_t p = 0; p < parts.size(); ++p)
    for (std::size_t other = 0; other < parts.size(); ++other)
      if (other != p) parts[p]->stream().wait(*batch.events[other]);
}

/// False: there is no room for another level.
bool DeviceParts::enqueue_level(Batch& batch, int depth) {
  bool cleared = false;
  for (auto& part : batch.parts) {
    cleared = cleared || part->levels() < depth + 2;
    if (!part->make_room(depth + 1)) return false;
  }
  if (cleared) meet(batch);  // before others store there
  for (auto& part : batch.parts) part->step_out(depth);
  batch.messages->store(depth + 1, Way::out);
  batch.messages->count(depth + 1);
  meet(batch);
  return true;
}

/// Enqueues what the batch is likely to need.
void DeviceParts::begin(Batch& batch, std::span<const Vertex> sources) {
  batch.sources = sources;
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) batch.parts[p]->begin(local_numbers_(places_[p], sources));
    meet(batch);
    batch.enqueued = 0;
    while (ahead_ && batch.enqueued < expected_ && enqueue_level(batch, batch.enqueued)) ++batch.enqueued;
    if (batch.enqueued > 0)
      for (auto& part : batch.parts) part->ask();
  });
}

/// `depth`: the last level that has vertices. False: the batch fails.
bool DeviceParts::sweep_out(Batch& batch, int& depth) {
  for (bool asked = batch.enqueued > 0;; asked = false) {
    LevelMessages::Two mine{0, 0};
    int end = 0;  // the first depth behind which nothing was found
    comm_.together([&] {
      if (!asked) {
        if (!enqueue_level(batch, batch.enqueued)) {
          mine.second = 1;
          return;
        }
        ++batch.enqueued;
        for (auto& part : batch.parts) part->ask();
        batch.messages->ask();
      }
      std::vector<Size> found(static_cast<std::size_t>(batch.enqueued), 0);
      for (auto& part : batch.parts) {
        const PartBatch::Answer answer = part->answer();
        mine.second += answer.failed ? 1 : 0;
        for (std::size_t i = 0; i < found.size(); ++i) found[i] += answer.found[i];
      }
      mine.first = found.back();
      end = static_cast<int>(std::find(found.begin(), found.end(), 0) - found.begin());
    });
    const LevelMessages::Two all = batch.messages->share(batch.enqueued, mine);
    if (all.second > 0) return false;
    if (all.first == 0) {
      depth = comm_.size() > 1 ? batch.enqueued - 1 : end;
      expected_ = depth + 1;
      return true;
    }
    batch.messages->send(batch.enqueued, Way::out);
  }
}

/// Enqueues the rest of it. False: it added nothing.
bool DeviceParts::finish(Batch& batch) {
  int depth = 0;
  if (!sweep_out(batch, depth)) return false;
  const auto step_back = [&](int d) {
    for (auto& part : batch.parts) part->step_back(d);
    if (d > 1) batch.messages->store(d, Way::back);
    meet(batch);
  };
  comm_.together([&] {
    for (int d = depth; batch.messages->only_stored() && d > 0; --d) step_back(d);
  });
  for (int d = depth; d > 0 && !batch.messages->only_stored(); --d) {
    comm_.together([&] { step_back(d); });
    if (d > 1) batch.messages->send(d, Way::back);
  }
  comm_.together([&] {
    for (auto& part : batch.parts) part->count_reached();
  });
  return true;
}

std::vector<Vertex> DeviceParts::add(std::span<const Vertex> sources) {
  std::vector<Vertex> left;
  const auto end = [&](Batch& batch) {
    if (batch.sources.empty()) return;
    if (!finish(batch)) left.insert(left.end(), batch.sources.begin(), batch.sources.end());
    batch.sources = {};
  };
  try {
    for (std::size_t b = 0; !sources.empty() && left.empty(); b = (b + 1) % batches_.size()) {
      end(batches_[b]);
      const std::size_t count = std::min<std::size_t>(most_lanes, sources.size());
      begin(batches_[b], sources.first(count));
      sources = sources.subspan(count);
    }
    for (Batch& batch : batches_) end(batch);
  } catch (...) {
    for (Batch& batch : batches_) batch.messages->abandon();
    throw;
  }
  left.insert(left.end(), sources.begin(), sources.end());
  return left;
}

void DeviceParts::collect(const ParallelFor& parallel, std::span<DeltaSum> sums, Size& reached) {
  for (Batch& batch : batches_)
    for (auto& part : batch.parts) part->stream().synchronize();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    for (std::size_t b = 1; b < batches_.size(); ++b) batches_[b].parts[p]->move_sums_to(*batches_.front().parts[p]);
    batches_.front().parts[p]->collect(parallel, sums, reached);
  }
}

}  // namespace tutti::graph
