// tutti bench transport: steps of tracers on a sphere beside the STREAM triad of the same run.
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/transport/transport.hpp"
#include "tutti/models/transport/transport_kind.hpp"
#include "tutti/program/bench_internal.hpp"

namespace tutti::transport {
namespace {

struct TransportBench : BenchArguments {
  Gid nodes = 100'000;
  std::vector<int> sizes{31, 57, 101}, operators{1}, tracers{1};
  std::vector<std::string> overlaps{"full"}, kernels{"auto"};
  std::string partition = "hilbert";
};

/// Of polynomials that leave about half of the stencil's nodes to the splines, and make no more unknowns than there may
/// be.
int degree_for(int size) {
  const auto fits = [size](int degree) {
    const int polynomials = (degree + 1) * (degree + 2) / 2;
    return polynomials <= size / 2 && size + polynomials <= max_stencil_unknowns;
  };
  int degree = 2;
  while (fits(degree + 1)) ++degree;
  return degree;
}

/// A turning sphere; 3 operators: it turns faster and slower. Whether noise grows does not matter here.
Case transport_case(const TransportBench& a, int size, int operators, int tracers, const std::string& overlap,
                    const std::string& kernel) {
  std::string text = fmt::format(
      "[nodes]\ngenerate = \"fibonacci\"\ncount = {}\n[stencil]\nsize = {}\nexponent = "
      "5\ndegree = "
      "{}\n[hyperviscosity]\nk = 1\nbeta = 0.3\n[velocity]\neast = \"cos(lat){}\"\n[numerics]\ncheck = "
      "false\nkernel = \"{}\"\noperators = "
      "\"{}\"\n[partition]\nmethod = \"{}\"\n[balance]\nweights = \"{}\"\n[devices]\noverlap = \"{}\"\n[time]\nsteps = "
      "1\n",
      a.nodes, size, degree_for(size), operators == 3 ? "*(2 + sin(t))" : "", kernel,
      operators == 2 ? "separate" : "auto", a.partition, a.weights, overlap);
  for (int t = 0; t < tracers; ++t) text += fmt::format("[[tracer]]\nname = \"q{}\"\ninitial = \"{} + z\"\n", t, t);
  return bench_case(transport_kind(), text);
}

/// Measures one kind of stencils; prints and returns its row.
nlohmann::json bench_row(const Comm& comm, const TransportBench& a, DeviceSet& devices, const Case& options,
                         int operators, int tracers, const std::string& overlap, const std::string& kernel) {
  Phases phases;
  SphereTransport model({comm, devices, options, {}, phases});
  const TimedStep seconds = time_steps(comm, model, a.seconds, a.steps);
  const int size = model.domain().stencil;
  const double nodes = static_cast<double>(model.cells()), rate = nodes / seconds.best;
  // The weights, columns and values of a stage; neighbours are read once (a node's own entry counts as one).
  const double bytes_a_node = 4.0 * (size * (8.0 * operators + 4) + 40.0 * tracers);
  const double triad = all_triads(comm, devices, a.seconds), moved = bytes_a_node * rate;
  info("{:>6} {:>9} {:>7} {:<9} {:<8} {:>12} {:>10.4f} {:>13.1f} {:>8.1f} {:>11.2f} {:>9.3f}", size, operators, tracers,
       overlap, kernel, format_count(model.cells()), seconds.best * 1e3, rate * 1e-6, moved * 1e-9, triad * 1e-9,
       moved / triad);
  double set_up = 0;
  for (const auto& [name, spent] : phases.seconds()) {
    if (name == "weights of stencils") set_up = spent;
  }
  set_up = comm.max(set_up);
  info("  weights of stencils: {:.3f} s", set_up);
  return {{"nodes", model.cells()},
          {"size", size},
          {"operators", operators},
          {"tracers", tracers},
          {"overlap", overlap},
          {"kernel", kernel},
          {"seconds_best", seconds.best},
          {"seconds_median", seconds.median},
          {"node_steps_per_second", rate},
          {"bytes_a_node", bytes_a_node},
          {"gb_per_second", moved * 1e-9},
          {"triad_gb_per_second", triad * 1e-9},
          {"fraction_of_triad", moved / triad},
          {"weights_seconds", set_up}};
}

void bench(const Comm& comm, const TransportBench& a) {
  run_bench(comm, a, [&](DeviceSet& devices, nlohmann::json& results) {
    info("RK4 on Fibonacci nodes; GB/s by values that a step must move, neighbours read once");
    info("{:>6} {:>9} {:>7} {:<9} {:<8} {:>12} {:>10} {:>13} {:>8} {:>11} {:>9}", "size", "operators", "tracers",
         "overlap", "kernel", "nodes", "ms/step", "M node-steps/s", "GB/s", "triad GB/s", "of triad");
    for (const int size : a.sizes)
      for (const int operators : a.operators)
        for (const int tracers : a.tracers)
          for (const std::string& overlap : a.overlaps)
            for (const std::string& kernel : a.kernels) {
              const Case options = transport_case(a, size, operators, tracers, overlap, kernel);
              results.push_back(bench_row(comm, a, devices, options, operators, tracers, overlap, kernel));
            }
  });
}

}  // namespace

void add_transport_bench(CLI::App& bench_command, Action& action) {
  auto a = std::make_shared<TransportBench>();
  BenchCommand command(bench_command, "transport", "steps of tracers on a sphere, for stencils of several sizes");
  const auto words = [](const char* key) { return choices_of(transport_kind(), key); };
  command.add("--nodes", a->nodes, 200, max_nodes, "nodes on the sphere");
  command.add_list("--size", a->sizes, 12, 120, "nodes of a stencil; several: one after the other");
  command.add_list("--operators", a->operators, 1, 3,
                   "1: advection and damping merged; 2: separate; 3: for a time-dependent velocity");
  command.add_list("--tracers", a->tracers, 1, 64, "number of tracers");
  command.add_list("--overlap", a->overlaps, words("devices.overlap"),
                   "overlap of computation and messages; several: one after the other");
  command.add_list("--kernel", a->kernels, words("numerics.kernel"), "stencil kernel; several: one after the other");
  command.add("--partition", a->partition, words("partition.method"), "partitioner");
  command.add_timing(*a, {"equal", "stream", "measured"});
  command.add_report(*a);
  command.run(
      action, [a](const Comm& comm) { bench(comm, *a); },
      "tutti bench transport --nodes 1000000 --size 31,101 --operators 1,2 --devices cpu --json bench.json");
}

}  // namespace tutti::transport
