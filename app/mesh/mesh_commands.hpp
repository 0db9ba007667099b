// The larger ones of the subcommands of `tutti mesh`.
#pragma once

#include "app/commands.hpp"

namespace tutti::app {

void add_mesh_quality(CLI::App& mesh, Action& action);

void add_mesh_smooth(CLI::App& mesh, Action& action);

}  // namespace tutti::app
