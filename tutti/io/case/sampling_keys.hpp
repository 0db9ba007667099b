// The keys of what is sampled from fields besides probes, lines and slices: integrals, surfaces, planes.
#pragma once

#include "tutti/io/case/core_keys.hpp"

namespace tutti {

/// Part of core_schema.
void add_sampling_keys(CaseSchema& schema, DomainKeys domain);

}  // namespace tutti
