#include "tutti/simulation/tet_capacity.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"

namespace tutti {
namespace {

Size free_bytes(Device& device) {
  return std::max(Size{0}, device.budget().capacity() - device.budget().used());
}

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

[[noreturn]] void refuse(Gid rows, double needed, Size available, std::size_t parts) {
  fail(ErrorKind::resource,
       "memory: no room for {} cells: they take about {}, {} device{} {} left; use more devices or a smaller mesh",
       format_count(rows), format_bytes(needed), parts == 1 ? std::string("the") : "all " + std::to_string(parts),
       parts == 1 ? " has" : "s together have", format_bytes(static_cast<double>(available)));
}

}  // namespace

double mean_row_length(const FaceNeighbours& neighbours, int layers) {
  const std::size_t n = neighbours.size(), samples = std::min<std::size_t>(n, 4096);
  std::size_t entries = 0;
  std::vector<Gid> row;
  for (std::size_t k = 0; k < samples; ++k) {
    const std::size_t cell = k * n / samples;
    row.clear();
    for (const Gid near : neighbours[cell]) {
      if (near < 0) continue;
      row.push_back(near);
      if (layers < 2) continue;
      for (const Gid next : neighbours[static_cast<std::size_t>(near)])
        if (next >= 0 && next != static_cast<Gid>(cell)) row.push_back(next);
    }
    std::sort(row.begin(), row.end());
    entries += static_cast<std::size_t>(std::unique(row.begin(), row.end()) - row.begin());
  }
  return samples == 0 ? 0 : static_cast<double>(entries) / static_cast<double>(samples);
}

void bound_targets(const Comm& comm, const DeviceSet& devices, const DomainOptions& options, Gid rows,
                   double row_length, DomainTargets& targets) {
  const auto n = static_cast<double>(rows);
  if (options.memory && rows > 0 && targets.most.empty()) {
    std::vector<PartRoom> mine;
    for (const auto& device : devices.devices)
      mine.push_back({free_bytes(*device), options.memory->row(*device, row_length), options.memory->ghost});
    const auto rooms = comm.all_gather(std::span<const PartRoom>(mine));
    double room = 0, needed = 0;
    Size available = 0;
    for (const PartRoom& r : rooms) {
      targets.most.push_back(rows_that_fit(r, n));
      room += targets.most.back();
      needed += n * r.row_bytes / static_cast<double>(rooms.size());
      available += r.bytes;
    }
    // Where it is close, parts are made and counted.
    if (options.refuse_too_large && room < 0.7 * n)
      comm.together([&] { refuse(rows, needed, available, rooms.size()); });
  }
  if (targets.most.empty())
    targets.bound = {targets.chosen.of_parts, {}, true};
  else
    targets.bound = bound_weights(targets.chosen.of_parts, targets.most, n);
}

bool tighten_targets(const Comm& comm, const DeviceSet& devices, const DomainOptions& options, const TetDomain& domain,
                     DomainTargets& targets) {
  if (targets.most.empty()) return false;
  struct Count {
    double needed = 0;
    Size free = 0;
    double rows = 0;
  };
  std::vector<Count> mine;
  comm.together([&] {
    for (std::size_t p = 0; p < devices.devices.size(); ++p) {
      Device& device = *devices.devices[p];
      Count c{0, free_bytes(device), static_cast<double>(domain.maps[p].owned)};
      // An estimate is near enough where there is half as much again.
      c.needed = c.rows * options.memory->row(device, 16) + options.memory->ghost * domain.maps[p].ghosts();
      if (1.5 * c.needed + 65536 > static_cast<double>(c.free))
        c.needed = static_cast<double>(options.memory->part(domain, p));
      mine.push_back(c);
    }
  });
  const auto all = comm.all_gather(std::span<const Count>(mine));
  const auto too_large = [](const Count& c) { return c.needed > static_cast<double>(c.free); };
  if (std::none_of(all.begin(), all.end(), too_large)) return false;
  // Ghosts do not become fewer in proportion, and what is padded hardly does.
  constexpr std::array<double, 4> parts_of_it = {0.99, 0.9, 0.5, 0};
  const double part_of_it = parts_of_it[static_cast<std::size_t>(std::min(targets.tightened, 3))];
  double room = 0, needed = 0;
  Size available = 0;
  for (std::size_t p = 0; p < all.size(); ++p) {
    const Count& c = all[p];
    const double fit = c.needed > 0 ? part_of_it * c.rows * static_cast<double>(c.free) / c.needed : 0;
    targets.most[p] = too_large(c) ? std::floor(std::min(targets.most[p], fit)) : std::max(targets.most[p], fit);
    room += std::min(targets.most[p], static_cast<double>(domain.cells));
    needed += c.needed;
    available += c.free;
  }
  if (room < static_cast<double>(domain.cells)) {
    if (!options.refuse_too_large) return false;
    comm.together([&] { refuse(domain.cells, needed, available, all.size()); });
  }
  ++targets.tightened;
  return true;
}

void report_full_parts(const Comm& comm, const DeviceSet& devices, const DomainTargets& targets) {
  const auto names = names_of_parts(comm, devices);
  constexpr std::size_t most_lines = 8;
  const auto& full = targets.bound.full;
  for (std::size_t k = 0; k < std::min(full.size(), most_lines); ++k) {
    const auto p = static_cast<std::size_t>(full[k]);
    info("{} is full: it gets {:.3g} % of the cells instead of {:.3g} %, the others take the rest", names[p],
         100 * targets.bound.weights[p], 100 * targets.chosen.of_parts[p]);
  }
  if (full.size() > most_lines) info("and {} more devices are full", full.size() - most_lines);
}

}  // namespace tutti
