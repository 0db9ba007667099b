// The order along Hilbert's curve, found on a device.
#pragma once

#include <span>

#include "tutti/base/vec3.hpp"
#include "tutti/device/carver.hpp"
#include "tutti/device/sorting.hpp"
#include "tutti/partition/spatial_order.hpp"

namespace tutti {

/// What the order needs in the memory of a device.
struct DeviceOrder {
  struct Bounds {
    Vec3 low, high;
    Lid finite = 1;  ///< 0: some coordinate is not
  };
  static constexpr Lid lanes = 32768, groups = 256;

  Lid count = 0;
  KeyedValues pairs, spare;
  Bounds *bounds = nullptr, *bounds_of_groups = nullptr;
  std::uint8_t* curve = nullptr;
  std::byte* scratch = nullptr;

  void lay_out(Carver& carver, Stream& stream, Lid points);
};

/// hilbert_order of the points, the same: their rows along the curve, in the memory of `order`; and the lattice. Waits.
/// `points`: on the device; `host_points` are the same, and are read only to name the one that is not finite.
/// Errors: as hilbert_order.
const std::int32_t* hilbert_order(Stream& stream, DeviceOrder& order, const Vec3* points,
                                  std::span<const Vec3> host_points, Lattice& lattice);

}  // namespace tutti
