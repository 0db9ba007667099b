// tutti bench monodomain: steps of diffusion without and with cells that react, beside the STREAM triad of the same
// run.
#include <algorithm>
#include <cmath>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/diffusion_kind.hpp"
#include "tutti/models/diffusion/ionic/ionic_bench.hpp"
#include "tutti/program/bench_internal.hpp"

namespace tutti::diffusion {
namespace {

struct MonodomainBench : BenchArguments {
  Gid cells = 1'000'000;
  std::vector<std::string> models = {"none", "fitzhugh-nagumo", "mitchell-schaeffer", "ten-tusscher-panfilov"};
  std::string splitting = "godunov";
};

/// Kuhn tetrahedra moved by jitter, as tutti bench diffusion has, with edges of about 0.2 mm; all cells at rest.
Case case_of(const MonodomainBench& a, const std::string& model) {
  const auto n = static_cast<Gid>(std::ceil(std::cbrt(static_cast<double>(a.cells) / 6)));
  const std::string reaction = model == "none" ? "" : fmt::format("splitting = \"{}\"\n", a.splitting);
  return bench_case(
      diffusion_kind(),
      fmt::format("[mesh]\ngenerate = \"box\"\ncubes = [{0}, {0}, {0}]\nupper = [{1}, {1}, {1}]\njitter = "
                  "0.2\n[physics]\nK = [0.1, 0.01, 0.01]\n[ionic]\nmodel = \"{2}\"\n{3}[numerics]\ncheck = "
                  "false\n[time]\nsteps = 1\n",
                  n, 0.2 * static_cast<double>(n), model, reaction));
}

void bench(const Comm& comm, const MonodomainBench& a) {
  run_bench(comm, a, [&](DeviceSet& devices, nlohmann::json& results) {
    info("{:<22} {:>11} {:>9} {:>14} {:>9} {:>8} {:>11} {:>9}", "reaction", "cells", "ms/step", "M cell-steps/s",
         "B/cell", "GB/s", "triad GB/s", "of triad");
    for (const std::string& name : a.models) {
      Phases phases;
      const Case options = case_of(a, name);
      Diffusion model({comm, devices, options, "bench-mesh", phases});
      const auto bytes_moved = [&] {
        Size bytes = 0;
        for (std::size_t p = 0; p < model.domain().mine(); ++p) bytes += model.bytes_moved(p);
        return comm.sum(bytes);
      };
      const Size before = bytes_moved();
      model.step(0, model.time_step());
      model.wait();
      const auto cells = static_cast<double>(model.cells());
      const double bytes = static_cast<double>(bytes_moved() - before) / cells;
      const double best = time_steps(comm, model, a.seconds).best, triad = all_triads(comm, devices, a.seconds);
      const double rate = cells / best;
      info("{:<22} {:>11} {:>9.3f} {:>14.1f} {:>9.0f} {:>8.2f} {:>11.2f} {:>9.3f}", name, format_count(model.cells()),
           best * 1e3, rate * 1e-6, bytes, rate * bytes * 1e-9, triad * 1e-9, rate * bytes / triad);
      results.push_back({{"reaction", name},
                         {"cells", model.cells()},
                         {"seconds_best", best},
                         {"cell_steps_per_second", rate},
                         {"bytes_per_cell", bytes},
                         {"triad_gb_per_second", triad * 1e-9},
                         {"fraction_of_triad", rate * bytes / triad}});
    }
  });
}

}  // namespace

void add_monodomain_bench(CLI::App& bench_command, Action& action) {
  auto a = std::make_shared<MonodomainBench>();
  BenchCommand command(bench_command, "monodomain", "diffusion without and with excitable cells");
  command.add("--cells", a->cells, 6, 2'000'000'000, "cells of the generated box");
  command.add_list("--reactions", a->models, choices_of(diffusion_kind(), "ionic.model"), "values of ionic.model");
  command.add("--splitting", a->splitting, choices_of(diffusion_kind(), "ionic.splitting"), "ionic.splitting");
  command.add_seconds(*a, "reaction");
  command.add_report(*a);
  command.run(
      action, [a](const Comm& comm) { bench(comm, *a); },
      "tutti bench monodomain --cells 1000000 --devices cpu --json bench.json");
}

}  // namespace tutti::diffusion
