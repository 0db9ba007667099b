// Parts on the CPU and on fake devices, for steps that are made by hand.
#pragma once

#include <memory>
#include <vector>

#include "tutti/device/threads.hpp"
#include "tutti/exchange/part_streams.hpp"
#include "tutti/schedule/step.hpp"

namespace tutti::test {

/// `fakes` parts on fake devices, then one on the CPU.
struct DevicesOfARank {
  explicit DevicesOfARank(int team, int fakes = 0, std::uint64_t seed = 1, double max_delay_us = 50) : threads(team) {
    for (int f = 0; f < fakes; ++f) {
      FakeOptions options;
      options.seed = seed + static_cast<std::uint64_t>(f);
      options.max_delay_us = max_delay_us;
      devices.push_back(make_fake_device(f, options));
    }
    devices.push_back(make_host_device(threads, Size{1} << 30));
    for (auto& device : devices) parts.emplace_back(*device);
  }
  int cpu() const { return static_cast<int>(parts.size()) - 1; }

  Threads threads;
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<PartStreams> parts;
};

}  // namespace tutti::test
