// Incompressible flow with buoyancy in a box (Boussinesq), on a staggered grid, by projection (Jacobsen 2010).
#pragma once

#include <memory>

#include "tutti/program/model_kind.hpp"

namespace tutti::incompressible {

void add_incompressible_keys(CaseSchema& schema);
/// In the precision that the case asks for. Collective. Errors as read_flow_case and make_box_domain; Error(numerical)
/// when time.dt is above the limit.
std::unique_ptr<Model> make_incompressible(const ModelSetup& setup);
/// What programs know of this model.
ModelKind incompressible_kind();
/// Its subcommand of `tutti bench`.
void add_flow_bench(CLI::App& bench, Action& action);

}  // namespace tutti::incompressible
