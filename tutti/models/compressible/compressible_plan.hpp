// What compressible flow takes of a device, before anything is allocated.
#pragma once

#include <string>
#include <vector>

#include "tutti/domain/element_domain.hpp"
#include "tutti/models/compressible/compressible_case.hpp"
#include "tutti/program/planned.hpp"

namespace tutti::compressible {

/// Arrays of part p of this rank, but for messages. `apart`: without the tables that a memory policy keeps.
std::vector<PlannedArray> plan_arrays(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p,
                                      bool apart = false);
/// Does a memory policy say where the tables are that elements of part p share with no others? Where all share theirs,
/// or `auto` has room for all: no.
bool keeps_apart(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p);
/// They, in `room` bytes: of elements, then of faces.
std::vector<std::pair<std::string, HeldPlan>> plan_held_tables(const CompressibleCase& flow,
                                                               const ElementDomain& domain, std::size_t p, Size room);
/// What the tables of all parts take, and what they would take with numerics.form = "recomputed". Empty where no
/// element has tables of its own. All ranks call it.
std::string compare_forms(const Comm& comm, const CompressibleCase& flow, const ElementDomain& domain);
/// Of FlowPart::rotation, which is made when results are written first.
inline Size rotation_bytes(Size elements) {
  return 32 * elements;
}
/// How elements are shared: by the rate of the model's own kernels, as far as there is room. `threads` outlive it.
Sharing element_sharing(const Case& options, const CompressibleCase& flow, Threads& threads);
/// Bytes that a step moves: all arrays that a stage reads and writes, each once.
Size plan_bytes_a_step(const CompressibleCase& flow, const ElementDomain& domain, std::size_t p);

}  // namespace tutti::compressible
