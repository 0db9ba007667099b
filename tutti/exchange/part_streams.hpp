// The queues that serve one part on its device.
#pragma once

#include <memory>

#include "tutti/device/device.hpp"

namespace tutti {

/// Three streams, so that kernels, outgoing and incoming copies of one device can overlap (Langguth 2015, Figure 3).
struct PartStreams {
  explicit PartStreams(Device& on)
      : device(&on),
        compute(on.make_stream("compute")),
        outgoing(on.make_stream("outgoing")),
        incoming(on.make_stream("incoming")) {}
  Device* device;
  std::unique_ptr<Stream> compute, outgoing, incoming;
  bool is_host() const { return device->is_host(); }
};

}  // namespace tutti
