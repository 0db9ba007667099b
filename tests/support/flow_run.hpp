// A run of the model of incompressible flow, and pieces of its cases.
#pragma once

#include "tests/support/model_run.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/incompressible/incompressible.hpp"

namespace tutti::test {
using namespace incompressible;  // NOLINT(google-build-using-namespace): tests of this model

inline CaseSchema flow_schema() {
  CaseSchema schema = core_schema({"incompressible"}, DomainKeys::box);
  add_incompressible_keys(schema);
  return schema;
}

struct FlowRun : ModelRun<Model> {
  FlowRun(const Comm& comm, const std::string& text, const std::string& device_list, std::uint64_t seed = 1)
      : ModelRun(comm, text, flow_schema(), make_incompressible, device_list, seed) {}
};

/// A case's text: what all of them need, then `more`.
inline std::string flow_text(const std::string& cells, const std::string& more) {
  return "model = \"incompressible\"\n[grid]\ncells = " + cells + "\n" + more;
}

/// A table [[boundary]] of a case.
inline std::string face(const std::string& name, const std::string& keys) {
  return "[[boundary]]\nface = \"" + name + "\"\n" + keys + "\n";
}
/// Both ends of a direction, "x".
inline std::string periodic(const std::string& direction) {
  return face(direction + "-lower", "velocity = \"periodic\"") + face(direction + "-upper", "velocity = \"periodic\"");
}

}  // namespace tutti::test
