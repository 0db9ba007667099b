// Messages from a device's memory to that of another rank's device, moved by the devices themselves (NCCL).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tutti/device/device.hpp"

namespace tutti {

/// One end of a message. Between two parts the k-th sent end of the one is the k-th received end of the other, and has
/// as many bytes.
struct LinkEnd {
  Stream* stream = nullptr;     ///< of the part's device
  std::int32_t other_part = 0;  ///< where it goes to or comes from: a part of another rank
  void* data = nullptr;         ///< device memory; sent ends are only read
  std::size_t bytes = 0;
  bool sends = false;
};

/// Made by all ranks together. Every rank enqueues the same exchanges in the same order.
class DeviceLink {
 public:
  virtual ~DeviceLink() = default;
  /// Enqueues all ends of one exchange of this rank, behind what `stream` has to do; later work of `stream` comes
  /// behind them. It may be captured. The first time may wait for the other ranks. Error(peer) when one of them was
  /// lost.
  virtual void enqueue(Stream& stream, std::span<const LinkEnd> ends) = 0;
  /// Error(peer) when the link has broken meanwhile. Never blocks.
  virtual void check() = 0;
  /// Ends what waits for another rank: after a failure, so that the streams come to rest. Nothing can be enqueued then.
  virtual void abandon() noexcept = 0;
};

}  // namespace tutti
