#include <filesystem>

#include "app/commands.hpp"
#include "tutti/base/atomic_file.hpp"
#include "tutti/base/units.hpp"
#include "tutti/models/compressible/compressible.hpp"
#include "tutti/models/diffusion/diffusion.hpp"
#include "tutti/models/incompressible/incompressible.hpp"
#include "tutti/models/transport/transport.hpp"

namespace tutti::app {

const ModelKinds& models() {
  static const ModelKinds kinds{
      {"compressible", compressible::add_compressible_keys,
       [](const ModelSetup& s) { return std::make_unique<compressible::CompressibleFlow>(s); }, DomainKeys::elements},
      {"diffusion", add_diffusion_keys, [](const ModelSetup& s) { return std::make_unique<Diffusion>(s); }},
      {"incompressible", add_incompressible_keys, make_incompressible, DomainKeys::box},
      {"transport", add_transport_keys, [](const ModelSetup& s) { return std::make_unique<SphereTransport>(s); },
       DomainKeys::nodes},
  };
  return kinds;
}

void write_report(const std::string& file, const std::string& text) {
  // Only folders of results are made: a mistyped name is not to become a folder.
  const auto folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error))
    fail(ErrorKind::io, "{}: there is no folder {}; make it, or choose another", file, folder.string());
  write_file(file, text, Place::given);
}

CaseSchema schema_of(const std::string& model) {
  return tutti::schema_of(models(), model);
}

Case load_case(const Comm& comm, const std::string& path, const std::vector<std::string>& sets) {
  return tutti::load_case(comm, path, sets, models());
}

}  // namespace tutti::app
