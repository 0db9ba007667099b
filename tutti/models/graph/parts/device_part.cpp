#include "tutti/models/graph/parts/device_part.hpp"

#include <algorithm>

namespace tutti::graph {

DevicePart::DevicePart(const GraphPart& part, Device& device, int batches)
    : part_(part), stream_(device.make_stream("part of a graph")) {
  out_ = DeviceRows(*stream_, part.out, "arcs");
  if (part.in.offsets.size() > 1) in_ = DeviceRows(*stream_, part.in, "arcs against their direction");
#if defined(TUTTI_HAVE_CUDA)
  if (device.kind() == DeviceKind::cuda) kernels_ = make_gpu_level_kernels(*stream_, part, rows(), batches);
#else
  static_cast<void>(batches);
#endif
  if (!kernels_) kernels_ = make_portable_level_kernels(rows());
  stream_->synchronize();
}

Size DevicePart::bytes(const GraphPart& part) {
  const auto rows = [](const Csr<Vertex>& r) { return 8 * static_cast<Size>(r.offsets.size()) + 4 * r.entries(); };
  return rows(part.out) + rows(part.in) + bytes_of_level_kernels(part);
}

PartRowsView DevicePart::rows() const {
  return {out_.view(), (in_.offsets.empty() ? out_ : in_).view(), part_.map.owned, part_.out.entries()};
}

bool DevicePart::reaches(DevicePart& other) {
  return device().can_copy_from(other.device()) && other.device().can_copy_from(device());
}

void DevicePart::set_readers(std::span<const GraphPart* const> readers) {
  const std::size_t count = readers.size();
  std::vector<std::uint32_t> places(static_cast<std::size_t>(part_.map.owned) * count, 0);
  for (std::size_t r = 0; r < count; ++r) {
    const auto joins = [](std::int32_t with) { return [with](const Link& link) { return link.part == with; }; };
    const auto mine = std::find_if(part_.map.links.begin(), part_.map.links.end(), joins(readers[r]->map.part));
    const auto& others = readers[r]->map.links;
    const Lid ghosts = std::find_if(others.begin(), others.end(), joins(part_.map.part))->ghosts.begin;
    const std::vector<std::uint8_t>& ways = part_.readers[static_cast<std::size_t>(mine - part_.map.links.begin())];
    for (std::size_t i = 0; i < ways.size(); ++i)
      places[static_cast<std::size_t>(mine->send_rows[i]) * count + r] =
          (static_cast<std::uint32_t>(ghosts) + static_cast<std::uint32_t>(i)) << 2 | ways[i];
  }
  places_ = make_buffer(*stream_, std::span<const std::uint32_t>(places), "where other parts read vertices");
  stream_->synchronize();
}

}  // namespace tutti::graph
