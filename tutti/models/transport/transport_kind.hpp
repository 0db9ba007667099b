// What programs know of this model.
#pragma once

#include "tutti/program/model_kind.hpp"

namespace tutti::transport {

ModelKind transport_kind();
/// Its subcommand of `tutti bench`.
void add_transport_bench(CLI::App& bench, Action& action);
/// All eigenvalues of its operators, for `tutti spectrum`.
void write_transport_spectrum(const SpectrumSetup& setup);

}  // namespace tutti::transport
