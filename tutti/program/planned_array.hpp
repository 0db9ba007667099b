// What `tutti plan` says of memory.
#pragma once

#include <string>

#include "tutti/base/types.hpp"

namespace tutti {

/// An array that a model would put on a device.
struct PlannedArray {
  std::string name;
  Size bytes = 0;
};

}  // namespace tutti
