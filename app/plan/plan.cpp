// tutti plan: also on many nodes like this one.
#include "app/commands.hpp"
#include "app/plan/plan_nodes_case.hpp"

namespace tutti::app {
namespace {

void add_nodes(CLI::App& command, NodesArguments& arguments) {
  CLI::Option* nodes =
      command.add_option("--nodes", arguments.nodes,
                         "instead, project the time of a step on N nodes like this host, e.g. 1,4,16,128,1024");
  nodes->delimiter(',')->check(CLI::Range(1, 1 << 20))->type_name("N,N,...");
  command
      .add_option("--real-nodes", arguments.real_nodes,
                  "really partition the mesh for up to N nodes, down to 2,000 cells per part; extrapolate beyond")
      ->check(CLI::Range(2, 1 << 16))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("N");
  command
      .add_option("--network-gb-per-second", arguments.network_gb_per_second,
                  "network bandwidth per node and direction")
      ->check(CLI::Range(1e-3, 1e6))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("X");
  command.add_option("--network-latency-us", arguments.network_latency_us, "latency of a message between nodes")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str()
      ->needs(nodes)
      ->type_name("X");
  command
      .add_option("--rates", arguments.rates,
                  "use the device rates that --json wrote on another machine, instead of measuring here")
      ->needs(nodes)
      ->type_name("FILE");
  command.add_option("--json", arguments.json, "write the figures of --nodes to this file")
      ->needs(nodes)
      ->type_name("FILE");
}

}  // namespace

void add_plan(CLI::App& program, Action& action) {
  auto nodes = std::make_shared<NodesArguments>();
  CLI::App* command = add_plan_command(
      program, action, models(),
      "  tutti plan examples/heart/case.toml\n"
      "  tutti plan examples/heart/case.toml --set mesh.h=0.5 --devices cuda:0,cpu\n"
      "  tutti plan examples/heart/case.toml --devices cuda:0,cpu --nodes 1,4,16,128,1024 --json plan.json",
      [nodes](const Comm& comm, const Case& options, const std::string& file, const DeviceArguments& devices) {
        if (!nodes->nodes.empty()) plan_nodes(comm, options, file, devices, *nodes);
        return !nodes->nodes.empty();
      });
  add_nodes(*command, *nodes);
}

}  // namespace tutti::app
