// The queues that serve one part on its device.
#pragma once

#include <memory>

#include "tutti/device/device.hpp"

namespace tutti {

/// Streams whose work can overlap on one device (Langguth 2015, Figure 3): kernels, outgoing and incoming copies. The
/// kernels of separators have their own, so that they run beside the interior, before the rest of it.
struct PartStreams {
  explicit PartStreams(Device& on)
      : device(&on),
        compute(on.make_stream("compute")),
        separators(on.make_stream("separators", true)),
        outgoing(on.make_stream("outgoing", true)),
        incoming(on.make_stream("incoming", true)) {}
  Device* device;
  std::unique_ptr<Stream> compute, separators, outgoing, incoming;
  bool is_host() const { return device->is_host(); }
};

}  // namespace tutti
