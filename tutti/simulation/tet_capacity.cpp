#include "tutti/simulation/tet_capacity.hpp"

#include <algorithm>

namespace tutti {

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

std::vector<PartRoom> rooms_of(const DeviceSet& devices, const DomainOptions& options, double row_length) {
  std::vector<PartRoom> mine;
  if (options.memory)
    for (const auto& device : devices.devices)
      mine.push_back({free_bytes(*device), options.memory->row(*device, row_length), options.memory->ghost});
  return mine;
}

std::vector<PartNeed> needs_of(const DeviceSet& devices, const DomainOptions& options, const TetDomain& domain) {
  std::vector<PartNeed> mine;
  for (std::size_t p = 0; options.memory && p < devices.devices.size(); ++p) {
    Device& device = *devices.devices[p];
    PartNeed need{0, free_bytes(device), static_cast<double>(domain.maps[p].owned)};
    need.bytes = need.rows * options.memory->row(device, 16) + options.memory->ghost * domain.maps[p].ghosts();
    if (must_be_counted(need.bytes, need.free)) need.bytes = static_cast<double>(options.memory->part(domain, p));
    mine.push_back(need);
  }
  return mine;
}

}  // namespace tutti
