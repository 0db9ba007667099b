// Unified memory of CUDA: memory that host and GPU both see, and whose pages move between them.
#pragma once

#include <memory>

#include "tutti/device/device.hpp"

namespace tutti {

/// Memory whose pages are on the host unless they were brought to the device.
class ManagedMemory {
 public:
  virtual ~ManagedMemory() = default;
  ManagedMemory(const ManagedMemory&) = delete;
  ManagedMemory& operator=(const ManagedMemory&) = delete;

  virtual std::byte* data() = 0;
  /// Enqueues the move of bytes [begin, begin + count) to the device, or back to the host.
  virtual void prefetch(Stream& stream, Size begin, Size count, bool to_device) = 0;

 protected:
  ManagedMemory() = default;
};

/// Null where the device has no unified memory: host and fake devices. Error(resource) when it cannot move pages by
/// itself, or when its memory has less than `bytes` free: pages that do not fit would be thrown out one by one.
std::unique_ptr<ManagedMemory> make_managed_memory(Device& device, Size bytes);

}  // namespace tutti
