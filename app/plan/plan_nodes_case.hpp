// `tutti plan CASE --nodes`: a case on many copies of this host.
#pragma once

#include <string>
#include <vector>

#include "app/plan/plan_nodes.hpp"
#include "tutti/base/mpi/comm.hpp"
#include "tutti/io/case/case.hpp"
#include "tutti/program/device_arguments.hpp"

namespace tutti::app {

struct NodesArguments {
  std::vector<int> nodes;
  int real_nodes = 128;  ///< larger numbers of nodes are projected
  double network_gb_per_second = 12.5, network_latency_us = 2;
  std::string rates;  ///< file of devices that are not here; empty: those of this host
  std::string json;
};

/// Cuts the mesh of the case for each number of nodes, counts, projects, and prints a table. One process only. Errors:
/// usage (several processes, 0 nodes), input (fewer cells than parts; a file of rates), io, those of the mesh and of
/// the devices.
void plan_nodes(const Comm& comm, const Case& options, const std::string& case_file,
                const DeviceArguments& device_arguments, const NodesArguments& arguments);

}  // namespace tutti::app
