// tutti spectrum: all eigenvalues of the operator of a case of transport, with and without hyperviscosity.
#include <chrono>
#include <complex>
#include <optional>

#include "app/commands.hpp"
#include "app/python.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/domain/node_domain.hpp"
#include "tutti/models/transport/operator_spectrum.hpp"
#include "tutti/models/transport/transport.hpp"

namespace tutti::app {
namespace {

struct SpectrumArguments {
  std::string file, output = "eigenvalues.csv", plot;
  std::vector<std::string> sets;
  int threads = 0;
};

/// What a run of the case would use.
struct Chosen {
  double dt = 0;
  TransportSpectrum spectrum;
};

Case transport_case(const Comm& comm, const SpectrumArguments& a, const std::vector<std::string>& more) {
  std::vector<std::string> sets = a.sets;
  sets.insert(sets.end(), more.begin(), more.end());
  return load_case(comm, a.file, sets);
}

/// Refuses more nodes than can be waited for, before anything is computed. Collective.
void check_size(const Comm& comm, const SpectrumArguments& a, const Case& options) {
  comm.together([&] {
    if (options.text("model") != "transport")
      fail(ErrorKind::usage, "{}: tutti spectrum takes cases of the model transport only; use such a case",
           options.where("model"));
    const Gid nodes = load_nodes(options).size();
    if (nodes > max_dense_nodes)
      fail(ErrorKind::resource,
           "{}: {} nodes: all eigenvalues are found of up to {} nodes (these would take {} and hours); use fewer nodes",
           a.file, format_count(nodes), format_count(max_dense_nodes), format_bytes(dense_bytes(nodes)));
  });
}

/// The time step and the damping, found as a run finds them. Where a run refuses the operator, its line is told and the
/// eigenvalues show why. Collective.
Chosen choose(const Comm& comm, const SpectrumArguments& a) {
  DeviceOptions on_cpu;
  on_cpu.threads = a.threads;
  const auto look = [&](const std::vector<std::string>& more) {
    std::vector<std::string> sets{"balance.weights=\"equal\"", "devices.transport=\"auto\""};
    sets.insert(sets.end(), more.begin(), more.end());
    DeviceSet cpu = open_devices("cpu", comm, on_cpu);
    Phases phases;
    const Case options = transport_case(comm, a, sets);
    const SphereTransport model({comm, cpu, options, {}, phases});
    return Chosen{model.time_step(), model.spectrum()};
  };
  try {
    return look({});
  } catch (const SharedError& error) {
    if (error.kind() != ErrorKind::numerical) throw;
    info("a run is refused: {}", error.what());
  }
  return look({"numerics.check=false"});
}

void print(const std::string& name, const SpectrumReport& report) {
  info("{:<24} {:>13.6g} {:>13.6g} {:>9} {:>13.6g} {:>13.6g}", name, report.largest_real, report.radius,
       format_count(report.growing), report.amplification, report.dt_limit);
}

/// On the root.
void spectrum(const SpectrumArguments& a, const Case& options, const Chosen& chosen, Threads& threads) {
  std::optional<PythonPackage> python;
  if (!a.plot.empty()) {
    python = find_python();
    if (!python->problem.empty()) fail(ErrorKind::resource, "{}", python->problem);
  }
  const TransportCase transport = read_transport_case(options);
  const NodeCloud cloud = load_nodes(options, parallel_for(threads));
  const OperatorRows rows =
      operator_rows(transport, cloud.points, 0, chosen.spectrum.gamma, chosen.spectrum.local, threads);
  info("{} nodes, stencils of {}, t = 0: all eigenvalues by a dense solve in {}", format_count(cloud.size()), rows.size,
       format_bytes(dense_bytes(cloud.size())));
  std::string text = "operator,re,im,re_dt,im_dt\n";
  std::vector<SpectrumReport> reports;
  const auto solve = [&](const char* name, std::span<const double> weights) {
    const auto begin = std::chrono::steady_clock::now();
    const auto values = dense_eigenvalues(rows.size, rows.columns, weights);
    verbose("{}: {}", name,
            format_duration(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
    for (const auto& value : values)
      text += fmt::format("{},{:.17g},{:.17g},{:.17g},{:.17g}\n", name, value.real(), value.imag(),
                          chosen.dt * value.real(), chosen.dt * value.imag());
    reports.push_back(assess_spectrum(values, transport.method, chosen.dt));
  };
  solve("advection", rows.advection);
  if (transport.damping != Damping::none) solve("damped", rows.sum());
  info("{:<24} {:>13} {:>13} {:>9} {:>13} {:>13}", "[1/s]", "largest real", "radius", "growing", "a step times",
       "dt limit [s]");
  print("without hyperviscosity", reports[0]);
  if (reports.size() > 1) print("with hyperviscosity", reports[1]);
  info("time step {:.6g}; power iteration took the radius for {:.6g}, 5 % above what it found", chosen.dt,
       chosen.spectrum.advection);
  write_report(a.output, text);
  info("{}: {} eigenvalues", a.output, format_count(static_cast<Gid>(reports.size()) * cloud.size()));
  if (python)
    draw_with_python(
        *python,
        {"spectrum", fmt::format("--output={}", a.plot), fmt::format("--method={}", options.text("time.method")),
         fmt::format("--title={} nodes, stencils of {}", format_count(cloud.size()), rows.size), "--", a.output});
}

void run_spectrum(const Comm& comm, const SpectrumArguments& a) {
  const Case options = transport_case(comm, a, {});
  check_size(comm, a, options);
  const Chosen chosen = choose(comm, a);
  DeviceOptions on_cpu;
  on_cpu.threads = a.threads;
  DeviceSet cpu = open_devices("cpu", comm, on_cpu);
  comm.together([&] {
    if (comm.is_root()) spectrum(a, options, chosen, *cpu.threads);
  });
}

}  // namespace

void add_spectrum(CLI::App& program, Action& action) {
  auto a = std::make_shared<SpectrumArguments>();
  CLI::App* command =
      program.add_subcommand("spectrum", "all eigenvalues of transport on few nodes, with and without hyperviscosity");
  command->add_option("case", a->file, "case file")->required()->type_name("CASE");
  command->add_option("--set", a->sets, "change a key of the case, e.g. --set nodes.count=1002; may be repeated")
      ->type_name("A.B=V")
      ->allow_extra_args(false);
  command->add_option("-o,--output", a->output, "table of the eigenvalues")
      ->type_name("FILE.csv")
      ->capture_default_str();
  command->add_option("--plot", a->plot, "picture beside what a time step allows (with Python)")->type_name("FILE.png");
  command->add_option("--threads", a->threads, "CPU threads of a rank (default: its share of the cores)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command->footer(
      "Example:\n  tutti spectrum examples/vortex-roll-up/case.toml --set nodes.count=1002 --plot spectrum.png");
  command->callback([a, &action] { action = [a](const Comm& comm) { run_spectrum(comm, *a); }; });
}

}  // namespace tutti::app
