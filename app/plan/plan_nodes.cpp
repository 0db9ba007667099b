#include "app/plan/plan_nodes.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::app {
namespace {

std::size_t at(Gid i) {
  return static_cast<std::size_t>(i);
}

constexpr double PartCounts::*surfaces[] = {&PartCounts::separators, &PartCounts::ghosts, &PartCounts::sent,
                                            &PartCounts::sent_off, &PartCounts::ghosts_off};

double surface_of(double cells) {
  return std::pow(cells, 2.0 / 3.0);
}

/// The largest of each count over the parts of one device of a node.
PartCounts worst_part(const RealPartition& partition, int devices, int device) {
  PartCounts worst;
  for (std::size_t p = at(device); p < partition.parts.size(); p += at(devices)) {
    const PartCounts& part = partition.parts[p];
    worst.cells = std::max(worst.cells, part.cells);
    worst.messages = std::max(worst.messages, part.messages);
    for (const auto count : surfaces) worst.*count = std::max(worst.*count, part.*count);
  }
  return worst;
}

/// The partitions that a law is fitted to: parts of few nodes lie at the mesh's boundary and have fewer neighbours.
std::vector<const RealPartition*> fitted(std::span<const RealPartition> partitions) {
  std::vector<const RealPartition*> chosen;
  for (const RealPartition& p : partitions)
    if (p.nodes >= 2 && 4 * p.nodes >= partitions.back().nodes) chosen.push_back(&p);
  return chosen;
}

}  // namespace

std::vector<PartCounts> count_parts(const Adjacency& stencil, std::span<const std::int32_t> owner, int parts,
                                    int parts_a_node) {
  std::vector<PartCounts> counts(at(parts));
  std::vector<Size> begin(at(parts) + 1, 0);
  for (const std::int32_t p : owner) ++begin[at(p) + 1];
  for (std::size_t p = 0; p < at(parts); ++p) begin[p + 1] += begin[p];
  std::vector<Gid> rows(owner.size());
  std::vector<Size> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < owner.size(); ++i) rows[at(next[at(owner[i])]++)] = static_cast<Gid>(i);

  std::vector<char> is_separator(owner.size(), 0);
  // The last part that met a row as its ghost, and the last that read from a part.
  std::vector<std::int32_t> ghost_of(owner.size(), -1), reader_of(at(parts), -1);
  for (int reader = 0; reader < parts; ++reader) {
    PartCounts& mine = counts[at(reader)];
    mine.cells = static_cast<double>(begin[at(reader) + 1] - begin[at(reader)]);
    for (Size k = begin[at(reader)]; k < begin[at(reader) + 1]; ++k) {
      for (const Gid j : stencil.row(rows[at(k)])) {
        const std::int32_t source = owner[at(j)];
        if (source == reader || ghost_of[at(j)] == reader) continue;
        ghost_of[at(j)] = reader;
        PartCounts& other = counts[at(source)];
        const bool off = source / parts_a_node != reader / parts_a_node;
        mine.ghosts += 1;
        other.sent += 1;
        if (!is_separator[at(j)]) other.separators += 1;
        is_separator[at(j)] = 1;
        if (!off) continue;
        mine.ghosts_off += 1;
        other.sent_off += 1;
        if (reader_of[at(source)] != reader) other.messages += 1;
        reader_of[at(source)] = reader;
      }
    }
  }
  return counts;
}

StepSeconds project_step(std::span<const PartCounts> parts, std::span<const NodeDevice> devices, const Network& network,
                         double row_bytes) {
  StepSeconds slowest;
  for (std::size_t first = 0; first < parts.size(); first += devices.size()) {
    double out = 0, in = 0, messages = 0;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      out += parts[first + d].sent_off;
      in += parts[first + d].ghosts_off;
      messages += parts[first + d].messages;
    }
    const double message = messages * network.latency + row_bytes * std::max(out, in) / network.bytes;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const PartCounts& part = parts[first + d];
      const NodeDevice& device = devices[d];
      if (part.cells == 0) continue;
      const bool cached = device.rows_cached > 0 && part.cells <= device.cached_rows;
      const double rate = cached ? device.rows_cached : device.rows;
      if (part.ghosts == 0 && part.sent == 0) {
        const double alone = part.cells / rate;
        slowest = {std::max(slowest.none, alone), std::max(slowest.messages, alone), std::max(slowest.full, alone)};
        continue;
      }
      double copies = 0;
      if (device.accelerator)
        copies = 2 * device.copy_latency + row_bytes * (part.sent / device.to_host + part.ghosts / device.to_device);
      const double before = 2 * device.launch + device.meet + part.separators / rate;
      const double interior = (part.cells - part.separators) / rate;
      slowest.none = std::max(slowest.none, before + copies + message + interior);
      slowest.messages = std::max(slowest.messages, before + copies + std::max(message, interior));
      slowest.full = std::max(slowest.full, before + std::max(copies + message, interior));
    }
  }
  return slowest;
}

std::vector<SurfaceLaw> fit_surfaces(std::span<const RealPartition> partitions, int devices) {
  std::vector<SurfaceLaw> laws(at(devices));
  const auto chosen = fitted(partitions);
  for (int d = 0; d < devices; ++d) {
    SurfaceLaw& law = laws[at(d)];
    int parts = 0;
    for (const RealPartition* partition : chosen) {
      const PartCounts worst = worst_part(*partition, devices, d);
      if (worst.cells == 0) continue;
      for (const auto count : surfaces) law.factors.*count += worst.*count / surface_of(worst.cells);
      ++parts;
    }
    if (parts == 0) continue;
    for (const auto count : surfaces) law.factors.*count /= parts;
    const RealPartition& largest = *chosen.back();
    const PartCounts worst = worst_part(largest, devices, d);
    law.factors.messages = worst.messages;
    double cells = 0;
    for (std::size_t p = at(d); p < largest.parts.size(); p += at(devices)) cells += largest.parts[p].cells;
    if (cells > 0) law.imbalance = worst.cells * largest.nodes / cells;
  }
  // A device that had no cells may get some on more nodes: its surface is like another's.
  const auto known =
      std::find_if(laws.begin(), laws.end(), [](const SurfaceLaw& law) { return law.factors.ghosts > 0; });
  for (SurfaceLaw& law : laws)
    if (law.factors.ghosts == 0 && known != laws.end()) law = *known;
  return laws;
}

std::optional<double> law_error(std::span<const RealPartition> partitions, std::span<const SurfaceLaw> laws) {
  const auto chosen = fitted(partitions);
  if (chosen.size() < 2) return {};
  double error = 0;
  for (const RealPartition* partition : chosen)
    for (int d = 0; d < static_cast<int>(laws.size()); ++d) {
      const PartCounts worst = worst_part(*partition, static_cast<int>(laws.size()), d);
      if (worst.ghosts > 0)
        error = std::max(error, std::abs(laws[at(d)].factors.ghosts * surface_of(worst.cells) / worst.ghosts - 1));
    }
  return error;
}

std::vector<PartCounts> project_parts(std::span<const SurfaceLaw> laws, std::span<const double> weights, double cells) {
  std::vector<PartCounts> parts(laws.size());
  for (std::size_t d = 0; d < laws.size(); ++d) {
    PartCounts& part = parts[d];
    if (weights[d] == 0) continue;
    part.cells = cells * weights[d] * laws[d].imbalance;
    for (const auto count : surfaces) part.*count = laws[d].factors.*count * surface_of(part.cells);
    part.separators = std::min(part.separators, part.cells);
    part.messages = laws[d].factors.messages;
  }
  return parts;
}

}  // namespace tutti::app
