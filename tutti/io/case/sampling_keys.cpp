#include "tutti/io/case/sampling_keys.hpp"

namespace tutti {
namespace {

void add_name(CaseSchema& schema, const std::string& table, const std::string& what) {
  schema.add({.path = table + ".name", .type = KeyType::text, .description = what, .required = true});
}

void add_scale(CaseSchema& schema, const std::string& table) {
  schema.add({.path = table + ".scale",
              .type = KeyType::number,
              .default_value = "1",
              .description = "The value is multiplied by this, e.g. density times heat capacity for watts."});
  schema.add({.path = table + ".unit",
              .type = KeyType::text,
              .description = "Unit of the value, for plots; nothing is converted."});
}

void add_integral_keys(CaseSchema& schema, DomainKeys domain) {
  const std::string table = "output.integral[]";
  schema.describe_table(table,
                        "A column of `history.csv`: an integral, a mean or an extreme of a field over some cells.");
  add_name(schema, table, "Name of the column.");
  schema.add({.path = table + ".of",
              .type = KeyType::text,
              .description = "A field of the results; `velocity[0]`: a component; `1`: the volume.",
              .required = true});
  schema.add({.path = table + ".kind",
              .type = KeyType::choice,
              .default_value = "\"integral\"",
              .description = "Cells are weighted by their volumes, nodes on the sphere by their areas; mean: the "
                             "integral divided by the volume or area.",
              .choices = {"integral", "mean", "min", "max"}});
  if (domain == DomainKeys::tetrahedra || domain == DomainKeys::elements)
    schema.add({.path = table + ".region",
                .type = KeyType::text,
                .description = "Name or number of the physical volume; else all of the mesh."});
  schema.add({.path = table + ".where",
              .type = KeyType::expression,
              .description = "Only cells where this is not 0 at the centre, e.g. `z > 0.5`."});
  add_scale(schema, table);
}

void add_surface_keys(CaseSchema& schema, DomainKeys domain) {
  const std::string table = "output.surface[]";
  schema.describe_table(
      table, "Fluxes and other quantities on a part of the boundary: a column of `history.csv`, and profiles.");
  add_name(schema, table, "Name of the column, and of the file.");
  schema.add({.path = table + ".boundary",
              .type = KeyType::text,
              .description = domain == DomainKeys::box ? "Which end of the box: x-lower, ..., z-upper."
                                                       : "Name or number of the physical surface.",
              .required = true});
  schema.add({.path = table + ".of",
              .type = KeyType::text,
              .description = "A quantity of the model at the boundary; the error for an unknown name lists all.",
              .required = true});
  schema.add({.path = table + ".kind",
              .type = KeyType::choice,
              .default_value = "\"integral\"",
              .description = "What the column holds; faces are weighted by their areas.",
              .choices = {"integral", "mean", "min", "max"}});
  schema.add({.path = table + ".profile",
              .type = KeyType::boolean,
              .default_value = "false",
              .description = "Also write the value of every face to `surfaces/<name>.csv`, at the times of the fields; "
                             "one rank gathers them."});
  add_scale(schema, table);
}

void add_unit_keys(CaseSchema& schema) {
  const std::string table = "output.unit[]";
  schema.describe_table(table, "Units of the case's numbers, for `summary.json` and plots. Nothing is converted.");
  schema.add({.path = table + ".of",
              .type = KeyType::text,
              .description = "A field, a quantity of probes, a column of `history.csv`, `time` or `length`.",
              .required = true});
  schema.add({.path = table + ".unit", .type = KeyType::text, .description = "Its unit.", .required = true});
}

void add_plane_keys(CaseSchema& schema) {
  const std::string table = "output.plane[]";
  schema.describe_table(table,
                        "A plane through the mesh: the polygons that it cuts out of cells, with the cells' values, in "
                        "`planes/plane-<name>.pvd` at the times of the fields. Nothing is interpolated.");
  add_name(schema, table, "Name of the plane and its files: letters, digits, - and _.");
  schema.add({.path = table + ".point",
              .type = KeyType::numbers,
              .unit = "length",
              .description = "A point of the plane.",
              .length = 3,
              .required = true});
  schema.add({.path = table + ".normal",
              .type = KeyType::numbers,
              .description = "Its normal, of any length. Where the plane runs along faces, the cells on the side that "
                             "the normal points away from are used.",
              .length = 3,
              .required = true});
  schema.add({.path = table + ".csv",
              .type = KeyType::boolean,
              .default_value = "false",
              .description =
                  "Also write `planes/<name>.csv`: centre, area and values of each polygon; one rank gathers them."});
}

}  // namespace

void add_sampling_keys(CaseSchema& schema, DomainKeys domain) {
  add_integral_keys(schema, domain);
  add_unit_keys(schema);
  if (domain == DomainKeys::nodes) {
    schema.leave_out("output.surface", "a sphere has no boundary");
    schema.leave_out("output.plane", "nodes have no cells to be cut; take [[output.line]]");
    return;
  }
  add_surface_keys(schema, domain);
  add_plane_keys(schema);
}

}  // namespace tutti
