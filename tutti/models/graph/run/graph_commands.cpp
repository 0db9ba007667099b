#include "tutti/models/graph/run/graph_commands.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "tutti/base/log.hpp"
#include "tutti/base/system/atomic_file.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/host/host_load.hpp"
#include "tutti/device/threads.hpp"
#include "tutti/models/graph/build_graph.hpp"
#include "tutti/models/graph/files/graph_files.hpp"
#include "tutti/models/graph/generate.hpp"
#include "tutti/models/graph/graph_info.hpp"
#include "tutti/models/graph/measure.hpp"
#include "tutti/models/graph/ssca2.hpp"
#include "tutti/program/device_arguments.hpp"
#include "tutti/program/report.hpp"

namespace tutti::graph {
namespace {

/// Only the first rank works; the others wait for its success.
void on_root(const Comm& comm, const std::function<void(const ParallelFor&)>& work) {
  comm.together([&] {
    if (!comm.is_root()) return;
    Threads threads(usable_cores());
    work(parallel_for(threads));
  });
}

/// 0 or more.
const CLI::Range any_number(std::int64_t{0}, std::numeric_limits<std::int64_t>::max());

void check_not_input(const std::string& input, const std::string& output) {
  std::error_code ignored;
  if (std::filesystem::equivalent(input, output, ignored))
    fail(ErrorKind::usage, "{}: is to be read; give the output another name", output);
}

struct GenerateArguments {
  std::string output;
  int scale = 10;
  Size degree = 8;
  std::vector<double> quarters{0.55, 0.1, 0.1};
  double noise = 0;
  bool undirected = false;
  std::int64_t seed = 1;
  Gid rows = 0, columns = 0;
  DeviceArguments devices;  ///< of R-MAT graphs
};

/// `devices`: null where they are of no use.
using Make = std::function<ArcList(const GenerateArguments&, const DeviceSet* devices, const ParallelFor&)>;

ArcList generate_on(const DeviceSet* devices, const RmatSpec& spec, const ParallelFor& parallel) {
  Device* device = device_with_room(*devices, bytes_to_generate(spec));
  return device != nullptr ? generate_rmat(spec, *device) : generate_rmat(spec, parallel);
}

CLI::App* add_kind(CLI::App& generate, Action& action, const std::shared_ptr<GenerateArguments>& a, const char* kind,
                   const char* description, bool on_devices, const Make& make) {
  CLI::App* command = generate.add_subcommand(kind, description);
  command->add_option("-o,--output", a->output, fmt::format("file to write: {}", graph_formats))
      ->required()
      ->type_name("FILE");
  if (on_devices) a->devices.add_to(*command);
  command->callback([a, on_devices, make, &action] {
    action = [a, on_devices, make](const Comm& comm) {
      std::optional<DeviceSet> devices;
      if (on_devices) devices = a->devices.open(comm);
      on_root(comm, [&](const ParallelFor& parallel) {
        check_graph_file(a->output);
        const ArcList list = make(*a, devices ? &*devices : nullptr, parallel);
        write_graph(list, a->output, parallel);
        info("{}: {} vertices, {} arcs", a->output, format_count(list.vertices), format_count(list.size()));
      });
    };
  });
  return command;
}

void add_scale(CLI::App& command, GenerateArguments& a) {
  command.add_option("--scale", a.scale, "2^S vertices")->required()->check(CLI::Range(1, 30))->type_name("S");
  command.add_option("--seed", a.seed, "seed of the random numbers")->check(any_number)->capture_default_str();
}

void add_grid(CLI::App& generate, Action& action, const char* kind, const char* description, bool around) {
  auto a = std::make_shared<GenerateArguments>();
  CLI::App* command = add_kind(generate, action, a, kind, description, false,
                               [around](const GenerateArguments& given, const DeviceSet*, const ParallelFor& parallel) {
                                 return around ? generate_torus(given.rows, given.columns, parallel)
                                               : generate_grid(given.rows, given.columns, parallel);
                               });
  command->add_option("--rows", a->rows, "vertices along one side")->required()->type_name("R");
  command->add_option("--columns", a->columns, "vertices along the other side")->required()->type_name("C");
  command->footer(fmt::format("Example:\n  tutti graph generate {} --rows 64 --columns 64 -o {}.el", kind, kind));
}

void add_generate(CLI::App& parent, Action& action) {
  CLI::App* generate = parent.add_subcommand("generate", "generate a graph");
  generate->require_subcommand(1);
  generate->footer(
      "Examples:\n  tutti graph generate ssca2 --scale 16 -o ssca2.el.gz\n"
      "  tutti graph generate torus --rows 64 --columns 64 -o torus.el");
  {
    auto a = std::make_shared<GenerateArguments>();
    CLI::App* command = add_kind(
        *generate, action, a, "ssca2", "the graph of SSCA#2 v2.2: R-MAT, directed, with weights", true,
        [](const GenerateArguments& given, const DeviceSet* devices, const ParallelFor& parallel) {
          return generate_on(devices, ssca2_spec(given.scale, static_cast<std::uint64_t>(given.seed)), parallel);
        });
    add_scale(*command, *a);
    command->footer("Example:\n  tutti graph generate ssca2 --scale 16 --seed 1 -o ssca2.el");
  }
  {
    auto a = std::make_shared<GenerateArguments>();
    CLI::App* command =
        add_kind(*generate, action, a, "rmat", "R-MAT with your own parameters; --kronecker: those of Graph500", true,
                 [](const GenerateArguments& given, const DeviceSet* devices, const ParallelFor& parallel) {
                   RmatSpec spec;
                   spec.scale = given.scale;
                   spec.seed = static_cast<std::uint64_t>(given.seed);
                   spec.degree = given.degree;
                   spec.a = given.quarters[0];
                   spec.b = given.quarters[1];
                   spec.c = given.quarters[2];
                   spec.noise = given.noise;
                   spec.weights = false;
                   if (given.undirected) spec = kronecker_spec(given.scale, spec.seed);
                   return generate_on(devices, spec, parallel);
                 });
    add_scale(*command, *a);
    CLI::Option* kronecker =
        command->add_flag("--kronecker", a->undirected, "quarters .57, .19, .19, 16 edges per vertex, no noise");
    command->add_option("--degree", a->degree, "arcs per vertex")
        ->capture_default_str()
        ->type_name("N")
        ->excludes(kronecker);
    command->add_option("--quarters", a->quarters, "probabilities of the first three quarters of the matrix")
        ->expected(3)
        ->capture_default_str()
        ->excludes(kronecker);
    command->add_option("--noise", a->noise, "fraction by which the probabilities vary from level to level")
        ->capture_default_str()
        ->excludes(kronecker);
    command->footer("Example:\n  tutti graph generate rmat --scale 20 --kronecker -o kronecker.sg");
  }
  add_grid(*generate, action, "grid", "a rectangular grid: each vertex is joined to those beside it", false);
  add_grid(*generate, action, "torus", "a periodic grid: each vertex has four neighbours", true);
}

void add_info(CLI::App& parent, Action& action) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand("info", "report counts, degrees and components of a graph");
  command->add_option("graph", *file, fmt::format("graph file: {}", graph_formats))->required()->type_name("FILE");
  command->footer("Example:\n  tutti graph info ssca2.el");
  command->callback([file, &action] {
    action = [file](const Comm& comm) {
      on_root(comm, [&](const ParallelFor& parallel) {
        write_info(describe(inspect(read_graph(*file, parallel), parallel)));
      });
    };
  });
}

void add_convert(CLI::App& parent, Action& action) {
  struct Arguments {
    std::string input, output;
    bool filter = false;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = parent.add_subcommand("convert", "write a graph in another format");
  command->add_option("input", a->input, fmt::format("graph file to read: {}", graph_formats))
      ->required()
      ->type_name("IN");
  command->add_option("output", a->output, "graph file to write, in the format of its extension")
      ->required()
      ->type_name("OUT");
  command->add_flag("--filter-eighths", a->filter,
                    "drop arcs whose weight is divisible by 8, and then all weights: the graph of kernel 4 of SSCA#2");
  command->footer("Example:\n  tutti graph convert roads.el.gz roads.sg");
  command->callback([a, &action] {
    action = [a](const Comm& comm) {
      on_root(comm, [&](const ParallelFor& parallel) {
        check_graph_file(a->output);
        check_not_input(a->input, a->output);
        ArcList list = read_graph(a->input, parallel);
        if (a->filter) leave_out_eighths(list);
        write_graph(list, a->output, parallel);
        info("{}: {} vertices, {} arcs", a->output, format_count(list.vertices), format_count(list.size()));
      });
    };
  });
}

void add_placement(CLI::App& command, std::string& placement) {
  command
      .add_option(
          "--placement", placement,
          "a copy of the graph on every device, or its vertices in parts; auto: parts where a device has no room")
      ->check(CLI::IsMember({"auto", "copies", "parts"}))
      ->capture_default_str();
}

void add_betweenness(CLI::App& parent, Action& action) {
  struct Arguments {
    MeasureRequest request;
    std::string output, multi_edges = "simple", measure = "betweenness", placement = "auto";
    std::int64_t seed = 1;
    DeviceArguments devices;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      parent.add_subcommand("betweenness", "compute betweenness, closeness or components of every vertex");
  MeasureRequest& r = a->request;
  command->add_option("graph", r.file, fmt::format("graph file: {}", graph_formats))->required()->type_name("FILE");
  command->add_option("-o,--output", a->output, fmt::format("file for the values, in vertex order: {}", value_formats))
      ->required()
      ->type_name("OUT");
  command
      ->add_option("--sources", r.sources,
                   "all, the number of sources to draw, or a file with one vertex number per line")
      ->capture_default_str()
      ->type_name("all|N|FILE");
  command->add_option("--seed", a->seed, "seed for drawing the sources")->check(any_number)->capture_default_str();
  command->add_flag("--directed", r.directed, "arcs lead from the first vertex to the second only");
  command
      ->add_option("--multi-edges", a->multi_edges, "several arcs between two vertices: one edge, or different paths")
      ->check(CLI::IsMember({"simple", "paths"}))
      ->capture_default_str();
  command->add_flag("--filter-eighths", r.filter, "drop arcs whose weight is divisible by 8, as SSCA#2 does");
  command->add_option("--measure", a->measure, "measure to compute")
      ->check(CLI::IsMember({"betweenness", "closeness", "components"}))
      ->capture_default_str();
  add_placement(*command, a->placement);
  command->add_option("--top", r.top, "number of vertices with the highest values to print")
      ->check(CLI::Range(0, 1 << 20))
      ->type_name("N");
  a->devices.add_to(*command);
  command->footer(
      "Betweenness sums over ordered pairs: of an undirected graph it is twice that of NetworkX and igraph.\n"
      "Examples:\n  tutti graph betweenness roads.el -o betweenness.csv --top 10\n"
      "  tutti graph betweenness web.mtx --directed --sources 1024 -o sampled.csv");
  command->callback([a, &action] {
    action = [a](const Comm& comm) {
      a->request.multi_edges = a->multi_edges == "paths" ? MultiEdges::paths : MultiEdges::simple;
      a->request.measure = parse_measure(a->measure);
      a->request.seed = static_cast<std::uint64_t>(a->seed);
      comm.together([&] {
        check_not_input(a->request.file, a->output);
        check_not_input(a->request.sources, a->output);
      });
      a->request.placement = parse_placement(a->placement);
      DeviceSet devices = a->devices.open(comm);
      const MeasureResult result = measure(a->request, devices, comm);
      comm.together([&] {
        if (!comm.is_root()) return;
        const VertexValues values = values_of(result, a->measure);
        write_values(values, a->output, Place::given);
        info("{}: {} vertices, {:.3g} s{}", a->output, format_count(static_cast<Size>(result.values.size())),
             result.seconds,
             result.setup_seconds > 0 ? fmt::format(", {:.3g} s of it set-up", result.setup_seconds) : "");
        if (a->request.top > 0) write_info(top_list(values, a->request.top));
      });
    };
  });
}

void add_ssca2(CLI::App& parent, Action& action) {
  struct Arguments {
    Ssca2Request request;
    std::string json, multi_edges = "paths", placement = "auto";
    DeviceArguments devices;
  };
  auto a = std::make_shared<Arguments>();
  CLI::App* command = parent.add_subcommand("ssca2", "the benchmark SSCA#2 v2.2: generator and four kernels");
  command->add_option("--scale", a->request.scale, "2^S vertices")
      ->required()
      ->check(CLI::Range(1, 30))
      ->type_name("S");
  command->add_option("--sources", a->request.sources, "sources of kernel 4; 0: 2^min(S, 10)")
      ->check(any_number)
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--seed", a->request.seed, "seed of the graph and the sources")
      ->check(any_number)
      ->capture_default_str();
  command->add_option("--multi-edges", a->multi_edges, "in kernel 4: different paths, as v2.2 has it, or one edge")
      ->check(CLI::IsMember({"simple", "paths"}))
      ->capture_default_str();
  add_placement(*command, a->placement);
  command->add_option("--json", a->json, "write the figures to this file")->type_name("FILE");
  a->devices.add_to(*command);
  command->footer("Example:\n  tutti graph ssca2 --scale 16 --json ssca2.json");
  command->callback([a, &action] {
    action = [a](const Comm& comm) {
      a->request.multi_edges = a->multi_edges == "paths" ? MultiEdges::paths : MultiEdges::simple;
      a->request.placement = parse_placement(a->placement);
      DeviceSet devices = a->devices.open(comm);
      const Ssca2Result result = run_ssca2(a->request, devices, comm);
      comm.together([&] {
        if (!comm.is_root()) return;
        write_info(describe(result));
        if (!a->json.empty()) write_report(a->json, json_of(result));
      });
    };
  });
}

}  // namespace

void add_graph_commands(CLI::App& program, Action& action) {
  CLI::App* parent = program.add_subcommand("graph", "generate, inspect and analyse graphs: betweenness, SSCA#2");
  parent->require_subcommand(1);
  parent->footer(
      "Examples:\n  tutti graph generate torus --rows 64 --columns 64 -o torus.el\n"
      "  tutti graph betweenness torus.el -o betweenness.csv\n  tutti graph ssca2 --scale 16");
  add_generate(*parent, action);
  add_info(*parent, action);
  add_convert(*parent, action);
  add_betweenness(*parent, action);
  add_ssca2(*parent, action);
}

}  // namespace tutti::graph
