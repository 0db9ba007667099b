// A run of compressible flow, and boxes for it.
#pragma once

#include "tests/support/model_run.hpp"
#include "tutti/io/case/core_keys.hpp"
#include "tutti/models/compressible/compressible.hpp"

namespace tutti::test {

inline CaseSchema compressible_schema() {
  CaseSchema schema = core_schema({"compressible"}, DomainKeys::elements);
  compressible::add_compressible_keys(schema);
  return schema;
}

struct CompressibleRun : ModelRun<compressible::CompressibleFlow> {
  CompressibleRun(const Comm& comm, const std::string& text, const std::string& device_list, std::uint64_t seed = 1)
      : ModelRun(
            comm, text, compressible_schema(),
            [](const ModelSetup& setup) { return std::make_unique<compressible::CompressibleFlow>(setup); },
            device_list, seed) {}
  /// Of the basis, element after element, variable after variable. On all ranks.
  std::vector<double> coefficients() { return state().fields.at("state"); }
  double l2() { return model().errors(time()).l2; }
};

/// [mesh] of a box.
struct TestBox {
  std::string element = "tet";
  std::array<int, 3> cubes{4, 4, 4};
  std::array<double, 3> upper{1, 1, 1};
  double jitter = 0;
  std::string periodic = "true", more = "";

  std::string text() const {
    return fmt::format(
        "model = \"compressible\"\n[mesh]\ngenerate = \"box\"\nelement = \"{}\"\ncubes = [{}, {}, {}]\n"
        "upper = [{}, {}, {}]\njitter = {}\nperiodic = {}\n{}\n",
        element, cubes[0], cubes[1], cubes[2], upper[0], upper[1], upper[2], jitter, periodic, more);
  }
};

}  // namespace tutti::test
