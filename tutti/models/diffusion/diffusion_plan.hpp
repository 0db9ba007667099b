// What a diffusion run will need, counted before anything is allocated.
#pragma once

#include <string>
#include <vector>

#include "tutti/domain/held_arrays.hpp"
#include "tutti/domain/tet_domain.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/models/diffusion/diffusion_case.hpp"
#include "tutti/program/planned.hpp"

namespace tutti::diffusion {

/// The arrays that Diffusion puts on the device of one part, with their bytes. Exact, but for `sliced` and compact rows
/// near cells whose gradient is set to zero, where it is an upper bound.
/// `apart`: without the coefficients, which a memory policy keeps.
std::vector<PlannedArray> plan_arrays(const Case& options, const DiffusionPhysics& physics, const LocalTetMesh& mesh,
                                      const IndexMap& map, bool on_host, bool apart = false);
/// Does a memory policy keep the part's coefficients? Not on a CPU, and not where "auto" has room for all.
bool keeps_apart(const Case& options, const DiffusionPhysics& physics, const LocalTetMesh& mesh, const IndexMap& map,
                 const Device& device, Size capacity);
/// [residency] for the coefficients. Error(input): it does not go with the storage of the rows, or rows change.
ResidencyOptions coefficient_options(const Case& options);
/// Where they will be, in `room` bytes.
HeldPlan plan_coefficients(const Case& options, const IndexMap& map, Size room);

/// Bytes that one time step of so many stages (Euler: 1) must move on the device of a part.
Size plan_bytes_a_step(const std::vector<PlannedArray>& arrays, const IndexMap& map, int stages);

/// What a row of Diffusion reads: the neighbours of its neighbours.
TetOptions diffusion_tet_options(const Case& options);
/// How its cells are shared. The arguments outlive it.
Sharing diffusion_sharing(const Case& options, Threads& threads);

}  // namespace tutti::diffusion
