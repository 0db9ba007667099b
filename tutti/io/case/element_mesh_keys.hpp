// The keys of [mesh] for models on elements of any type.
#pragma once

#include "tutti/io/case/case_schema.hpp"

namespace tutti {

void add_element_mesh_keys(CaseSchema& schema);

}  // namespace tutti
