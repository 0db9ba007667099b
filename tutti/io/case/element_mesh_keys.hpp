// The keys of [mesh] for models on elements of any type, and those of a box that other meshes have, too.
#pragma once

#include <string>

#include "tutti/io/case/case_schema.hpp"

namespace tutti {

void add_element_mesh_keys(CaseSchema& schema);

/// Of the generator "box": cubes, corners, jitter, map. `cubes`: what mesh.cubes says.
void add_box_mesh_keys(CaseSchema& schema, const std::string& cubes);

}  // namespace tutti
