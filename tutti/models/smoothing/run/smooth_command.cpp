#include "tutti/models/smoothing/run/smooth_command.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/io/quality_report.hpp"
#include "tutti/mesh/files/read_mesh.hpp"
#include "tutti/mesh/quality/mesh_quality.hpp"
#include "tutti/models/smoothing/run/smooth_arguments.hpp"
#include "tutti/models/smoothing/smooth_mesh.hpp"
#include "tutti/program/mesh_output.hpp"
#include "tutti/program/report.hpp"

namespace tutti::smoothing {
namespace {

SmoothOptions options_of(const SmoothArguments& a) {
  SmoothOptions o = a.options;
  o.energy = a.energy == "shape" ? Energy::shape : a.energy == "graded" ? Energy::graded : Energy::l2v;
  o.method = a.method == "newton" ? Method::newton : a.method == "half_trace" ? Method::half_trace : Method::thesis;
  o.simultaneous = a.sweeps == "jacobi";
  o.in_float = a.derivatives == "float";
  o.boundary = a.boundary == "fixed"   ? BoundaryRule::fixed
               : a.boundary == "slide" ? BoundaryRule::slide
                                       : BoundaryRule::free;
  return o;
}

void tell(const char* what, const MeshQuality& q) {
  info("{}: mean ratio {:.4f} to 1, mean {:.4f}; {} {:.2f} to {:.2f} degrees; aspect ratio up to {:.3g}; {} inverted",
       what, q.mean_ratio.min, q.mean_ratio.mean, q.triangles ? "angles" : "dihedral angles", q.dihedral.min,
       q.dihedral.max, q.aspect.max, format_count(q.inverted));
}

std::string json_of(const SmoothReport& report, const MeshQuality& before, const MeshQuality& after) {
  const auto states = [](const std::vector<SmoothState>& list) {
    std::string text;
    for (const SmoothState& s : list)
      text += fmt::format(
          "{}\n    {{\"energy\": {:.17g}, \"min_mean_ratio\": {:.17g}, \"movement\": {:.17g}, \"inverted\": {}}}",
          text.empty() ? "" : ",", s.energy, s.min_mean_ratio, s.movement, s.inverted);
    return "[" + text + "]";
  };
  return fmt::format(
      "{{\"stopped\": \"{}\", \"colours\": {}, \"seconds\": {:.6g}, \"node_moves\": {}, \"swapped\": {},\n  "
      "\"untangling\": {},\n  "
      "\"smoothing\": {},\n  \"before\": {},\n  \"after\": {}}}\n",
      report.why_stopped, report.colours, report.seconds, report.node_moves, report.swapped, states(report.untangling),
      states(report.smoothing), quality_json(before), quality_json(after));
}

bool is_case(const std::string& path) {
  return std::filesystem::path(path).extension() == ".toml";
}

void smooth(const Comm& comm, const CLI::App& command, SmoothArguments a) {
  const std::string given = a.input;
  if (is_case(given)) read_smooth_case(comm, command, a);
  if (a.output.empty())
    fail(ErrorKind::usage, "{}: no mesh to write; give -o OUT{}", given,
         is_case(given) ? ", or output.mesh in the case" : "");
  TetMesh mesh;
  comm.together([&] {
    if (!comm.is_root()) return;
    check_mesh_output(a.input, a.output, a.format);
    mesh = read_mesh_as_written(a.input);
  });
  DeviceSet devices = a.devices.open(comm);
  const ParallelFor parallel = parallel_for(*devices.threads);
  MeshQuality before;
  if (comm.is_root()) {
    before = assess_quality(mesh, 0, parallel);
    tell("before", before);
  }
  Sharing sharing;
  comm.together([&] { sharing.method = parse_partitioner(a.partitioner); });
  sharing.weights = a.weights;
  const SmoothReport report = smooth_mesh(comm, devices, mesh, options_of(a), sharing);
  comm.together([&] {
    if (!comm.is_root()) return;
    for (std::size_t k = 0; k < report.untangling.size(); ++k)
      verbose("untangling {:>3}: {} inverted", k, format_count(report.untangling[k].inverted));
    for (std::size_t k = 0; k < report.smoothing.size(); ++k)
      verbose("iteration {:>3}: energy {:.10g}, smallest mean ratio {:.4f}", k, report.smoothing[k].energy,
              report.smoothing[k].min_mean_ratio);
    const auto iterations = report.smoothing.empty() ? 0 : report.smoothing.size() - 1;
    info("{} iterations{}, stopped by {}, {:.3g} s, {:.3g} M cells/s", iterations,
         report.untangling.empty() ? "" : fmt::format(" after {} of untangling", report.untangling.size() - 1),
         report.why_stopped, report.seconds,
         1e-6 * static_cast<double>(before.cells) * static_cast<double>(iterations) / std::max(report.seconds, 1e-9));
    if (report.swapped > 0) info("{} swaps of cells", format_count(report.swapped));
    const MeshQuality after = assess_quality(mesh, 0, parallel);
    tell("after", after);
    if (after.inverted > 0)
      warn("{}: {} cells are still inverted; raise --untangle, or let the boundary slide", a.output,
           format_count(after.inverted));
    save_mesh(mesh, a.output, a.format);
    if (!a.json.empty()) write_report(a.json, json_of(report, before, after));
  });
}

void add_stops(CLI::App& command, SmoothOptions& o) {
  command.add_option("--iterations", o.iterations, "maximum number of sweeps over all nodes")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  command
      .add_option("--stop-energy", o.stop_energy, "stop when an iteration lowers the energy by less than this fraction")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()
      ->type_name("R");
  command
      .add_option("--stop-movement", o.stop_movement, "stop when no node moves by more than this fraction of a cell")
      ->check(CLI::NonNegativeNumber)
      ->type_name("R");
  command.add_option("--stop-quality", o.stop_quality, "stop when all cells have at least this mean ratio")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("Q");
  command.add_option("--swap", o.swaps, "rounds of topological swaps (2-3, 3-2, 4-4), each followed by smoothing")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->type_name("N");
  command
      .add_option("--untangle", o.untangling,
                  "maximum number of sweeps that first untangle inverted cells; 0: inverted cells are an error")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
}

}  // namespace

void add_smooth_command(CLI::App& mesh, Action& action) {
  auto a = std::make_shared<SmoothArguments>();
  CLI::App* command = mesh.add_subcommand("smooth", "improve cells by moving nodes; untangle inverted cells");
  command
      ->add_option("mesh", a->input,
                   fmt::format("mesh file: {}; or a case file (.toml) with all of these options", mesh_formats))
      ->required()
      ->type_name("MESH");
  command->add_option("-o,--output", a->output, "mesh file to write, .msh or .vtu")->type_name("OUT");
  command->add_option("--format", a->format, mesh_output_formats)
      ->check(CLI::IsMember({"msh41", "msh22", "msh41-ascii", "msh22-ascii", "vtu", "vtu-ascii"}));
  command
      ->add_option("--energy", a->energy,
                   "energy to minimise: shape (whatever the size), graded (cells also keep their size), l2v (cells "
                   "also become equally large)")
      ->check(CLI::IsMember({"shape", "graded", "l2v"}))
      ->capture_default_str();
  command->add_option("--method", a->method, "step of a node: newton, half_trace, or thesis (with l2v)")
      ->check(CLI::IsMember({"newton", "half_trace", "thesis"}))
      ->capture_default_str();
  command->add_option("--sweeps", a->sweeps, "one colour after another (gauss-seidel), or all nodes at once (jacobi)")
      ->check(CLI::IsMember({"gauss-seidel", "jacobi"}))
      ->capture_default_str();
  command->add_option("--derivatives", a->derivatives, "precision of the steps; float is faster on GPUs (shape only)")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  command->add_option("--damping", a->options.damping, "factor of each step")
      ->check(CLI::Range(0.0, 2.0))
      ->capture_default_str()
      ->type_name("W");
  command->add_option("--boundary", a->boundary, "boundary nodes: fixed, sliding along the boundary, or free")
      ->check(CLI::IsMember({"fixed", "slide", "free"}))
      ->capture_default_str();
  command
      ->add_option("--feature-angle", a->options.feature_angle, "the surface has a feature edge where it bends by more")
      ->check(CLI::Range(0.0, 180.0))
      ->capture_default_str()
      ->type_name("DEGREES");
  add_stops(*command, a->options);
  a->devices.add_to(*command);
  command->add_option("--weights", a->weights, "relative size of each device's part; default: by its memory bandwidth")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->type_name("W,W,...");
  command->add_option("--partition", a->partitioner, "how nodes are split over devices")->capture_default_str();
  command->add_option("--json", a->json, "write energies and quality of all iterations")->type_name("FILE.json");
  command->footer(
      "Examples:\n  tutti mesh smooth heart.msh -o better.msh --iterations 50\n  tutti mesh smooth case.toml");
  command->callback([a, command, &action] { action = [a, command](const Comm& comm) { smooth(comm, *command, *a); }; });
}

}  // namespace tutti::smoothing
