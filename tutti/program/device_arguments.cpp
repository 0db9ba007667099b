#include "tutti/program/device_arguments.hpp"

#include <CLI/CLI.hpp>

#include "tutti/base/units.hpp"

namespace tutti {

void DeviceArguments::add_to(CLI::App& command) {
  command
      .add_option("--devices", list,
                  "devices to use, e.g. all, cpu, cpu:0-7 (cores), cuda:0,cuda:1,cpu, fake:2,cpu (two emulated GPUs)")
      ->type_name("LIST");
  command.add_option("--threads", threads, "CPU threads per rank (default: one per free core of the rank's share)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command
      .add_option("--limit-blocks", limit_blocks,
                  "experiment: run only N thread blocks of a GPU at a time, to imitate a smaller GPU")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("N");
  command.add_option("--fake-memory", fake_memory, "memory of each emulated GPU, e.g. 256M")->type_name("BYTES");
}

DeviceSet DeviceArguments::open(const Comm& comm) const {
  DeviceOptions options;
  options.look_at_load = true;
  options.threads = threads;
  options.limit_blocks = limit_blocks;
  comm.together([&] {
    if (!fake_memory.empty()) options.fake.memory = parse_bytes(fake_memory, "--fake-memory");
  });
  return open_devices(list.empty() ? "all" : list, comm, options);
}

DeviceSet DeviceArguments::open(const Comm& comm, const Case& from) const {
  DeviceOptions options;
  options.look_at_load = true;
  options.threads = threads > 0                               ? threads
                    : from.is_word("devices.threads", "auto") ? 0
                                                              : static_cast<int>(from.integer("devices.threads"));
  comm.together([&] {
    options.fake.memory =
        fake_memory.empty() ? from.bytes("devices.fake_memory") : parse_bytes(fake_memory, "--fake-memory");
  });
  if (!from.is_word("devices.gpu_memory", "auto")) options.memory_limit = from.bytes("devices.gpu_memory");
  options.limit_blocks = static_cast<Lid>(limit_blocks > 0 ? limit_blocks : from.integer("devices.limit_blocks"));
  options.fake.seed = static_cast<std::uint64_t>(from.integer("devices.fake_seed"));
  options.fake.fail_allocation = from.integer("devices.fake_fail_allocation");
  options.fake.open = from.flag("devices.fake_open");
  if (const Size launches = from.integer("devices.fake_lose_after"); launches > 0)
    options.fake.fail_after_launches = launches;
  return open_devices(list.empty() ? from.text("devices.list") : list, comm, options);
}

}  // namespace tutti
