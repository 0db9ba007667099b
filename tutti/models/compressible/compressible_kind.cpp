#include "tutti/models/compressible/compressible_kind.hpp"

#include "tutti/models/compressible/compressible.hpp"

namespace tutti::compressible {

ModelKind compressible_kind() {
  return {"compressible", add_compressible_keys,
          [](const ModelSetup& setup) { return std::make_unique<CompressibleFlow>(setup); }, DomainKeys::elements};
}

}  // namespace tutti::compressible
