// The benchmark of cells that react.
#pragma once

#include "tutti/program/model_kind.hpp"

namespace tutti::diffusion {

/// Adds `bench monodomain`.
void add_monodomain_bench(CLI::App& bench_command, Action& action);

}  // namespace tutti::diffusion
