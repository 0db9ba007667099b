// tutti bench diffusion: the model's speed beside the STREAM triad of the same run.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/models/diffusion/diffusion.hpp"

namespace tutti::app {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchArguments {
  Gid cells = 2'000'000;
  std::string mesh, json;
  double seconds = 2;
  bool orders = false;
  DeviceArguments devices;
};

struct Variant {
  std::string format, layout, precision, order;
  std::string name() const {
    return fmt::format("{}{}{}", format, layout == "auto" ? "" : "-" + layout,
                       precision == "compact" ? " compact" : "");
  }
};

Case bench_case(const BenchArguments& a, const Variant& v) {
  // Kuhn tetrahedra, moved by jitter so that rows have all lengths of an unstructured mesh; 6 cells a cube.
  const auto n = static_cast<Gid>(std::ceil(std::cbrt(static_cast<double>(a.cells) / 6)));
  const std::string mesh = a.mesh.empty()
                               ? fmt::format("generate = \"box\"\ncubes = [{0}, {0}, {0}]\njitter = 0.2\n", n)
                               : fmt::format("file = \"{}\"\n", a.mesh);
  const std::string text = fmt::format(
      "model = \"diffusion\"\n[mesh]\n{}[physics]\nK = [[\"1\", \"0.3\", \"0\"], [\"0.3\", \"2\", \"0\"], [\"0\", "
      "\"0\", \"1\"]]\n"
      "initial = \"sin(x)+cos(y)*z\"\n[numerics]\nformat = \"{}\"\nlayout = \"{}\"\nprecision = \"{}\"\ncheck = false\n"
      "[partition]\norder = \"{}\"\n[time]\nsteps = 1\n",
      mesh, v.format, v.layout, v.precision, v.order);
  return parse_case(text, "bench.toml", schema_of("diffusion"));
}

/// Seconds of the best and the median step, over about `budget` seconds.
std::pair<double, double> time_steps(const Comm& comm, Diffusion& model, double budget) {
  std::vector<double> seconds;
  const double dt = model.time_step();
  for (int i = 0; i < 3; ++i) model.step(0, dt);
  const auto start = Clock::now();
  while (seconds.size() < 5 ||
         (seconds.size() < 1000 && comm.max(std::chrono::duration<double>(Clock::now() - start).count()) < budget)) {
    comm.barrier();
    const auto begin = Clock::now();
    model.step(0, dt);
    seconds.push_back(comm.max(std::chrono::duration<double>(Clock::now() - begin).count()));
  }
  std::sort(seconds.begin(), seconds.end());
  return {seconds.front(), seconds[seconds.size() / 2]};
}

void bench(const Comm& comm, const BenchArguments& a) {
  DeviceSet devices = a.devices.open(comm);
  std::vector<double> triads;
  for (auto& device : devices.devices)
    triads.push_back(device->is_host() ? measure_triad(*devices.threads) : measure_bandwidth(*device).triad);
  double triad = 0;
  for (const double t : comm.all_gather(std::span<const double>(triads))) triad += t;

  std::vector<Variant> variants = {{"ellpack", "rows", "double", "hilbert"},
                                   {"ellpack", "blocks", "double", "hilbert"},
                                   {"sliced", "auto", "double", "hilbert"},
                                   {"ellpack", "rows", "compact", "hilbert"},
                                   {"sliced", "auto", "compact", "hilbert"}};
  if (a.orders)
    for (const char* order : {"native", "random", "metis_blocks", "rcm"}) {
      variants.push_back({"ellpack", "auto", "double", order});
      variants.push_back({"sliced", "auto", "double", order});
    }

  nlohmann::json report;
  report["triad_gb_per_second"] = triad * 1e-9;
  report["ranks"] = comm.size();
  report["devices"] = describe(devices);
  info("{} rank{}, {}", comm.size(), comm.size() == 1 ? "" : "s", describe(devices));
  info("STREAM triad of all devices: {:.2f} GB/s; P = 33/216 x triad = {:.3f} GFLOPS = {:.1f} M cell-steps/s",
       triad * 1e-9, triad * 33 / 216 * 1e-9, triad / 216 * 1e-6);
  info("{:<24} {:<13} {:>11} {:>11} {:>13} {:>8} {:>8}", "format", "order", "cells", "ms/step", "Mcell-steps/s",
       "GFLOPS", "of P");
  for (const Variant& v : variants) {
    Phases phases;
    const Case options = bench_case(a, v);
    Diffusion model(comm, devices, options, "bench-mesh", phases);
    const auto [best, median] = time_steps(comm, model, a.seconds);
    // The best step, as STREAM takes the best pass. Fractions are of the paper's bound for 216 B a cell, whatever the
    // format stores.
    const double rate = static_cast<double>(model.cells()) / best;
    const double fraction = rate * 216 / triad;
    info("{:<24} {:<13} {:>11} {:>11.3f} {:>13.1f} {:>8.3f} {:>8.3f}", v.name(), v.order, format_count(model.cells()),
         best * 1e3, rate * 1e-6, rate * 33e-9, fraction);
    nlohmann::json row = {
        {"format", v.format},       {"layout", v.layout},   {"precision", v.precision}, {"order", v.order},
        {"cells", model.cells()},   {"seconds_best", best}, {"seconds_median", median}, {"cell_steps_per_second", rate},
        {"fraction_of_P", fraction}};
    double setup = 0;
    for (const auto& [name, seconds] : phases.seconds()) {
      row["setup_seconds"][name] = seconds;
      if (name != "stability" && name != "initial" && name != "weights") setup += seconds;
    }
    row["setup_us_per_cell"] = setup * 1e6 / static_cast<double>(model.cells());
    row["peak_bytes_per_cell"] = static_cast<double>(comm.sum(peak_memory())) / static_cast<double>(model.cells());
    if (&v == variants.data())
      info("  set-up (read, partition, order, assemble): {:.2f} us a cell on {} thread{}; peak {:.0f} B a cell",
           row["setup_us_per_cell"].get<double>(), devices.threads->count() * comm.size(),
           devices.threads->count() * comm.size() == 1 ? "" : "s", row["peak_bytes_per_cell"].get<double>());
    report["results"].push_back(row);
  }
  comm.together([&] {
    if (!comm.is_root() || a.json.empty()) return;
    std::ofstream file(a.json);
    file << report.dump(2) << "\n";
    if (!file.flush()) fail(ErrorKind::io, "{}: cannot be written", a.json);
  });
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("bench", "measure a model beside the memory's speed");
  command->require_subcommand(1);
  auto a = std::make_shared<BenchArguments>();
  CLI::App* diffusion = command->add_subcommand("diffusion", "formats and orders of the diffusion model");
  diffusion->add_option("--cells", a->cells, "cells of the box that is made for it")
      ->check(CLI::Range(Gid{6}, Gid{2'000'000'000}))
      ->capture_default_str();
  diffusion->add_option("--mesh", a->mesh, "use this mesh instead")->type_name("FILE.msh");
  diffusion->add_option("--seconds", a->seconds, "of timed steps a format")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  diffusion->add_flag("--orders", a->orders, "also the orders native, random, metis_blocks and rcm");
  diffusion->add_option("--json", a->json, "write all figures here")->type_name("FILE");
  a->devices.add_to(*diffusion);
  diffusion->footer("Example:\n  tutti bench diffusion --cells 2000000 --devices cpu --json bench.json");
  diffusion->callback([a, &action] { action = [a](const Comm& comm) { bench(comm, *a); }; });
}

}  // namespace tutti::app
