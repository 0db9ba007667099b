#include "tutti/models/smoothing/run/smooth_arguments.hpp"

#include <CLI/CLI.hpp>

#include "tutti/base/error.hpp"

namespace tutti::smoothing {

CaseSchema smooth_schema() {
  CaseSchema schema;
  schema.describe_table("mesh", "The mesh to be smoothed.");
  schema.add({.path = "mesh.file", .type = KeyType::file, .description = "Mesh file.", .required = true});
  schema.describe_table("output", "What is written.");
  schema.add({.path = "output.mesh", .type = KeyType::file, .description = "Mesh file, .msh or .vtu."});
  schema.add({.path = "output.format",
              .type = KeyType::choice,
              .description = "Format of the mesh file.",
              .choices = {"msh41", "msh22", "msh41-ascii", "msh22-ascii", "vtu", "vtu-ascii"}});
  schema.add({.path = "output.json", .type = KeyType::file, .description = "Energies and quality of all iterations."});
  schema.describe_table("smooth", "How nodes move.");
  const auto word = [&](const char* path, const char* text, std::vector<std::string> choices) {
    schema.add({.path = path, .type = KeyType::choice, .description = text, .choices = std::move(choices)});
  };
  word("smooth.energy", "Energy to minimise.", {"shape", "graded", "l2v"});
  word("smooth.method", "Step of a node.", {"newton", "half_trace", "thesis"});
  word("smooth.sweeps", "One colour after another, or all nodes at once.", {"gauss-seidel", "jacobi"});
  word("smooth.derivatives", "Precision of the steps; coordinates stay double.", {"double", "float"});
  word("smooth.boundary", "Boundary nodes.", {"fixed", "slide", "free"});
  const auto number = [&](const char* path, const char* text, double max) {
    schema.add({.path = path, .type = KeyType::number, .description = text, .min = 0, .max = max});
  };
  number("smooth.damping", "Factor of each step.", 2);
  number("smooth.feature_angle", "Degrees by which the surface bends at a feature edge.", 180);
  number("smooth.stop_energy", "Stop when an iteration lowers the energy by less than this fraction.", 1);
  number("smooth.stop_movement", "Stop when no node moves by more than this fraction of a cell.", 1e300);
  number("smooth.stop_quality", "Stop when all cells have at least this mean ratio.", 1);
  for (const auto& [path, text] :
       {std::pair{"smooth.iterations", "Maximum number of sweeps over all nodes."},
        std::pair{"smooth.swap", "Rounds of topological swaps, each followed by smoothing."},
        std::pair{"smooth.untangle", "Maximum number of sweeps that first untangle inverted cells."}})
    schema.add({.path = path, .type = KeyType::integer, .description = text, .min = 0, .max = 1e6});
  schema.describe_table("devices", "Devices that compute.");
  schema.add({.path = "devices.list", .type = KeyType::text, .description = "As --devices."});
  schema.add(
      {.path = "devices.threads", .type = KeyType::integer, .description = "As --threads.", .min = 1, .max = 4096});
  schema.add({.path = "devices.weights", .type = KeyType::numbers, .description = "As --weights.", .min = 0});
  schema.describe_table("partition", "How nodes are split over devices.");
  schema.add({.path = "partition.method",
              .type = KeyType::choice,
              .description = "Partitioner.",
              .choices = {"metis", "scotch", "hilbert", "slabs", "voronoi"}});
  return schema;
}

void read_smooth_case(const Comm& comm, const CLI::App& command, SmoothArguments& a) {
  const std::string path = a.input;
  std::string text;
  comm.together([&] {
    if (comm.is_root()) text = read_text_file(path);
  });
  comm.broadcast(text);
  comm.together([&] {
    const Case from = parse_case(text, path, smooth_schema());
    const auto wanted = [&](const char* option, const char* key) {
      return command.count(option) == 0 && from.is_set(key);
    };
    const auto words = [&](std::string& to, const char* option, const char* key) {
      if (wanted(option, key)) to = from.text(key);
    };
    const auto files = [&](std::string& to, const char* option, const char* key) {
      if (wanted(option, key)) to = from.file(key).string();
    };
    const auto numbers = [&](double& to, const char* option, const char* key) {
      if (wanted(option, key)) to = from.number(key);
    };
    const auto integers = [&](int& to, const char* option, const char* key) {
      if (wanted(option, key)) to = static_cast<int>(from.integer(key));
    };
    a.input = from.file("mesh.file").string();
    files(a.output, "--output", "output.mesh");
    files(a.json, "--json", "output.json");
    words(a.format, "--format", "output.format");
    words(a.energy, "--energy", "smooth.energy");
    words(a.method, "--method", "smooth.method");
    words(a.sweeps, "--sweeps", "smooth.sweeps");
    words(a.derivatives, "--derivatives", "smooth.derivatives");
    words(a.boundary, "--boundary", "smooth.boundary");
    numbers(a.options.damping, "--damping", "smooth.damping");
    numbers(a.options.feature_angle, "--feature-angle", "smooth.feature_angle");
    numbers(a.options.stop_energy, "--stop-energy", "smooth.stop_energy");
    numbers(a.options.stop_movement, "--stop-movement", "smooth.stop_movement");
    numbers(a.options.stop_quality, "--stop-quality", "smooth.stop_quality");
    integers(a.options.iterations, "--iterations", "smooth.iterations");
    integers(a.options.swaps, "--swap", "smooth.swap");
    integers(a.options.untangling, "--untangle", "smooth.untangle");
    words(a.devices.list, "--devices", "devices.list");
    integers(a.devices.threads, "--threads", "devices.threads");
    if (wanted("--weights", "devices.weights")) a.weights = from.numbers("devices.weights");
    words(a.partitioner, "--partition", "partition.method");
  });
}

}  // namespace tutti::smoothing
