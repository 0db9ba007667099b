#include "tutti/models/graph/parts/device_parts.hpp"

#include <algorithm>

namespace tutti::graph {

DeviceParts::DeviceParts(const std::vector<GraphPart>& parts, DeviceSet& devices, const Comm& comm,
                         std::span<const int> rank_of_part)
    : comm_(comm) {
  std::vector<DevicePart*> all;
  comm.together([&] {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      Device& device = *devices.devices[p];
      if (device.is_host()) continue;
      parts_.push_back(std::make_unique<DevicePart>(parts[p], device));
      places_.push_back(p);
      events_.push_back(device.make_event());
      all.push_back(parts_.back().get());
    }
  });
  messages_ = std::make_unique<LevelMessages>(comm, all, rank_of_part);
}

/// No device stores into memory of another that is gone.
DeviceParts::~DeviceParts() {
  for (auto& part : parts_) part->rest();
}

bool DeviceParts::fit(const std::vector<GraphPart>& parts, const DeviceSet& devices, const Comm& comm) {
  Size full = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Device& device = *devices.devices[p];
    const Size bytes = DevicePart::bytes(parts[p]) + LevelMessages::bytes(parts[p]);
    if (!device.is_host() && bytes > device.budget().capacity() - device.budget().used()) ++full;
  }
  return comm.sum(full) == 0;
}

/// All devices of this rank wait for what each of them has to do so far.
void DeviceParts::meet() {
  if (parts_.size() < 2) return;
  for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p]->stream().record(*events_[p]);
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t other = 0; other < parts_.size(); ++other)
      if (other != p) parts_[p]->stream().wait(*events_[other]);
}

/// `depth`: the last level that has vertices.
bool DeviceParts::sweep_out(int& depth) {
  const bool ahead = comm_.size() == 1 && messages_->only_stored();
  for (int d = 0;; ++d) {
    bool asks = !ahead || d + 1 >= expected_, room = true;
    LevelMessages::Two mine{0, 0};
    int end = d;  // the first depth behind which nothing was found
    comm_.together([&] {
      bool cleared = false;
      for (auto& part : parts_) {
        cleared = cleared || part->levels() < d + 2;
        room = room && part->make_room(d + 1);
      }
      if (!room) {
        mine.second = 1;
        return;
      }
      if (cleared) meet();  // before others store there
      for (auto& part : parts_) part->step_out(d);
      messages_->store(d + 1, Way::out);
      messages_->count(d + 1);
      meet();
      if (!asks) return;
      for (auto& part : parts_) part->ask();
      messages_->ask();
      std::vector<Size> found(static_cast<std::size_t>(d + 1), 0);
      for (auto& part : parts_) {
        const DevicePart::Answer answer = part->answer();
        mine.second += answer.failed ? 1 : 0;
        for (std::size_t i = 0; i < found.size(); ++i) found[i] += answer.found[i];
      }
      mine.first = found.back();
      if (ahead) end = static_cast<int>(std::find(found.begin(), found.end(), 0) - found.begin());
    });
    if (!room && ahead) return false;
    if (!asks) continue;
    const LevelMessages::Two all = messages_->share(d + 1, mine);
    if (all.second > 0) return false;
    if (all.first == 0) {
      depth = end;
      expected_ = depth + 1;
      return true;
    }
    messages_->send(d + 1, Way::out);
  }
}

bool DeviceParts::try_add(std::span<const std::vector<Vertex>> sources) {
  comm_.together([&] {
    for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p]->begin(sources[places_[p]]);
    meet();
  });
  int depth = 0;
  if (!sweep_out(depth)) return false;
  comm_.together([&] {
    if (!messages_->only_stored()) return;
    for (int d = depth; d > 0; --d) {
      for (auto& part : parts_) part->step_back(d);
      if (d > 1) messages_->store(d, Way::back);
      meet();
    }
  });
  for (int d = depth; d > 0 && !messages_->only_stored(); --d) {
    comm_.together([&] {
      for (auto& part : parts_) part->step_back(d);
      if (d > 1) messages_->store(d, Way::back);
      meet();
    });
    if (d > 1) messages_->send(d, Way::back);
  }
  comm_.together([&] {
    for (auto& part : parts_) part->count_reached();
  });
  return true;
}

bool DeviceParts::add(std::span<const std::vector<Vertex>> sources) {
  try {
    return try_add(sources);
  } catch (...) {
    messages_->abandon();
    throw;
  }
}

void DeviceParts::collect(std::span<DeltaSum> sums, Size& reached) {
  for (auto& part : parts_) part->collect(sums, reached);
}

}  // namespace tutti::graph
