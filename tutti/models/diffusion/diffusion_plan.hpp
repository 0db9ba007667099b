// What a diffusion run will need, counted before anything is allocated.
#pragma once

#include <string>
#include <vector>

#include "tutti/io/case.hpp"
#include "tutti/models/diffusion/diffusion_case.hpp"
#include "tutti/simulation/planned_array.hpp"
#include "tutti/simulation/tet_domain.hpp"

namespace tutti {

/// The arrays that Diffusion puts on the device of one part, with their bytes. Exact, but for `sliced` and compact rows
/// near cells whose gradient is set to zero, where it is an upper bound.
std::vector<PlannedArray> plan_arrays(const Case& options, const DiffusionPhysics& physics, const LocalTetMesh& mesh,
                                      const IndexMap& map, bool on_host);

/// Bytes that one time step of so many stages (Euler: 1) must move on the device of a part.
Size plan_bytes_a_step(const std::vector<PlannedArray>& arrays, const IndexMap& map, int stages);

/// What Diffusion asks of make_tet_domain. The arguments outlive it.
DomainOptions diffusion_domain_options(const Case& options, Threads& threads);

}  // namespace tutti
