// What programs know of this model.
#pragma once

#include "tutti/program/model_kind.hpp"

namespace tutti::compressible {

ModelKind compressible_kind();

}  // namespace tutti::compressible
