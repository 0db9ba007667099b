// tutti mesh smooth: nodes move until the cells are better.
#pragma once

#include "tutti/program/model_kind.hpp"

namespace tutti::smoothing {

/// Adds `smooth` to the subcommands of `tutti mesh`.
void add_smooth_command(CLI::App& mesh, Action& action);

}  // namespace tutti::smoothing
