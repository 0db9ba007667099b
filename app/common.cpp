#include "app/commands.hpp"
#include "tutti/base/atomic_file.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/transport/transport.hpp"

namespace tutti::app {

const ModelKinds& models() {
  static const ModelKinds kinds{
      {"diffusion", add_diffusion_keys, [](const ModelSetup& s) { return std::make_unique<Diffusion>(s); }},
      {"incompressible", add_incompressible_keys, make_incompressible, DomainKeys::box},
      {"transport", add_transport_keys, [](const ModelSetup& s) { return std::make_unique<SphereTransport>(s); },
       DomainKeys::nodes},
  };
  return kinds;
}

void write_report(const std::string& file, const std::string& text) {
  write_file(file, text, Place::given);
}

CaseSchema schema_of(const std::string& model) {
  return tutti::schema_of(models(), model);
}

Case load_case(const Comm& comm, const std::string& path, const std::vector<std::string>& sets) {
  return tutti::load_case(comm, path, sets, models());
}

}  // namespace tutti::app
