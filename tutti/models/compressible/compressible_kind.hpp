// What programs know of this model.
#pragma once

#include "tutti/program/model_kind.hpp"

namespace tutti::compressible {

ModelKind compressible_kind();
/// `tutti bench compressible`.
void add_compressible_bench(CLI::App& bench, Action& action);

}  // namespace tutti::compressible
