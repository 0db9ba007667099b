// A subcommand of `tutti mesh` in a file of its own.
#pragma once

#include "app/commands.hpp"

namespace tutti::app {

void add_mesh_quality(CLI::App& mesh, Action& action);

}  // namespace tutti::app
