#include "tutti/domain/part_capacity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

/// "fake:0" or, on several ranks, "fake:0 of rank 1"; of all parts. Collective.
std::vector<std::string> names_of_parts(const Comm& comm, const DeviceSet& devices) {
  std::string mine;
  for (const auto& device : devices.devices)
    mine += device->name() + (comm.size() > 1 ? fmt::format(" of rank {}", comm.rank()) : "") + "\n";
  std::vector<std::string> names;
  for (const std::string& text : comm.all_gather_text(mine))
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      names.push_back(text.substr(at, end - at));
  return names;
}

[[noreturn]] void refuse(const RowsToPlace& place, double needed, Size available, std::size_t parts) {
  fail(ErrorKind::resource,
       "memory: no room for {} {}: they take about {}, {} device{} {} left; use more devices or {}",
       format_count(place.rows), place.name, format_bytes(needed),
       parts == 1 ? std::string("the") : "all " + std::to_string(parts), parts == 1 ? " has" : "s together have",
       format_bytes(static_cast<double>(available)), place.smaller);
}

}  // namespace

Size free_bytes(Device& device) {
  return std::max(Size{0}, device.budget().capacity() - device.budget().used());
}

void bound_targets(const Comm& comm, std::span<const PartRoom> mine, const RowsToPlace& place, PartTargets& targets) {
  const auto n = static_cast<double>(place.rows);
  const auto rooms = targets.most.empty() && place.rows > 0 ? comm.all_gather(mine) : std::vector<PartRoom>();
  double room = 0, needed = 0;
  Size available = 0;
  for (const PartRoom& r : rooms) {
    targets.most.push_back(rows_that_fit(r, n));
    room += targets.most.back();
    needed += n * r.row_bytes / static_cast<double>(rooms.size());
    available += r.bytes;
  }
  // Where it is close, parts are made and counted.
  if (!rooms.empty() && place.refuse_too_large && room < 0.7 * n)
    comm.together([&] { refuse(place, needed, available, rooms.size()); });
  if (targets.most.empty())
    targets.bound = {targets.chosen.of_parts, {}, true};
  else
    targets.bound = bound_weights(targets.chosen.of_parts, targets.most, n);
}

bool must_be_counted(double bytes, Size free) {
  // It is near enough where there is half as much again.
  return 1.5 * bytes + 65536 > static_cast<double>(free);
}

bool tighten_targets(const Comm& comm, std::span<const PartNeed> mine, const RowsToPlace& place, PartTargets& targets) {
  const auto all = comm.all_gather(mine);
  const auto too_large = [](const PartNeed& c) { return c.bytes > static_cast<double>(c.free); };
  if (std::none_of(all.begin(), all.end(), too_large)) return false;
  // Ghosts do not become fewer in proportion, and what is padded hardly does.
  constexpr std::array<double, 4> parts_of_it = {0.99, 0.9, 0.5, 0};
  const double part_of_it = parts_of_it[std::min(targets.tightened, 3)];
  double room = 0, needed = 0;
  Size available = 0;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const PartNeed& c = all[p];
    const double fit = c.bytes > 0 ? part_of_it * c.rows * static_cast<double>(c.free) / c.bytes : 0;
    targets.most[p] = too_large(c) ? std::floor(std::min(targets.most[p], fit)) : std::max(targets.most[p], fit);
    room += std::min(targets.most[p], static_cast<double>(place.rows));
    needed += c.bytes;
    available += c.free;
  }
  if (room < static_cast<double>(place.rows)) {
    if (!place.refuse_too_large) return false;
    comm.together([&] { refuse(place, needed, available, all.size()); });
  }
  ++targets.tightened;
  return true;
}

void report_full_parts(const Comm& comm, const DeviceSet& devices, const RowsToPlace& place,
                       const PartTargets& targets) {
  const auto names = names_of_parts(comm, devices);
  constexpr std::size_t max_lines = 8;
  const auto& full = targets.bound.full;
  for (std::size_t k = 0; k < std::min(full.size(), max_lines); ++k) {
    const auto p = static_cast<std::size_t>(full[k]);
    info("{} is full: it gets {:.3g} % of the {} instead of {:.3g} %, the others take the rest", names[p],
         100 * targets.bound.weights[p], place.name, 100 * targets.chosen.of_parts[p]);
  }
  if (full.size() > max_lines) info("and {} more devices are full", full.size() - max_lines);
}

}  // namespace tutti
