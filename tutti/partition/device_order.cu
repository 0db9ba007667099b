// Compiles as plain C++ without CUDA.
#include "tutti/partition/device_order.hpp"

#include <array>

#include "tutti/base/error.hpp"
#include "tutti/device/buffer.hpp"
#include "tutti/device/for_each.hpp"
#include "tutti/partition/hilbert.hpp"

namespace tutti {
namespace {

using Bounds = DeviceOrder::Bounds;

TUTTI_HD void include(Bounds& bounds, Vec3 p) {
  for (int axis = 0; axis < 3; ++axis) {
    if (!(p[axis] - p[axis] == 0)) bounds.finite = 0;
    bounds.low[axis] = p[axis] < bounds.low[axis] ? p[axis] : bounds.low[axis];
    bounds.high[axis] = p[axis] > bounds.high[axis] ? p[axis] : bounds.high[axis];
  }
}
TUTTI_HD void include(Bounds& bounds, const Bounds& other) {
  include(bounds, other.low);
  include(bounds, other.high);
  if (other.finite == 0) bounds.finite = 0;
}

/// Lane l of n has entries l, l + n, ...
template <class T>
struct FindBounds {
  const T* from;
  Lid count, lanes;
  Bounds* to;
  TUTTI_HD static Bounds first(Vec3 p) { return {p, p, 1}; }
  TUTTI_HD static Bounds first(const Bounds& bounds) { return bounds; }
  TUTTI_HD void operator()(Lid lane) const {
    Bounds bounds = first(from[lane]);
    for (Size i = lane; i < count; i += lanes) include(bounds, from[i]);
    to[lane] = bounds;
  }
};

struct FindKeys {
  const Vec3* points;
  Lattice lattice;
  const std::uint8_t* curve;
  KeyedValues pairs;
  TUTTI_HD void operator()(Lid i) const {
    const Vec3 p = points[i];
    pairs.keys[i] = hilbert_key_by(curve, lattice.cell(p, 0), lattice.cell(p, 1), lattice.cell(p, 2));
    pairs.values[i] = i;
  }
};

Lattice find_lattice(Stream& stream, const DeviceOrder& order, const Vec3* points, std::span<const Vec3> host_points) {
  const Lid lanes = std::min(order.count, DeviceOrder::lanes), groups = std::min(lanes, DeviceOrder::groups);
  for_each(stream, {0, lanes}, FindBounds<Vec3>{points, order.count, lanes, order.bounds});
  for_each(stream, {0, groups}, FindBounds<Bounds>{order.bounds, lanes, groups, order.bounds_of_groups});
  std::array<Bounds, DeviceOrder::groups> found;
  download(stream, std::span(found).first(static_cast<std::size_t>(groups)), order.bounds_of_groups);
  Bounds all = found[0];
  for (std::size_t g = 1; g < static_cast<std::size_t>(groups); ++g) include(all, found[g]);
  return all.finite == 0 ? lattice_of(host_points) : lattice_between(all.low, all.high);
}

}  // namespace

void DeviceOrder::lay_out(Carver& carver, Stream& stream, Lid points) {
  count = points;
  for (KeyedValues* pair : {&pairs, &spare}) {
    pair->keys = carver.take<std::uint64_t>(count);
    pair->values = carver.take<std::int32_t>(count);
  }
  bounds = carver.take<Bounds>(lanes);
  bounds_of_groups = carver.take<Bounds>(groups);
  curve = carver.take<std::uint8_t>(static_cast<Size>(hilbert_detail::tables.rank.size()));
  scratch = carver.take<std::byte>(sort_scratch_bytes(stream, count, 3 * hilbert_bits));
}

const std::int32_t* hilbert_order(Stream& stream, DeviceOrder& order, const Vec3* points,
                                  std::span<const Vec3> host_points, Lattice& lattice) {
  if (order.count == 0) return order.pairs.values;
  lattice = find_lattice(stream, order, points, host_points);
  const auto& curve = hilbert_detail::tables.rank;
  stream.copy(order.curve, curve.data(), curve.size(), CopyDirection::to_device);
  for_each(stream, {0, order.count}, FindKeys{points, lattice, order.curve, order.pairs});
  return sort_by_key(stream, order.pairs, order.spare, order.count, 3 * hilbert_bits, order.scratch).values;
}

}  // namespace tutti
