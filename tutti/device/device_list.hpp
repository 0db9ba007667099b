// --devices: which processors a rank drives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tutti/base/mpi/comm.hpp"
#include "tutti/device/device.hpp"
#include "tutti/device/threads.hpp"

namespace tutti {

/// What a list of devices asks for, before it is shared out.
struct DeviceRequest {
  bool all_gpus = false;  ///< "all": whatever GPUs the host has
  std::vector<int> gpus;  ///< "cuda:I", in the order of the list
  int fakes = 0;          ///< "fake:N": N in each rank
  bool cpu = false;
  std::vector<int> cores;  ///< "cpu:0-7": ascending; empty: all of the rank's share
};

/// Reads `all | cpu | cpu:0-7 | cuda:0,cuda:1,cpu | fake:2,cpu`. A word of numbers after cpu:CORES adds cores
/// ("cpu:0-3,8"). Error(usage) for an unknown word, a number that is none, a device named twice, an empty list.
DeviceRequest parse_devices(const std::string& list);

struct DeviceOptions {
  int threads = 0;        ///< of each rank's team; 0: one a core of its share that is free
  FakeOptions fake;       ///< each fake device gets its own seed made from this one
  Size memory_limit = 0;  ///< bytes a GPU may use; 0: what is free
  Lid limit_blocks = 0;   ///< Device::limit_blocks of GPUs and fakes
  /// Takes 50 ms to see on which cores other programs work, and leaves those to them. Else none does.
  bool look_at_load = false;
};

/// The devices of one rank. The threads outlive the devices that use them.
struct DeviceSet {
  std::unique_ptr<Threads> threads;
  std::vector<std::unique_ptr<Device>> devices;  ///< GPUs and fakes first, the cpu last; a rank may have no cpu
};

/// Opens the devices of this rank; collective. Ranks of one host share the list: its GPUs are dealt out in turn, its
/// cores are split evenly among the ranks that are bound to the same ones (mpirun --bind-to), and the cpu's budget is
/// the available memory over the ranks. Threads are pinned where a team has all cores of its share and no other program
/// works there, or the list names the cores; else the system places them, which sees what else runs. With fewer cores
/// than ranks each has one thread. The team is the same without a cpu: set-up and output are its work. Error(usage) as
/// parse_devices; Error(resource) when a GPU or a core is not there, or a rank is left with no device.
DeviceSet open_devices(const std::string& list, const Comm& comm, const DeviceOptions& options = {});

/// The first GPU; null where there is none. For set-up that one device can do.
Device* first_gpu(const DeviceSet& set);
/// The first device but the CPU that has so many bytes left; null where there is none. Likewise.
Device* device_with_room(const DeviceSet& set, Size bytes);

/// One line a device: its word, what it is, its memory budget.
std::string describe(const DeviceSet& set);

/// The cores of rank `rank` among ranks of one host whose affinity masks are `masks`: its part of its mask, which is
/// split evenly among the ranks that have the same one; empty when these are more than its cores.
std::vector<int> share_of_cores(const std::vector<std::vector<int>>& masks, int rank);

}  // namespace tutti
