#include "tutti/domain/part_capacity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"

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
  fail(ErrorKind::resource, "memory: not enough for {} {}: they need about {}, {} device{} {} left; {}",
       format_count(place.rows), place.name, format_bytes(needed),
       parts == 1 ? std::string("the") : "all " + std::to_string(parts), parts == 1 ? " has" : "s together have",
       format_bytes(static_cast<double>(available)), place.advice);
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
    needed += n * r.row_bytes / static_cast<double>(rooms.size()) + static_cast<double>(r.buffers);
    available += r.bytes;
  }
  // Where it is close, parts are made and counted.
  if (!rooms.empty() && place.refuse_too_large && room < place.far_too_few * n)
    comm.together([&] { refuse(place, needed, available, rooms.size()); });
  if (targets.most.empty()) {
    targets.bound = {targets.chosen.of_parts, {}, true};
    return;
  }
  targets.bound = bound_weights(targets.chosen.of_parts, targets.most, n);
  const auto& one = targets.chosen.one_gpu;
  if (!one || std::count(targets.bound.full.begin(), targets.bound.full.end(), one->part) == 0) return;
  // One GPU would be enough, but has no room.
  targets.chosen = weigh_rates(targets.chosen.rates, place.rows, true);
  targets.bound = bound_weights(targets.chosen.of_parts, targets.most, n);
}

namespace {

/// Of so many bytes from pinned memory; 0 for none. A device without room to measure it will get next to nothing.
double seconds_of_copy(Device& device, double bytes) {
  if (bytes <= 0) return 0;
  try {
    return bytes / measure_copies(device, MeasureLimits::quick()).copy_to_device;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::resource) throw;
    return 1;
  }
}

std::vector<PartPace> measure_paces(const Comm& comm, const DeviceSet& devices, std::span<const HeldBytes> held,
                                    std::span<const double> fit, const PartTargets& targets) {
  std::vector<double> copy_seconds;
  comm.together([&] {
    for (std::size_t p = 0; p < devices.devices.size(); ++p)
      copy_seconds.push_back(seconds_of_copy(*devices.devices[p], held[p].here - held[p].away));
  });
  const auto seconds = comm.all_gather(std::span<const double>(copy_seconds));
  const auto bytes = comm.all_gather(held);
  std::vector<PartPace> paces;
  for (std::size_t p = 0; p < bytes.size(); ++p) {
    PartPace pace;
    pace.rate = targets.chosen.rates[p].rate;
    pace.on_host = targets.chosen.rates[p].threads != 0;
    pace.held = fit[p];
    pace.copy_seconds = seconds[p];
    pace.behind = bytes[p].behind;
    paces.push_back(pace);
  }
  return paces;
}

}  // namespace

void pace_targets(const Comm& comm, const DeviceSet& devices, std::span<const PartRoom> full,
                  std::span<const HeldBytes> held, const RowsToPlace& place, PartTargets& targets) {
  const auto n = static_cast<double>(place.rows);
  const bool any = comm.max(held.empty() ? 0 : 1) > 0;
  if (!any || targets.chosen.rates.empty() || targets.most.empty() || !targets.bound.fits) return;
  if (targets.paces.empty()) {
    std::vector<double> fit, pushed_out;
    for (const PartRoom& room : comm.all_gather(full)) fit.push_back(rows_that_fit(room, n));
    bool all_fit = true;
    for (std::size_t p = 0; p < fit.size(); ++p) all_fit = all_fit && targets.bound.weights[p] * n <= fit[p] + 1;
    if (all_fit) return;
    targets.paces = measure_paces(comm, devices, held, fit, targets);
    std::vector<double> mine;
    for (std::size_t p = 0; p < held.size(); ++p) {
      const double moved = held[p].here - held[p].away;
      mine.push_back(moved > 0 ? full[p].row_bytes / moved : 1);
    }
    const auto all = comm.all_gather(std::span<const double>(mine));
    for (std::size_t p = 0; p < all.size(); ++p) targets.paces[p].pushed_out = all[p];
  }
  double meet = 0, room = 0;
  std::vector<PartPace> without = targets.paces;
  for (std::size_t p = 0; p < without.size(); ++p) {
    targets.paces[p].most = without[p].most = targets.most[p];
    if (without[p].on_host) without[p].most = 0;
    room += without[p].most;
    meet = std::max(meet, targets.chosen.rates[p].meet);
  }
  PacedShares shares = share_by_pace(targets.paces, n);
  if (room >= n)
    if (PacedShares alone = share_by_pace(without, n); shares.seconds + meet > 0.95 * alone.seconds)
      shares = std::move(alone);
  targets.chosen.one_gpu = {};  // others may take what would come from the host
  targets.bound.full.clear();
  for (std::size_t p = 0; p < shares.rows.size(); ++p) {
    targets.bound.weights[p] = shares.rows[p] / n;
    if (shares.rows[p] >= targets.most[p] * (1 - 1e-9) && shares.rows[p] < n * (1 - 1e-9))
      targets.bound.full.push_back(static_cast<int>(p));
  }
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
    const double is = targets.bound.weights[p], should = targets.chosen.of_parts[p];
    if (is >= should)
      info("{} is full: it has no room for its {:.3g} % of the {}", names[p], 100 * should, place.name);
    else
      info("{} is full: it gets {:.3g} % of the {} instead of {:.3g} %, the others get the rest", names[p], 100 * is,
           place.name, 100 * should);
  }
  if (full.size() > max_lines) info("and {} more devices are full", full.size() - max_lines);
}

}  // namespace tutti
