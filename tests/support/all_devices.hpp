// The devices that tests compare.
#pragma once

#include <memory>
#include <vector>

#include "tutti/device/device.hpp"
#include "tutti/device/threads.hpp"

namespace tutti::test {

/// The host as a device, a fake GPU, and a GPU where there is one.
inline std::vector<std::unique_ptr<Device>> all_devices(Threads& threads) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_host_device(threads, Size{1} << 30));
  devices.push_back(make_fake_device(0, {}));
#ifdef TUTTI_HAVE_CUDA
  if (cuda_device_count() > 0) devices.push_back(make_cuda_device(0, Size{1} << 30));
#endif
  return devices;
}

}  // namespace tutti::test
