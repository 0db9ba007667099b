// Unified memory of CUDA: memory of the host that the GPU sees, too, and whose pages it can have copies of.
#pragma once

#include <memory>
#include <string>

#include "tutti/device/device.hpp"

namespace tutti {

/// Read-only memory of the host, of whose pages the device has copies where they were brought.
class ManagedMemory {
 public:
  virtual ~ManagedMemory() = default;
  ManagedMemory(const ManagedMemory&) = delete;
  ManagedMemory& operator=(const ManagedMemory&) = delete;

  /// The host writes it before any of it is brought.
  virtual std::byte* data() = 0;
  /// Enqueues copies of bytes [begin, begin + count) to the device.
  virtual void bring(Stream& stream, Size begin, Size count) = 0;
  /// Frees the device's copies of them, which no work may read any more: at once, nothing is enqueued or moved.
  virtual void drop(Size begin, Size count) = 0;

 protected:
  ManagedMemory() = default;
};

/// Null where the device has no unified memory: host and fake devices. Of its budget `at_once` bytes are taken under
/// `name`, for copies. Error(resource): no room for these, or a GPU that cannot move pages by itself.
std::unique_ptr<ManagedMemory> make_managed_memory(Device& device, Size bytes, Size at_once, const std::string& name);

}  // namespace tutti
