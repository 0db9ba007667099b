// How fast the devices are at a model: `tutti devices --model`.
#pragma once

#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/triad.hpp"
#include "tutti/program/device_arguments.hpp"

namespace tutti::app {

/// Measures all devices for the case, their bandwidths within `limits`, and prints Langguth 2015, Table 1, for them.
/// `json`: a file for the same figures; empty: none. Collective. Error(usage) for a model that is not there, or not the
/// case's.
void list_rates(const Comm& comm, const DeviceArguments& arguments, const std::string& model,
                const std::string& case_file, const std::vector<std::string>& sets, const std::string& json,
                const MeasureLimits& limits);

}  // namespace tutti::app
