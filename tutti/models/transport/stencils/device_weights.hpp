// Weights of many stencils on a device. A GPU makes the bits of the CPU: stencil_system.hpp and dense_lu.hpp say which
// operations, in which order.
#pragma once

#include <span>

#include "tutti/device/buffer.hpp"
#include "tutti/models/transport/stencils/stencil_weights.hpp"

namespace tutti::transport {

/// Enqueues the weights of `rows` stencils; all pointers are to the device's memory. Row i's stencil is columns[i *
/// size
/// ...], numbers of `nodes`; its weights go to out[(i * operators + op) * size + j], its condition number to
/// conditions[i], -1 where the system is singular. `basis` has been checked; on a GPU it has at most max_gpu_unknowns.
void enqueue_weights(Stream& stream, const StencilBasis& basis, const Vec3* nodes, const Lid* columns, Lid rows,
                     double* out, double* conditions);

/// make_weights by a device, from and to the host's memory, `piece` rows at a time, or as many as the device has
/// room for. Besides the errors of make_weights: Error(resource), it has none for the nodes and a row.
WeightReport make_weights(Stream& stream, const StencilBasis& basis, std::span<const Vec3> nodes,
                          std::span<const Lid> columns, std::span<double> out, std::span<const Gid> numbers = {},
                          Lid piece = 1 << 16);

}  // namespace tutti::transport
