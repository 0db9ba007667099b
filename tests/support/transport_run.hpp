// A run of the model of transport on the sphere.
#pragma once

#include "tests/support/model_run.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/transport/transport.hpp"

namespace tutti::test {
using namespace transport;  // NOLINT(google-build-using-namespace): tests of this model

inline CaseSchema transport_schema() {
  CaseSchema schema = core_schema({"transport"}, DomainKeys::nodes);
  add_transport_keys(schema);
  return schema;
}

struct TransportRun : ModelRun<SphereTransport> {
  TransportRun(const Comm& comm, const std::string& text, const std::string& device_list, std::uint64_t seed = 1)
      : ModelRun(
            comm, text, transport_schema(),
            [](const ModelSetup& setup) { return std::make_unique<SphereTransport>(setup); }, device_list, seed) {}
};

}  // namespace tutti::test
