// What `tutti plan` says of a case, for each model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/plan_nodes_case.hpp"
#include "tutti/base/comm.hpp"
#include "tutti/exchange/exchange.hpp"
#include "tutti/program/device_arguments.hpp"
#include "tutti/program/planned_array.hpp"

namespace tutti::app {

struct PlanArguments {
  std::string file;
  std::vector<std::string> sets;
  DeviceArguments devices;
  NodesArguments nodes;
};

/// One part of the plan as it travels to rank 0.
struct PartLine {
  int rank = 0;
  char device[32] = "";
  double weight = 0;
  Gid cells = 0, ghosts = 0;
  Size bytes = 0, capacity = 0, messages = 0, message_bytes = 0;  ///< messages: one exchange, or a step's
  double triad = 0, seconds = 0;                                  ///< seconds: of a step
};

/// What all parts together say.
struct PlanTotals {
  double slowest = 0;  ///< s a step
  Size messages = 0, message_bytes = 0;
  bool fits = true;
};

/// What is said of part p of this rank, whose arrays (without those for messages) and bytes a step are known; its
/// arrays are added to `text`. One exchange of one value a row of `plan`.
PartLine plan_line(const Comm& comm, DeviceSet& devices, const IndexMap& map, double weight,
                   std::vector<PlannedArray> arrays, Size bytes_a_step, const Plan& plan, const Routing& routing,
                   std::span<const PartStreams> streams, std::size_t p, std::string& text);
/// Prints a line a part. `full_parts` have no room for more.
PlanTotals print_parts(std::span<const PartLine> lines, const std::vector<int>& full_parts);
/// The last words: where something does not fit.
void warn_of_full_devices(const PlanTotals& totals, const char* smaller);

/// A case of `incompressible`. Collective.
void plan_flow(const Comm& comm, const PlanArguments& arguments);
/// A case of `transport`. Collective.
void plan_transport(const Comm& comm, const PlanArguments& arguments);

}  // namespace tutti::app
