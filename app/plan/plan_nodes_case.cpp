#include "app/plan/plan_nodes_case.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands.hpp"
#include "tutti/base/log.hpp"
#include "tutti/base/system/input_file.hpp"
#include "tutti/base/units.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/program/temporary_folder.hpp"
#include "tutti/schedule/balance.hpp"

namespace tutti::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr double least_cells_a_part = 2000;  // a mesh is not cut into smaller ones: they are projected

/// Measures this host's devices. Collective.
std::vector<NodeDevice> measure_devices(const Comm& comm, const DeviceSet& devices, const MeasureRate& rate,
                                        Gid cells) {
  const auto rates = measure_parts(comm, devices, cells, rate);
  std::vector<NodeDevice> all;
  for (std::size_t p = 0; p < rates.size(); ++p) {
    Device& device = *devices.devices[p];
    const Bandwidth b = measure_copies(device, MeasureLimits::quick());
    NodeDevice& d = all.emplace_back();
    d.name = device.name();
    d.accelerator = !device.is_host();
    d.rows = rates[p].rate;
    d.rows_cached = rates[p].in_cache;
    d.cached_rows = rates[p].cached_rows;
    d.to_device = b.copy_to_device;
    d.to_host = b.copy_to_host;
    d.copy_latency = d.accelerator ? 1e-6 * b.latency_us : 0;
    d.launch = 1e-6 * b.launch_us;
    d.meet = rates[p].meet;
  }
  return all;
}

Json json_of(const NodeDevice& d) {
  Json json = {
      {"device", d.name}, {"accelerator", d.accelerator}, {"cells_per_second", d.rows}, {"launch_us", 1e6 * d.launch}};
  if (d.accelerator) {
    json["to_device_gb_per_second"] = 1e-9 * d.to_device;
    json["to_host_gb_per_second"] = 1e-9 * d.to_host;
    json["copy_latency_us"] = 1e6 * d.copy_latency;
  } else {
    json["cached_cells_per_second"] = d.rows_cached;
    json["cached_cells"] = d.cached_rows;
    json["meet_us"] = 1e6 * d.meet;
  }
  return json;
}

/// What json_of wrote: of accelerators all, of a CPU team what was measured.
NodeDevice device_of(const Json& json, const std::string& file) {
  const auto positive = [&](const char* key) {
    const double value = json.at(key).get<double>();
    if (!(value > 0)) fail(ErrorKind::input, "{}: {} is {}; it must be above 0", file, key, value);
    return value;
  };
  NodeDevice d;
  d.name = json.at("device").get<std::string>();
  d.accelerator = json.at("accelerator").get<bool>();
  d.rows = positive("cells_per_second");
  d.launch = 1e-6 * json.at("launch_us").get<double>();
  if (d.accelerator) {
    d.to_device = 1e9 * positive("to_device_gb_per_second");
    d.to_host = 1e9 * positive("to_host_gb_per_second");
    d.copy_latency = 1e-6 * json.at("copy_latency_us").get<double>();
  } else {
    d.rows_cached = json.value("cached_cells_per_second", 0.0);
    d.cached_rows = json.value("cached_cells", 0.0);
    d.meet = 1e-6 * json.value("meet_us", 0.0);
  }
  return d;
}

std::vector<NodeDevice> read_devices(const std::string& file) {
  const std::string text = read_text(file, "file of rates", Size{16} << 20);
  std::vector<NodeDevice> all;
  try {
    const Json report = Json::parse(text);
    for (const Json& json : report.at("devices")) all.push_back(device_of(json, file));
  } catch (const Json::exception& error) {
    fail(ErrorKind::input,
         "{}: not the rates of a node's devices ({}); give a file of tutti plan --nodes N --json FILE", file,
         error.what());
  }
  if (all.empty()) fail(ErrorKind::input, "{}: lists no device; at least one is needed", file);
  return all;
}

/// A node's shares, sum 1: as a run would choose them for a mesh of the cells that one node gets, but that no GPU is
/// left out (Weights::one_gpu): that is for meshes smaller than those of many nodes.
class NodeWeights {
 public:
  /// `here`: this host's devices; null where they were read from a file.
  NodeWeights(const Comm& comm, const DeviceSet* here, const Case& options, const std::vector<NodeDevice>& devices) {
    for (const NodeDevice& d : devices) {
      PartRate r;
      r.rate = d.rows;
      r.in_cache = d.rows_cached;
      r.cached_rows = d.cached_rows;
      r.meet = d.meet;
      r.threads = d.accelerator ? 0 : 1;
      rates_.push_back(r);
    }
    if (options.is_word("balance.weights", "measured")) return;
    const bool needs_devices =
        options.is_word("balance.weights", "stream") || options.is_word("balance.weights", "peak");
    if (here == nullptr && needs_devices)
      fail(ErrorKind::usage,
           "--rates: balance.weights = \"{}\" must be measured on the devices; take \"measured\", "
           "\"equal\" or a list",
           options.is_word("balance.weights", "peak") ? "peak" : "stream");
    static const DeviceSet none;
    fixed_ = part_weights(comm, here != nullptr ? *here : none, options, static_cast<int>(devices.size())).of_parts;
  }

  std::vector<double> of(double cells) const {
    if (!fixed_.empty()) return fixed_;
    return weigh_rates(rates_, static_cast<Gid>(cells)).of_parts;
  }

 private:
  std::vector<PartRate> rates_;
  std::vector<double> fixed_;
};

/// One line of the table.
struct NodesLine {
  int nodes = 0;
  bool real = true;
  std::vector<double> weights;
  std::vector<PartCounts> parts;  ///< of all nodes, or of the slowest one where it is projected
  StepSeconds seconds;
};

int parts_in_use(const NodesLine& line) {
  return line.nodes *
         static_cast<int>(std::count_if(line.weights.begin(), line.weights.end(), [](double w) { return w > 0; }));
}

double largest(const NodesLine& line, double PartCounts::*count) {
  double most = 0;
  for (const PartCounts& p : line.parts) most = std::max(most, p.*count);
  return most;
}

double seconds_of(const StepSeconds& seconds, const std::string& overlap) {
  return overlap == "none" ? seconds.none : overlap == "messages" ? seconds.messages : seconds.full;
}

/// The numbers of nodes of the table: 1 for the efficiency, and one that can be cut where others are projected.
std::vector<int> nodes_of_table(const NodesArguments& arguments, Gid cells, std::size_t devices) {
  std::vector<int> nodes = arguments.nodes;
  const auto can_be_cut = [&](int n) {
    return n == 1 || (n <= arguments.real_nodes &&
                      static_cast<double>(cells) >= least_cells_a_part * n * static_cast<double>(devices));
  };
  nodes.push_back(1);
  if (!std::all_of(nodes.begin(), nodes.end(), can_be_cut)) {
    // The largest that can, so that the law is that of small parts; two nodes at least show a surface.
    int most = arguments.real_nodes;
    while (most > 2 && !can_be_cut(most)) most /= 2;
    nodes.push_back(std::max(2, most));
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

Json json_of(const NodesLine& line, double cells, double seconds, double efficiency, const PlannedPass& pass) {
  double ghosts = 0;
  for (const PartCounts& p : line.parts) ghosts += p.ghosts;
  if (!line.real) ghosts *= line.nodes;
  return {{"nodes", line.nodes},
          {"parts", parts_in_use(line)},
          {"projected", !line.real},
          {"weights", line.weights},
          {"cells_a_part", cells / parts_in_use(line)},
          {"largest_part_cells", largest(line, &PartCounts::cells)},
          {"most_separators", largest(line, &PartCounts::separators)},
          {"most_ghosts", largest(line, &PartCounts::ghosts)},
          {"ghosts", ghosts},
          {"most_messages", largest(line, &PartCounts::messages)},
          {"most_message_bytes", static_cast<double>(pass.sent) * largest(line, &PartCounts::sent_off)},
          {"seconds", {{"none", line.seconds.none}, {"messages", line.seconds.messages}, {"full", line.seconds.full}}},
          {"efficiency", efficiency},
          {"cell_steps_per_second", cells / seconds}};
}

void print_devices(const std::vector<NodeDevice>& devices, const Network& network, const std::string& from,
                   const char* rows) {
  for (const NodeDevice& d : devices) {
    if (d.accelerator)
      info("{:<10} {:.1f} M {}/s, copies {:.1f} and {:.1f} GB/s, {:.1f} us each, launch {:.1f} us", d.name,
           1e-6 * d.rows, rows, 1e-9 * d.to_device, 1e-9 * d.to_host, 1e6 * d.copy_latency, 1e6 * d.launch);
    else
      info("{:<10} {:.1f} M {}/s, launch {:.1f} us", d.name, 1e-6 * d.rows, rows, 1e6 * d.launch);
  }
  info("devices of each node ({}); network (assumed): {:.1f} GB/s per node, {:.1f} us per message", from,
       1e-9 * network.bytes, 1e6 * network.latency);
}

void print_table(const std::vector<NodesLine>& lines, double cells, const std::string& overlap, const char* rows,
                 const PlannedPass& pass) {
  info(
      "nodes  parts {:>12}  separators      ghosts  messages   bytes sent  ms: none  messages      full  efficiency  G "
      "{}/s",
      fmt::format("{}/part", rows), rows);
  for (const NodesLine& l : lines) {
    const double seconds = seconds_of(l.seconds, overlap), alone = seconds_of(lines.front().seconds, overlap);
    info("{:>5} {:>6} {:>12} {:>11.0f} {:>11.0f} {:>9.0f} {:>12} {:>9.4f} {:>9.4f} {:>9.4f} {:>10.1f}% {:>10.3f}{}",
         l.nodes, parts_in_use(l), format_count(static_cast<Gid>(cells / parts_in_use(l))),
         largest(l, &PartCounts::separators), largest(l, &PartCounts::ghosts), largest(l, &PartCounts::messages),
         format_bytes(static_cast<double>(pass.sent) * largest(l, &PartCounts::sent_off)), 1e3 * l.seconds.none,
         1e3 * l.seconds.messages, 1e3 * l.seconds.full, 100 * alone / (l.nodes * seconds), 1e-9 * cells / seconds,
         l.real ? "" : "  projected");
  }
  info("separators, ghosts, messages and bytes: the maximum over parts; ms: one sweep over the rows ({})", pass.name);
}

}  // namespace

void plan_nodes(const Comm& comm, const Case& options, const std::string& case_file,
                const DeviceArguments& device_arguments, const NodesArguments& arguments) {
  comm.together([&] {
    if (comm.size() > 1)
      fail(ErrorKind::usage, "--nodes: {} processes; start one: its devices are those of each node", comm.size());
  });
  const ModelKind& kind = kind_of(options, models());
  comm.together([&] {
    if (!kind.plan_pass)
      fail(ErrorKind::usage, "--nodes: steps of the model {} cannot be projected; remove --nodes", kind.name);
  });
  const PlannedPass pass = kind.plan_pass(options);
  if (!pass.not_projected.empty())
    fail(ErrorKind::usage, "--nodes: {} cannot be projected: {}; choose another solver", case_file, pass.not_projected);
  const TemporaryFolder work_dir(comm);
  DeviceSet here;
  if (arguments.rates.empty()) {
    here = device_arguments.open(comm, options);
  } else {
    DeviceOptions on_cpu;
    on_cpu.threads = device_arguments.threads;
    here = open_devices("cpu", comm, on_cpu);
  }
  Phases phases;
  const ModelSetup setup{comm, here, options, work_dir.path(), phases};
  const std::unique_ptr<Domain> domain = kind.rows(options);
  domain->load(setup);
  const WholeRows mesh = domain->take_whole(setup);
  if (!mesh.cut)
    fail(ErrorKind::usage, "--nodes {}: {} of the model {} cannot be partitioned for other nodes; remove --nodes",
         case_file, domain->words().rows, kind.name);
  const Gid rows = domain->rows;
  const auto cells = static_cast<double>(rows);
  const std::vector<NodeDevice> devices =
      arguments.rates.empty() ? measure_devices(comm, here, kind.sharing(options, *here.threads).rate, rows)
                              : read_devices(arguments.rates);
  const NodeWeights weights(comm, arguments.rates.empty() ? &here : nullptr, options, devices);
  const Network network{1e9 * arguments.network_gb_per_second, 1e-6 * arguments.network_latency_us};
  const auto nodes = nodes_of_table(arguments, rows, devices.size());
  if (const double parts = static_cast<double>(nodes.back()) * static_cast<double>(devices.size()); parts > cells)
    fail(ErrorKind::input, "--nodes {}: {} has {} {} for {:.0f} parts; take fewer nodes or a larger mesh", nodes.back(),
         case_file, rows, domain->words().rows, parts);

  std::vector<NodesLine> lines;
  std::vector<RealPartition> real;
  std::vector<SurfaceLaw> laws;
  for (const int n : nodes) {
    NodesLine& line = lines.emplace_back();
    line.nodes = n;
    line.weights = weights.of(cells / n);
    // Two nodes are cut whatever their size: there is no law without a surface.
    line.real = n <= std::max(2, arguments.real_nodes) &&
                (n <= 2 || cells >= least_cells_a_part * n * static_cast<double>(devices.size()));
    if (line.real) {
      const auto owner = mesh.cut(n, line.weights);
      line.parts =
          count_parts(mesh.reads, owner, n * static_cast<int>(devices.size()), static_cast<int>(devices.size()));
      real.push_back({n, line.parts});
    } else {
      if (laws.empty()) laws = fit_surfaces(real, static_cast<int>(devices.size()));
      line.parts = project_parts(laws, line.weights, cells / n);
    }
    line.seconds = project_step(line.parts, devices, network, static_cast<double>(pass.sent));
  }

  const std::string overlap = options.text("devices.overlap");
  const char* const words = domain->words().rows;
  info("case {}: {} {} on copies of one node; steps are projected, not run", case_file, format_count(rows), words);
  print_devices(devices, network, arguments.rates.empty() ? "measured here" : arguments.rates, words);
  print_table(lines, cells, overlap, words, pass);
  const auto error = laws.empty() ? std::nullopt : law_error(real, laws);
  if (!laws.empty())
    info(
        "projected: the mesh was not partitioned for so many nodes; surfaces grow as cells^(2/3), fitted to {} nodes{}",
        real.back().nodes,
        error ? fmt::format(" and fewer, whose ghosts the fit reproduces within {:.1f} %", 100 * *error) : " alone");
  if (arguments.json.empty()) return;
  Json report = {{"case", case_file}, {"cells", rows}, {"overlap", overlap}};
  report["devices"] = Json::array();
  for (const NodeDevice& d : devices) report["devices"].push_back(json_of(d));
  report["network"] = {{"gb_per_second", arguments.network_gb_per_second},
                       {"latency_us", arguments.network_latency_us}};
  if (!laws.empty())
    report["law"] = {{"largest_cut_nodes", real.back().nodes}, {"error", error ? Json(*error) : Json(nullptr)}};
  report["nodes"] = Json::array();
  for (const NodesLine& l : lines) {
    const double seconds = seconds_of(l.seconds, overlap);
    report["nodes"].push_back(
        json_of(l, cells, seconds, seconds_of(lines.front().seconds, overlap) / (l.nodes * seconds), pass));
  }
  write_report(arguments.json, report.dump(2) + "\n");
}

}  // namespace tutti::app
