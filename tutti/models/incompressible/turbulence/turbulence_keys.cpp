#include "tutti/models/incompressible/turbulence/turbulence_keys.hpp"

#include <limits>

#include "tutti/base/error.hpp"

namespace tutti::incompressible {
namespace {

int direction_of(const Case& options, const std::string& key) {
  return options.text(key)[0] - 'x';
}

void require_periodic(const Case& options, const FlowCase& flow, const std::string& key, int direction) {
  const std::size_t lower = 2 * static_cast<std::size_t>(direction);
  if (flow.ends[lower].velocity != VelocityEnd::periodic)
    fail(ErrorKind::input, "{}: {} is not periodic; give velocity = \"periodic\" at {} and {}", options.where(key),
         "xyz"[direction], box_face_names[lower], box_face_names[lower + 1]);
}

void require_explicit(const Case& options, const FlowCase& flow, const std::string& key) {
  if (flow.implicit_diffusion)
    fail(ErrorKind::input, "{}: it goes with time.diffusion = \"explicit\" only; change one of the two",
         options.where(key));
}

void read_profiles(const Case& options, FlowCase& flow) {
  if (options.is_word("profiles.direction", "none")) return;
  ProfileKeys profiles;
  profiles.direction = direction_of(options, "profiles.direction");
  for (int d = 0; d < 3; ++d)
    if (d != profiles.direction) require_periodic(options, flow, "profiles.direction", d);
  profiles.every = options.integer("profiles.every");
  profiles.start = options.number("profiles.start");
  profiles.end = options.has("profiles.end") ? options.number("profiles.end") : std::numeric_limits<double>::infinity();
  if (profiles.end < profiles.start)
    fail(ErrorKind::input, "{}: {:g} is before profiles.start = {:g}; choose a later end",
         options.where("profiles.end"), profiles.end, profiles.start);
  profiles.positions = options.numbers("profiles.spectra");
  const GridLine& line = flow.grid.lines[static_cast<std::size_t>(profiles.direction)];
  for (const double at : profiles.positions)
    if (!(at >= line.faces.front() && at <= line.faces.back()))
      fail(ErrorKind::input,
           "{}: {:g} is outside the grid, which reaches from {:g} to {:g} along {}; choose positions in it",
           options.where("profiles.spectra"), at, line.faces.front(), line.faces.back(), "xyz"[profiles.direction]);
  flow.profiles = profiles;
}

}  // namespace

void add_turbulence_keys(CaseSchema& schema) {
  schema.add({.path = "fluid.bulk_velocity",
              .type = KeyType::number,
              .unit = "length/s",
              .description = "Mean velocity over the box along `bulk_direction`, which must be periodic. A uniform "
                             "force maintains it (constant mass flow). For a constant pressure gradient give `force` "
                             "instead."});
  schema.add({.path = "fluid.bulk_direction",
              .type = KeyType::choice,
              .default_value = "\"x\"",
              .description = "Direction of the mean velocity.",
              .choices = {"x", "y", "z"}});
  schema.add({.path = "fluid.subgrid",
              .type = KeyType::choice,
              .default_value = "\"none\"",
              .description =
                  "An eddy viscosity nu_t for what the grid does not resolve (large-eddy simulation), with D "
                  "the cube root of the cell's volume. smagorinsky: (C D)^2 |S|; wale: of Nicoud and Ducros "
                  "(1999), which is 0 in pure shear and at walls.",
              .choices = {"none", "smagorinsky", "wale"}});
  schema.add({.path = "fluid.subgrid_constant",
              .type = KeyType::number,
              .default_value = "\"auto\"",
              .description = "C; auto: 0.17 of smagorinsky (Lilly 1967; 0.1 is usual in channels), 0.5 of wale.",
              .choices = {"auto"},
              .min = 0,
              .only_if = {"fluid.subgrid", {"smagorinsky", "wale"}}});
  schema.describe_table("profiles",
                        "Averages over time and over the planes normal to a direction (profiles.csv), and energy "
                        "spectra (spectra.csv), written at the end of the run.");
  schema.add({.path = "profiles.direction",
              .type = KeyType::choice,
              .default_value = "\"none\"",
              .description = "Direction normal to the planes; the two others must be periodic.",
              .choices = {"none", "x", "y", "z"}});
  schema.add({.path = "profiles.every",
              .type = KeyType::integer,
              .default_value = "10",
              .unit = "steps",
              .description = "Steps between two samples.",
              .min = 1,
              .only_if = {"profiles.direction", {"x", "y", "z"}}});
  schema.add({.path = "profiles.start",
              .type = KeyType::number,
              .default_value = "0",
              .unit = "s",
              .description = "Samples are taken from this time on.",
              .min = 0,
              .only_if = {"profiles.direction", {"x", "y", "z"}}});
  schema.add({.path = "profiles.end",
              .type = KeyType::number,
              .unit = "s",
              .description = "Samples are taken until this time; default: the end of the run.",
              .min = 0,
              .only_if = {"profiles.direction", {"x", "y", "z"}}});
  schema.add({.path = "profiles.spectra",
              .type = KeyType::numbers,
              .default_value = "[]",
              .unit = "length",
              .description = "Positions along the direction: energy spectra of the plane of cells there, along both "
                             "other axes.",
              .only_if = {"profiles.direction", {"x", "y", "z"}}});
}

void read_turbulence(const Case& options, FlowCase& flow) {
  if (options.has("fluid.bulk_velocity")) {
    flow.bulk = BulkFlow{direction_of(options, "fluid.bulk_direction"), options.number("fluid.bulk_velocity")};
    require_periodic(options, flow, "fluid.bulk_velocity", flow.bulk->direction);
    require_explicit(options, flow, "fluid.bulk_velocity");
  }
  const std::string subgrid = options.text("fluid.subgrid");
  if (subgrid != "none") {
    flow.subgrid = subgrid == "wale" ? SubgridModel::wale : SubgridModel::smagorinsky;
    flow.subgrid_constant = !options.is_word("fluid.subgrid_constant", "auto")
                                ? options.number("fluid.subgrid_constant")
                                : (subgrid == "wale" ? 0.5 : 0.17);
    require_explicit(options, flow, "fluid.subgrid");
    if (!flow.scalars.empty())
      fail(ErrorKind::input, "{}: a subgrid model does not mix {}; leave the temperature and all scalars out, or it",
           options.where("fluid.subgrid"), flow.scalars[0].name);
  }
  read_profiles(options, flow);
}

}  // namespace tutti::incompressible
