// What domains and models are made from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device_list.hpp"
#include "tutti/domain/phases.hpp"
#include "tutti/io/case/case.hpp"

namespace tutti {

/// The partition of a checkpoint.
struct StoredPartition {
  std::vector<std::string> devices;  ///< kind of each part's device
  std::vector<std::int32_t> owner;   ///< of each row; on the root only
};
/// Kinds of the devices of all parts: "cpu", "fake", "cuda". Collective.
std::vector<std::string> device_kinds(const Comm& comm, const DeviceSet& devices);

/// What a model is made from. Everything but `phases` must outlive it.
struct ModelSetup {
  const Comm& comm;
  DeviceSet& devices;
  const Case& options;
  std::filesystem::path work_dir;  ///< for files of the set-up, e.g. of mesh generators; need not exist
  Phases& phases;
  const StoredPartition* stored = nullptr;  ///< of a checkpoint, to be used again where it fits
  std::vector<double> weights = {};         ///< of all parts, instead of the case's; empty: as the case says
};

}  // namespace tutti
