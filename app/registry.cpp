// The models of this program: a line each.
#include "app/commands.hpp"
#include "tutti/models/compressible/compressible_kind.hpp"
#include "tutti/models/diffusion/diffusion_kind.hpp"
#include "tutti/models/graph/run/graph_kind.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/smoothing/run/smooth_command.hpp"
#include "tutti/models/transport/transport_kind.hpp"

namespace tutti::app {

const ModelKinds& models() {
  static const ModelKinds kinds{
      diffusion::diffusion_kind(), incompressible::incompressible_kind(),
      transport::transport_kind(), compressible::compressible_kind(),
      graph::graph_kind(),
  };
  return kinds;
}

void add_mesh_commands_of_models(CLI::App& mesh, Action& action) {
  smoothing::add_smooth_command(mesh, action);
}

Case load_case(const Comm& comm, const std::string& path, const std::vector<std::string>& sets) {
  return tutti::load_case(comm, path, sets, models());
}

}  // namespace tutti::app
