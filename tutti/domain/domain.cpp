#include "tutti/domain/domain.hpp"

#include <algorithm>
#include <limits>

#include "tutti/base/log.hpp"
#include "tutti/domain/part_capacity.hpp"

namespace tutti {
namespace {

/// What parts have room for: with as much as can be kept elsewhere there, or (`full`) with all on the devices.
std::vector<PartRoom> rooms_of(const Domain& domain, const MemoryModel& memory, double row_length, bool full = false) {
  std::vector<PartRoom> mine;
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    PartRoom room{free_bytes(domain.device(p)), memory.row(domain.device(p), row_length), memory.ghost, 0};
    if (memory.held) {
      const HeldBytes held = memory.held(domain.device(p), row_length);
      room.row_bytes += (full ? held.here : held.away) - held.as_doubles;
      room.buffers = held.buffers;
    }
    mine.push_back(room);
  }
  return mine;
}

std::vector<HeldBytes> held_of(const Domain& domain, const MemoryModel& memory, double row_length) {
  std::vector<HeldBytes> mine;
  for (std::size_t p = 0; p < domain.mine(); ++p) mine.push_back(memory.held(domain.device(p), row_length));
  return mine;
}

/// What this rank's parts will take.
std::vector<PartNeed> needs_of(const Comm& comm, const Domain& domain, const MemoryModel& memory, double row_length) {
  std::vector<PartNeed> mine;
  bool near = false;
  for (std::size_t p = 0; p < domain.mine(); ++p) {
    Device& device = domain.device(p);
    const auto rows = static_cast<double>(domain.owned_count(p));
    const double ghosts = domain.maps.empty() ? 0 : domain.maps[p].ghosts();
    double bytes = memory.row(device, row_length);
    if (memory.held) {
      const HeldBytes held = memory.held(device, row_length);
      bytes += held.away - held.as_doubles;
    }
    mine.push_back({rows * bytes + ghosts * memory.ghost, free_bytes(device), rows});
    near = near || must_be_counted(mine.back().bytes, mine.back().free);
  }
  if (!near) return mine;
  const std::vector<Size> exact = memory.parts(comm, domain);
  for (std::size_t p = 0; p < mine.size(); ++p) mine[p].bytes = static_cast<double>(exact[p]);
  return mine;
}

}  // namespace

std::vector<RowPlace> rows_at(const Comm& comm, std::span<const IndexMap> maps, std::span<const Vec3> points,
                              std::span<const std::string> labels, const std::string& word,
                              const std::function<bool(std::size_t p, Lid row, Vec3 point)>& contains) {
  constexpr double nowhere = std::numeric_limits<double>::infinity();
  // The lowest global number wins, here and among the ranks (numbers below 2^53 are exact in a double).
  std::vector<double> lowest(points.size(), -nowhere);
  std::vector<RowPlace> found(points.size());
  for (std::size_t p = 0; p < maps.size(); ++p)
    for (Lid row = 0; row < maps[p].owned; ++row)
      for (std::size_t i = 0; i < points.size(); ++i) {
        const auto number = static_cast<double>(maps[p].global[row]);
        if (-number > lowest[i] && contains(p, row, points[i])) {
          lowest[i] = -number;
          found[i] = {i, p, {{row, row + 1}, {}}};
        }
      }
  std::vector<double> everywhere(lowest);
  comm.max(everywhere);
  std::vector<RowPlace> places;
  comm.together([&] {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (everywhere[i] == -nowhere)
        fail(ErrorKind::input, "{} at ({:g}, {:g}, {:g}) is outside the mesh; move it into {}", labels[i], points[i].x,
             points[i].y, points[i].z, word);
      if (everywhere[i] == lowest[i]) places.push_back(found[i]);
    }
  });
  return places;
}

std::vector<std::string> device_kinds(const Comm& comm, const DeviceSet& devices) {
  std::vector<DeviceKind> mine;
  for (const auto& device : devices.devices) mine.push_back(device->kind());
  std::vector<std::string> kinds;
  for (const DeviceKind kind : comm.all_gather(std::span<const DeviceKind>(mine)))
    kinds.emplace_back(kind == DeviceKind::host ? "cpu" : kind == DeviceKind::fake ? "fake" : "cuda");
  return kinds;
}

namespace {

/// What may be done where the devices are full. Collective.
std::string advise(const ModelSetup& setup, const Domain& domain, const Sharing& sharing) {
  const auto is_gpu = [](const auto& device) { return !device->is_host(); };
  const bool gpus =
      setup.comm.max(std::any_of(setup.devices.devices.begin(), setup.devices.devices.end(), is_gpu) ? 1.0 : 0.0) > 0;
  std::string advice = "use more devices";
  const auto add = [&](const std::vector<std::string>& keys) {
    for (const std::string& key : keys) advice += ", " + key;
  };
  if (sharing.memory && gpus) add(sharing.memory->advice_for_gpus);
  if (sharing.memory) add(sharing.memory->advice);
  return advice + " or " + domain.words().smaller;
}

}  // namespace

void make_domain(Domain& domain, const ModelSetup& setup, const Sharing& sharing) {
  const Comm& comm = setup.comm;
  const PartPlaces places = place_parts(comm, setup.devices);
  domain.rank_of_part = places.rank_of_part;
  domain.first_part = static_cast<int>(std::find(places.rank_of_part.begin(), places.rank_of_part.end(), comm.rank()) -
                                       places.rank_of_part.begin());
  for (const auto& device : setup.devices.devices) domain.streams.emplace_back(*device);
  const StoredPartition* stored = setup.stored;
  if (stored != nullptr && stored->devices != device_kinds(comm, setup.devices)) stored = nullptr;

  domain.advice = advise(setup, domain, sharing);
  PartTargets targets;
  RowsToPlace place;
  double row_length = 0;
  const auto too_large = [&] {
    if (targets.most.empty()) return false;
    std::vector<PartNeed> needs;
    comm.together([&] { needs = needs_of(comm, domain, *sharing.memory, row_length); });
    return tighten_targets(comm, needs, place, targets);
  };
  // What still does not fit after so many times is left to the allocation, which names the array.
  int cuts = 0;
  for (; cuts == 0 || (cuts <= 5 && too_large()); ++cuts) {
    domain.load(setup);
    place = {domain.rows, domain.words().rows, domain.advice, !sharing.memory || sharing.memory->refuse_too_large};
    // Without what is held elsewhere, the estimate of the rest is coarser.
    if (sharing.memory && sharing.memory->held) place.far_too_few = 0.4;
    setup.phases.begin("weights");
    if (targets.chosen.of_parts.empty()) targets.chosen.of_parts = setup.weights;
    if (targets.chosen.of_parts.empty())
      targets.chosen = part_weights(comm, setup.devices, setup.options, static_cast<int>(places.rank_of_part.size()),
                                    domain.rows, sharing.rate, sharing.exchanges);
    row_length = comm.max(domain.row_length());
    bound_targets(comm, sharing.memory ? rooms_of(domain, *sharing.memory, row_length) : std::vector<PartRoom>(), place,
                  targets);
    if (sharing.memory && sharing.memory->held)
      pace_targets(comm, setup.devices, rooms_of(domain, *sharing.memory, row_length, true),
                   held_of(domain, *sharing.memory, row_length), place, targets);
    domain.weights = targets.bound.weights;
    setup.phases.begin("partition");
    domain.cut(setup, places, cuts == 0 ? stored : nullptr);
    if (domain.only_counted()) continue;
    domain.routing =
        make_routing(comm, parse_routing(setup.options.text("devices.transport")), domain.maps, domain.streams);
    domain.routing.disabled = !setup.options.flag("devices.exchange");
  }
  report_full_parts(comm, setup.devices, place, targets);
  // A checkpoint's partition has the parts that it has; boxes are cut anew. The root knows, and tells.
  if (stored != nullptr && cuts == 1 && static_cast<Gid>(stored->owner.size()) == domain.rows)
    targets.chosen.one_gpu = {};
  if (targets.chosen.one_gpu) info("{}", describe(*targets.chosen.one_gpu));
  domain.balance = summarise_weights(setup.options, targets.chosen);
  domain.balance.full_parts = targets.bound.full;
  setup.phases.end();
}

}  // namespace tutti
