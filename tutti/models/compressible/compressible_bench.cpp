// tutti bench compressible: steps of a periodic box, by elements and orders.
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/compressible/compressible.hpp"
#include "tutti/models/compressible/compressible_kind.hpp"
#include "tutti/program/bench_internal.hpp"

namespace tutti::compressible {
namespace {

struct CompressibleBench : BenchArguments {
  Gid degrees = 1'000'000;
  std::vector<std::string> elements{"tet"}, equations{"euler", "navier-stokes"}, forms{"auto"}, kernels{"auto"},
      overlaps{"full"};
  std::vector<int> orders{1, 2, 3};
  double jitter = 0.1;
  std::string flux = "llf";
  bool no_update = false;
};

/// What is measured at a time.
struct Row {
  std::string element, equations, form, kernels, overlap;
  int order = 1;
};

/// Cubes along an edge, for about so many degrees of freedom.
int cubes_for(const CompressibleBench& a, const Row& row) {
  const int elements = row.element == "hex" ? 1 : row.element == "prism" ? 2 : 6;
  const double cubes =
      static_cast<double>(a.degrees) / (static_cast<double>(elements) * variables * basis_size(row.order));
  return std::max(3, static_cast<int>(std::lround(std::cbrt(cubes))));
}

Case compressible_case(const CompressibleBench& a, const Row& row) {
  const int n = cubes_for(a, row);
  return bench_case(
      compressible_kind(),
      fmt::format(
          "[mesh]\ngenerate = \"box\"\nelement = \"{}\"\ncubes = [{}, {}, {}]\nperiodic = true\njitter = {}\n"
          "[physics]\nviscosity = {}\n[physics.initial]\nrho = \"1 + 0.2*sin(2*pi*x)*sin(2*pi*y)\"\nvelocity = "
          "[0.5, 0.4, 0.3]\np = 1\n[numerics]\norder = {}\nflux = \"{}\"\nform = \"{}\"\nkernels = \"{}\"\n[balance]\n"
          "weights = \"{}\"\n[devices]\noverlap = \"{}\"\n[time]\nsteps = 1\n",
          row.element, n, n, n, a.jitter, row.equations == "euler" ? 0.0 : 1e-3, row.order, a.flux, row.form,
          row.kernels, a.weights, row.overlap));
}

/// Measures; prints and returns its row.
nlohmann::json bench_row(const Comm& comm, const CompressibleBench& a, DeviceSet& devices, const Row& row) {
  Phases phases;
  CompressibleFlow model({comm, devices, compressible_case(a, row), {}, phases});
  if (a.no_update) model.keep_state();
  const TimedStep seconds = time_steps(comm, model, a.seconds, a.steps);
  const double elements = static_cast<double>(model.cells()), degrees = elements * variables * model.flow().bases();
  const double stages = a.no_update ? 1 : static_cast<double>(time_scheme(model.flow().method).stages.size());
  const double nanoseconds = seconds.best * 1e9 / (degrees * stages);
  double set_up = 0;
  for (const auto& [name, spent] : phases.seconds())
    if (name == "tables") set_up = spent;
  set_up = comm.max(set_up);
  info("{:<8} {:<14} {:<7} {:<9} {:<9} {:>2} {:>10} {:>14} {:>10.3f} {:>13.4f} {:>14.4f} {:>10.3f}", row.element,
       row.equations, row.form, row.kernels, row.overlap, row.order, format_count(model.cells()),
       format_count(static_cast<Gid>(degrees)), seconds.best * 1e3, nanoseconds,
       nanoseconds * variables * model.flow().bases() * 1e-3, set_up);
  return {{"element", row.element},
          {"equations", row.equations},
          {"form", row.form},
          {"kernels", row.kernels},
          {"overlap", row.overlap},
          {"order", row.order},
          {"elements", model.cells()},
          {"degrees_of_freedom", degrees},
          {"stages", stages},
          {"update", !a.no_update},
          {"seconds_best", seconds.best},
          {"seconds_median", seconds.median},
          {"nanoseconds_a_degree_and_stage", nanoseconds},
          {"tables_seconds", set_up}};
}

void bench(const Comm& comm, const CompressibleBench& a) {
  run_bench(comm, a, [&](DeviceSet& devices, nlohmann::json& results) {
    info("{} on a periodic box; degrees of freedom: elements x basis functions x 5; ns: of one and a stage",
         a.no_update ? "the right-hand side alone" : "SSP-RK3");
    info("{:<8} {:<14} {:<7} {:<9} {:<9} {:>2} {:>10} {:>14} {:>10} {:>13} {:>14} {:>10}", "element", "equations",
         "form", "kernels", "overlap", "p", "elements", "degrees", "ms/step", "ns per degree", "us per element",
         "tables, s");
    for (const std::string& element : a.elements)
      for (const std::string& equations : a.equations)
        for (const int order : a.orders)
          for (const std::string& form : a.forms)
            for (const std::string& kernels : a.kernels)
              for (const std::string& overlap : a.overlaps)
                results.push_back(bench_row(comm, a, devices, {element, equations, form, kernels, overlap, order}));
  });
}

}  // namespace

void add_compressible_bench(CLI::App& bench_command, Action& action) {
  auto a = std::make_shared<CompressibleBench>();
  BenchCommand command(bench_command, "compressible", "steps of compressible flow, for several elements and orders");
  const auto words = [](const char* key) { return choices_of(compressible_kind(), key); };
  command.add("--degrees", a->degrees, 1'000, 10'000'000'000,
              "approximate degrees of freedom: elements x basis functions x 5");
  command.add_list("--element", a->elements, words("mesh.element"), "element type; several: one after the other");
  command.add_list("--equations", a->equations, {"euler", "navier-stokes"}, "several: one after the other");
  command.add_list("--order", a->orders, 0, max_order, "order of the polynomials; several: one after the other");
  command.add_list("--form", a->forms, words("numerics.form"), "form of the tables; several: one after the other");
  command.add_list("--kernels", a->kernels, words("numerics.kernels"), "kernels; several: one after the other");
  command.add_list("--overlap", a->overlaps, words("devices.overlap"),
                   "overlap of computation and messages; several: one after the other");
  command.add("--jitter", a->jitter, 0, 0.4, "random displacement of the points; 0: all elements are alike");
  command.add("--flux", a->flux, words("numerics.flux"), "numerical flux between elements");
  command.add_flag("--no-update", a->no_update,
                   "time the right-hand side alone (a stage without its update of the state)");
  command.add_timing(*a, {"equal", "stream", "measured"});
  command.add_report(*a);
  command.run(
      action, [a](const Comm& comm) { bench(comm, *a); },
      "tutti bench compressible --element tet,hex --order 1,2,3 --equations euler --devices cpu --json bench.json");
}

}  // namespace tutti::compressible
