// tutti bench diffusion: its speed beside the STREAM triad of the same run, by formats and orders of the rows.
#include <algorithm>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/mesh/refine.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/diffusion/diffusion_kind.hpp"
#include "tutti/partition/partition.hpp"
#include "tutti/program/bench_internal.hpp"

namespace tutti::diffusion {
namespace {

struct DiffusionBench : BenchArguments {
  Gid cells = 2'000'000;
  std::string mesh;
  int refine = 0;
  std::vector<std::string> dirichlet, orders;
};

struct Variant {
  std::string format, layout, precision, order, columns = "auto";
  std::string name() const {
    return fmt::format("{}{}{}{}", format, layout == "auto" ? "" : "-" + layout,
                       precision == "compact" ? " compact" : "", columns == "auto" ? "" : " " + columns);
  }
};

Case case_of(const DiffusionBench& a, const Variant& v) {
  // Kuhn tetrahedra, moved by jitter so that rows have all lengths of an unstructured mesh; 6 cells a cube.
  const auto n = static_cast<Gid>(std::ceil(std::cbrt(static_cast<double>(a.cells) / 6)));
  const std::string mesh = a.mesh.empty()
                               ? fmt::format("generate = \"box\"\ncubes = [{0}, {0}, {0}]\njitter = 0.2\n", n)
                               : fmt::format("file = \"{}\"\n", a.mesh);
  std::string boundary;
  for (const std::string& tag : a.dirichlet)
    boundary += fmt::format("[[boundary]]\ntag = \"{}\"\ntype = \"dirichlet\"\nvalue = 0\n", tag);
  const std::string text = fmt::format(
      "[mesh]\n{}refine = {}\n[physics]\nK = [[\"1\", \"0.3\", \"0\"], [\"0.3\", \"2\", \"0\"], "
      "[\"0\", "
      "\"0\", \"1\"]]\n"
      "initial = \"sin(x)+cos(y)*z\"\n[numerics]\nformat = \"{}\"\n{}precision = \"{}\"\ncheck = false\n"
      "[partition]\norder = \"{}\"\n[time]\nsteps = 1\n{}",
      mesh, a.refine, v.format,
      v.format == "ellpack" ? "layout = \"" + v.layout + "\"\n" : "columns = \"" + v.columns + "\"\n", v.precision,
      v.order, boundary);
  return bench_case(diffusion_kind(), text);
}

std::vector<Variant> choose_variants(const std::vector<std::string>& orders, bool on_host) {
  std::vector<Variant> variants;
  for (const std::string& order : orders) {
    variants.push_back({"ellpack", "auto", "double", order});
    variants.push_back({"sliced", "auto", "double", order});
  }
  if (!variants.empty()) return variants;
  variants = {{"ellpack", "rows", "double", "hilbert"},
              {"ellpack", "blocks", "double", "hilbert"},
              {"sliced", "auto", "double", "hilbert", "int32"},
              {"ellpack", on_host ? "rows" : "blocks", "compact", "hilbert"},
              {"sliced", "auto", "compact", "hilbert", "int32"}};
  // A CPU reads four bytes fastest.
  if (!on_host) {
    variants.push_back({"sliced", "auto", "double", "hilbert", "int16"});
    variants.push_back({"sliced", "auto", "double", "hilbert", "int10"});
    variants.push_back({"sliced", "auto", "compact", "hilbert", "int16"});
    variants.push_back({"sliced", "auto", "compact", "hilbert", "int10"});
  }
  return variants;
}

/// Measures one variant; prints and returns its row.
nlohmann::json bench_variant(const Comm& comm, const DiffusionBench& a, DeviceSet& devices, const Variant& v,
                             bool first) {
  Phases phases;
  const Case options = case_of(a, v);
  Diffusion model({comm, devices, options, "bench-mesh", phases});
  const TimedStep step = time_steps(comm, model, a.seconds);
  const double best = step.best;
  const double peak = static_cast<double>(comm.sum(peak_memory()));  // before the triad's arrays
  const double triad = all_triads(comm, devices, a.seconds);
  // The best step, as STREAM takes the best pass. Fractions are of the paper's bound for 216 B a cell, whatever the
  // format stores.
  const auto cells = static_cast<double>(model.cells());
  const double rate = cells / best, fraction = rate * 216 / triad;
  info("{:<22} {:<13} {:>11} {:>9.3f} {:>14.1f} {:>8.3f} {:>11.2f} {:>7.3f}", v.name(), v.order,
       format_count(model.cells()), best * 1e3, rate * 1e-6, rate * 33e-9, triad * 1e-9, fraction);
  nlohmann::json row = {{"format", v.format},
                        {"layout", v.layout},
                        {"precision", v.precision},
                        {"order", v.order},
                        {"columns", v.format == "sliced" ? v.columns : "int32"},
                        {"cells", model.cells()},
                        {"seconds_best", best},
                        {"seconds_median", step.median},
                        {"triad_gb_per_second", triad * 1e-9},
                        {"cell_steps_per_second", rate},
                        {"fraction_of_P", fraction}};
  double setup = 0;
  for (const auto& [name, seconds] : phases.seconds()) {
    row["setup_seconds"][name] = seconds;
    if (name != "stability" && name != "initial" && name != "weights") setup += seconds;
  }
  row["setup_us_per_cell"] = setup * 1e6 / cells;
  if (first) {
    row["peak_bytes_per_cell"] = peak / cells;
    const int threads = devices.threads->count() * comm.size();
    info("  set-up (read, partition, order, assemble): {:.2f} us per cell on {} thread{}; peak {:.0f} B per cell",
         setup * 1e6 / cells, threads, threads == 1 ? "" : "s", peak / cells);
  }
  return row;
}

void bench(const Comm& comm, const DiffusionBench& a) {
  run_bench(comm, a, [&](DeviceSet& devices, nlohmann::json& results) {
    info("P = 33/216 x triad (Langguth 2015, eq. 3); the triad is measured again after each row");
    info("{:<22} {:<13} {:>11} {:>9} {:>14} {:>8} {:>11} {:>7}", "format", "order", "cells", "ms/step",
         "M cell-steps/s", "GFLOPS", "triad GB/s", "of P");
    const bool on_host =
        std::all_of(devices.devices.begin(), devices.devices.end(), [](const auto& d) { return d->is_host(); });
    for (const Variant& v : choose_variants(a.orders, comm.max(on_host ? 0 : 1) == 0))
      results.push_back(bench_variant(comm, a, devices, v, results.empty()));
  });
}

}  // namespace

void add_diffusion_bench(CLI::App& bench_command, Action& action) {
  auto a = std::make_shared<DiffusionBench>();
  BenchCommand command(bench_command, "diffusion", "diffusion with several matrix formats and cell orders");
  command.add("--cells", a->cells, 6, 2'000'000'000, "cells of the generated box");
  command.add_text("--mesh", a->mesh, "use this mesh file instead", "MESH");
  command.add("--refine", a->refine, 0, max_refinements, "how many times to split every tetrahedron into eight");
  command.add_texts("--dirichlet", a->dirichlet, "surfaces (names or numbers) with u = 0; the others have no flux",
                    "TAG");
  command.add_seconds(*a, "format");
  command.add_list("--orders", a->orders, ordering_names(),
                   "time two formats in these orders of the cells; default: all formats in one order");
  command.add_report(*a);
  command.run(
      action, [a](const Comm& comm) { bench(comm, *a); },
      "tutti bench diffusion --cells 2000000 --devices cpu --json bench.json");
}

}  // namespace tutti::diffusion
