// The program: advect run case.toml -o results
#include <tutti/program/program.hpp>

#include "advection.hpp"

int main(int argc, char** argv) {
  const auto create = [](const tutti::ModelSetup& setup) { return std::make_unique<advection::Advection>(setup); };
  const tutti::ModelKinds models{{"advection", advection::add_keys, create}};
  return tutti::run_program(argc, argv, {.name = "advect", .about = "Linear advection on tetrahedra."}, models);
}
