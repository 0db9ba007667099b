// tutti spectrum of transport: all eigenvalues of its operator, with and without hyperviscosity.
#include <chrono>
#include <complex>

#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/domain/node_domain.hpp"
#include "tutti/models/transport/operator_spectrum.hpp"
#include "tutti/models/transport/transport.hpp"
#include "tutti/models/transport/transport_kind.hpp"
#include "tutti/program/report.hpp"

namespace tutti::transport {
namespace {

/// What a run of the case would use.
struct Chosen {
  double dt = 0;
  TransportSpectrum spectrum;
};

/// Refuses more nodes than can be waited for, before anything is computed. Collective.
void check_size(const SpectrumSetup& s, const Case& options) {
  s.comm.together([&] {
    const Gid nodes = load_nodes(options).size();
    if (nodes > max_dense_nodes)
      fail(ErrorKind::resource,
           "{}: {} nodes: all eigenvalues are found of up to {} nodes (these would take {} and hours); use fewer nodes",
           s.file, format_count(nodes), format_count(max_dense_nodes), format_bytes(dense_bytes(nodes)));
  });
}

/// The time step and the damping, found as a run finds them. Where a run refuses the operator, its line is told and the
/// eigenvalues show why. Collective.
Chosen choose(const SpectrumSetup& s) {
  const auto look = [&](const std::vector<std::string>& more) {
    std::vector<std::string> sets{"balance.weights=\"equal\"", "devices.transport=\"auto\""};
    sets.insert(sets.end(), more.begin(), more.end());
    DeviceSet cpu = open_devices("cpu", s.comm, s.on_cpu);
    Phases phases;
    const Case options = s.read(sets);
    const SphereTransport model({s.comm, cpu, options, {}, phases});
    return Chosen{model.time_step(), model.spectrum()};
  };
  try {
    return look({});
  } catch (const SharedError& error) {
    if (error.kind() != ErrorKind::numerical) throw;
    info("a run is rejected: {}", error.what());
  }
  return look({"numerics.check=false"});
}

void print(const std::string& name, const SpectrumReport& report) {
  info("{:<24} {:>13.6g} {:>13.6g} {:>9} {:>13.6g} {:>13.6g}", name, report.largest_real, report.radius,
       format_count(report.growing), report.amplification, report.dt_limit);
}

/// On the root.
void find_eigenvalues(const SpectrumSetup& s, const Case& options, const Chosen& chosen, Threads& threads) {
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
  write_report(s.output, text);
  info("{}: {} eigenvalues", s.output, format_count(static_cast<Gid>(reports.size()) * cloud.size()));
  if (s.draw)
    s.draw(fmt::format("{} nodes, stencils of {}", format_count(cloud.size()), rows.size), options.text("time.method"));
}

}  // namespace

void write_transport_spectrum(const SpectrumSetup& s) {
  const Case options = s.read({});
  check_size(s, options);
  const Chosen chosen = choose(s);
  DeviceSet cpu = open_devices("cpu", s.comm, s.on_cpu);
  s.comm.together([&] {
    if (s.comm.is_root()) find_eigenvalues(s, options, chosen, *cpu.threads);
  });
}

}  // namespace tutti::transport
