// The velocity along a part's nodes, evaluated on its device.
#pragma once

#include <span>
#include <vector>

#include "tutti/device/buffer.hpp"
#include "tutti/io/case/expression.hpp"

namespace tutti::transport {

/// For steps whose velocity changes in time. Keeps minus the velocity along the two tangents of make_frame, in
/// radii/s: 16 bytes a node, and what the formulas need.
class PartVelocity {
 public:
  PartVelocity() = default;
  /// `nodes`: the owned ones.
  PartVelocity(Stream& stream, const std::vector<Expression>& formulas, bool cartesian, std::span<const Vec3> nodes);
  /// Enqueues the evaluation at `time`; values that are not finite spread to the tracers, where they are found.
  void update(Stream& stream, double time);
  const double* along() const { return along_.data(); }
  Size bytes() const { return along_.bytes(); }

 private:
  bool cartesian_ = false;
  int counts_[3] = {};
  Lid rows_ = 0;
  Buffer<FormulaStep> steps_;
  Buffer<Vec3> nodes_;
  Buffer<double> along_;
};

/// The velocity as a vector. `values`: the formulas at the node, east and north or x, y, z.
TUTTI_HD inline Vec3 velocity_vector(Vec3 node, const double* values, bool cartesian) {
  if (cartesian) return {values[0], values[1], values[2]};
  const double rho = std::sqrt(node.x * node.x + node.y * node.y);
  // At the poles the longitude is 0, as in formulas.
  const double cos_lon = rho > 0 ? node.x / rho : 1, sin_lon = rho > 0 ? node.y / rho : 0;
  const Vec3 east{-sin_lon, cos_lon, 0}, north{-node.z * cos_lon, -node.z * sin_lon, rho};
  return values[0] * east + values[1] * north;
}

}  // namespace tutti::transport
