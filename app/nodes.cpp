// tutti nodes: make nodes on the sphere, or look at a file of them.
#include <functional>
#include <memory>
#include <string>

#include "app/commands.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/host/host_load.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/io/write_nodes.hpp"
#include "tutti/mesh/sphere/node_cloud.hpp"
#include "tutti/mesh/sphere/node_report.hpp"

namespace tutti::app {
namespace {

struct NodeArguments {
  std::string output;
  Gid count = 0;
  int m = 0, sweeps = 100;
  std::int64_t seed = 1;
  double separation = 0.5;
  bool weights = false;
};

using Make = std::function<NodeCloud(const NodeArguments&, const ParallelFor&)>;

/// Only the first rank works; the others wait for its success.
void on_root(const Comm& comm, const std::function<void(Threads&)>& work) {
  comm.together([&] {
    if (!comm.is_root()) return;
    Threads threads(usable_cores());
    work(threads);
  });
}

CLI::App* add_kind(CLI::App& generate, Action& action, const std::shared_ptr<NodeArguments>& a, const char* kind,
                   const char* description, const Make& make) {
  CLI::App* command = generate.add_subcommand(kind, description);
  command->add_flag("--weights", a->weights, "add quadrature weights: the areas of the nodes' cells");
  command
      ->add_option("-o,--output", a->output,
                   "file to write: .xyz or .txt (text), .bin, .raw or .f64 (doubles), .vtp or .vtu (VTK)")
      ->required()
      ->type_name("FILE");
  command->callback([a, make, &action] {
    action = [a, make](const Comm& comm) {
      on_root(comm, [&](Threads& threads) {
        check_node_file(a->output, a->weights);
        const ParallelFor parallel = parallel_for(threads);
        NodeCloud cloud = make(*a, parallel);
        if (a->weights) cloud.weights = cell_areas(cloud.points, parallel);
        write_nodes(cloud, a->output, threads.count());
        info("{}: {} nodes{}", a->output, format_count(cloud.size()), a->weights ? " with weights" : "");
      });
    };
  });
  return command;
}

CLI::Option* add_count(CLI::App& command, NodeArguments& a, const char* description) {
  return command.add_option("--count", a.count, description)->type_name("N");
}

/// How many nodes, by --count or --m.
void add_size(CLI::App& command, NodeArguments& a, const char* description) {
  CLI::Option* count = add_count(command, a, description);
  command.add_option("--m", a.m, "10 m^2 + 2 nodes: an icosahedron with edges of m parts")
      ->check(CLI::Range(1, 14142))
      ->type_name("M")
      ->excludes(count);
}

Gid size_of(const NodeArguments& a) {
  if (a.m > 0) return Gid{10} * a.m * a.m + 2;
  if (a.count == 0) fail(ErrorKind::usage, "how many nodes? --count N or --m M is needed");
  return a.count;
}

void add_icosahedral(CLI::App& generate, Action& action) {
  auto a = std::make_shared<NodeArguments>();
  CLI::App* command = add_kind(generate, action, a, "icosahedral", "an icosahedron with evenly divided edges and faces",
                               [](const NodeArguments& given, const ParallelFor& parallel) {
                                 return icosahedral_nodes(icosahedral_parts(size_of(given)), parallel);
                               });
  add_size(*command, *a, "number of nodes: 12, 42, 92, ..., 10 m^2 + 2");
  command->footer("Example:\n  tutti nodes generate icosahedral --m 32 -o nodes.xyz");
}

void add_fibonacci(CLI::App& generate, Action& action) {
  auto a = std::make_shared<NodeArguments>();
  CLI::App* command = add_kind(
      generate, action, a, "fibonacci", "the spiral of Fibonacci's lattice",
      [](const NodeArguments& given, const ParallelFor& parallel) { return fibonacci_nodes(given.count, parallel); });
  add_count(*command, *a, "number of nodes")->required();
  command->footer("Example:\n  tutti nodes generate fibonacci --count 10000 -o nodes.xyz");
}

void add_relaxed(CLI::App& generate, Action& action) {
  auto a = std::make_shared<NodeArguments>();
  CLI::App* command = add_kind(generate, action, a, "relaxed",
                               "icosahedral nodes, or for other counts Fibonacci's, that push each other apart",
                               [](const NodeArguments& given, const ParallelFor& parallel) {
                                 return relaxed_nodes(size_of(given), given.sweeps, parallel);
                               });
  add_size(*command, *a, "number of nodes");
  command->add_option("--sweeps", a->sweeps, "number of relaxation sweeps")->capture_default_str()->type_name("N");
  command->footer("Example:\n  tutti nodes generate relaxed --count 10000 -o nodes.bin");
}

void add_random(CLI::App& generate, Action& action) {
  auto a = std::make_shared<NodeArguments>();
  CLI::App* command =
      add_kind(generate, action, a, "random", "uniformly random nodes with a smallest distance",
               [](const NodeArguments& given, const ParallelFor&) {
                 return random_nodes(given.count, static_cast<std::uint64_t>(given.seed), given.separation);
               });
  add_count(*command, *a, "number of nodes")->required();
  command->add_option("--separation", a->separation, "smallest distance, in h = sqrt(4 pi / N): 0 to 0.7")
      ->capture_default_str()
      ->type_name("S");
  command->add_option("--seed", a->seed, "seed of the random numbers")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->footer("Example:\n  tutti nodes generate random --count 10000 --separation 0.3 -o nodes.xyz");
}

}  // namespace

void add_nodes(CLI::App& program, Action& action) {
  CLI::App* nodes = program.add_subcommand("nodes", "generate nodes on the sphere, or inspect a file of nodes");
  nodes->require_subcommand(1);
  nodes->footer("Examples:\n  tutti nodes generate relaxed --count 10000 -o nodes.xyz\n  tutti nodes info nodes.xyz");
  CLI::App* generate = nodes->add_subcommand("generate", "generate nodes on the unit sphere");
  generate->require_subcommand(1);
  generate->footer(
      "Examples:\n  tutti nodes generate icosahedral --m 32 -o nodes.xyz\n"
      "  tutti nodes generate relaxed --count 10000 -o nodes.bin");
  add_icosahedral(*generate, action);
  add_fibonacci(*generate, action);
  add_relaxed(*generate, action);
  add_random(*generate, action);
  auto file = std::make_shared<std::string>();
  CLI::App* show = nodes->add_subcommand("info", "report distances, holes and weights of nodes on the unit sphere");
  show->add_option("nodes", *file, fmt::format("file: {}", node_formats))->required()->type_name("FILE");
  show->footer("Example:\n  tutti nodes info nodes.xyz");
  show->callback([file, &action] {
    action = [file](const Comm& comm) {
      on_root(comm, [&](Threads& threads) { write_info(describe(inspect(read_nodes(*file), parallel_for(threads)))); });
    };
  });
}

}  // namespace tutti::app
