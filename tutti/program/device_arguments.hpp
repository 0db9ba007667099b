// The options that choose and describe devices, shared by several subcommands.
#pragma once

#include <string>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/io/case/case.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library CLI11
class App;
}

namespace tutti {

struct DeviceArguments {
  std::string list;         ///< --devices; empty: what the case says, else "all"
  int threads = 0;          ///< --threads; 0: what the case says, else the free cores of the rank's share
  std::string fake_memory;  ///< --fake-memory
  int limit_blocks = 0;     ///< --limit-blocks
  void add_to(CLI::App& command);
  /// Collective. Errors as open_devices.
  DeviceSet open(const Comm& comm) const;
  /// The command line goes before the case. Collective.
  DeviceSet open(const Comm& comm, const Case& from) const;
};

}  // namespace tutti
