#include "tutti/io/case/element_mesh_keys.hpp"

namespace tutti {
namespace {

const KeyCondition box{"mesh.generate", {"box"}};

void add_box_keys(CaseSchema& schema) {
  schema.add({.path = "mesh.element",
              .type = KeyType::choice,
              .default_value = "\"tet\"",
              .description = "Elements of each cube: one hexahedron, six tetrahedra, two prisms or six pyramids; "
                             "mixed: layers of all of them.",
              .choices = {"tet", "hex", "prism", "pyramid", "mixed"},
              .only_if = box});
  add_box_mesh_keys(schema, "Cubes along x, y, z.");
  schema.add({.path = "mesh.periodic",
              .type = KeyType::boolean,
              .default_value = "false",
              .description = "Join opposite sides: true: all of them; or those along the given axes.",
              .choices = {"x", "y", "z", "xy", "xz", "yz"},
              .only_if = box});
  schema.add(
      {.path = "mesh.order",
       .type = KeyType::integer,
       .default_value = "1",
       .description =
           "Order of the elements' geometry: 2 has additional points between the corners, which `map` moves, too.",
       .min = 1,
       .max = 2,
       .only_if = box});
}

}  // namespace

void add_box_mesh_keys(CaseSchema& schema, const std::string& cubes) {
  schema.add({.path = "mesh.cubes",
              .type = KeyType::integers,
              .description = cubes,
              .min = 1,
              .length = 3,
              .required = true,
              .only_if = box});
  schema.add({.path = "mesh.lower",
              .type = KeyType::numbers,
              .default_value = "[0, 0, 0]",
              .unit = "length",
              .description = "Lower corner.",
              .length = 3,
              .only_if = box});
  schema.add({.path = "mesh.upper",
              .type = KeyType::numbers,
              .default_value = "[1, 1, 1]",
              .unit = "length",
              .description = "Upper corner.",
              .length = 3,
              .only_if = box});
  schema.add({.path = "mesh.jitter",
              .type = KeyType::number,
              .default_value = "0.0",
              .description = "Interior vertices move by up to this fraction of the spacing.",
              .min = 0,
              .max = 0.49,
              .only_if = box});
  schema.add({.path = "mesh.seed",
              .type = KeyType::integer,
              .default_value = "1",
              .description = "Seed of the jitter.",
              .min = 0,
              .only_if = box});
  schema.add({.path = "mesh.map",
              .type = KeyType::expressions,
              .unit = "length",
              .description = "New position of each point of the mesh (x, y, z), applied last.",
              .length = 3,
              .only_if = box});
}

void add_element_mesh_keys(CaseSchema& schema) {
  schema.describe_table("mesh", "The mesh comes from a file or from a generator.");
  schema.add({.path = "mesh.file",
              .type = KeyType::file,
              .description = "Mesh file, relative to the case file: Gmsh's .msh (2.2 or 4.1) or VTK's .vtu."});
  schema.add({.path = "mesh.generate", .type = KeyType::choice, .description = "Generator.", .choices = {"box"}});
  schema.exactly_one_of({"mesh.file", "mesh.generate"});
  add_box_keys(schema);
}

}  // namespace tutti
