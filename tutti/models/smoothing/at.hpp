// Global numbers as places in arrays.
#pragma once

#include <cstddef>

#include "tutti/base/types.hpp"

namespace tutti::smoothing {

inline std::size_t at(Gid i) {
  return static_cast<std::size_t>(i);
}

}  // namespace tutti::smoothing
