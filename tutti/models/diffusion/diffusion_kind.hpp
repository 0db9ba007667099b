// What programs know of this model.
#pragma once

#include "tutti/program/model_kind.hpp"

namespace tutti::diffusion {

ModelKind diffusion_kind();
/// Its subcommand of `tutti bench`.
void add_diffusion_bench(CLI::App& bench, Action& action);

}  // namespace tutti::diffusion
