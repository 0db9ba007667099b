// How fast a device applies the rows: what the weights of its part are measured by.
#pragma once

#include "tutti/device/device.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/models/diffusion/scheme/scheme.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::diffusion {

/// Rows with the stencil of a box of `cubes`^3 cubes of six tetrahedra along a Hilbert curve; `copies` of them behind
/// each other, which is quicker than a larger box and reads u as near.
DiffusionRows sample_rows(Gid cubes, int copies = 1);

/// Rows a second of explicit steps with the storage that the case chooses, on the whole device: the real kernel, timed
/// for about 50 ms on rows of its own, which are freed again. Error(resource): no memory for them.
double measure_rate(Device& device, Threads& threads, const Case& options, const DiffusionRows& rows);

/// measure_rate for part_weights. The arguments outlive it.
MeasureRate kernel_rate(const Case& options, Threads& threads);

}  // namespace tutti::diffusion
